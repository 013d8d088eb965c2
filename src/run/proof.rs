//! The take-over proof: what a predecessor that never settled has left behind is looked at before anything is spawned.
#![forbid(unsafe_code)]

use crate::canary::{self, Arbiter, Expect, Fault, Kind, Sample, Verdict};
use crate::copies::Chain;
use crate::git::Repository;
use crate::rules::{Asked, Change, Via};
use crate::store::{FileRecord, Receipt, ReceiptKind, Unsettled};
use crate::terms::{Digest, Resource, Scope, shell_quote};

use super::{Before, files, witness};

/// What the proof came to.
#[must_use]
pub(super) struct Proof {
    /// These writes were found done and sound.
    pub(super) receipts: Vec<Receipt>,
    /// These files are bad.
    pub(super) bad: Vec<Bad>,
}

/// A bad file.
pub(super) struct Bad {
    /// The resource that is quarantined for it.
    pub(super) resource: Resource,
    /// Which file, for pasting.
    pub(super) shown: String,
    /// What is wrong.
    pub(super) fault: Fault,
}

/// Proves the files of every predecessor on this host; those of other hosts can be proven only there. What a predecessor
/// wrote besides, under another resource, is for the next holder of that one.
pub(super) fn prove(
    unsettled: &[Unsettled],
    host: &str,
    copies: &std::path::Path,
    arbiter: &Arbiter,
    now_ms: i64,
) -> Proof {
    let mut proof = Proof { receipts: Vec::new(), bad: Vec::new() };
    for Unsettled { resource, files, .. } in unsettled.iter().filter(|predecessor| predecessor.host == host) {
        for record in files.iter().filter(|record| record.concerns(resource)) {
            match prove_one(record, resource, copies, arbiter, now_ms) {
                Ok(receipt) => proof.receipts.extend(receipt),
                Err((shown, fault)) => proof.bad.push(Bad { resource: resource.clone(), shown, fault }),
            }
        }
    }
    proof
}

/// What is wrong with a recorded file of this host, if anything: judged as the file of a command that is gone.
#[must_use]
pub fn fault_of(
    record: &FileRecord,
    resource: &Resource,
    copies: &std::path::Path,
    arbiter: &Arbiter,
    now_ms: i64,
) -> Option<Fault> {
    prove_one(record, resource, copies, arbiter, now_ms).err().map(|(_, fault)| fault)
}

/// A file that was plaintext and is so no more, by whoever's hand: judged as one that was encrypted. The receipt, where it is
/// not byte for byte as it was before the edit.
pub(super) fn closed(
    record: &FileRecord,
    resource: &Resource,
    copies: &std::path::Path,
    arbiter: &Arbiter,
    now_ms: i64,
) -> Result<Option<Receipt>, Fault> {
    let now = Before::read(&files::path_of(record)).ok().and_then(|now| now.digest());
    if now.is_some() && now == record.before {
        return Ok(None);
    }
    // What was encrypted is the plaintext that lay there, which nobody has kept: there is nothing to compare it with.
    let encrypted = FileRecord { change: Some(Change::Encrypt), before: None, ..record.clone() };
    let receipt = prove_one(&encrypted, resource, copies, arbiter, now_ms).map_err(|(_, fault)| fault)?;
    Ok(receipt.map(|receipt| Receipt { base: record.before.clone(), ..receipt }))
}

/// By what a dead command's file is judged. Its options are not on record, so one that may change recipients may have
/// changed them to anything; and nobody is there who could end an open edit, so plaintext is bad.
fn judged_as(change: Option<Change>) -> Option<Change> {
    match change {
        Some(Change::Rotate | Change::UpdateKeys | Change::Groups) => Some(Change::UpdateKeys),
        Some(Change::Encrypt) => Some(Change::Encrypt),
        _ => None,
    }
}

fn prove_one(
    record: &FileRecord,
    resource: &Resource,
    copies: &std::path::Path,
    arbiter: &Arbiter,
    now_ms: i64,
) -> Result<Option<Receipt>, (String, Fault)> {
    let path = files::path_of(record);
    let Ok(Before { content: Some(now), .. }) = Before::read(&path) else {
        // Gone, or not ours to read: sops never removes a file, so this is somebody's decision and no half-done write.
        return Ok(None);
    };
    let digest = Digest::of(&now);
    if record.before.as_ref() == Some(&digest) || (record.before.is_none() && now.is_empty()) {
        return Ok(None);
    }
    // Whose edit it is, if somebody's, is said by the record of who opened it.
    if record.open && !matches!(canary::sniff(&now), Kind::Sops(_)) {
        return Ok(None);
    }
    let scope = Scope(record.scope.clone());
    let chain = Chain::of(copies, &scope, &record.key, &path);
    let before = record.before.as_ref().and_then(|before| chain.with_digest(before).ok().flatten());
    let expect =
        Expect { change: judged_as(record.change), via: Via::InPlace, asked: Asked::default(), rule_recipients: None };
    match canary::look(&Sample { path: &path, before: before.as_deref(), expect: &expect }, arbiter) {
        Verdict::Bad(fault) => {
            files::note_bad(&chain, &now, now_ms);
            Err((shell_quote(path.as_os_str().as_encoded_bytes()), fault))
        }
        // Without a command that was meant to leave plaintext there is no open edit; the canary says "bad" instead.
        Verdict::OpenEdit | Verdict::Sound | Verdict::Unverified(_) => {
            let env = |name: &str| arbiter.env.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
            let repository = Repository::discover(&path).ok().flatten();
            let repository = repository.as_ref();
            if let Some(repository) = repository {
                witness::note(repository, &digest);
            }
            let base = match (&before, record.change) {
                // What was encrypted in place was plaintext, and no version: the newest that was kept is what it was made from.
                (None, Some(Change::Encrypt)) => chain.here().ok().and_then(|kept| Some(kept.first()?.digest.clone())),
                _ => record.before.clone(),
            };
            Ok(Some(Receipt {
                scope,
                path: record.key.clone(),
                resource: resource.clone(),
                base,
                new: digest,
                blob: repository.and_then(|repository| repository.stored_as(&path, &now, &env).ok()),
                branch: repository.and_then(|repository| repository.branch(&env).ok().flatten()),
                worktree: repository.map(|repository| repository.worktree_root.display().to_string()),
                kind: ReceiptKind::Recovered,
            }))
        }
    }
}
