//! Who else has a secret: the SOPS files of the repository with a key of the same name. Names are in the open in a SOPS
//! file, so no key is needed. What was not written while the secret was rotated gives its readers the old value.
#![forbid(unsafe_code)]

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::canary::{self, Kind, document};
use crate::git::Repository;
use crate::naming::{Local, Namer};
use crate::report;
use crate::store::{Ended, HistoryFilter, LeaseView, PastLease, Receipt, Store, StoreError};
use crate::terms::{Resource, SessionId, percent_decode};

use super::files::quoted;
use super::{Context, env_of, said_scope};

/// A larger file is not looked at (bytes). SOPS files are written by hand.
const FILE_CAP: u64 = 1024 * 1024;
/// So many files of a repository are looked at, at most, and so many bytes of them.
const FILES_CAP: usize = 20_000;
const BYTES_CAP: u64 = 256 * 1024 * 1024;
/// How far back in the ledger the beginning of a rotation is looked for.
const LOOK_BACK: u32 = 200;

/// What is left to be written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Left {
    /// The files that have the key and were not written, as seen from the working directory.
    pub files: Vec<PathBuf>,
    /// Why not everything could be looked at; none when it was.
    pub unseen: Option<String>,
    /// The session holds the rotation by `acquire` beyond the command at hand: this is not its end.
    pub goes_on: bool,
}

impl Left {
    /// The files, ready for pasting.
    #[must_use]
    pub fn shown(&self) -> Vec<String> {
        self.files.iter().map(|file| quoted(file)).collect()
    }

    /// The same in one text: at most ten.
    #[must_use]
    pub fn listed(&self) -> String {
        report::listed(&self.shown())
    }
}

/// Looks through the repository around the working directory for readers of the secret of this rotation, which
/// `session` holds. `fresh` are receipts that the store has not heard of yet.
///
/// # Errors
/// The store could not answer.
pub fn left(
    context: &Context,
    store: &mut dyn Store,
    rotation: &Resource,
    session: SessionId,
    fresh: &[Receipt],
    limit: Duration,
) -> Result<Left, StoreError> {
    let (found, unseen) = files_with(context, rotation);
    let held = store.leases(Some(std::slice::from_ref(rotation)), limit)?;
    let Some(held) = held.into_iter().find(|lease| lease.session == session) else {
        return Ok(Left { unseen, ..Left::default() });
    };
    let filter =
        HistoryFilter { name: Some(rotation.name.to_string()), limit: Some(LOOK_BACK), ..HistoryFilter::default() };
    let past = store.history(&filter, limit)?;
    let (began, goes_on) = began(&held, &past);
    let mut left = Left { unseen, goes_on, ..Left::default() };
    let (env, said) = (env_of(context), said_scope(context));
    let mut namer = Namer::new(Local::Peek, &env).heeding(&said);
    for file in found {
        // What has no name cannot have been written under one.
        let written = match namer.name(&file) {
            Err(_) => false,
            Ok(target) => {
                let now = fresh.iter().any(|receipt| receipt.path == target.key && receipt.scope == *target.scope());
                now || store
                    .receipts(target.scope(), &target.key, limit)?
                    .iter()
                    .any(|receipt| receipt.at >= began && receipt.holder.starts_with(&session.short()))
            }
        };
        if !written {
            let cwd = &context.invocation.cwd;
            left.files.push(file.strip_prefix(cwd).unwrap_or(&file).to_owned());
        }
    }
    Ok(left)
}

/// Since when the session has held it without a gap: a command that adopts what its session acquired has a row of its own.
/// And whether the command's row goes back to such a hold.
fn began(held: &LeaseView, past: &[PastLease]) -> (i64, bool) {
    let mut began = held.acquired_at;
    let mut goes_on = None;
    let own = past.iter().filter(|past| past.resource == held.resource && past.session == held.session);
    for past in own {
        if past.ended_at != began || !past.was_adopted(began) {
            continue;
        }
        began = past.acquired_at;
        goes_on.get_or_insert(past.ended_as == Ended::Completed);
    }
    (began, goes_on.unwrap_or(false) && !held.explicit)
}

/// The tracked files that are SOPS files and have the key, and why some were not looked at.
fn files_with(context: &Context, rotation: &Resource) -> (Vec<PathBuf>, Option<String>) {
    let bytes = percent_decode(rotation.name.as_str().trim_start_matches("rotation:"));
    let Ok(secret) = String::from_utf8(bytes) else { return (Vec::new(), None) };
    let Ok(Some(repository)) = Repository::around(&context.invocation.cwd) else { return (Vec::new(), None) };
    let tracked = match repository.tracked(&env_of(context)) {
        Ok(tracked) => tracked,
        Err(error) => return (Vec::new(), Some(error.to_string())),
    };
    let mut unseen = (tracked.cut || tracked.files.len() > FILES_CAP)
        .then(|| format!("only the first {FILES_CAP} files, at most, were looked at"));
    let mut budget = BYTES_CAP;
    let mut found = Vec::new();
    for path in tracked.files.iter().take(FILES_CAP) {
        let path = repository.worktree_root.join(path);
        let Some(content) = read(&path) else { continue };
        let Some(rest) = budget.checked_sub(content.len() as u64) else {
            unseen = Some(format!("only the first {} MiB of the repository were looked at", BYTES_CAP / 1024 / 1024));
            break;
        };
        budget = rest;
        if has_key(&content, &secret) {
            found.push(path);
        }
    }
    (found, unseen)
}

/// The content of a regular file that is not too large.
fn read(path: &Path) -> Option<Vec<u8>> {
    let about = path.symlink_metadata().ok().filter(|about| about.is_file() && about.len() <= FILE_CAP)?;
    let mut content = Vec::with_capacity(usize::try_from(about.len()).ok()?);
    crate::platform::regular(path).ok()?.take(FILE_CAP).read_to_end(&mut content).ok()?;
    Some(content)
}

fn has_key(content: &[u8], secret: &str) -> bool {
    let has = |needle: &[u8]| content.windows(needle.len()).any(|window| window == needle);
    // Order: the cheap looks first. A name with an escape in it is no name of a secret.
    has(b"sops") && has(secret.as_bytes()) && matches!(canary::sniff(content), Kind::Sops(_)) && {
        document::read(content).is_ok_and(|document| document.keys.has_name(secret))
    }
}
