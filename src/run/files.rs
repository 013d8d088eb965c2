//! The files of a run: how they were before, what is kept of them, what the canary says after.
#![forbid(unsafe_code)]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::canary::{self, Expect, Kind, Sample, Verdict};
use crate::clock::Clock as _;
use crate::copies::{Chain, Copy, Quality};
use crate::naming;
use crate::plan::PlannedFile;
use crate::platform::OsStringExt as _;
use crate::rules::{Change, Leaves, Via};
use crate::settle::Finding;
use crate::store::{FileRecord, LeaseView};
use crate::terms::{Digest, percent_decode, percent_encode, shell_path};

use super::job::Job;
use super::{Context, opened};

/// How one file was before the command.
#[derive(Clone)]
pub struct Before {
    /// Its content; none when it did not exist.
    pub content: Option<Vec<u8>>,
    /// The version that the command began with, where the content does not say it: plaintext, or emptied by the shell.
    pub base: Option<Digest>,
}

impl Before {
    /// Reads it.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn read(path: &Path) -> io::Result<Self> {
        match fs::read(path) {
            Ok(content) => Ok(Self { content: Some(content), base: None }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self { content: None, base: None }),
            Err(error) => Err(error),
        }
    }

    /// The version that was written upon; none where there was none that is known.
    #[must_use]
    pub fn version(&self) -> Option<Digest> {
        let sops = || self.content.as_deref().filter(|content| matches!(canary::sniff(content), Kind::Sops(_)));
        self.base.clone().or_else(|| sops().map(Digest::of))
    }

    /// Its digest.
    #[must_use]
    pub fn digest(&self) -> Option<Digest> {
        self.content.as_deref().map(Digest::of)
    }
}

/// The path as people know it, ready for pasting where the command was typed.
#[must_use]
pub(super) fn shown(file: &PlannedFile, cwd: &Path) -> String {
    let path = &file.target.path;
    quoted(path.strip_prefix(cwd).unwrap_or(path))
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
        resources: file.target.resources().cloned().collect(),
        open: was_open(file, before),
    }
}

/// The command found no SOPS file, and was not to make one.
fn was_open(file: &PlannedFile, before: &Before) -> bool {
    file.once && before.content.as_deref().is_none_or(is_no_sops)
}

fn is_no_sops(content: &[u8]) -> bool {
    !matches!(canary::sniff(content), Kind::Sops(_))
}

/// The path of a record on this machine.
#[must_use]
pub fn path_of(record: &FileRecord) -> PathBuf {
    std::ffi::OsString::from_vec(percent_decode(&record.path)).into()
}

/// Keeps a pre-image of a file that passes the native checks. Of plaintext and damaged files none is kept; that a command of
/// sops makes something of them is noted, so that others know of it while it lies there as plaintext.
///
/// # Errors
/// When the copy cannot be written: then the command does not run, since a bad write could not be undone.
pub(super) fn keep_pre_image(file: &PlannedFile, before: &Before, job: &Job<'_>) -> io::Result<()> {
    let (chain, now_ms) = (job.chain(file), job.context.clock.wall_ms());
    if opens(file) {
        opened::note(&file.target);
    }
    match &before.content {
        Some(content) if !is_no_sops(content) && canary::native(content).is_ok() => {
            chain.keep(content, Quality::PreImage, now_ms)
        }
        _ => {
            if makes_sops(file) {
                // Where it cannot be noted, others are told by what is kept once there is a version.
                let _less_is_known = chain.mean(now_ms);
            }
            Ok(())
        }
    }
}

/// It is, or becomes, a SOPS file by this command of sops.
fn makes_sops(file: &PlannedFile) -> bool {
    matches!(file.write.change, Change::Encrypt | Change::Edit) || opens(file)
}

/// It is plaintext after this command of sops, and is to be SOPS again.
fn opens(file: &PlannedFile) -> bool {
    match file.write.change {
        Change::DecryptInPlace => true,
        Change::DecryptTo => !file.once,
        _ => false,
    }
}

/// What the canary says of one file now.
pub(super) fn look(file: &PlannedFile, before: &Before, job: &Job<'_>) -> Finding {
    let found = |verdict| finding(file, job, verdict);
    let now = match Before::read(&file.target.path) {
        Ok(now) => now,
        Err(_) if before.content.is_none() => return found(None),
        Err(error) => {
            let why = format!("it cannot be read: {}", error.kind());
            return found(Some(Verdict::Unverified(why)));
        }
    };
    // Plaintext in the place of plaintext: whether that is an open edit, the lease that it was taken under says.
    if was_open(file, before) && now.content.as_deref().is_none_or(is_no_sops) {
        return found(None);
    }
    // It was to go, and nothing is left that could be unsound. Its last version is kept.
    if file.write.leaves == Leaves::Gone && now.content.is_none() {
        return found(None);
    }
    // With `>>` the shell has emptied nothing.
    let appends = job.context.invocation.stdout().is_some_and(|stdout| stdout.append);
    let redirected = file.write.via == Via::Stdout && !appends;
    let is_empty = now.content.as_ref().is_none_or(Vec::is_empty);
    let befores = if redirected { last_known(file, job) } else { before.content.clone().into_iter().collect() };
    // An empty file behind a redirection that never held anything is no loss.
    let same = if redirected {
        befores.iter().any(|it| Some(it) == now.content.as_ref())
    } else {
        now.content == before.content
    };
    if same || (redirected && is_empty && befores.is_empty()) {
        return found(None);
    }
    let expect = expectation(file, &job.context.invocation.cwd);
    let judge = |before: Option<&[u8]>| {
        canary::look(&Sample { path: &file.target.path, before, expect: &expect }, &job.arbiter)
    };
    let mut verdict = judge(befores.first().map(Vec::as_slice));
    // Which of them the shell emptied nobody knows: what is sound against one of them is not bad.
    for before in befores.iter().skip(1) {
        if !matches!(verdict, Verdict::Bad(_)) {
            break;
        }
        let other = judge(Some(before));
        if !matches!(other, Verdict::Bad(_)) {
            verdict = other;
        }
    }
    if let (Verdict::Bad(_), Some(content)) = (&verdict, &now.content) {
        note_bad(&job.chain(file), content, job.context.clock.wall_ms());
    }
    found(Some(verdict))
}

/// What a redirected file may have held before the shell emptied it: the newest copy of this checkout, HEAD. Only where
/// both are unknown it is what another checkout had.
pub(super) fn last_known(file: &PlannedFile, job: &Job<'_>) -> Vec<Vec<u8>> {
    let newest = |copies: Vec<Copy>| copies.first().and_then(|copy| fs::read(&copy.path).ok());
    let head = || {
        let repository = file.target.repository.as_ref()?;
        let content = repository.head_content(&file.target.path, &super::env_of(job.context)).ok()??;
        matches!(canary::sniff(&content), Kind::Sops(_)).then_some(content)
    };
    let chain = job.chain(file);
    let mut known: Vec<_> = chain.here().ok().and_then(newest).into_iter().chain(head()).collect();
    if known.is_empty() {
        known.extend(chain.all().ok().and_then(newest));
    }
    known
}

/// Notes for `restore` which content is the bad one: some faults are seen only against what was before.
pub(super) fn note_bad(chain: &Chain, content: &[u8], now_ms: i64) {
    let _restore_then_goes_by_its_own_look = chain.put_aside(content, !canary::has_encrypted_value(content), now_ms);
}

/// The same of what lies in a file now.
pub(super) fn note_as_bad(file: &PlannedFile, job: &Job<'_>) {
    if let Ok(Before { content: Some(content), .. }) = Before::read(&file.target.path) {
        note_bad(&job.chain(file), &content, job.context.clock.wall_ms());
    }
}

/// A finding about this file on this host.
pub(super) fn finding(file: &PlannedFile, job: &Job<'_>, verdict: Option<Verdict>) -> Finding {
    let place = format!("{}:{}", job.owner.host, quoted(&file.target.path));
    let resources = file.target.resources().cloned().collect();
    Finding { shown: shown(file, &job.context.invocation.cwd), place, verdict, resources }
}

/// Whether there is something at this path that is no SOPS file.
pub(super) fn is_plaintext(path: &Path) -> bool {
    Before::read(path).is_ok_and(|now| now.content.is_some_and(|now| matches!(canary::sniff(&now), Kind::Plain)))
}

/// Whether nothing is at this path, or nothing in it.
pub(super) fn is_nothing(path: &Path) -> bool {
    Before::read(path).is_ok_and(|now| now.content.is_none_or(|now| now.is_empty()))
}

/// The first of these files that is plaintext on this host, ready for pasting.
#[must_use]
pub fn plaintext_of(records: &[FileRecord]) -> Option<String> {
    records.iter().map(path_of).find(|path| is_plaintext(path)).map(|path| quoted(&path))
}

/// The file that a quarantine is about, ready for pasting: of those that have the name of the lease the one that the
/// reason speaks of. When the command at hand means it too, in whatever checkout, it is shown as there.
#[must_use]
pub fn bad_file(context: &Context, lease: &LeaseView, planned: &[PlannedFile]) -> Option<String> {
    let cwd = &context.invocation.cwd;
    let reason = lease.reason.as_deref().unwrap_or_default();
    let named = |record: &&FileRecord| reason.contains(&format!("{}: ", quoted(&path_of(record))));
    let of_lease = || lease.files.iter().filter(|record| record.concerns(&lease.resource));
    let record = of_lease().find(named).or_else(|| of_lease().next()).or_else(|| lease.files.iter().find(named));
    let ours = planned.iter().find(|file| match record {
        Some(record) => file.target.scope().0 == record.scope && file.target.key == record.key,
        None => file.target.resources().any(|resource| *resource == lease.resource),
    });
    let path = || record.map(path_of).map(|path| quoted(path.strip_prefix(cwd).unwrap_or(&path)));
    ours.map(|file| shown(file, cwd)).or_else(path)
}

/// A path, ready for pasting.
pub(super) fn quoted(path: &Path) -> String {
    shell_path(path)
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
