//! Who we are: a value that names one session, and is carried by several, makes one holder of them.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::time::Duration;

use crate::holder::{self, ProcFs, Source};
use crate::platform::OsStrExt as _;
use crate::run;
use crate::store::HistoryFilter;
use crate::terms::SessionId;

use super::Finding;
use super::patient::Patient;

/// The ledger is looked at so far back.
const LATELY: Duration = Duration::from_secs(7 * 86_400);

const WHY: &str = "they count as one holder: neither is kept out while the other writes; each wants a name of its own";
const REMEDY: &str = "export LOCKED_SESSION=$(cat /proc/sys/kernel/random/uuid)";

pub(super) fn look(patient: &Patient<'_>) -> Vec<Finding> {
    let Ok(settings) = &patient.settings else { return Vec::new() };
    let session = match run::session(patient.context, None, settings) {
        Ok(session) => session,
        Err(refusal) => {
            return vec![Finding::fault("session.name", &refusal.what).because(&refusal.why).remedy(&refusal.next)];
        }
    };
    let mut found: Vec<Finding> = running(patient, &session.source).into_iter().chain(recorded(patient)).collect();
    if !session.explicit_ok {
        found.push(
            Finding::note(
                "session.nothing-lasting",
                "nothing here lasts until the next command, so locked acquire is refused",
            )
            .because("the lease could not be released by who took it")
            .remedy("export LOCKED_SESSION=$(cat /proc/sys/kernel/random/uuid)"),
        );
    }
    if found.is_empty() {
        let by = match &session.source {
            Source::Option => "--session".to_owned(),
            Source::LockedSession => "LOCKED_SESSION".to_owned(),
            Source::Variable(name) => name.clone(),
            Source::Anchor { pid, program } => format!("the process {program} ({pid})"),
            Source::Unanchored => "nothing that lasts".to_owned(),
        };
        found.push(Finding::ok(
            "session.name",
            format!("this is session {} ({}), named by {by}", session.id.short(), session.label),
        ));
    }
    found
}

/// Who carries our value now.
fn running(patient: &Patient<'_>, source: &Source) -> Option<Finding> {
    let name = match source {
        Source::LockedSession => "LOCKED_SESSION",
        Source::Variable(name) => name,
        Source::Option | Source::Anchor { .. } | Source::Unanchored => return None,
    };
    let value = patient.env(name)?;
    let entry = [name.as_bytes(), b"=", value.as_bytes()].concat();
    let sharers = holder::sharers(&ProcFs::new(), &entry);
    (sharers.len() > 1).then(|| {
        let who: Vec<String> = sharers.iter().take(4).map(|it| format!("{} ({})", it.program, it.pid)).collect();
        let what = format!("{name} names {} that run at one time: {}", sharers.len(), who.join(", "));
        Finding::warn("session.shared", what).because(WHY).remedy(REMEDY)
    })
}

/// Whom the ledger knows under several names. Names of an anchor differ; those of a variable's tool do not.
fn recorded(patient: &Patient<'_>) -> Vec<Finding> {
    let filter = HistoryFilter { since: Some(LATELY), limit: Some(500), ..HistoryFilter::default() };
    let past = patient.ask(|store, limit| store.history(&filter, limit)).unwrap_or_default();
    let live = patient.ask(|store, limit| store.leases(None, limit)).unwrap_or_default();
    let past = past.into_iter().map(|it| (it.session, it.label, it.host));
    let live = live.into_iter().map(|it| (it.session, it.label, it.host));
    let mut known: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (session, label, host) in past.chain(live) {
        let names = known.entry(short(session)).or_default();
        let name = if label.contains('@') { label } else { format!("{label}@{host}") };
        // A command whose caller has ended by then (one sent to the background) is nobody else's.
        if !holder::is_nameless(&name) && !names.contains(&name) {
            names.push(name);
        }
    }
    let several = known.into_iter().filter(|(_, names)| names.len() > 1);
    let finding = |(session, names): (String, Vec<String>)| {
        let what = format!("in the last week session {session} was {}: {}", names.len(), names.join(", "));
        Finding::warn("session.several", what).because(WHY).remedy(REMEDY)
    };
    several.map(finding).collect()
}

fn short(session: SessionId) -> String {
    session.short()
}
