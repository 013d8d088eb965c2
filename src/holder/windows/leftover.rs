//! What a dead holder left running. The job object ends it with the holder; this looks whether it is through.
#![forbid(unsafe_code)]

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::super::Search;
use super::super::anchor;
use super::peek::{self, Hidden};
use super::{Processes as _, Snapshot};
use crate::clock::{Clock as _, Moment, SystemClock};
use crate::platform;
use crate::terms::GrantId;

/// Between 1601, where the system counts from, and 1970.
const UNTIL_1970: Duration = Duration::from_secs(11_644_473_600);
/// What two looks at two clocks may differ by.
const SLACK: Duration = Duration::from_secs(2);

/// Looks through the processes of this machine for those that carry `LOCKED_LEASE=<grant>`.
///
/// `since` is a moment, on this boot's clock, before which the grant did not exist: processes made earlier cannot descend
/// from its holder, so that other users' services do not make us blind. A process that cleared or overwrote its
/// environment is not found.
#[must_use]
pub fn processes_of(grant: GrantId, since: Option<Moment>) -> Search {
    let (marker, oldest) = (format!("LOCKED_LEASE={grant}"), since.map(created_before));
    let (mut found, mut blind) = (Vec::new(), false);
    let Some(all) = platform::processes() else { return Search::Blind };
    for process in all {
        let is_older = oldest.is_some_and(|oldest| process.created < oldest);
        match peek::environment(process.pid) {
            Ok(entries) if entries.contains(&marker) => found.push(process.pid),
            Ok(_) | Err(Hidden::Gone) => {}
            // The idle process and the system's own have no environment.
            Err(Hidden::Refused) => blind |= !is_older && process.pid > 4,
        }
    }
    found.sort_unstable();
    match (found.is_empty(), blind) {
        (false, _) => Search::Found(found),
        (true, true) => Search::Blind,
        (true, false) => Search::None,
    }
}

/// Ends what a dead holder left running. True when none is left that we can see. Ourselves, those above us and those below
/// us are spared: we may stand in that very tree.
#[must_use]
pub fn end_processes_of(grant: GrantId, since: Option<Moment>) -> bool {
    let marker = format!("LOCKED_LEASE={grant}");
    let spared = family();
    for _ in 0..100 {
        let Search::Found(carriers) = processes_of(grant, since) else { return true };
        let carriers: Vec<u32> = carriers.into_iter().filter(|pid| !spared(*pid)).collect();
        if carriers.is_empty() {
            return true;
        }
        for pid in carriers {
            peek::end(pid, || peek::environment(pid).is_ok_and(|entries| entries.contains(&marker)));
        }
        pause();
    }
    false
}

fn family() -> impl Fn(u32) -> bool {
    let processes = Snapshot::new();
    let above: Vec<u32> = anchor::line_of(&processes).map(|process| process.pid).collect();
    move |pid| above.contains(&pid) || processes.process(pid).is_some_and(|it| it.parent == std::process::id())
}

#[expect(clippy::disallowed_methods, reason = "a process that is not our child tells us nothing of its end")]
fn pause() {
    std::thread::sleep(Duration::from_millis(5));
}

/// That moment of the boot's clock as the system counts when processes were made.
#[expect(clippy::disallowed_methods, reason = "only to turn one clock's moment into the other's")]
fn created_before(since: Moment) -> u64 {
    let ago = since.until(SystemClock::new().now()) + SLACK;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default() + UNTIL_1970;
    u64::try_from(now.saturating_sub(ago).as_nanos() / 100).unwrap_or(u64::MAX)
}
