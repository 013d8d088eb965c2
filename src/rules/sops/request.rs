//! What sops is asked to do, in one shape for commands and for the older flags (`-e -i F`, `--set …`, a bare file).
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};

use crate::rules::urfave::{Flags, Run};

/// What sops does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Encrypt,
    Decrypt,
    Rotate,
    Edit,
    Set,
    Unset,
    UpdateKeys,
    GroupsAdd,
    GroupsDelete,
    ExecEnv,
    ExecFile,
    FileStatus,
    Publish,
    KeyService,
}

impl Act {
    const ALL: [(Self, &'static str, &'static str); 14] = [
        (Self::Encrypt, "encrypt", "sops.encrypt"),
        (Self::Decrypt, "decrypt", "sops.decrypt"),
        (Self::Rotate, "rotate", "sops.rotate"),
        (Self::Edit, "edit", "sops.edit"),
        (Self::Set, "set", "sops.set"),
        (Self::Unset, "unset", "sops.unset"),
        (Self::UpdateKeys, "updatekeys", "sops.updatekeys"),
        (Self::GroupsAdd, "groups add", "sops.groups"),
        (Self::GroupsDelete, "groups delete", "sops.groups"),
        (Self::ExecEnv, "exec-env", "sops.read"),
        (Self::ExecFile, "exec-file", "sops.exec-file"),
        (Self::FileStatus, "filestatus", "sops.read"),
        (Self::Publish, "publish", "sops.read"),
        (Self::KeyService, "keyservice", "sops.read"),
    ];

    fn row(self) -> &'static (Self, &'static str, &'static str) {
        Self::ALL.iter().find(|row| row.0 == self).unwrap_or(&Self::ALL[0])
    }

    /// The command as it is typed today.
    pub(super) fn words(self) -> &'static str {
        self.row().1
    }

    /// The rule that locks it.
    pub(super) fn rule(self) -> &'static str {
        self.row().2
    }
}

/// Where the result goes.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// Into the files it came from.
    Itself,
    /// Into the file after `--output`, as typed.
    Output(OsString),
    /// To standard output.
    Stdout,
    /// There is none.
    Nowhere,
}

/// One request.
pub(super) struct Request<'a> {
    pub(super) act: Act,
    /// The files it works on, as typed; none when it reads standard input.
    pub(super) files: Vec<Cow<'a, OsStr>>,
    pub(super) place: Place,
    run: Run<'a>,
}

impl Request<'_> {
    /// The flags that the action sees.
    pub(super) fn flags(&self) -> &Flags<'_> {
        seen(&self.run)
    }

    /// `--config` is the one flag of the program that its commands heed.
    pub(super) fn config(&self) -> Option<&OsStr> {
        self.run.root.text("config")
    }
}

fn seen<'r, 'a>(run: &'r Run<'a>) -> &'r Flags<'a> {
    if run.path.is_empty() { &run.root } else { &run.own }
}

/// Why sops refuses a line that its parser took. In each of these cases it writes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refused {
    #[error("it names no file")]
    NoFile,
    #[error("it has {found} operands, and {command} takes {wanted}")]
    Count { command: &'static str, wanted: &'static str, found: usize },
    #[error("--in-place and --output exclude each other")]
    TwoPlaces,
    #[error("standard input cannot be rewritten in place")]
    StdinInPlace,
    #[error("to encrypt standard input it needs --filename-override")]
    StdinUnnamed,
    #[error("what stands where the index belongs is no index like [\"KEY\"]")]
    NoIndex,
    #[error("--decryption-order names one kind of key twice")]
    OrderTwice,
}

/// Makes the request of a line that the parser took.
///
/// # Errors
/// When sops' own checks refuse it before any file is opened.
pub(super) fn request(run: Run<'_>) -> Result<Request<'_>, Refused> {
    let (act, files, place) = shape(&run)?;
    order_is_sound(seen(&run))?;
    Ok(Request { act, files, place, run })
}

type Shape<'a> = (Act, Vec<Cow<'a, OsStr>>, Place);

fn shape<'a>(run: &Run<'a>) -> Result<Shape<'a>, Refused> {
    let flags = seen(run);
    let words = run.positionals.as_slice();
    let first = || words.first().map(|&file| vec![Cow::Borrowed(file)]).ok_or(Refused::NoFile);
    let exactly = |command, wanted: &[usize], shown| {
        let found = words.len();
        if wanted.contains(&found) { Ok(()) } else { Err(Refused::Count { command, wanted: shown, found }) }
    };
    Ok(match run.path.as_slice() {
        [] => older(flags, first()?)?,
        ["encrypt"] => stream(Act::Encrypt, flags, words)?,
        ["decrypt"] => stream(Act::Decrypt, flags, words)?,
        ["rotate"] => (Act::Rotate, first()?, place(flags)?),
        ["edit"] => (Act::Edit, first()?, Place::Itself),
        ["set"] if flags.is_on("value-stdin") => {
            exactly("set --value-stdin", &[2], "a file and an index")?;
            (Act::Set, indexed(words)?, Place::Itself)
        }
        ["set"] => {
            exactly("set", &[3], "a file, an index and a value")?;
            (Act::Set, indexed(words)?, Place::Itself)
        }
        ["unset"] => {
            exactly("unset", &[2], "a file and an index")?;
            (Act::Unset, indexed(words)?, Place::Itself)
        }
        ["updatekeys"] => {
            first()?;
            (Act::UpdateKeys, words.iter().map(|&file| Cow::Borrowed(file)).collect(), Place::Itself)
        }
        ["groups", which] => {
            let act = if *which == "add" { Act::GroupsAdd } else { Act::GroupsDelete };
            let wanted: (&[usize], _) = if act == Act::GroupsAdd { (&[0], "none") } else { (&[1], "one index") };
            exactly(act.words(), wanted.0, wanted.1)?;
            (act, vec![Cow::Owned(flags.text("file").ok_or(Refused::NoFile)?.to_owned())], place(flags)?)
        }
        ["exec-env"] => {
            exactly("exec-env", &[2], "a file and a command")?;
            (Act::ExecEnv, first()?, Place::Nowhere)
        }
        ["exec-file"] => {
            exactly("exec-file", &[2], "a file and a command")?;
            (Act::ExecFile, first()?, Place::Nowhere)
        }
        ["filestatus"] => (Act::FileStatus, first()?, Place::Nowhere),
        ["publish"] => (Act::Publish, first()?, Place::Nowhere),
        _ => (Act::KeyService, Vec::new(), Place::Nowhere),
    })
}

/// The flags that were the whole interface before sops 3.9. Of several modes the last of encrypt, decrypt, rotate, set
/// decides what is written; set and edit write in place without being told, and do not look at `--output`.
fn older<'a>(flags: &Flags<'_>, file: Vec<Cow<'a, OsStr>>) -> Result<Shape<'a>, Refused> {
    let place = place(flags)?;
    let act = match flags.text("set") {
        Some(set) if !names_an_index(set) => return Err(Refused::NoIndex),
        Some(_) => Act::Set,
        None if flags.is_on("rotate") => Act::Rotate,
        None if flags.is_on("decrypt") => Act::Decrypt,
        None if flags.is_on("encrypt") => Act::Encrypt,
        None => Act::Edit,
    };
    let place = if matches!(act, Act::Set | Act::Edit) { Place::Itself } else { place };
    Ok((act, file, place))
}

/// `encrypt` and `decrypt` read standard input when no file is named.
fn stream<'a>(act: Act, flags: &Flags<'_>, words: &[&'a OsStr]) -> Result<Shape<'a>, Refused> {
    let place = place(flags)?;
    let file = words.first().map(|&file| Cow::Borrowed(file));
    if file.is_none() && place == Place::Itself {
        return Err(Refused::StdinInPlace);
    }
    if file.is_none() && act == Act::Encrypt && flags.text("filename-override").is_none() {
        return Err(Refused::StdinUnnamed);
    }
    Ok((act, file.into_iter().collect(), place))
}

fn place(flags: &Flags<'_>) -> Result<Place, Refused> {
    match (flags.is_on("in-place"), flags.text("output")) {
        (true, Some(_)) => Err(Refused::TwoPlaces),
        (true, None) => Ok(Place::Itself),
        (false, Some(path)) => Ok(Place::Output(path.to_owned())),
        (false, None) => Ok(Place::Stdout),
    }
}

/// The file of `set` and `unset`, if an index stands behind it. Order: a flag that dragged the value to the front would
/// otherwise make a secret the file's name, here and in the store; sops refuses such a line for the same reason.
fn indexed<'a>(words: &[&'a OsStr]) -> Result<Vec<Cow<'a, OsStr>>, Refused> {
    let is_index = words.get(1).is_some_and(|index| index.as_encoded_bytes().ends_with(b"]"));
    if is_index { Ok(vec![Cow::Borrowed(words[0])]) } else { Err(Refused::NoIndex) }
}

/// `--set 'INDEX VALUE'`: the index ends at the first `] `.
fn names_an_index(set: &OsStr) -> bool {
    set.as_encoded_bytes().windows(2).any(|pair| pair == b"] ")
}

fn order_is_sound(flags: &Flags<'_>) -> Result<(), Refused> {
    let Some(order) = flags.text("decryption-order") else { return Ok(()) };
    let mut kinds = HashSet::new();
    let unique = order.as_encoded_bytes().split(|&byte| byte == b',').all(|kind| kinds.insert(kind));
    if unique { Ok(()) } else { Err(Refused::OrderTwice) }
}
