//! `locked renew` and `locked release`: what this session holds without a running command.
#![forbid(unsafe_code)]

pub(super) mod busy;
pub(super) mod elsewhere;
mod fate;

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use crate::exit::{self, Exit};
use crate::holder::ProcFs;
use crate::report;
use crate::rules;
use crate::run::{self, Context};
use crate::store::{Ended, Ending, HistoryFilter, Holding, LeaseState, LeaseView, Release, Renewal, Settlement};
use crate::terms::{FencingToken, Resource, SessionId};

use super::RunOptions;
use super::front::refuse;
use super::out::print;
use super::rotation;
use super::verbs::{Named, ReleaseVerb};
use super::world::World;
use fate::Fate;

const CALL: Duration = Duration::from_secs(10);

pub(super) fn renew(context: &Context, options: &RunOptions, verb: &Named) -> Exit {
    World::with(context, options, |world| {
        let resources = world.resources(&verb.resources)?;
        super::session::hear(world.store.as_mut(), world.session.id);
        let resources = rotation::with_held(world, resources)?;
        let ms = renewed(world, &resources)?.as_millis();
        Ok(answer(verb.json, &json!({"renewed": names(&resources), "expires_in_ms": ms}), None))
    })
}

/// All of these last for so long: what rests with the session has its whole time again, and what a command of it runs under,
/// that one renews.
fn renewed(world: &mut World<'_>, resources: &[Resource]) -> Result<Duration, Exit> {
    let session = world.session.id;
    let by_session = |resources: &[Resource]| Holding::Session { session, resources: resources.to_vec() };
    if let Renewal::Renewed(lasts) =
        world.store.renew(&by_session(resources), CALL).map_err(|error| world.down(&error))?
    {
        return Ok(lasts);
    }
    let live = world.store.leases(Some(resources), CALL).map_err(|error| world.down(&error))?;
    let busy = busy::of(world, &live);
    let rest: Vec<Resource> = resources.iter().filter(|it| !busy.has(it)).cloned().collect();
    let Some(lasts) = busy.lasts() else { return Err(not_ours(world, resources)) };
    if rest.is_empty() {
        return Ok(lasts);
    }
    match world.store.renew(&by_session(&rest), CALL).map_err(|error| world.down(&error))? {
        Renewal::Renewed(rests) => Ok(lasts.min(rests)),
        Renewal::Revoked | Renewal::Gone => Err(not_ours(world, &rest)),
    }
}

pub(super) fn release(context: &Context, options: &RunOptions, verb: &ReleaseVerb) -> Exit {
    World::with(context, options, |world| {
        let resources = world.resources(&verb.resources)?;
        super::session::hear(world.store.as_mut(), world.session.id);
        if verb.duty {
            return super::duty::discharge(world, verb, &resources);
        }
        let resources = rotation::with_held(world, resources)?;
        let live = world.store.leases(Some(&resources), CALL).map_err(|error| world.down(&error))?;
        if let Some(refusal) = busy::of(world, &live).refusal("locked release") {
            return Err(world.refuse(refusal, exit::BUSY));
        }
        if let Some(bad) = live.iter().find(|lease| lease.state == LeaseState::Quarantined) {
            let reason = bad.reason.clone().unwrap_or_default();
            let file = run::bad_file(context, bad, &[]);
            let refusal = report::Refusal {
                word: "QUARANTINED",
                what: format!("{} cannot be released: {reason}", bad.resource),
                why: "a bad file must not be handed to the next writer".to_owned(),
                retry: "no, restore it first".to_owned(),
                next: format!("locked restore {}", file.as_deref().unwrap_or("FILE")),
            };
            return Err(world.refuse(refusal, exit::QUARANTINED));
        }
        if verb.ended_as != "human-action"
            && let Some((lease, file)) = open_edit(&live, world.session.id)
        {
            return Err(world.refuse(still_open(lease, &file), exit::QUARANTINED));
        }
        let accepted = verb.consumers_ok || options.consumers_ok;
        let left = match verb.ended_as.as_str() {
            "completed" => rotation::completes(world, verb, accepted, &resources)?,
            _ => None,
        };
        let note =
            [verb.note.clone(), by_another(world, options), left].into_iter().flatten().collect::<Vec<_>>().join("; ");
        let note = Some(note).filter(|note| !note.is_empty());
        let ended = match verb.ended_as.as_str() {
            "failed" => Ended::Failed,
            "human-action" => Ended::HumanAction,
            _ => Ended::Completed,
        };
        let holding = Holding::Session { session: world.session.id, resources: resources.clone() };
        let settlement = Settlement::whole(Ending::Release(ended), Vec::new()).noting(note);
        match world.store.settle(&holding, &settlement, CALL).map_err(|error| world.down(&error))? {
            Release::Released => {
                world.keepers().relieve(world.session.id, &resources);
                Ok(answer(verb.json, &json!({"released": names(&resources), "as": ended.as_str()}), None))
            }
            Release::NotOurs => Err(not_ours(world, &resources)),
        }
    })
}

/// Who releases in the name of another session (`--session`): its whole name is known to it alone, and to whom it has told it.
pub(super) fn by_another(world: &World<'_>, options: &RunOptions) -> Option<String> {
    options.session?;
    let own = run::session(world.context, None, &world.settings).ok()?;
    (own.id != world.session.id).then(|| format!("released by {} ({}) with --session", own.id, own.label))
}

/// A file of these leases, on this host, that is plaintext: an edit that has not been closed.
pub(super) fn open_edit(live: &[LeaseView], session: SessionId) -> Option<(&LeaseView, String)> {
    let host = ProcFs::host();
    let mut resting = live.iter().filter(|lease| lease.session == session && lease.pid.is_none() && lease.host == host);
    resting.find_map(|lease| run::plaintext_of(&lease.files).map(|file| (lease, file)))
}

pub(super) fn still_open(lease: &LeaseView, file: &str) -> report::Refusal {
    report::Refusal {
        word: "REFUSED",
        what: format!("{} is not released: {file} is plaintext (an open edit)", lease.resource),
        why: "the next one would find plaintext where ciphertext belongs".to_owned(),
        retry: "yes, after the next step; if a person takes it over, with --as human-action".to_owned(),
        next: format!("locked sops encrypt -i{} {file}", rules::types(Path::new(file.trim_end_matches('\'')))),
    }
}

/// Says who has what this session does not hold, or what has become of its own.
pub(super) fn not_ours(world: &mut World<'_>, resources: &[Resource]) -> Exit {
    let all = if resources.len() > 1 { "; all of them or none" } else { "" };
    refused(world, resources, None, &format!("only the session that holds a lease can renew or release it{all}"))
}

/// The same where it is asked before a write; `token`: under which it was to be held.
pub(super) fn not_to_write(world: &mut World<'_>, resources: &[Resource], token: Option<FencingToken>) -> Exit {
    refused(world, resources, token, "what this session does not hold, it must not write")
}

fn refused(world: &mut World<'_>, resources: &[Resource], token: Option<FencingToken>, why: &str) -> Exit {
    let live = world.store.leases(Some(resources), CALL).unwrap_or_default();
    let session: SessionId = world.session.id;
    if let Some(refusal) = elsewhere::of(world, resources, &live) {
        return refuse(&refusal, exit::LOST);
    }
    let mut fates = resources.iter().map(|resource| {
        let name = Some(resource.name.to_string());
        let filter = HistoryFilter { name, ..HistoryFilter::default() };
        let past = world.store.history(&filter, CALL).unwrap_or_default();
        let was = past.into_iter().find(|past| past.resource == *resource && past.session == session);
        fate::of(resource, session, token, live.iter().find(|lease| lease.resource == *resource), was.as_ref())
    });
    let wanted = names(resources).join(" ");
    let Fate { what, next } = fates.find_map(|fate| fate).unwrap_or_else(|| {
        // It came back between the two questions.
        Fate {
            what: format!("{wanted} was not this session's a moment ago"),
            next: Some(format!("locked check {wanted}")),
        }
    });
    if resources.iter().any(|resource| resource.name.is_rotation()) {
        return world.refuse(report::rotation_not_ours(what, &wanted), exit::LOST);
    }
    let refusal = report::Refusal {
        word: "REFUSED",
        what,
        why: why.to_owned(),
        retry: if next.is_some() { "yes, after the next step" } else { "no" }.to_owned(),
        next: next.unwrap_or_else(|| format!("locked status {wanted}")),
    };
    world.refuse(refusal, exit::LOST)
}

pub(super) fn names(resources: &[Resource]) -> Vec<String> {
    resources.iter().map(|resource| resource.name.to_string()).collect()
}

/// As JSON when asked, else the text if there is one: nothing is said when all went well.
pub(super) fn answer(as_json: bool, value: &serde_json::Value, text: Option<String>) -> Exit {
    match (as_json, text) {
        (true, _) => print(&format!("{value:#}")),
        (false, Some(text)) => print(&text),
        (false, None) => Exit::OK,
    }
}
