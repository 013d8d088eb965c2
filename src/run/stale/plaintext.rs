//! The base of what is encrypted: the version that its plaintext was read from. A `decrypt` that passed through has left a note
//! of that; plaintext that several sessions may have written is nobody's.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::canary::{self, Kind};
use crate::clock::Clock as _;
use crate::lineage::{self, Base};
use crate::notes::{self, How, Note, Notes};
use crate::plan::PlannedFile;
use crate::rules::Via;
use crate::store::StoreError;
use crate::terms::Digest;

use super::super::Before;
use super::super::files;
use super::super::job::Job;
use super::{Found, Look, is_redirected, older, words};

/// For so long the reading of another session is a reason to ask whose plaintext lies in a file: 24 hours.
const OF_OTHERS: Duration = Duration::from_secs(24 * 60 * 60);

/// The plaintext of a command that encrypts, and who has read what of it.
pub(super) struct Plaintext<'a> {
    job: &'a Job<'a>,
    notes: Notes,
    /// Where the ciphertext goes.
    file: &'a Path,
    /// Where the plaintext is; none when it comes by standard input.
    source: Option<PathBuf>,
    /// The file has been open for an edit of this session: what lies there may have been put there from elsewhere since.
    is_open: bool,
}

impl<'a> Plaintext<'a> {
    pub(super) fn of(job: &'a Job<'a>, file: &'a PlannedFile) -> Self {
        let target = &*file.target.path;
        let source = match file.write.via {
            Via::InPlace => Some(target.to_owned()),
            Via::Output | Via::Stdout => {
                file.write.asked.source.as_deref().map(physical).filter(|source| is_a_place(source))
            }
        };
        Self { job, notes: Notes::of(job.state, job.context.clock.wall_ms()), file: target, source, is_open: false }
    }

    /// The newest note of this session about this plaintext, else about this file. That a program was run with the file is
    /// asked last: it need not have kept anything of it.
    pub(super) fn own(&self) -> Option<Note> {
        self.by_source().or_else(|| {
            let notes = self.of_session(self.notes.of_file(self.file));
            let newest = |run: bool| {
                notes.iter().filter(|note| (note.how == How::Run) == run).max_by_key(|note| note.at).cloned()
            };
            newest(false).or_else(|| newest(true))
        })
    }

    /// About this plaintext, where it lies apart.
    fn by_source(&self) -> Option<Note> {
        let source = self.source.as_deref().filter(|source| *source != self.file)?;
        let mut notes = self.of_session(self.notes.of_plaintext(source));
        notes.retain(|note| note.is_of(self.file));
        let any = || self.of_session(self.notes.of_plaintext(source)).into_iter().max_by_key(|note| note.at);
        notes.into_iter().max_by_key(|note| note.at).or_else(any)
    }

    /// What lies at the source was encrypted there from plaintext whose base is noted.
    pub(super) fn is_carried(&self) -> bool {
        self.last_there().is_some_and(|note| note.was_carried())
    }

    /// The last note about this plaintext, of whatever session, where it lies apart: who left it put there what lies there.
    pub(super) fn last_there(&self) -> Option<Note> {
        let source = self.source.as_deref().filter(|source| *source != self.file)?;
        let notes = self.notes.of_plaintext(source);
        let of_this = || notes.iter().filter(|note| note.is_of(self.file)).max_by_key(|note| note.at);
        of_this().or_else(|| notes.iter().max_by_key(|note| note.at)).cloned()
    }

    /// Whether anything is known by which it may be older than `own` says, or than the newest: nothing is where it lies as
    /// this session has put it there.
    pub(super) fn may_be_older(&self, own: Option<&Note>) -> bool {
        match self.last_there() {
            Some(there) => there.session != self.job.owner.session,
            None => self.all().iter().any(|note| own.is_none_or(|own| own.version != note.version)),
        }
    }

    /// What this session knows of the file; where it knows nothing, what others have read of any not long ago. Over an open
    /// edit, of which its session knows in any case, plaintext of the file may lie that others have put somewhere.
    pub(super) fn all(&self) -> Vec<Note> {
        let now_ms = self.job.context.clock.wall_ms();
        let all = self.notes.of_file(self.file);
        let own = self.of_session(all.clone());
        if self.is_open {
            let lies = |note: &Note| note.how == How::Read && !note.went_nowhere();
            let is_others = |note: &Note| note.session != self.job.owner.session && lies(note);
            let others = all.into_iter().filter(|note| is_others(note) && !note.is_older_than(OF_OTHERS, now_ms));
            return own.into_iter().chain(others).collect();
        }
        if !own.is_empty() {
            return own;
        }
        let mut all = self.notes.everything();
        all.retain(|note| note.how != How::Run && !note.is_older_than(OF_OTHERS, now_ms));
        all
    }

    /// Where the plaintext lies, if that is known.
    pub(super) fn source(&self) -> Option<&Path> {
        self.source.as_deref()
    }

    fn of_session(&self, notes: Vec<Note>) -> Vec<Note> {
        notes.into_iter().filter(|note| note.session == self.job.owner.session).collect()
    }

    /// The line makes the plaintext itself, from the file as it is under the lease: what was read earlier does not matter. A
    /// line that decrypts the file and encrypts what an earlier command has left is none.
    pub(super) fn is_made_here(&self) -> bool {
        let of_file = self.job.plan.decrypted.iter().filter(|it| !it.runs && physical(&it.file) == self.file);
        let mut made = of_file.peekable();
        if made.peek().is_none() {
            return false;
        }
        let Some(source) = &self.source else { return true };
        made.any(|it| it.plaintext.as_deref().map(physical).as_ref() == Some(source)) || self.by_source().is_none()
    }

    /// A note of another session that had the same version, and may have written this plaintext.
    pub(super) fn of_another(&self, version: Option<&Digest>) -> Option<Note> {
        let session = self.job.owner.session;
        let in_place = self.source.as_deref() == Some(self.file);
        let notes = match &self.source {
            Some(source) if !in_place => self.notes.of_plaintext(source),
            Some(_) => self.notes.of_file(self.file),
            None => Vec::new(),
        };
        let now_ms = self.job.context.clock.wall_ms();
        // Who has made that version has written it already, and a reading of days ago is no reason to stop others.
        let may_write = |note: &Note| note.how == How::Read && !note.is_older_than(OF_OTHERS, now_ms);
        let same = |note: &Note| {
            note.session != session && may_write(note) && version.is_none_or(|version| note.version == *version)
        };
        notes.into_iter().filter(same).max_by_key(|note| note.at)
    }

    /// It was encrypted, or put there, and this is the version that came of it: the base of its next round. `encrypted`: by
    /// a command that encrypts; what else is put there is followed only where something was known of it.
    pub(super) fn wrote(&self, version: &Digest, encrypted: bool) {
        let in_place = self.source.as_deref() == Some(self.file);
        if let Some(source) = self.source.as_deref().filter(|_| encrypted) {
            // What was read of another file is in this one now, whoever has read it.
            let all = self.notes.of_plaintext(source);
            let own = self.of_session(all.clone());
            for note in if own.is_empty() { all } else { own } {
                if !note.is_of(self.file) {
                    self.notes.carry(&note, self.file);
                }
            }
        }
        let anew = self.is_made_here() && self.by_source().is_none();
        if !anew && (encrypted || self.own().is_some()) {
            let plaintext = self.source.as_deref().filter(|_| !in_place);
            self.notes.made(self.job.owner.session, self.file, plaintext, version);
        }
    }
}

/// The file became plaintext, of this version: it may be edited elsewhere, and come back when the edit is over.
pub(super) fn opened(job: &Job<'_>, file: &PlannedFile, version: &Digest) {
    let now_ms = job.context.clock.wall_ms();
    notes::leave(job.state, job.owner.session, &file.target.path, None, version, now_ms, How::Read);
}

pub(super) fn verdict(look: &mut Look<'_>, before: &Before) -> Result<Found, StoreError> {
    let plaintext = Plaintext::of(look.job, look.file);
    let content = before.content.as_deref();
    let in_place = look.file.write.via == Via::InPlace;
    let is_sops = content.is_some_and(|content| matches!(canary::sniff(content), Kind::Sops(_)));
    if in_place && (is_sops || content.is_none()) {
        return look.of_file(content);
    }
    if in_place && is_open_edit(look) {
        return of_open_edit(look, Plaintext { is_open: true, ..plaintext }, content);
    }
    if !in_place && plaintext.is_made_here() {
        return if is_redirected(look.file, look.job) { look.of_redirected() } else { look.of_file(content) };
    }
    let own = plaintext.own();
    // Plaintext may lie there, of an open edit or put there by hand, and an empty file or none: that is no version by itself, and
    // what was there before is in the chain.
    let has_chain = look.has_chain();
    let holds_other = |version: &Digest| match content {
        Some(content) if is_sops => Digest::of(content) != *version,
        _ => has_chain,
    };
    let head = look.head.clone().flatten();
    if let Some(found) = of_another(look, &plaintext, own.as_ref().map(|note| &note.version).or(head.as_ref())) {
        return Ok(found);
    }
    if let Some(note) = older::betrayed(look, &plaintext, content.filter(|_| in_place), own.as_ref())? {
        return read_earlier(look, &note);
    }
    match own {
        Some(note) if head.as_ref() == Some(&note.version) => Ok(Found::Go),
        Some(note) if in_place => read_earlier(look, &note),
        Some(note) if is_redirected(look.file, look.job) && !is_last_known(look, &note) => read_earlier(look, &note),
        Some(note) if holds_other(&note.version) => read_earlier(look, &note),
        None if in_place => Ok(if look.has_chain() && !is_held(look) { look.unknown(None) } else { Found::Go }),
        _ if is_redirected(look.file, look.job) => look.of_redirected(),
        _ => look.of_file(content),
    }
}

/// The lease has been this session's ever since it was decrypted, so nobody else has written since; the session itself may have,
/// in another checkout. And other plaintext of the file may have been put over it, which is older than what was opened.
fn of_open_edit(look: &mut Look<'_>, plaintext: Plaintext<'_>, content: Option<&[u8]>) -> Result<Found, StoreError> {
    if let Some(opened) = opened_from(look)
        && lineage::knows(&look.chain()?, &opened)
    {
        match look.of_version(Some(&opened), None, Base::Read)? {
            Found::Go => {}
            other => return Ok(other),
        }
    }
    let own = plaintext.own();
    let Some(note) = older::betrayed(look, &plaintext, content, own.as_ref())? else { return Ok(Found::Go) };
    Ok(match read_earlier(look, &note)? {
        Found::Refused(refusal) => Found::Refused(Box::new(words::over_open_edit(*refusal))),
        other => other,
    })
}

/// Another session has read the version that this one would encrypt: then nobody knows whose plaintext it is. None where that
/// is no question, since this session had the lease.
pub(super) fn of_another(look: &mut Look<'_>, plaintext: &Plaintext<'_>, version: Option<&Digest>) -> Option<Found> {
    let other = if is_held(look) { None } else { plaintext.of_another(version) }?;
    let refusal = words::whose(&other, &look.shown(), &look.job.wanted());
    Some(look.accepted_or(refusal, version.cloned()))
}

/// Without a chain: what the shell has emptied held this version, as far as anybody knows.
fn is_last_known(look: &Look<'_>, note: &Note) -> bool {
    let known = files::last_known(look.file, look.job);
    !look.has_chain() && (known.is_empty() || known.iter().any(|content| Digest::of(content) == note.version))
}

/// The plaintext is of a version that the file does not hold (any more).
pub(super) fn read_earlier(look: &mut Look<'_>, note: &Note) -> Result<Found, StoreError> {
    if !look.has_chain() && look.file.write.via == Via::InPlace {
        return Ok(Found::Go);
    }
    let chain = if look.has_chain() { look.chain()? } else { Vec::new() };
    let known = lineage::knows(&chain, &note.version);
    if known {
        return look.of_version(Some(&note.version), None, Base::Read);
    }
    if look.file.write.via == Via::InPlace {
        return Ok(look.unknown(chain.first()));
    }
    let refusal = words::gone_on(&look.shown(), &look.file.target.path);
    Ok(look.accepted_or(refusal, Some(note.version.clone())))
}

/// This session had the lease before it asked: by `acquire`, kept, or in the command around this one.
pub(super) fn is_held(look: &Look<'_>) -> bool {
    let resource = &look.file.target.resource;
    let above = look.job.context.invocation.var("LOCKED_RESOURCES").unwrap_or_default();
    let above = above.to_string_lossy();
    look.granted.adopted.contains(resource)
        || (super::super::within(look.job.context).is_some() && above.split(' ').any(|it| it == resource.name.as_str()))
}

/// An earlier command of this session made it plaintext, under the same lease.
fn is_open_edit(look: &Look<'_>) -> bool {
    let of_this = |record: &crate::store::FileRecord| !record.open && files::path_of(record) == look.file.target.path;
    look.granted.carried.iter().any(|debt| debt.files.iter().any(of_this))
}

/// The version that was opened, where another one is the newest now.
fn opened_from(look: &Look<'_>) -> Option<Digest> {
    let head = look.head.clone().flatten()?;
    let of_this = |record: &&crate::store::FileRecord| !record.open && files::path_of(record) == look.file.target.path;
    let began = look.granted.carried.iter().flat_map(|debt| &debt.files).filter(of_this);
    let began: Vec<&Digest> = began.filter_map(|record| record.before.as_ref()).collect();
    if began.contains(&&head) { None } else { began.first().map(|opened| (*opened).clone()) }
}

/// What comes by a pipe (`/dev/stdin`, `<(…)`) lies nowhere: the next that comes so is another one.
fn is_a_place(source: &Path) -> bool {
    std::fs::metadata(source).map_or(true, |found| found.is_file())
}

/// As notes know it.
fn physical(path: &Path) -> PathBuf {
    crate::platform::canonical(path).unwrap_or_else(|_| path.to_owned())
}
