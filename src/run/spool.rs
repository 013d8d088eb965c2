//! The spool: runs by `--force` wait in `spool/` of the state directory, one file each (0600), until the store hears of
//! them. An entry is written before the program starts and again when it has ended, so that a crash leaves one as well.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::state::{self, Gone, StateDir};
use crate::store::{Ended, FileRecord, Forced, ForcedEnd, Live, Owner, Receipt, ReceiptKind, Store, StoreError};
use crate::terms::{Digest, GrantId, Resource, ResourceName, Scope, SessionId};

/// How long telling the store of one entry may take; the rest waits for the next run.
const LIMIT: Duration = Duration::from_secs(2);

/// An entry as it lies in its file. It has no `Debug`: the whole name of a session works like a credential.
#[derive(Serialize, Deserialize)]
struct Entry {
    /// Which store it is for.
    store: Digest,
    /// Device and inode of the live file: while its lock is held the run goes on.
    live: (u64, u64),
    grant: String,
    session: String,
    label: String,
    host: String,
    host_id: String,
    pid: u32,
    operation: String,
    rule: Option<String>,
    resources: Vec<(String, String)>,
    reason: String,
    began_at: i64,
    ended_at: i64,
    files: Vec<FileRecord>,
    receipts: Vec<Paper>,
    end: ForcedEnd,
}

/// A receipt in an entry.
#[derive(Serialize, Deserialize)]
struct Paper {
    scope: String,
    path: String,
    resource: (String, String),
    base: Option<Digest>,
    new: Digest,
    blob: Option<String>,
    branch: Option<String>,
    worktree: Option<String>,
    kind: ReceiptKind,
}

/// Names a store without its user and password, which must not come into a file, not even as a digest.
fn name_of(store: Option<&OsStr>) -> Digest {
    let text = store.unwrap_or_default().as_encoded_bytes();
    let address = text.rsplit(|&byte| byte == b'@').next().unwrap_or_default();
    Digest::of(if address == b"embedded" { b"" } else { address })
}

/// Writes the entry of a run, in the place of an earlier one of the same run.
///
/// # Errors
/// The spool cannot be made or written.
pub(super) fn write(state: &StateDir, store: Option<&OsStr>, live: Live, forced: &Forced) -> Result<(), StoreError> {
    let directory = state.spool()?;
    let _as_owner = state.as_owner();
    let path = directory.join(format!("{}.json", forced.grant));
    let put = || -> io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(&directory)?;
        serde_json::to_writer(&mut file, &entry(store, live, forced))?;
        file.flush()?;
        file.as_file().sync_data()?;
        file.persist(&path).map(drop).map_err(|error| error.error)
    };
    put().map_err(|error| StoreError::Failed(format!("{} cannot be written: {error}", path.display())))
}

/// Tells the store of every run that has ended. What cannot be told now waits; a run that goes on is left alone.
pub(super) fn send(state: &StateDir, name: Option<&OsStr>, store: &mut dyn Store) {
    // In the usual case there is no such directory, and this is one system call.
    let Ok(files) = fs::read_dir(state.path().join("spool")) else { return };
    let _as_owner = state.as_owner();
    for path in files.filter_map(|file| Some(file.ok()?.path())) {
        if path.extension() != Some(OsStr::new("json")) {
            continue;
        }
        // An entry that cannot be read stays for a person, or was told by another process at this moment.
        let Some(entry) = ended(state, &path).filter(|entry| entry.store == name_of(name)) else { continue };
        let Some(forced) = forced(entry) else { continue };
        if store.record_forced(&forced, LIMIT).is_err() {
            return;
        }
        let _another_was_first = fs::remove_file(&path);
        state::discard(state, forced.grant);
    }
}

/// The entry, if its run has ended.
fn ended(state: &StateDir, path: &Path) -> Option<Entry> {
    let entry = read(path)?;
    if entry.end != ForcedEnd::Unsettled {
        return Some(entry);
    }
    let live = Live { device: entry.live.0, inode: entry.live.1 };
    match state::probe(state, GrantId(entry.grant.parse().ok()?), live) {
        Gone::Alive => None,
        // Order: the run writes its last word before its lock falls, so what is read now is that word, if there is one.
        Gone::Proven | Gone::Unknown => read(path),
    }
}

fn read(path: &Path) -> Option<Entry> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

fn pair(resource: &Resource) -> (String, String) {
    (resource.scope.0.clone(), resource.name.to_string())
}

fn resource((scope, name): &(String, String)) -> Option<Resource> {
    Some(Resource { name: ResourceName::parse(name.as_bytes()).ok()?, scope: Scope(scope.clone()) })
}

fn entry(store: Option<&OsStr>, live: Live, forced: &Forced) -> Entry {
    let owner = forced.owner.clone();
    Entry {
        store: name_of(store),
        live: (live.device, live.inode),
        grant: forced.grant.to_string(),
        session: owner.session.whole(),
        label: owner.label,
        host: owner.host,
        host_id: owner.host_id,
        pid: owner.pid,
        operation: owner.operation,
        rule: owner.rule,
        resources: forced.resources.iter().map(pair).collect(),
        reason: forced.reason.clone(),
        began_at: forced.began_at,
        ended_at: forced.ended_at,
        files: forced.files.clone(),
        receipts: forced.receipts.iter().map(paper).collect(),
        end: forced.end.clone(),
    }
}

fn paper(receipt: &Receipt) -> Paper {
    let receipt = receipt.clone();
    Paper {
        scope: receipt.scope.0,
        path: receipt.path,
        resource: pair(&receipt.resource),
        base: receipt.base,
        new: receipt.new,
        blob: receipt.blob,
        branch: receipt.branch,
        worktree: receipt.worktree,
        kind: receipt.kind,
    }
}

fn forced(entry: Entry) -> Option<Forced> {
    let receipt = |paper: Paper| {
        Some(Receipt {
            scope: Scope(paper.scope),
            path: paper.path,
            resource: resource(&paper.resource)?,
            base: paper.base,
            new: paper.new,
            blob: paper.blob,
            branch: paper.branch,
            worktree: paper.worktree,
            kind: paper.kind,
        })
    };
    Some(Forced {
        grant: GrantId(entry.grant.parse().ok()?),
        owner: Owner {
            session: SessionId(entry.session.parse().ok()?),
            label: entry.label,
            host: entry.host,
            host_id: entry.host_id,
            pid: entry.pid,
            operation: entry.operation,
            rule: entry.rule,
        },
        resources: entry.resources.iter().map(resource).collect::<Option<_>>()?,
        reason: entry.reason,
        began_at: entry.began_at,
        ended_at: entry.ended_at,
        files: entry.files,
        receipts: entry.receipts.into_iter().map(receipt).collect::<Option<_>>()?,
        end: entry.end,
    })
}

/// How a run ended that held nothing: what would have been kept for its session is nobody's.
pub(super) fn end_of(decision: &crate::settle::Decision) -> ForcedEnd {
    use crate::settle::Telling;
    use crate::store::Ending;
    match (&decision.ending, &decision.telling) {
        (Ending::Quarantine { reason }, _) => ForcedEnd::Quarantine { reason: reason.clone() },
        (Ending::Linger { .. }, _) | (_, Some(Telling::OpenEdit { .. })) => ForcedEnd::Unsettled,
        (Ending::Release(ended), _) => ForcedEnd::Ended(*ended),
        (Ending::Keep { .. }, _) => ForcedEnd::Ended(Ended::Failed),
    }
}
