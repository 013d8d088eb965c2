//! The story of a look: read, judge by itself, judge against before, try the key at hand, ask the real sops.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::io::Read as _;
use std::path::Path;

use super::against::{self, Before};
use super::document::{self, Document, Format, Kind, SIZE_CAP, sniff};
use super::unwrap::{self, Keyring};
use super::{Arbiter, Expect, Fault, Names, Sample, Verdict, structure};
use crate::rules::{Change, Via};

/// How often a file that changes under our eyes is looked at.
const LOOKS: usize = 3;

/// Looks at a file after a command. Key names may appear in a [`Fault`], values never. It costs under a millisecond and
/// one run of sops (about 20 ms); a file that fails without a key costs no run.
pub fn look(sample: &Sample<'_>, arbiter: &Arbiter) -> Verdict {
    for _ in 0..LOOKS {
        let content = match read(sample.path) {
            Ok(content) => content,
            Err(verdict) => return absent(sample, verdict),
        };
        let verdict = judge(sample, &content, arbiter);
        // sops read the file again by its name: its word counts only if that was the same content.
        if read(sample.path).is_ok_and(|again| again == content) {
            return verdict;
        }
    }
    Verdict::Unverified("it changes while it is looked at: something else is writing it".into())
}

/// No file after a command is a fault only where there was one before.
fn absent(sample: &Sample<'_>, verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Bad(Fault::Missing) if sample.before.is_none() => {
            Verdict::Unverified("there is no such file, as before".into())
        }
        other => other,
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Verdict> {
    let unverified = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => Verdict::Bad(Fault::Missing),
        kind => Verdict::Unverified(format!("it cannot be read ({kind})")),
    };
    // Before opening: a pipe would keep us waiting.
    if !std::fs::metadata(path).map_err(unverified)?.is_file() {
        return Err(Verdict::Unverified("it is not a regular file".into()));
    }
    let file = crate::platform::regular(path).map_err(unverified)?;
    let mut content = Vec::new();
    file.take(SIZE_CAP + 1).read_to_end(&mut content).map_err(unverified)?;
    match content.len() as u64 > SIZE_CAP {
        true => Err(Verdict::Unverified(format!("it is larger than {} MiB", SIZE_CAP >> 20))),
        false => Ok(content),
    }
}

fn judge(sample: &Sample<'_>, content: &[u8], arbiter: &Arbiter) -> Verdict {
    if sample.before == Some(content) {
        return unchanged(content);
    }
    let expect = sample.expect;
    let base = baseline(sample, arbiter);
    let before = Before::of(base.as_deref());
    let after = match structure::whole(content) {
        Ok(after) => after,
        Err(Fault::Plaintext) if is_open_edit(expect) => return Verdict::OpenEdit,
        Err(Fault::Empty) if is_open_edit(expect) && had_no_values(&before) => return Verdict::OpenEdit,
        Err(fault @ Fault::Unreadable(_)) => return unreadable(sample.path, content, fault, arbiter),
        Err(fault) => return Verdict::Bad(fault),
    };
    if source_was_sops(expect, arbiter) {
        return Verdict::Bad(Fault::DoubleEncryption);
    }
    if let Err(fault) = against::check(&before, &after, sample.path, expect) {
        return Verdict::Bad(fault);
    }
    let open =
        if is_open_edit(expect) { None } else { laid_open(before.document().zip(base.as_deref()), (&after, content)) };
    if let Some(before) = before.document().filter(|_| !is_open_edit(expect))
        && locked_out(before, &after, arbiter)
    {
        return Verdict::Bad(Fault::LockedOut);
    }
    // Only of SOPS files a copy is ever made, to see whether sops could decrypt them before.
    let was = before.document().filter(|_| !is_open_edit(expect)).map(|document| document.format);
    let ciphertext = base.as_deref().zip(was);
    match (arbiter.judge(sample.path, after.format, ciphertext), open) {
        // Where nobody can decrypt it, it counts what the file says itself; else sops knows better what it can read.
        (Verdict::Unverified(_), Some(fault)) => Verdict::Bad(fault),
        (verdict, _) => verdict,
    }
}

/// Nothing was written. What was sound stays so; of anything else the command has no part.
fn unchanged(content: &[u8]) -> Verdict {
    match structure::native(content) {
        Ok(_) => Verdict::Sound,
        Err(fault) => Verdict::Unverified(format!("the command left it as it was: {fault}")),
    }
}

/// What the result is compared with. A command that writes another file than it reads (`rotate --output`) carries the
/// keys of its source over; what that other file held before does not matter.
fn baseline<'a>(sample: &Sample<'a>, arbiter: &Arbiter) -> Option<Cow<'a, [u8]>> {
    let expect = sample.expect;
    if expect.change == Some(Change::Rotate) && expect.via != Via::InPlace {
        return source(expect, arbiter).map(Cow::Owned);
    }
    sample.before.map(Cow::Borrowed)
}

fn source(expect: &Expect, arbiter: &Arbiter) -> Option<Vec<u8>> {
    expect.asked.source.as_ref().and_then(|source| read(&arbiter.cwd.join(source)).ok())
}

/// `encrypt --output O F` where F itself is SOPS.
fn source_was_sops(expect: &Expect, arbiter: &Arbiter) -> bool {
    let encrypts = expect.change == Some(Change::Encrypt) && expect.via != Via::InPlace;
    encrypts && source(expect, arbiter).is_some_and(|content| matches!(sniff(&content), Kind::Sops(_)))
}

/// Values in the open that should be encrypted, but for those that were so before: no command of now has put them there.
fn laid_open(before: Option<(&Document, &[u8])>, (after, content): (&Document, &[u8])) -> Option<Fault> {
    let mut open = document::laid_open(after, content);
    if let Some((before, content)) = before.filter(|_| !open.is_empty()) {
        let was = document::laid_open(before, content);
        open.retain(|path| !was.contains(path));
    }
    let count = open.len();
    (count > 0).then(|| Fault::LaidOpen(Names::new(open, count)))
}

fn is_open_edit(expect: &Expect) -> bool {
    matches!(expect.change, Some(Change::DecryptInPlace | Change::DecryptTo))
}

/// The plaintext of a file without values may be empty.
fn had_no_values(before: &Before<'_>) -> bool {
    before.document().is_some_and(|document| document.encrypted + document.plaintext == 0)
}

/// Our reader gave up. sops has the better one for its own files, so its word counts for the content; what we could not
/// compare stays open.
fn unreadable(path: &Path, content: &[u8], fault: Fault, arbiter: &Arbiter) -> Verdict {
    let Kind::Sops(format) = sniff(content) else { return Verdict::Bad(fault) };
    match arbiter.judge(path, format, None) {
        Verdict::Sound => Verdict::Unverified(format!("sops decrypts it, but its keys could not be compared: {fault}")),
        Verdict::Bad(Fault::LockedOut) | Verdict::OpenEdit => Verdict::Bad(fault),
        Verdict::Unverified(why) if format == Format::Yaml && arbiter.sops.is_some() => Verdict::Unverified(why),
        Verdict::Unverified(_) | Verdict::Bad(_) => Verdict::Bad(fault),
    }
}

fn locked_out(before: &Document, after: &Document, arbiter: &Arbiter) -> bool {
    let wanted = unwrap::wanted([before, after]);
    let keyring = Keyring::gather(&arbiter.env, &arbiter.cwd, wanted);
    unwrap::locked_out(before, after, &keyring)
}
