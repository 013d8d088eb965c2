//! A run without a lease, told to the store afterwards.
#![forbid(unsafe_code)]

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::terms::{GrantId, Resource};

use super::{Ended, FileRecord, Owner, Receipt};

/// A command that ran by `--force` while the store could not be reached.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Forced {
    /// Names the run, so that it is recorded once however often it is told.
    pub grant: GrantId,
    /// Who ran it.
    pub owner: Owner,
    /// What it would have held.
    pub resources: Vec<Resource>,
    /// Why somebody forced it.
    pub reason: String,
    /// Wall clock, ms since 1970.
    pub began_at: i64,
    /// Wall clock, ms since 1970.
    pub ended_at: i64,
    /// The files that it may have written, with their digests before.
    pub files: Vec<FileRecord>,
    /// Receipts of what was proven.
    pub receipts: Vec<Receipt>,
    /// How it ended.
    pub end: ForcedEnd,
    /// Resources of it that ended in another way: those whose file is bad, while the others are sound.
    pub apart: Vec<(Resource, ForcedEnd)>,
}

impl Forced {
    /// How it ended for this resource.
    #[must_use]
    pub fn of(&self, resource: &Resource) -> &ForcedEnd {
        self.apart.iter().find(|(apart, _)| apart == resource).map_or(&self.end, |(_, end)| end)
    }
}

/// How a forced run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ForcedEnd {
    /// It ended, and its files were looked at.
    Ended(Ended),
    /// It left a file bad.
    Quarantine {
        /// Host, path and fault, in one sentence without secrets.
        reason: String,
    },
    /// Something of it may still be running where we cannot stop it. Nobody is let in for as long as that was to last;
    /// then whoever comes proves its files.
    Lingers {
        /// What may be running, in one sentence without secrets.
        reason: String,
        /// How long, from when the store hears of it.
        lasts: Duration,
    },
    /// Nobody could say; whoever comes next proves its files.
    Unsettled,
}
