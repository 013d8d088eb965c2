//! The store: does it answer, is its schema ours, and may this role use it.
#![forbid(unsafe_code)]

use crate::clock::Clock as _;
use crate::run::env_of;
use crate::state::StateDir;
use crate::store::{self, Store, StoreError};

use super::patient::Patient;
use super::{Finding, server};

pub(super) fn look(patient: &Patient<'_>) -> Vec<Finding> {
    let setting = match &patient.setting {
        Ok(setting) => setting,
        // The check of the settings tells of what keeps all of them from being read.
        Err(_) if patient.settings.is_err() && patient.is_asked("settings") => return Vec::new(),
        Err(refusal) => {
            return vec![Finding::fault("store.setting", &refusal.what).because(&refusal.why).remedy(&refusal.next)];
        }
    };
    let mut found = Vec::new();
    if patient.is_unmade() {
        found.push(unmade(patient));
        return found;
    }
    let place = shown(patient);
    match patient.store() {
        Ok(Some(mut store)) => match examined(patient, store.as_mut()) {
            Ok(more) => found.extend(more),
            Err(error) => {
                patient.give_up_store();
                found.push(silent(&error, &place));
            }
        },
        Ok(None) => found.extend(patient.state.as_ref().err().map(|error| silent(error, ""))),
        Err(error) => found.push(silent(&error, &place)),
    }
    let exposure = store::exposure(setting, &env_of(patient.context));
    found.extend(server::of_address(exposure, &place));
    found
}

/// A store of this machine before its first lease.
fn unmade(patient: &Patient<'_>) -> Finding {
    match could_be_made(patient) {
        Ok(()) if patient.named_file().is_some() => {
            Finding::ok("store.reachable", format!("the first lease makes the store: {}", shown(patient)))
        }
        Ok(()) => Finding::ok("store.reachable", "the embedded store is used; the first lease makes it"),
        Err(error) => silent(&error, &shown(patient)),
    }
}

fn could_be_made(patient: &Patient<'_>) -> Result<(), StoreError> {
    let env = env_of(patient.context);
    let place = match patient.named_file() {
        Some(file) => {
            StateDir::foreseen_beside(file, &env)?;
            file.to_owned()
        }
        None => StateDir::place(&env)?,
    };
    store::one_boot(&place, patient.context.clock.as_ref())
}

fn shown(patient: &Patient<'_>) -> String {
    let state = patient.state.as_ref().ok().and_then(Option::as_ref);
    let path = state.map(|state| state.path().to_owned()).unwrap_or_default();
    let place = |setting| store::shown_place(setting, &env_of(patient.context), &path);
    patient.setting.as_ref().map(place).unwrap_or_default()
}

/// It answers, or the error that says why it does not.
fn examined(patient: &Patient<'_>, store: &mut dyn Store) -> Result<Vec<Finding>, StoreError> {
    let place = shown(patient);
    let limit = patient.call();
    let Some(upkeep) = store.upkeep() else {
        store.leases(Some(&[]), limit)?;
        return Ok(vec![Finding::ok("store.reachable", format!("session locks are taken at {place}"))]);
    };
    let faults = upkeep.faults(limit)?;
    let mut found = told_once(faults.iter().map(|fault| of_fault(fault)));
    if found.is_empty() {
        let name = upkeep.about(patient.call())?.store_id;
        found.push(Finding::ok("store.reachable", format!("the store answers: {place} (store {name})")));
    }
    let before = patient.context.clock.wall_ms();
    if let Ok(Some(condition)) = upkeep.condition(patient.call()) {
        let after = patient.context.clock.wall_ms();
        found.extend(server::of_role(&condition));
        found.extend(server::of_clock(condition.wall_ms, before, after));
        found.extend(server::of_replication(&condition));
        if let Ok(setting) = &patient.setting {
            let exposure = store::exposure(setting, &env_of(patient.context));
            found.extend(server::of_connection(&condition, exposure, &place));
        }
    }
    Ok(found)
}

/// What one grant or one mistake has done to many tables and functions is one thing to mend: the first, and how many more.
fn told_once(faults: impl Iterator<Item = Finding>) -> Vec<Finding> {
    let mut all: Vec<(Finding, usize)> = Vec::new();
    for fault in faults {
        let same = |it: &&mut (Finding, usize)| it.0.id == fault.id && it.0.remedy == fault.remedy;
        match all.iter_mut().find(same) {
            Some((_, more)) => *more += 1,
            None => all.push((fault, 0)),
        }
    }
    let told = |(finding, more): (Finding, usize)| match more {
        0 => finding,
        more => Finding { what: format!("{}; and {more} more like it", finding.what), ..finding },
    };
    all.into_iter().map(told).collect()
}

/// One sentence of the store about itself; behind its last colon stands what to do.
fn of_fault(fault: &str) -> Finding {
    let (what, remedy) = fault.rsplit_once(": ").unwrap_or((fault, "locked store check"));
    let (id, why) = if what.contains("past the functions") {
        ("store.granted", "a lease can be ended, or made, that nobody released or was granted")
    } else if what.contains("tables are not those") {
        ("store.tables", "the functions rely on them: two may hold one resource, or receipts be lost")
    } else if what.contains("the schema lacks") {
        ("store.schema", "the functions rely on it: two may hold one resource, or nobody may look")
    } else if ["role", "may not", "transactions"].iter().any(|word| what.contains(word)) {
        ("store.rights", "a command under a lease would be refused")
    } else if what.contains("standby") {
        ("store.standby", "nothing can be granted there")
    } else if what.contains("moved") {
        ("store.moved", "the leases of others are in the other store")
    } else if what.contains("damaged") {
        return Finding::fault("store.damaged", fault)
            .because("leases and receipts may be lost")
            .remedy("when nothing runs under a lease, move the file away: the next command makes an empty one");
    } else if what.contains("no schema") {
        ("store.schema", "nothing can be granted before it is there")
    } else {
        ("store.schema", "functions of another version may grant what this program would not")
    };
    let remedy = if id == "store.moved" { "set the store to the one that is named" } else { remedy };
    let what = if id == "store.moved" { fault } else { what };
    Finding::fault(id, what).because(why).remedy(remedy.trim_start_matches("run "))
}

fn silent(error: &StoreError, place: &str) -> Finding {
    let id = match error {
        StoreError::Newer { .. } => "store.schema",
        StoreError::Place { .. } => "store.place",
        StoreError::Refused { .. } => "store.rights",
        StoreError::Corrupt { .. } => "store.damaged",
        StoreError::Unknown { .. } | StoreError::Misnamed { .. } => "store.setting",
        _ => "store.reachable",
    };
    let named = if place.is_empty() { String::new() } else { format!(" ({place})") };
    Finding::fault(id, format!("{error}{named}"))
        .because("without the store nothing runs under a lease; reads pass")
        .remedy(error.remedy())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Difference;

    #[test]
    fn a_server_without_our_schema_is_not_told_of_another_version() {
        for (difference, why) in [
            (Difference::Absent, "nothing can be granted before it is there"),
            (Difference::Version(1), "functions of another version may grant what this program would not"),
            (Difference::Missing("acquire_v1".to_owned()), "functions of another version may grant"),
        ] {
            let found = of_fault(&difference.to_string());
            assert_eq!((found.id, found.remedy.as_str()), ("store.schema", "locked store init"), "{found:?}");
            assert!(found.why.starts_with(why), "{found:?}: {}", found.why);
        }
    }
}
