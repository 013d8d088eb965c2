//! `locked steal`: takes what somebody else holds, by a person's word. In two steps: its holder is told to stop, and only
//! when it has, or its time is over, this session holds the lease as by `acquire`.
#![forbid(unsafe_code)]

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::time::Duration;

use serde_json::json;

use crate::exit::{self, Exit};
use crate::lease::{self, Patience};
use crate::report::{self, Refusal, clock_time};
use crate::run::{self, Context};
use crate::store::{Became, Claim, Granted, LeaseState, LeaseView, Theft, Victim};
use crate::terms::{Resource, SessionId, shell_quote, show_duration};

use super::RunOptions;
use super::acquire::{ask, confirmed, given_back_unsaid, granted, request};
use super::front::refuse;
use super::held::answer;
use super::prove::proven;
use super::verbs::Steal;
use super::world::{CALL, World};

/// What we wait beyond the moment at which the victim's lease ends by itself.
const MARGIN: Duration = Duration::from_secs(10);

pub(super) fn steal(context: &Context, options: &RunOptions, verb: &Steal) -> Exit {
    let terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if verb.approved_by.is_none() && !terminal {
        return refuse(&nobody_to_ask(verb), exit::USAGE);
    }
    World::with(context, options, |world| {
        world.session.for_explicit().map_err(|error| refuse(&report::no_session(&error), exit::USAGE))?;
        let resources = world.resources(&verb.resources)?;
        let live = world.store.leases(Some(&resources), CALL).map_err(|error| world.down(&error))?;
        if let Some(lease) = own(&live, world.session.id) {
            return Err(refuse(&our_own(lease), exit::USAGE));
        }
        if verb.approved_by.is_none() && !live.is_empty() && !says_yes(&live, verb.now) {
            return Err(refuse(&declined(&live), exit::USAGE));
        }
        run::tell_ignored(context, &world.settings);
        let operation = options.operation.clone().unwrap_or_else(|| "locked steal".to_owned());
        let request = request(world, Claim::Steal, resources, verb.ttl.or(options.ttl), operation)?;
        let theft = Theft {
            session: world.session.id,
            label: world.session.label.clone(),
            reason: verb.reason.clone(),
            approved_by: verb.approved_by.clone(),
            at_once: verb.now,
        };
        let patience = patience(verb, &live);
        let stolen = ask(world, &request, |request, asker| lease::steal(request, &theft, patience, asker))?;
        let granted = granted(world, options, &request, stolen.obtained)?;
        // Whoever kept it alive for them on this machine need not find out by itself.
        live.iter().for_each(|lease| world.keepers().relieve(lease.session, std::slice::from_ref(&lease.resource)));
        proven(world, &request, &granted, verb.now)?;
        let lasts = confirmed(world, &request, &granted)?;
        if verb.now {
            stolen.victims.iter().filter(|victim| victim.became == Became::Free).for_each(warn);
        }
        let exit = said(verb.json, &granted, &stolen.victims, lasts);
        Ok(given_back_unsaid(world, &request.resources, &granted, exit))
    })
}

/// A lease of this very session that it has still.
fn own(live: &[LeaseView], session: SessionId) -> Option<&LeaseView> {
    let theirs = [LeaseState::Expired, LeaseState::Quarantined];
    live.iter().find(|lease| lease.session == session && !theirs.contains(&lease.state))
}

fn patience(verb: &Steal, live: &[LeaseView]) -> Patience {
    let longest = live.iter().filter_map(|lease| lease.expires_in).max().unwrap_or_default();
    match verb.wait.unwrap_or(longest + MARGIN) {
        Duration::ZERO => Patience::None,
        wait => Patience::Wait(wait),
    }
}

/// Asks the person at the terminal. Anything but a yes is a no.
fn says_yes(live: &[LeaseView], now: bool) -> bool {
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

fn nobody_to_ask(verb: &Steal) -> Refusal {
    let wanted = verb.resources.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let now = if verb.now { " --now" } else { "" };
    Refusal {
        word: "REFUSED",
        what: "nobody is here who could be asked whether a lease may be taken from its holder".to_owned(),
        why: "standard input or standard error is no terminal; nothing was taken".to_owned(),
        retry: "yes, when a person has agreed, with their name".to_owned(),
        next: format!("locked steal {wanted}{now} --reason {} --approved-by NAME", shell_quote(verb.reason.as_bytes())),
    }
}

fn our_own(lease: &LeaseView) -> Refusal {
    let runs = lease.pid.is_some();
    Refusal {
        word: "REFUSED",
        what: match runs {
            true => {
                format!("{} is held by a running command of this very session, {}", lease.resource, lease.operation)
            }
            false => format!("{} is held by this very session already", lease.resource),
        },
        why: "only what another session holds is stolen; nothing was taken".to_owned(),
        retry: "no".to_owned(),
        next: match runs {
            true => format!("locked status {}", lease.resource),
            false => format!("locked release {}", lease.resource),
        },
    }
}

fn declined(live: &[LeaseView]) -> Refusal {
    let names: Vec<_> = live.iter().map(|lease| lease.resource.to_string()).collect();
    Refusal {
        word: "REFUSED",
        what: format!("{} stays with its holder", names.join(" ")),
        why: "the answer was no".to_owned(),
        retry: "yes, at any time".to_owned(),
        next: format!("locked status {}", names.join(" ")),
    }
}

fn warn(victim: &Victim) {
    report::say(&format!(
        "locked: {} was not waited for: two may be writing {} until it has stopped",
        victim.holder, victim.resource
    ));
}

fn said(as_json: bool, granted: &Granted, victims: &[Victim], lasts: Duration) -> Exit {
    let from = |resource: &Resource| victims.iter().find(|victim| victim.resource == *resource);
    let held = |(resource, token): &(Resource, crate::terms::FencingToken)| {
        json!({"resource": resource.name.as_str(), "scope": resource.scope.to_string(), "token": token.0,
               "taken_from": from(resource).map(|victim| victim.holder.as_str())})
    };
    let list: Vec<_> = granted.tokens.iter().map(held).collect();
    let lines = granted.tokens.iter().map(|(resource, _)| {
        let whence = match from(resource) {
            Some(victim) => format!("taken from {}", victim.holder),
            None => "nobody held it any more".to_owned(),
        };
        format!("acquired {} for {} ({whence})", resource.name, show_duration(lasts))
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    answer(as_json, &json!({"stolen": list, "expires_in_ms": lasts.as_millis()}), Some(text))
}
