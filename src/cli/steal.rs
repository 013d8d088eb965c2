//! `locked steal`: takes what somebody else holds, by a person's word. In two steps: its holder is told to stop, and only
//! when it has, or its time is over, this session holds the lease as by `acquire`.
#![forbid(unsafe_code)]

mod person;

use std::io::IsTerminal as _;
use std::time::Duration;

use serde_json::json;

use crate::exit::{self, Exit};
use crate::lease::{self, Patience};
use crate::report;
use crate::run::{self, Context};
use crate::store::{Became, Claim, Granted, LeaseState, LeaseView, Theft, Victim, Word};
use crate::terms::{Resource, SessionId, show_duration};

use super::RunOptions;
use super::acquire::{ask, confirmed, given_back_unsaid, granted, request};
use super::front::refuse;
use super::held::{answer, elsewhere};
use super::prove::proven;
use super::verbs::Steal;
use super::world::{CALL, World};

/// What we wait beyond the moment at which the victim's lease ends by itself.
const MARGIN: Duration = Duration::from_secs(10);

pub(super) fn steal(context: &Context, options: &RunOptions, verb: &Steal) -> Exit {
    let terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if verb.approved_by.is_none() && !terminal {
        return refuse(&person::nobody_to_ask(verb), exit::USAGE);
    }
    World::with(context, options, |world| {
        world.session.for_explicit().map_err(|error| refuse(&report::no_session(&error), exit::USAGE))?;
        let resources = world.resources(&verb.resources)?;
        let operation = options.operation.clone().unwrap_or_else(|| "locked steal".to_owned());
        let request = request(world, Claim::Steal, resources, verb.ttl.or(options.ttl), operation)?;
        run::tell_ignored(context, &world.settings);
        let (live, victims, obtained) = loop {
            let live = world.store.leases(Some(&request.resources), CALL).map_err(|error| world.down(&error))?;
            if let Some(refusal) = elsewhere::of_anybody(world, &request.resources, &live) {
                return Err(refuse(&refusal, exit::USAGE));
            }
            let theft = agreed(world, verb, &request.resources, &live)?;
            let patience = patience(verb, &live);
            let stolen = ask(world, &request, |request, asker| lease::steal(request, &theft, patience, asker))?;
            tell_victims(world, &live, &stolen.victims, &theft);
            match stolen.obtained {
                Some(obtained) => break (live, stolen.victims, obtained),
                None => report::say("locked: it has another holder by now, and nothing was taken"),
            }
        };
        let granted = granted(world, options, &request, obtained)?;
        // Whoever kept it alive for them on this machine need not find out by itself.
        live.iter().for_each(|lease| world.keepers().relieve(lease.session, std::slice::from_ref(&lease.resource)));
        proven(world, &request, &granted, verb.now)?;
        let lasts = confirmed(world, &request, &granted)?;
        if verb.now {
            victims.iter().filter(|victim| victim.became == Became::Free).for_each(warn);
        }
        let exit = said(verb.json, &granted, &victims, lasts);
        Ok(given_back_unsaid(world, &request.resources, &granted, exit))
    })
}

/// A person's word that these may be taken from who has them: given before, or here and now for what is shown.
fn agreed(world: &World<'_>, verb: &Steal, resources: &[Resource], live: &[LeaseView]) -> Result<Theft, Exit> {
    if let Some(lease) = own(live, world.session.id) {
        return Err(refuse(&person::our_own(lease), exit::USAGE));
    }
    let asks = verb.approved_by.is_none();
    if asks && !live.is_empty() && !person::says_yes(live, verb.now) {
        return Err(refuse(&person::declined(live), exit::USAGE));
    }
    Ok(Theft {
        session: world.session.id,
        label: world.session.label.clone(),
        reason: verb.reason.clone(),
        approved_by: verb.approved_by.clone(),
        at_once: verb.now,
        shown: asks.then(|| person::shown(resources, live)),
    })
}

/// Who had it between commands has nobody who would tell them but their next command. A running command is told by its own
/// `locked`.
fn tell_victims(world: &mut World<'_>, live: &[LeaseView], victims: &[Victim], theft: &Theft) {
    let holder = format!("{} ({})", theft.session, theft.label);
    for lease in live {
        let is_victim = |victim: &Victim| victim.resource == lease.resource && victim.token == lease.token;
        if lease.pid.is_some() || lease.session == theft.session || !victims.iter().any(is_victim) {
            continue;
        }
        let text = format!("took it away: {}", theft.why());
        let word = Word { holder: holder.clone(), about: lease.resource.name.to_string(), text, at: 0 };
        if let Some(board) = world.store.board() {
            let _it_is_in_the_history_too = board.leave_word(lease.session, &word, CALL);
        }
    }
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
