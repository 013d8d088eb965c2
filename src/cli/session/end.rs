//! `locked session end`: releases what the session holds, the last by its bytes first, and takes it off the board. Never
//! under a running command: the store gives back only what rests, and what runs is waited for.
#![forbid(unsafe_code)]

use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::RunOptions;
use crate::cli::held::{answer, by_another, open_edit, still_open};
use crate::cli::verbs::EndVerb;
use crate::cli::world::{CALL, World};
use crate::clock::Clock as _;
use crate::exit::{self, Exit};
use crate::lease::Patience;
use crate::report::{self, Refusal};
use crate::run::{self, Context};
use crate::store::{Ending, Holding, LeaseState, LeaseView, Release, Settlement};
use crate::terms::SessionId;

use super::closing::{Closing, Closings};
use super::rest::{Given, Rest, because, rest};
use super::{board, hear};

/// Between two looks at a command that runs.
const PAUSE: Duration = Duration::from_millis(500);

pub(super) fn end(context: &Context, options: &RunOptions, verb: &EndVerb) -> Exit {
    World::with(context, options, |world| {
        let (value, text) = finish(world, options, verb)?;
        Ok(answer(verb.json, &value, Some(text)))
    })
}

/// Ends the session; what was done, for programs and for people.
pub(in crate::cli) fn finish(
    world: &mut World<'_>,
    options: &RunOptions,
    verb: &EndVerb,
) -> Result<(Value, String), Exit> {
    // Before anything is released: a store without a board has nothing that rests either.
    board(world.store.as_mut())?;
    hear(world.store.as_mut(), world.session.id);
    let given = release_all(world, options, verb)?;
    let own = own(world)?;
    let stays: Vec<_> = own.iter().map(|lease| (lease, given.rest(lease, world.alive(lease)))).collect();
    let released = given.names_but(&own);
    let session = world.session.id;
    let ended = board(world.store.as_mut())?.end(session, CALL).map_err(|error| super::super::world::down(&error))?;
    let list: Vec<_> = stays
        .iter()
        .map(|(lease, _)| json!({"resource": lease.resource.name.as_str(), "state": lease.state.as_str()}))
        .collect();
    let value = json!({"ended": ended, "released": released, "stays": list});
    let mut lines: Vec<String> = released.iter().map(|name| format!("released {name}")).collect();
    lines.extend(stays.iter().map(|(lease, rest)| format!("{} stays: {}", lease.resource.name, because(rest))));
    lines.push(match ended {
        true => "ended: this session is off the board".to_owned(),
        false => "this session was not on the board".to_owned(),
    });
    Ok((value, lines.join("\n")))
}

/// The live leases of this session, the last by its bytes first.
fn own(world: &mut World<'_>) -> Result<Vec<LeaseView>, Exit> {
    let session: SessionId = world.session.id;
    let mut leases = world.store.leases(None, CALL).map_err(|error| world.down(&error))?;
    leases.retain(|lease| lease.session == session);
    leases.sort_by(|one, other| other.resource.cmp(&one.resource));
    Ok(leases)
}

/// Gives back one after the other until nothing rests and nothing runs.
fn release_all(world: &mut World<'_>, options: &RunOptions, verb: &EndVerb) -> Result<Given, Exit> {
    let limit = match (verb.no_wait, verb.wait, options.patience(&world.settings)) {
        (true, ..) | (false, None, Patience::None) => Duration::ZERO,
        (false, Some(wait), _) | (false, None, Patience::Wait(wait)) => wait,
    };
    let began = world.context.clock.now();
    let (mut given, mut closings) = (Given::default(), Closings::default());
    let by = by_another(world, options);
    let mut told = false;
    loop {
        let leases = own(world)?;
        if let Some(runs) = leases.iter().find(|lease| rest(lease, world.alive(lease)) == Rest::Runs) {
            let above_us = run::within(world.context) == Some(runs.grant);
            if above_us || began.until(world.context.clock.now()) >= limit {
                let status = options.conflict_exit_code.map_or(exit::BUSY, i32::from);
                return Err(world.refuse(running(runs, above_us, &given.names()), status));
            }
            if !told {
                report::say(&format!("locked: waiting for {} of this session to end", runs.operation));
                told = true;
            }
            world.store.await_change(std::slice::from_ref(&runs.resource), 1, PAUSE);
            continue;
        }
        // What is quarantined stays so.
        let sound = leases.iter().filter(|lease| lease.state != LeaseState::Quarantined);
        if let Some((lease, file)) = open_edit(&sound.cloned().collect::<Vec<_>>(), world.session.id) {
            return Err(world.refuse(still_open(lease, &file), exit::QUARANTINED));
        }
        let rests = |lease: &&LeaseView| given.rest(lease, "unknown") == Rest::Rests;
        // Before anything goes: what cannot end well stays for its session to look at.
        closings.judge(world, leases.iter().filter(rests), verb.consumers_ok || options.consumers_ok)?;
        let Some(next) = leases.iter().find(rests) else {
            return Ok(given);
        };
        if give_back(world, next, closings.of(next).noting(by.as_deref()))? {
            given.0.push((next.resource.clone(), next.token));
        } else if began.until(world.context.clock.now()) >= limit + CALL {
            return Err(crate::cli::held::not_ours(world, std::slice::from_ref(&next.resource)));
        } else {
            world.store.await_change(std::slice::from_ref(&next.resource), 1, PAUSE);
        }
    }
}

/// False: it is not what it was a moment ago, and is looked at again.
fn give_back(world: &mut World<'_>, lease: &LeaseView, how: Closing) -> Result<bool, Exit> {
    let holding = Holding::Session { session: world.session.id, resources: vec![lease.resource.clone()] };
    let settlement = Settlement::whole(Ending::Release(how.ended), Vec::new()).noting(how.note);
    match world.store.settle(&holding, &settlement, CALL).map_err(|error| world.down(&error))? {
        Release::Released => {
            world.keepers().relieve(world.session.id, std::slice::from_ref(&lease.resource));
            Ok(true)
        }
        Release::NotOurs => Ok(false),
    }
}

fn running(lease: &LeaseView, above_us: bool, released: &[String]) -> Refusal {
    let so_far = match released {
        [] => "nothing was released".to_owned(),
        released => format!("released so far: {}", released.join(" ")),
    };
    Refusal {
        word: "REFUSED",
        what: format!("this session has a running command: {} holds {}", lease.operation, lease.resource),
        why: format!("a lease is never released under a running command; {so_far}"),
        retry: if above_us {
            "no, this was asked from below that command: yes, when that has ended"
        } else {
            "yes, when it has ended"
        }
        .to_owned(),
        next: match above_us {
            true => "locked session end".to_owned(),
            false => "locked session end --wait 10m".to_owned(),
        },
    }
}
