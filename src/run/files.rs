//! The files of a run: how they were before, what is kept of them, what the canary says after.
#![forbid(unsafe_code)]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::canary::{self, Arbiter, Expect, Kind, Sample, Verdict};
use crate::copies::{Chain, Quality};
use crate::naming;
use crate::plan::PlannedFile;
use crate::rules::{Change, Via};
use crate::settle::Finding;
use crate::store::FileRecord;
use crate::terms::{Digest, Scope, percent_decode, percent_encode, shell_quote};

/// How one file was before the command.
#[derive(Clone)]
pub struct Before {
    /// Its content; none when it did not exist.
    pub content: Option<Vec<u8>>,
}

impl Before {
    /// Reads it.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn read(path: &Path) -> io::Result<Self> {
        match fs::read(path) {
            Ok(content) => Ok(Self { content: Some(content) }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self { content: None }),
            Err(error) => Err(error),
        }
    }

    /// Its digest.
    #[must_use]
    pub fn digest(&self) -> Option<Digest> {
        self.content.as_deref().map(Digest::of)
    }
}

/// The path as people know it, ready for pasting: within the repository where there is one.
#[must_use]
pub(super) fn shown(file: &PlannedFile) -> String {
    let path = &file.target.path;
    let inside = file.target.worktree().and_then(|root| path.strip_prefix(root).ok());
    shell_quote(inside.unwrap_or(path).as_os_str().as_encoded_bytes())
}

/// The record of a file for the store.
#[must_use]
pub(super) fn record(file: &PlannedFile, before: &Before) -> FileRecord {
    FileRecord {
        path: percent_encode(file.target.path.as_os_str().as_encoded_bytes()),
        scope: file.target.scope().to_string(),
        key: file.target.key.clone(),
        before: before.digest(),
        change: Some(file.write.change),
    }
}

/// The path of a record on this machine.
#[must_use]
pub(super) fn path_of(record: &FileRecord) -> PathBuf {
    let bytes = percent_decode(&record.path);
    #[cfg(unix)]
    return PathBuf::from(<std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes));
    #[cfg(not(unix))]
    return String::from_utf8_lossy(&bytes).into_owned().into();
}

/// Keeps a pre-image of a file that passes the native checks. Plaintext and damaged files are not kept.
///
/// # Errors
/// When the copy cannot be written: then the command does not run, since a bad write could not be undone.
pub(super) fn keep_pre_image(copies: &Path, scope: &Scope, key: &str, before: &Before, now_ms: i64) -> io::Result<()> {
    let Some(content) = &before.content else { return Ok(()) };
    if !matches!(canary::sniff(content), Kind::Sops(_)) || canary::native(content).is_err() {
        return Ok(());
    }
    Chain::of(copies, scope, key).keep(content, Quality::PreImage, now_ms)
}

/// What the canary says of one file now.
pub(super) fn look(file: &PlannedFile, before: &Before, arbiter: &Arbiter, cwd: &Path, has_history: bool) -> Finding {
    let shown = shown(file);
    let now = match Before::read(&file.target.path) {
        Ok(now) => now,
        Err(error) => {
            let why = format!("it cannot be read: {}", error.kind());
            return Finding { shown, verdict: Some(Verdict::Unverified(why)) };
        }
    };
    if file.write.via == Via::Stdout {
        // The shell had emptied it before we came; an empty file that never held anything is no loss.
        let nothing_lost = now.content.as_ref().is_none_or(Vec::is_empty) && !has_history;
        if nothing_lost {
            return Finding { shown, verdict: None };
        }
    } else if now.content == before.content {
        return Finding { shown, verdict: None };
    }
    let before = before.content.as_deref().filter(|_| file.write.via != Via::Stdout);
    let expect = expectation(file, cwd);
    Finding {
        shown,
        verdict: Some(canary::look(&Sample { path: &file.target.path, before, expect: &expect }, arbiter)),
    }
}

fn expectation(file: &PlannedFile, cwd: &Path) -> Expect {
    let asked = file.write.asked.clone();
    let named = asked.filename_override.as_deref().unwrap_or(&file.write.path);
    let rule_recipients = matches!(file.write.change, Change::Encrypt | Change::UpdateKeys)
        .then(|| naming::creation_rule_for(named, cwd, asked.config.as_deref()).ok().flatten())
        .flatten()
        .filter(|rule| !rule.other_keys)
        .map(|rule| rule.age);
    Expect { change: Some(file.write.change), via: file.write.via, asked, rule_recipients }
}
