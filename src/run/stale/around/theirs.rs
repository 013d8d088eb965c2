//! The checkout that a version was written in, and what git says of it there, each thing asked once.
#![forbid(unsafe_code)]

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::git::{GitError, History, Repository};

use super::super::super::witness;
use super::Around;

type Env<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// Such a checkout.
pub(super) struct Theirs {
    pub(super) repository: Repository,
    /// Where the file is there.
    pub(super) file: PathBuf,
    /// The versions that it remembers having written.
    pub(super) written: BTreeSet<String>,
    history: OnceCell<History>,
    remembered: OnceCell<History>,
    stashes: OnceCell<Vec<String>>,
    were_at: OnceCell<Vec<String>>,
    remotes: OnceCell<Vec<String>>,
}

impl Theirs {
    fn of(repository: Repository, file: PathBuf) -> Self {
        Self {
            written: witness::written(&repository),
            repository,
            file,
            history: OnceCell::new(),
            remembered: OnceCell::new(),
            stashes: OnceCell::new(),
            were_at: OnceCell::new(),
            remotes: OnceCell::new(),
        }
    }

    pub(super) fn history(&self, env: Env<'_>) -> Result<&History, GitError> {
        once(&self.history, || self.repository.history(&self.file, env))
    }

    /// With what only reflogs know.
    pub(super) fn remembered(&self, env: Env<'_>) -> Result<&History, GitError> {
        once(&self.remembered, || self.repository.remembered(&self.file, env))
    }

    pub(super) fn stashes(&self, env: Env<'_>) -> Result<&[String], GitError> {
        once(&self.stashes, || self.repository.stashes(env)).map(Vec::as_slice)
    }

    /// The commits that its branches have been at; none where it does not see its origin.
    pub(super) fn were_at(&self, env: Env<'_>) -> Result<&[String], GitError> {
        let look = || match self.repository.sees_origin(env)? {
            true => self.repository.branches_were_at(env),
            false => Ok(Vec::new()),
        };
        once(&self.were_at, look).map(Vec::as_slice)
    }

    pub(super) fn remotes(&self, env: Env<'_>) -> Result<&[String], GitError> {
        once(&self.remotes, || self.repository.remote_names(env)).map(Vec::as_slice)
    }
}

fn once<T>(cell: &OnceCell<T>, look: impl FnOnce() -> Result<T, GitError>) -> Result<&T, GitError> {
    match cell.get() {
        Some(known) => Ok(known),
        None => look().map(|found| cell.get_or_init(|| found)),
    }
}

impl Around<'_> {
    /// The checkout at this place, of which `file` is the one that is asked about; none where there is none that can be read.
    pub(super) fn theirs(&self, place: &Path, file: &Path) -> Option<Rc<Theirs>> {
        if let Some(known) = self.places.borrow().get(place) {
            return Some(Rc::clone(known));
        }
        let repository = Repository::around(place).ok().flatten()?;
        let theirs = Rc::new(Theirs::of(repository, file.to_owned()));
        self.places.borrow_mut().insert(place.to_owned(), Rc::clone(&theirs));
        Some(theirs)
    }
}
