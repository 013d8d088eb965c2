//! What is kept in the state directory about agents: calls that could not be understood, for `doctor`; and which sessions
//! have the shims first on the PATH of their commands, because we put them there when they began. No call's content, and
//! nothing that anybody waits for: what cannot be kept is not kept.
#![forbid(unsafe_code)]

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::state::StateDir;
use crate::terms::{Resource, SessionId};

use super::NoCall;

/// Sessions that have not ended as they should are forgotten after this.
const FORGOTTEN: Duration = Duration::from_secs(30 * 86_400);

/// Calls that could not be understood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unread {
    /// How many.
    pub count: u64,
    /// When the last was; wall clock, ms since 1970.
    pub last: i64,
    /// Why the last was none.
    pub why: String,
}

/// Notes a call that could not be understood.
pub fn note_unread(state: &StateDir, why: NoCall, now_ms: i64) {
    let count = unread(state).map_or(1, |unread| unread.count.saturating_add(1));
    let unread = Unread { count, last: now_ms, why: why.to_string() };
    // Of several at once one may not be counted.
    keep(state, UNREAD, &unread);
}

/// Where all of it lies.
const PLACE: &str = "agents";
const UNREAD: &str = "unread.json";

/// The calls that could not be understood; none where there were none.
#[must_use]
pub fn unread(state: &StateDir) -> Option<Unread> {
    let _as_owner = state.as_owner();
    serde_json::from_slice(&std::fs::read(state.path().join(PLACE).join(UNREAD)).ok()?).ok()
}

/// Forgets them.
///
/// # Errors
/// The file cannot be taken away.
pub fn forget_unread(state: &StateDir) -> std::io::Result<()> {
    let _as_owner = state.as_owner();
    std::fs::remove_file(state.path().join(PLACE).join(UNREAD))
}

/// What a session's commands were told at its start: which session they are of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exported {
    /// The folder of the shims that they find first; none where there are none.
    pub shims: Option<PathBuf>,
}

fn of(session: SessionId) -> String {
    format!("{}.json", session.whole())
}

/// Notes that the commands of this session know it, and find the shims in this folder first.
pub fn note_export(state: &StateDir, session: SessionId, shims: Option<&Path>) {
    forget_old(state);
    keep(state, &of(session), &Exported { shims: shims.map(Path::to_owned) });
}

/// A file that a session has been let write as plaintext, under the lease on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// The lease.
    pub resource: Resource,
    /// The file.
    pub path: PathBuf,
}

fn written_of(session: SessionId) -> String {
    format!("{}.written", session.whole())
}

/// Notes it. Several tools of one session may be used at once, so it is appended.
pub fn note_written(state: &StateDir, session: SessionId, written: &Written) {
    if self::written(state, session).contains(written) {
        return;
    }
    let (Ok(directory), Ok(mut line)) = (state.below(PLACE), serde_json::to_string(written)) else { return };
    let _as_owner = state.as_owner();
    line.push('\n');
    let file = OpenOptions::new().append(true).create(true).open(directory.join(written_of(session)));
    let _nobody_waits_for_it = file.and_then(|mut file| file.write_all(line.as_bytes()));
}

/// The files that were noted of this session.
#[must_use]
pub fn written(state: &StateDir, session: SessionId) -> Vec<Written> {
    let _as_owner = state.as_owner();
    let text = std::fs::read_to_string(state.path().join(PLACE).join(written_of(session))).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn keep(state: &StateDir, name: &str, what: &impl Serialize) {
    let Ok(directory) = state.below(PLACE) else { return };
    let _as_owner = state.as_owner();
    let put = || -> std::io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(&directory)?;
        serde_json::to_writer(&mut file, what)?;
        file.flush()?;
        file.persist(directory.join(name)).map(drop).map_err(|error| error.error)
    };
    let _nobody_waits_for_it = put();
}

/// What was noted of this session.
#[must_use]
pub fn exported(state: &StateDir, session: SessionId) -> Option<Exported> {
    let _as_owner = state.as_owner();
    serde_json::from_slice(&std::fs::read(state.path().join(PLACE).join(of(session))).ok()?).ok()
}

/// Forgets it: the session has ended.
pub fn forget_export(state: &StateDir, session: SessionId) {
    let _as_owner = state.as_owner();
    for name in [of(session), written_of(session)] {
        let _there_may_be_none = std::fs::remove_file(state.path().join(PLACE).join(name));
    }
}

fn forget_old(state: &StateDir) {
    let _as_owner = state.as_owner();
    let files = std::fs::read_dir(state.path().join(PLACE)).into_iter().flatten().flatten();
    for file in files.filter(|file| file.file_name() != UNREAD) {
        let old = |modified: std::time::SystemTime| modified.elapsed().is_ok_and(|age| age > FORGOTTEN);
        if file.metadata().and_then(|found| found.modified()).is_ok_and(old) {
            let _another_was_first = std::fs::remove_file(file.path());
        }
    }
}
