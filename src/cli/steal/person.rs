//! The person who says whether a lease may be taken from its holder: what is shown, what is asked, and what is refused.
#![forbid(unsafe_code)]

use std::io::{BufRead as _, Write as _};

use crate::cli::verbs::Steal;
use crate::report::{Refusal, clock_time};
use crate::store::LeaseView;
use crate::terms::{FencingToken, Resource, shell_quote};

/// What the person sees of these resources: who has each, by its token.
pub(super) fn shown(resources: &[Resource], live: &[LeaseView]) -> Vec<(Resource, Option<FencingToken>)> {
    let token = |resource: &Resource| live.iter().find(|lease| lease.resource == *resource).map(|lease| lease.token);
    resources.iter().map(|resource| (resource.clone(), token(resource))).collect()
}

/// Asks the person at the terminal. Anything but a yes is a no.
pub(super) fn says_yes(live: &[LeaseView], now: bool) -> bool {
    let mut stderr = std::io::stderr().lock();
    for lease in live {
        let since = clock_time(lease.acquired_at);
        let _nobody_may_listen = writeln!(
            stderr,
            "locked: {} is held by {} ({}), {}, {} since {since}",
            lease.resource,
            lease.session,
            lease.label,
            lease.operation,
            lease.state.as_str()
        );
    }
    let how = if now { "without waiting for it to stop: two may be writing then" } else { "once it has stopped" };
    let _nobody_may_listen = write!(stderr, "take it away, {how}? [y/N] ").and_then(|()| stderr.flush());
    drop(stderr);
    let mut said = String::new();
    let read = std::io::stdin().lock().read_line(&mut said);
    read.is_ok() && ["y", "yes"].contains(&said.trim().to_lowercase().as_str())
}

pub(super) fn nobody_to_ask(verb: &Steal) -> Refusal {
    let wanted = verb.resources.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let now = if verb.now { " --now" } else { "" };
    Refusal {
        word: "REFUSED",
        what: "a person must agree before a lease is taken from its holder, and nobody can be asked here".to_owned(),
        why: "standard input or standard error is no terminal; nothing was taken".to_owned(),
        retry: "yes, when a person has agreed, with their name".to_owned(),
        next: format!("locked steal {wanted}{now} --reason {} --approved-by NAME", shell_quote(verb.reason.as_bytes())),
    }
}

pub(super) fn our_own(lease: &LeaseView) -> Refusal {
    let runs = lease.pid.is_some();
    Refusal {
        word: "REFUSED",
        what: match runs {
            true => {
                format!("{} is held by a running command of this session, {}", lease.resource, lease.operation)
            }
            false => format!("{} is held by this session already", lease.resource),
        },
        why: "only what another session holds is stolen; nothing was taken".to_owned(),
        retry: "no".to_owned(),
        next: match runs {
            true => format!("locked status {}", lease.resource),
            false => format!("locked release {}", lease.resource),
        },
    }
}

pub(super) fn declined(live: &[LeaseView]) -> Refusal {
    let names: Vec<_> = live.iter().map(|lease| lease.resource.to_string()).collect();
    Refusal {
        word: "REFUSED",
        what: format!("{} stays with its holder", names.join(" ")),
        why: "the answer was no".to_owned(),
        retry: "yes, at any time".to_owned(),
        next: format!("locked status {}", names.join(" ")),
    }
}
