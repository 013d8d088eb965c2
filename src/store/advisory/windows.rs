//! Windows: no process is a copy of another here, so that nobody can have the server's session for wrapper and keeper. Until
//! a steward of its own is started for it, nothing is locked this way.
#![forbid(unsafe_code)]

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::state::StateDir;
use crate::store::StoreError;
use crate::terms::GrantId;

use super::Outside;
use super::server::Reach;
use super::words::{Answer, Ask, Facts};

/// A steward: there is none.
#[derive(Debug)]
pub(super) struct Hired {
    pub(super) grant: Option<GrantId>,
    never: Infallible,
}

/// What came of a question.
#[derive(Debug)]
#[allow(dead_code, reason = "the answers that Unix's stewards give")]
pub(super) enum Reached {
    Answered(Answer),
    Silent,
    Dead,
    Unnamed,
}

impl Hired {
    pub(super) fn start(
        _reach: &Reach,
        _state: &StateDir,
        _directory: PathBuf,
        _local: bool,
        _outside: &Outside,
        _grant: Option<GrantId>,
    ) -> Result<Self, StoreError> {
        Err(StoreError::Misnamed {
            why: "not on Windows yet: session locks (advisory) need a process of their own that outlives the command"
                .to_owned(),
            remedy: "use the ledger: take advisory out of the store's setting, after locked store init".to_owned(),
        })
    }

    pub(super) fn is_ours(&self) -> bool {
        match self.never {}
    }

    pub(super) fn ask(&self, _question: &Ask, _limit: Duration) -> Reached {
        match self.never {}
    }

    pub(super) fn dismiss(self) {
        match self.never {}
    }

    pub(super) fn part(self, _ends_now: bool) {
        match self.never {}
    }
}

/// Nobody is there.
pub(super) fn ask_by_name(
    _state: &StateDir,
    _directory: &Path,
    _grant: GrantId,
    _question: &Ask,
    _limit: Duration,
) -> Reached {
    Reached::Unnamed
}

/// Nobody holds anything.
pub(super) fn seen(_state: &StateDir, _directory: &Path, _limit: Duration) -> Vec<(GrantId, Facts)> {
    Vec::new()
}
