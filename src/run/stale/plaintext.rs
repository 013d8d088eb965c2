//! The base of what is encrypted: the version that its plaintext was read from. A `decrypt` that passed through has left a note
//! of that; plaintext that several sessions may have written is nobody's.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use crate::canary::{self, Kind};
use crate::clock::Clock as _;
use crate::lineage::Base;
use crate::notes::{Note, Notes};
use crate::plan::PlannedFile;
use crate::rules::Via;
use crate::store::StoreError;
use crate::terms::Digest;

use super::super::Before;
use super::super::files;
use super::super::job::Job;
use super::{Found, Look, is_redirected, words};

/// The plaintext of a command that encrypts, and who has read what of it.
pub(super) struct Plaintext<'a> {
    job: &'a Job<'a>,
    notes: Notes,
    /// Where the ciphertext goes.
    file: &'a Path,
    /// Where the plaintext is; none when it comes by standard input.
    source: Option<PathBuf>,
}

impl<'a> Plaintext<'a> {
    pub(super) fn of(job: &'a Job<'a>, file: &'a PlannedFile) -> Self {
        let target = &*file.target.path;
        let source = match file.write.via {
            Via::InPlace => Some(target.to_owned()),
            Via::Output | Via::Stdout => file.write.asked.source.as_deref().map(physical),
        };
        Self { job, notes: Notes::of(job.state, job.context.clock.wall_ms()), file: target, source }
    }

    /// The newest note of this session about this plaintext, else about this file.
    pub(super) fn own(&self) -> Option<Note> {
        let session = self.job.owner.session;
        let of = |notes: Vec<Note>| notes.into_iter().filter(|note| note.session == session).max_by_key(|note| note.at);
        let by_source = || self.source.as_deref().and_then(|source| of(self.notes.of_plaintext(source)));
        by_source().or_else(|| of(self.notes.of_file(self.file)))
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
        let same = |note: &Note| note.session != session && version.is_none_or(|version| note.version == *version);
        notes.into_iter().filter(same).max_by_key(|note| note.at)
    }

    pub(super) fn forget(&self) {
        self.noted().iter().for_each(|note| self.notes.forget(note));
    }

    /// Forgets, but for what was read of other files than the one that was written: that is in the written one now.
    pub(super) fn carry(&self) {
        for note in self.noted() {
            if note.is_of(self.file) {
                self.notes.forget(&note);
            } else {
                self.notes.carry(&note, self.file);
            }
        }
    }

    /// What this session has read of the file, or into the place that its plaintext comes from.
    fn noted(&self) -> Vec<Note> {
        let of_source = self.source.as_deref().map(|source| self.notes.of_plaintext(source)).unwrap_or_default();
        let all = self.notes.of_file(self.file).into_iter().chain(of_source);
        all.filter(|note| note.session == self.job.owner.session).collect()
    }
}

pub(super) fn verdict(look: &mut Look<'_>, before: &Before) -> Result<Found, StoreError> {
    let plaintext = Plaintext::of(look.job, look.file);
    let content = before.content.as_deref();
    let in_place = look.file.write.via == Via::InPlace;
    let is_sops = content.is_some_and(|content| matches!(canary::sniff(content), Kind::Sops(_)));
    if in_place && (is_sops || content.is_none()) {
        return look.of_file(content, true);
    }
    if in_place && is_open_edit(look) {
        // The lease has been this session's ever since it was decrypted.
        return Ok(Found::Go);
    }
    // A line that decrypts the file itself does so under the lease: what was read earlier does not matter.
    if !in_place && look.job.plan.decrypted.iter().any(|it| physical(&it.file) == look.file.target.path) {
        return if is_redirected(look.file, look.job) { look.of_redirected() } else { look.of_file(content, true) };
    }
    let own = plaintext.own();
    let head = look.head.clone().flatten();
    let version = own.as_ref().map(|note| note.version.clone()).or_else(|| head.clone());
    if !is_held(look)
        && let Some(other) = plaintext.of_another(version.as_ref())
    {
        let refusal = words::whose(&other, &look.shown(), &look.job.wanted());
        return Ok(look.accepted_or(refusal, version));
    }
    match own {
        Some(note) if head.as_ref() == Some(&note.version) => Ok(Found::Go),
        Some(note) if in_place => read_earlier(look, &note),
        Some(note) if is_redirected(look.file, look.job) && !is_last_known(look, &note) => read_earlier(look, &note),
        Some(note) if is_sops && content.map(Digest::of).as_ref() != Some(&note.version) => read_earlier(look, &note),
        None if in_place => Ok(if look.has_chain() && !is_held(look) { look.unknown(None) } else { Found::Go }),
        _ if is_redirected(look.file, look.job) => look.of_redirected(),
        _ => look.of_file(content, true),
    }
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
    let known = chain.iter().any(|it| it.new == note.version || it.base.as_ref() == Some(&note.version));
    if known {
        return look.of_version(Some(&note.version), None, Base::Read, true);
    }
    if look.file.write.via == Via::InPlace {
        return Ok(look.unknown(chain.first()));
    }
    let refusal = words::gone_on(&look.shown());
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
    let of_this = |record: &crate::store::FileRecord| files::path_of(record) == look.file.target.path;
    look.granted.carried.iter().any(|debt| debt.files.iter().any(of_this))
}

/// As notes know it.
fn physical(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}
