//! What is uncommitted in a work tree, in the file itself and beside it: nothing of that may be lost with a line that we name.
#![forbid(unsafe_code)]

use std::path::Path;

use crate::canary::{self, Kind};
use crate::git::{GitError, Repository, Uncommitted};
use crate::naming;

use super::{Around, Seen, names};

/// How the file in the work tree stands to what git keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lies {
    /// As HEAD has it, so that a merge may change it.
    Clean,
    /// Otherwise, and nothing would be lost with it: some commit has it, or there is nothing in it.
    Kept,
    /// Its content is committed nowhere.
    Own,
    /// It is plaintext.
    Plain,
}

/// What is uncommitted in other files, where it would stop a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Others {
    /// Nothing.
    Nothing,
    /// Files that git may put aside, and merge again as text if both sides meet.
    Texts,
    /// SOPS files: where both sides meet, text with marks in it is none.
    Ciphertext,
    /// What git must not put aside, since it would keep it in an object (plaintext of a SOPS file), or does not: what it does
    /// not track.
    Fixed,
}

impl Around<'_> {
    /// What would be lost with the file that lies in the work tree.
    pub(super) fn lies(&self, repository: &Repository, seen: &Seen) -> Result<Lies, GitError> {
        let present = std::fs::read(self.file()).ok().filter(|present| !present.is_empty());
        let head = repository.blob_at("HEAD", self.file(), self.env)?;
        let Some(present) = present else {
            let is_there = self.file().exists();
            return Ok(if head.is_none() && !is_there { Lies::Clean } else { Lies::Kept });
        };
        let names = names(repository, self.file(), &present, self.env);
        Ok(match head {
            Some(head) if names.contains(&head) => Lies::Clean,
            _ if names.iter().any(|name| !seen.history.brought(name).is_empty()) => Lies::Kept,
            _ if matches!(canary::sniff(&present), Kind::Plain) => Lies::Plain,
            _ => Lies::Own,
        })
    }

    /// What stops merging this ref; of one that is to be fetched yet (none) nobody knows what it brings, so anything may.
    pub(super) fn others(&self, repository: &Repository, from: Option<&str>) -> Result<Others, GitError> {
        let own = repository.inside(self.file());
        let mut others = repository.uncommitted(self.env)?;
        others.retain(|other| Some(&*other.path) != own);
        let Some(from) = from else { return Ok(self.worst(repository, &others)) };
        let incoming = repository.incoming(from, self.env)?;
        let lies_there = |path: &Path| repository.worktree_root.join(path).symlink_metadata().is_ok();
        let known = |path: &Path| others.iter().any(|other| other.path == path);
        let tracked = |path: &Path| repository.blob_at("HEAD", &repository.worktree_root.join(path), self.env);
        for one in incoming.iter().filter(|one| one.added && lies_there(&one.path) && !known(&one.path)) {
            if tracked(&one.path)?.is_none() {
                // It is not tracked here, and git puts no such file aside.
                return Ok(Others::Fixed);
            }
        }
        let joins = repository.head_goes_beyond(from, self.env)?;
        let meets = |other: &Uncommitted| incoming.iter().any(|one| one.path == other.path);
        if others.iter().any(meets) {
            // Text or not: what both have changed is not mixed behind somebody's back.
            return Ok(self.worst(repository, &others).max(Others::Ciphertext));
        }
        // A true merge begins with an index that is as HEAD.
        let stopped = joins && others.iter().any(|other| other.staged);
        Ok(if stopped { self.worst(repository, &others) } else { Others::Nothing })
    }

    fn worst(&self, repository: &Repository, others: &[Uncommitted]) -> Others {
        others.iter().map(|other| self.is(repository, &other.path)).max().unwrap_or(Others::Nothing)
    }

    fn is(&self, repository: &Repository, inside: &Path) -> Others {
        let path = repository.worktree_root.join(inside);
        if naming::holds_sops(&path) {
            return Others::Ciphertext;
        }
        let head = || {
            let blob = repository.blob_at("HEAD", &path, self.env).ok()??;
            repository.content_of(&blob, self.env).ok()?
        };
        match head() {
            Some(head) if naming::is_sops(&head) => Others::Fixed,
            _ => Others::Texts,
        }
    }
}
