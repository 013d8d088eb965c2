//! The spool: what the store could not be told waits in `spool/` of the state directory, one file each (0600), until it can
//! be. For a run by `--force` an entry is written before the program starts and again when it has ended, so that a crash
//! leaves one as well; for a lease whose store was down until the lease ended, when the keeper gives up.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::config::StoreSetting;
use crate::settle::{Decision, Telling};
use crate::state::{self, Gone, StateDir};
use crate::store::{
    self, Ended, Ending, Forced, ForcedEnd, Holding, Live, Owner, Receipt, Release, Settlement, Store, StoreError,
};
use crate::terms::{Digest, GrantId, Resource, SessionId};

/// How long telling the store of one entry may take; the rest waits for the next run.
const LIMIT: Duration = Duration::from_secs(2);

/// An entry as it lies in its file. It has no `Debug`: the whole name of a session works like a credential.
#[derive(Serialize, Deserialize)]
struct Entry {
    /// Which store it is for.
    store: Digest,
    grant: GrantId,
    /// The live file: while its lock is held the run goes on.
    live: Live,
    news: News,
}

/// What the store has not heard.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum News {
    /// A run by force.
    Forced(Forced),
    /// How a lease ended while the store was down until the lease's own end; and, for when somebody has taken it by then
    /// and could not look at our files, what of it is bad.
    Settled(Holding, Settlement, Option<Forced>),
}

/// Writes the entry of a run, in the place of an earlier one of the same run.
///
/// # Errors
/// The spool cannot be made or written.
pub(super) fn write(
    state: &StateDir,
    store: &StoreSetting,
    grant: GrantId,
    live: Live,
    news: News,
) -> Result<(), StoreError> {
    let directory = state.spool()?;
    let _as_owner = state.as_owner();
    let path = directory.join(format!("{grant}.json"));
    let entry = Entry { store: store::place_of(store), grant, live, news };
    let put = || -> io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(&directory)?;
        serde_json::to_writer(&mut file, &entry)?;
        file.flush()?;
        file.as_file().sync_data()?;
        file.persist(&path).map(drop).map_err(|error| error.error)
    };
    put().map_err(|error| StoreError::Failed(format!("{} cannot be written: {error}", path.display())))
}

/// Writes that somebody goes on without what was to be held between commands. Nobody was kept out, and nobody will say
/// how it ended: that is left to a person.
///
/// # Errors
/// See [`write`].
pub fn note_hold(state: &StateDir, store: &StoreSetting, forced: Hold) -> Result<(), StoreError> {
    let Hold { owner, resources, reason, at } = forced;
    let grant = GrantId::random();
    let news = News::Forced(Forced {
        grant,
        owner,
        resources,
        reason,
        began_at: at,
        ended_at: at,
        files: Vec::new(),
        receipts: Vec::new(),
        end: ForcedEnd::Ended(Ended::HumanAction),
        apart: Vec::new(),
    });
    // Nothing runs, so there is no live file; it is asked for where the end is not known.
    write(state, store, grant, Live { device: 0, inode: 0 }, news)
}

/// A hold that nobody has.
pub struct Hold {
    /// Who goes on without it.
    pub owner: Owner,
    /// What it was to be.
    pub resources: Vec<Resource>,
    /// Why somebody forced it.
    pub reason: String,
    /// Wall clock, ms since 1970.
    pub at: i64,
}

/// Tells the store of every run that has ended. What cannot be told now waits; a run that goes on is left alone.
pub(super) fn send(state: &StateDir, setting: &StoreSetting, store: &mut dyn Store) {
    // In the usual case there is no such directory, and this is one system call.
    let Ok(files) = fs::read_dir(state.path().join("spool")) else { return };
    let _as_owner = state.as_owner();
    for path in files.filter_map(|file| Some(file.ok()?.path())) {
        if path.extension() != Some(OsStr::new("json")) {
            continue;
        }
        // An entry that cannot be read stays for a person, or was told by another process at this moment.
        let Some(entry) = ended(state, &path).filter(|entry| entry.store == store::place_of(setting)) else { continue };
        let heard = match &entry.news {
            News::Forced(forced) => store.record_forced(forced, LIMIT),
            News::Settled(holding, settlement, bad) => match (store.settle(holding, settlement, LIMIT), bad) {
                // Whoever took it has proven the files, if on this host; a bad one is told all the same.
                (Ok(Release::NotOurs), Some(bad)) => store.record_forced(bad, LIMIT),
                (answer, _) => answer.map(|_| ()),
            },
        };
        match heard {
            Ok(()) => {}
            // Whom this one is about stays; the others are told.
            Err(StoreError::Failed(_) | StoreError::Refused { .. }) => continue,
            Err(_) => return,
        }
        let _another_was_first = fs::remove_file(&path);
        state::discard(state, entry.grant);
    }
}

/// What waits to be told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Runs by force.
    pub forced: usize,
    /// Of these: they still run.
    pub running: usize,
    /// Leases whose end the store has not heard of.
    pub settled: usize,
    /// Entries for another store than the one that is set, which are counted nowhere else.
    pub elsewhere: Vec<PathBuf>,
    /// Entries that cannot be read.
    pub unreadable: usize,
}

/// Counts what waits. Nobody is told.
#[must_use]
pub fn waiting(state: &StateDir, setting: Option<&StoreSetting>) -> Waiting {
    let mut waiting = Waiting::default();
    let Ok(files) = fs::read_dir(state.path().join("spool")) else { return waiting };
    let _as_owner = state.as_owner();
    for path in files.filter_map(|file| Some(file.ok()?.path())) {
        if path.extension() != Some(OsStr::new("json")) {
            continue;
        }
        match read(&path) {
            None => waiting.unreadable += 1,
            Some(entry) => {
                let place = setting.map(store::place_of);
                if place.is_some_and(|place| place != entry.store) {
                    waiting.elsewhere.push(path);
                    continue;
                }
                match entry.news {
                    News::Settled(..) => waiting.settled += 1,
                    News::Forced(_) => {
                        waiting.forced += 1;
                        waiting.running += usize::from(state::probe(state, entry.grant, entry.live) == Gone::Alive);
                    }
                }
            }
        }
    }
    waiting
}

/// The entry, if its run has ended.
fn ended(state: &StateDir, path: &Path) -> Option<Entry> {
    let entry = read(path)?;
    let unseen = |end: &ForcedEnd| matches!(end, ForcedEnd::Unsettled | ForcedEnd::Lingers { .. });
    if !matches!(&entry.news, News::Forced(forced) if unseen(&forced.end)) {
        return Some(entry);
    }
    match state::probe(state, entry.grant, entry.live) {
        Gone::Alive => None,
        // Order: the run writes its last word before its lock falls, so what is read now is that word, if there is one.
        Gone::Proven | Gone::Unknown => read(path),
    }
}

/// What this session has written by force since then and no store has heard of yet, the newest last.
pub(super) fn written_by_force(state: &StateDir, session: SessionId, since: i64) -> Vec<Receipt> {
    let Ok(files) = fs::read_dir(state.path().join("spool")) else { return Vec::new() };
    let _as_owner = state.as_owner();
    let entries = files.filter_map(|file| read(&file.ok()?.path()));
    let mut forced: Vec<Forced> = entries
        .filter_map(|entry| match entry.news {
            News::Forced(forced) => Some(forced),
            News::Settled(..) => None,
        })
        .filter(|forced| forced.owner.session == session && forced.began_at >= since)
        .collect();
    forced.sort_by_key(|forced| forced.ended_at);
    forced.into_iter().flat_map(|forced| forced.receipts).collect()
}

/// Why the run of this entry was forced, if it was.
pub(super) fn reason(path: &Path) -> Option<String> {
    match read(path)?.news {
        News::Forced(forced) => Some(forced.reason),
        News::Settled(..) => None,
    }
}

fn read(path: &Path) -> Option<Entry> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// How a run by force ended: all of it, and what of it ended in another way.
pub(super) struct Ends {
    pub(super) whole: ForcedEnd,
    pub(super) apart: Vec<(Resource, ForcedEnd)>,
}

impl Ends {
    /// Nobody has seen it end. Where its effect does not stop with its processes it may run on: `remote` is for how long
    /// nobody is let in.
    pub(super) fn unseen(remote: Option<Duration>) -> Self {
        let reason = "it was killed, and its effect may still be running elsewhere".to_owned();
        let whole = remote.map_or(ForcedEnd::Unsettled, |lasts| ForcedEnd::Lingers { reason, lasts });
        Self { whole, apart: Vec::new() }
    }
}

/// How a run ended that held nothing: what would have been kept for its session is nobody's.
pub(super) fn end_of(decision: &Decision, ttl: Duration) -> Ends {
    let open = decision.tellings.iter().any(|telling| matches!(telling, Telling::OpenEdit { .. }));
    let end = |ending: &Ending| match ending {
        Ending::Quarantine { reason } => ForcedEnd::Quarantine { reason: reason.clone() },
        Ending::Linger { reason } => ForcedEnd::Lingers { reason: reason.clone(), lasts: ttl },
        _ if open => ForcedEnd::Unsettled,
        Ending::Elsewhere { reason, keep_for } => ForcedEnd::Lingers { reason: reason.clone(), lasts: *keep_for },
        Ending::Release(ended) => ForcedEnd::Ended(*ended),
        Ending::Keep { .. } => ForcedEnd::Ended(Ended::Failed),
    };
    Ends {
        whole: end(&decision.ending),
        apart: decision.apart.iter().map(|(resource, ending)| (resource.clone(), end(ending))).collect(),
    }
}
