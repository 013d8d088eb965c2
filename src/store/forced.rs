//! A run without a lease, told to the store afterwards.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};

use crate::terms::{GrantId, Resource};

use super::{Ended, FileRecord, Owner, Receipt};

/// A command that ran by `--force` while the store could not be reached.
#[derive(Debug, Clone)]
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
    /// Nobody could say; whoever comes next proves its files.
    Unsettled,
}
