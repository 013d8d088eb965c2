//! Windows: wrapper and keeper are one process, and with it everything falls that it has started, so the session is its own:
//! it falls when the process does, and no sooner. What others of this state directory may know lies in `advisory/<grant>`,
//! and holds for as long as the live file of that grant is locked.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::state::{self, Gone, StateDir};
use crate::store::StoreError;
use crate::terms::GrantId;

use super::Outside;
use super::held::Held;
use super::server::{Reach, Session};
use super::steward::{Next, Steward};
use super::words::{Answer, Ask, Facts, Wanted};

/// The stewards of this process: a store that is opened anew (to renew, to settle) finds them here.
static DESKS: Mutex<BTreeMap<GrantId, Arc<Desk>>> = Mutex::new(BTreeMap::new());

fn desks() -> MutexGuard<'static, BTreeMap<GrantId, Arc<Desk>>> {
    DESKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where others learn of a grant.
pub(super) struct Door(PathBuf);

/// A steward.
struct Desk {
    reach: Arc<Reach>,
    state: StateDir,
    directory: PathBuf,
    local: bool,
    outside: Outside,
    holds: Mutex<(Option<Held>, Option<Session>)>,
}

impl Desk {
    fn answer(&self, question: &Ask, maker: bool) -> Reached {
        let (reach, state, outside) = (self.reach.as_ref(), &self.state, &self.outside);
        let steward = Steward { reach, state, directory: self.directory.clone(), local: self.local, outside };
        let holds = &mut *self.holds.lock().unwrap_or_else(PoisonError::into_inner);
        let (held, spare) = holds;
        let (answer, next) = steward.answer(question.clone(), held, spare, maker);
        if next == Next::Leave {
            // With the session fall its locks.
            *holds = (None, None);
        }
        Reached::Answered(answer)
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        if let (Some(held), _) = self.holds.get_mut().unwrap_or_else(PoisonError::into_inner) {
            let _litter = fs::remove_file(&held.door.0);
        }
    }
}

/// A steward that this process made.
pub(super) struct Hired {
    desk: Arc<Desk>,
    /// Whose locks it has or tries for; none yet.
    pub(super) grant: Option<GrantId>,
}

/// What came of a question.
pub(super) enum Reached {
    Answered(Answer),
    /// It did not answer in time.
    #[expect(dead_code, reason = "an answer of a process of its own")]
    Silent,
    /// It ended with its locks.
    Dead,
    /// There is no such name: it gave its locks back, or never had any.
    Unnamed,
}

impl Hired {
    #[expect(clippy::unnecessary_wraps, reason = "the same as where a process is started for it")]
    pub(super) fn start(
        reach: &Arc<Reach>,
        state: &StateDir,
        directory: PathBuf,
        local: bool,
        outside: &Outside,
        grant: Option<GrantId>,
    ) -> Result<Self, StoreError> {
        sweep(state, &directory);
        let (reach, state, outside) = (Arc::clone(reach), state.clone(), outside.clone());
        let desk = Desk { reach, state, directory, local, outside, holds: Mutex::default() };
        Ok(Self { desk: Arc::new(desk), grant })
    }

    #[expect(clippy::unused_self, reason = "the same as where there are forks")]
    pub(super) fn is_ours(&self) -> bool {
        true
    }

    pub(super) fn ask(&self, question: &Ask, _limit: Duration) -> Reached {
        let reached = self.desk.answer(question, true);
        if let (Reached::Answered(Answer::Taken { .. }), Some(grant)) = (&reached, self.grant) {
            desks().insert(grant, Arc::clone(&self.desk));
        }
        reached
    }

    /// Ends it with whatever it may have locked meanwhile.
    pub(super) fn dismiss(self) {
        self.forget();
    }

    /// It has given its locks back. One that was to linger cannot outlive us, which is said.
    pub(super) fn part(self, ends_now: bool) {
        if !ends_now {
            (self.desk.outside.say)(
                "locked: WARNING: what the command set off may run on, and a session lock falls with this process: others may come in now",
            );
        }
        self.forget();
    }

    fn forget(&self) {
        if let Some(grant) = self.grant {
            desks().remove(&grant);
        }
    }
}

impl Steward<'_> {
    /// Writes down what others may know.
    pub(super) fn make_door(&self, wanted: &Wanted) -> io::Result<Door> {
        let path = self.directory.join(&wanted.grant);
        write(&path, &wanted.facts)?;
        Ok(Door(path))
    }

    /// The same, now that it has changed.
    #[expect(clippy::unused_self, reason = "the same as where nothing is written down")]
    pub(super) fn told(&self, held: &Held) {
        // Who asks is told what was so before.
        let _as_before = write(&held.door.0, &held.wanted.facts);
    }

    #[expect(clippy::unused_self, reason = "the same as where others work for an owner")]
    pub(super) fn close_door(&self, held: &Held) {
        // What stays is swept later.
        let _litter = fs::remove_file(&held.door.0);
    }
}

/// In one step: whoever reads it meanwhile finds one or the other.
fn write(path: &Path, facts: &Facts) -> io::Result<()> {
    let draft = path.with_extension("new");
    fs::write(&draft, serde_json::to_vec(facts)?)?;
    fs::rename(&draft, path)
}

/// Asks the steward of a grant. In another process it can be asked only what it is for.
pub(super) fn ask_by_name(
    state: &StateDir,
    directory: &Path,
    grant: GrantId,
    question: &Ask,
    _limit: Duration,
) -> Reached {
    let desk = desks().get(&grant).cloned();
    if let Some(desk) = desk {
        return desk.answer(question, false);
    }
    match known(state, directory, grant) {
        Some(Ok(facts)) if matches!(question, Ask::Facts) => Reached::Answered(Answer::Facts(Box::new(facts))),
        Some(_) => Reached::Dead,
        None => Reached::Unnamed,
    }
}

/// What is written of a grant; an error when it is over. None: nothing is.
fn known(state: &StateDir, directory: &Path, grant: GrantId) -> Option<Result<Facts, ()>> {
    let text = fs::read(directory.join(grant.to_string())).ok()?;
    let Ok(facts) = serde_json::from_slice::<Facts>(&text) else { return Some(Err(())) };
    let lives = facts.live.is_some_and(|live| state::probe(state, grant, live) == Gone::Alive);
    Some(if lives { Ok(facts) } else { Err(()) })
}

/// Everything that stewards of this machine hold.
pub(super) fn seen(state: &StateDir, directory: &Path, _limit: Duration) -> Vec<(GrantId, Facts)> {
    let facts = |grant: GrantId| Some((grant, known(state, directory, grant)?.ok()?));
    grants(directory).into_iter().filter_map(facts).collect()
}

/// Removes what is written of those that were killed.
fn sweep(state: &StateDir, directory: &Path) {
    for grant in grants(directory) {
        if matches!(known(state, directory, grant), Some(Err(()))) {
            // What stays is litter.
            let _litter = fs::remove_file(directory.join(grant.to_string()));
        }
    }
}

fn grants(directory: &Path) -> Vec<GrantId> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok().map(GrantId)).collect()
}
