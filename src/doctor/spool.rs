//! What the store has not heard: runs by force and ends of leases that wait in the spool, and how often people went around.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::run;
use crate::store::HistoryFilter;
use crate::terms::shell_quote;

use super::Finding;
use super::patient::Patient;

/// Runs without a lease are counted over so long.
const LATELY: Duration = Duration::from_secs(7 * 86_400);

pub(super) fn look(patient: &Patient<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(waits(patient));
    found.extend(elsewhere(patient));
    found.extend(unreadable(patient));
    if found.is_empty() {
        found.push(Finding::ok("spool.empty", "the store has heard of everything"));
    }
    found.extend(told(patient));
    found
}

fn counted(patient: &Patient<'_>) -> run::Waiting {
    let state = patient.state.as_ref().ok().and_then(Option::as_ref);
    state.map(|state| run::waiting(state, patient.setting.as_ref().ok())).unwrap_or_default()
}

fn waits(patient: &Patient<'_>) -> Option<Finding> {
    let waiting = counted(patient);
    let ended = waiting.forced - waiting.running;
    let mut parts = Vec::new();
    if ended > 0 {
        parts.push(format!("{ended} of commands that ran without a lease"));
    }
    if waiting.running > 0 {
        parts.push(format!("{} of commands that run so now", waiting.running));
    }
    if waiting.settled > 0 {
        parts.push(format!("{} of leases that ended while it was down", waiting.settled));
    }
    if parts.is_empty() {
        return None;
    }
    let what = format!("the store has not heard yet: {}", parts.join(", "));
    Some(
        Finding::warn("spool.waiting", what)
            .because("others do not see what was written, and may write over it; the next command under a lease tells it, too")
            .remedy("locked doctor --fix spool")
            .fixed_by(|patient| {
                let before = counted(patient);
                send(patient)?;
                let after = counted(patient);
                let told = (before.forced + before.settled).saturating_sub(after.forced + after.settled);
                match after.forced + after.settled {
                    0 => Ok(format!("told the store of {told}")),
                    left => Err(format!(
                        "told the store of {told}; {left} wait still: for their command to end, or for a store that hears them"
                    )),
                }
            }),
    )
}

/// What is for another store nobody can tell it while it is not set.
fn elsewhere(patient: &Patient<'_>) -> Option<Finding> {
    let files = counted(patient).elsewhere;
    let first = files.first()?.parent()?;
    let names: Vec<String> =
        files.iter().filter_map(|file| Some(shell_quote(file.file_name()?.as_encoded_bytes()))).take(5).collect();
    let more = if files.len() > names.len() { " …" } else { "" };
    Some(
        Finding::warn("spool.elsewhere", format!("{} entries wait for another store than the one that is set", files.len()))
            .because("that store has not heard of what was written; this one must not hear of it")
            .remedy(format!(
                "with that store set (LOCKED_STORE) `locked doctor --fix spool`; if it is gone for good `cd {} && rm {}{more}`",
                shell_quote(first.as_os_str().as_encoded_bytes()),
                names.join(" ")
            )),
    )
}

/// Opening the store tells it.
fn send(patient: &Patient<'_>) -> Result<(), String> {
    let (Ok(setting), Ok(Some(state))) = (&patient.setting, &patient.state) else {
        return Err("there is no store to tell".to_owned());
    };
    run::open_store(patient.context, state, setting).map(drop).map_err(|error| error.to_string())
}

fn unreadable(patient: &Patient<'_>) -> Option<Finding> {
    let count = counted(patient).unreadable;
    (count > 0).then(|| {
        Finding::warn("spool.unreadable", format!("{count} entries of the spool cannot be read"))
            .because("the store will never hear of these runs")
            .remedy("look at spool/*.json in the state directory, and put them away")
    })
}

/// What went around the leases and is on record. The ledger's note says which way: `forced: reason`, and of a shim
/// `forced: bypass: reason`.
fn told(patient: &Patient<'_>) -> Option<Finding> {
    let filter = HistoryFilter { since: Some(LATELY), limit: Some(1_000), ..HistoryFilter::default() };
    let past = patient.ask(|store, limit| store.history(&filter, limit))?;
    let around: Vec<&str> = past.iter().filter_map(|it| it.note.as_deref()?.strip_prefix("forced: ")).collect();
    let bypassed = around.iter().filter(|reason| run::is_bypass(reason)).count();
    (!around.is_empty()).then(|| {
        let forced = around.len() - bypassed;
        let what = format!(
            "in the last week there were {forced} runs by --force and {bypassed} by LOCKED_BYPASS, without a lease"
        );
        Finding::note("spool.told", what)
            .because("each may have written over somebody else's work")
            .remedy("locked history --since 168h")
    })
}
