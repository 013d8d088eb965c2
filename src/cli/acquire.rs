//! `locked acquire`: a hold over several commands.
#![forbid(unsafe_code)]

use std::time::Duration;

use serde_json::json;

use crate::clock::Clock as _;
use crate::config::Settings;
use crate::exit::{self, Exit};
use crate::lease::{self, Asker, Obtained, Patience};
use crate::report::{self, Waiting};
use crate::run::{self, AskedTimes, Context};
use crate::store::{Claim, Ended, Ending, Granted, Holding, Renewal, Request, Settlement, StoreError};
use crate::terms::{FencingToken, Issue, LeaseKey, Resource, show_duration};

use super::RunOptions;
use super::front::refuse;
use super::held::{answer, busy, names};
use super::keep_alive::{self, Keeper};
use super::prove::proven;
use super::rotation;
use super::verbs::Acquire;
use super::wanted::{asked_before, still_wanted};
use super::world::{CALL, World};

pub(super) fn acquire(context: &Context, options: &RunOptions, verb: &Acquire) -> Exit {
    keep_alive::with(context, options, verb, |world, standby| {
        world.session.for_explicit().map_err(|error| refuse(&report::no_session(&error), exit::USAGE))?;
        let named = verb.operation.clone().or_else(|| options.operation.clone());
        let issue = verb.issue.as_ref().or(options.issue.as_ref());
        run::tell_ignored(context, &world.settings);
        let ttl = verb.ttl.or(options.ttl);
        let resources = rotation::with_declared(context, world.resources(&verb.resources)?)?;
        let operation = said_anew(world, &resources, named, issue);
        if let Some(reason) = options.reason.as_deref().filter(|_| options.force)
            && let Err(error) = world.store.leases(Some(&resources), CALL)
            && run::force_answers(&error)
        {
            return super::forced::without(world, &resources, operation, issue, (reason, &error), verb.json);
        }
        let patience = patience(options, verb, &world.settings, &resources);
        let request = request(world, Claim::Explicit, resources, ttl, operation)?;
        let asked = asked_before(world, &request, issue)?;
        let obtained = ask(world, &request, |request, asker| lease::acquire(request, patience, asker))?;
        let granted = granted(world, options, &request, obtained)?;
        proven(world, &request, &granted, false)?;
        // Order: the issue first, which may take a while; the lease last, which has its whole TTL from then on.
        if let Some(issue) = issue.filter(|_| !asked || granted.adopted.len() < request.resources.len()) {
            still_wanted(world, &request, &granted, issue)?;
        }
        let sent = context.clock.now();
        let lasts = confirmed(world, &request, &granted)?;
        let keeper = keep_alive::begin(world, standby, &request, &granted, (sent, lasts))?;
        super::duty::tell(world, &request.resources);
        let exit = said(verb.json, &granted.tokens, &granted.adopted, lasts, keeper.as_ref());
        Ok(given_back_unsaid(world, &request.resources, &granted, exit))
    })
}

/// What the hold is called. Who acquires what the session holds already, and says no more, has said it before.
fn said_anew(world: &mut World<'_>, resources: &[Resource], named: Option<String>, issue: Option<&Issue>) -> String {
    let session = world.session.id;
    let (mut operation, mut for_issue) = (named, issue.cloned());
    if operation.is_none() || for_issue.is_none() {
        // A store that cannot say it now refuses in a moment.
        let mut live = world.store.leases(Some(resources), CALL).unwrap_or_default();
        live.retain(|lease| lease.session == session && lease.explicit && lease.pid.is_none());
        if live.len() == resources.len()
            && let Some(first) = live.first()
            && live.iter().all(|lease| lease.operation == first.operation && lease.issue == first.issue)
        {
            let before = match &first.issue {
                Some(issue) => issue.without(&first.operation),
                None => &first.operation,
            };
            operation.get_or_insert_with(|| before.to_owned());
            for_issue = for_issue.or_else(|| first.issue.clone());
        }
    }
    let operation = operation.unwrap_or_else(|| "locked acquire".to_owned());
    for_issue.map_or_else(|| operation.clone(), |issue| issue.beside(&operation))
}

/// A hold between commands.
pub(super) fn request(
    world: &World<'_>,
    claim: Claim,
    resources: Vec<Resource>,
    ttl: Option<Duration>,
    operation: String,
) -> Result<Request, Exit> {
    let asked = AskedTimes { ttl, ..AskedTimes::default() };
    let times = run::times(&asked, &world.settings).map_err(|error| {
        let (refusal, status) = error.refusal("locked acquire --help");
        refuse(&refusal, status)
    })?;
    let key = LeaseKey::random().map_err(|_| Exit::Code(exit::INTERNAL))?;
    let (owner, within) = (world.owner(operation), run::within(world.context));
    let ask = run::asking(world.context, &resources)?;
    Ok(Request { ask, ..Request::without_a_command(key, owner, claim, resources, &times, within) })
}

/// The grant, or a refusal that says who is in the way.
pub(super) fn granted(
    world: &mut World<'_>,
    options: &RunOptions,
    request: &Request,
    obtained: Obtained,
) -> Result<Granted, Exit> {
    match obtained {
        Obtained::Granted { granted, .. } => {
            report::say_words(&granted.words, world.store.as_mut(), world.session.id);
            Ok(granted)
        }
        Obtained::Busy(busy) => {
            let status = options.conflict_exit_code.map_or(exit::BUSY, i32::from);
            // Where nobody waits for anybody here, there is no command above us to look for.
            let suspects = busy.blockers.iter().filter(|_| busy.deadlock);
            let leases: Vec<_> = suspects.map(|blocker| blocker.lease.clone()).collect();
            if let Some(above) = busy::of(world, &leases).above() {
                let why = "what runs below it goes on with its lease, and need not acquire it; nothing was acquired";
                return Err(refuse(&busy::below(above, why), status));
            }
            let renewed = run::renewed_for(&world.keepers(), &world.settings, &busy);
            let wanted = names(&request.resources).join(" ");
            Err(refuse(&report::busy(&busy, &wanted, world.now_ms(), renewed), status))
        }
        Obtained::Quarantined(busy) => {
            let bad = busy.blockers.iter().find(|blocker| blocker.quarantined());
            let file = bad.and_then(|bad| run::bad_file(world.context, &bad.lease, &[]));
            Err(refuse(&report::quarantined(&busy, file.as_deref()), exit::QUARANTINED))
        }
    }
}

/// Confirmed before it is reported: the first grant is short, and the renew gives the whole TTL.
pub(super) fn confirmed(world: &mut World<'_>, request: &Request, granted: &Granted) -> Result<Duration, Exit> {
    let holding = Holding::Grant { grant: request.grant, key: request.key.clone(), resources: granted.tokens.clone() };
    let renewal = match world.store.renew(&holding, CALL).map_err(|error| world.down(&error))? {
        // Another `acquire` of this session came in between and has adopted it: the session holds it all the same.
        Renewal::Gone => {
            let holding = Holding::Session { session: world.session.id, resources: request.resources.clone() };
            world.store.renew(&holding, CALL).map_err(|error| world.down(&error))?
        }
        other => other,
    };
    match renewal {
        Renewal::Renewed(lasts) => Ok(lasts),
        Renewal::Revoked | Renewal::Gone => Err(super::held::not_ours(world, &request.resources)),
    }
}

fn patience(options: &RunOptions, verb: &Acquire, settings: &Settings, resources: &[Resource]) -> Patience {
    let rotates = resources.iter().any(|resource| resource.name.is_rotation());
    match verb.wait {
        // Who comes second to a rotation looks first what the other did, unless somebody says to wait.
        None if rotates && options.wait.is_none() => Patience::None,
        _ if verb.no_wait => Patience::None,
        Some(wait) if wait.is_zero() => Patience::None,
        Some(wait) => Patience::Wait(wait),
        None => options.patience(settings),
    }
}

/// Asks by `how`, and says what it waits for.
pub(super) fn ask<T>(
    world: &mut World<'_>,
    request: &Request,
    how: impl FnOnce(Request, &mut Asker<'_>) -> Result<T, StoreError>,
) -> Result<T, Exit> {
    let mut waiting = Waiting::new(names(&request.resources).join(" "), world.context.voice);
    let host_id = request.owner.host_id.clone();
    let witness = run::retry_witness(&world.state, &host_id);
    let mut notice = |notice: lease::Notice<'_>| waiting.notice(&notice);
    let clock = world.context.clock.as_ref();
    let mut asker = Asker { store: world.store.as_mut(), clock, witness: &witness, notice: &mut notice };
    let obtained = how(request.clone(), &mut asker);
    waiting.done();
    obtained.map_err(|error| super::world::down(&error))
}

/// Nobody was told what was granted: who does not know of it does not give it back.
pub(super) fn given_back_unsaid(world: &mut World<'_>, resources: &[Resource], granted: &Granted, exit: Exit) -> Exit {
    if exit == Exit::OK {
        return exit;
    }
    let fresh: Vec<Resource> = resources.iter().filter(|it| !granted.adopted.contains(it)).cloned().collect();
    let before: Vec<Resource> = resources.iter().filter(|it| granted.adopted.contains(it)).cloned().collect();
    let session = world.session.id;
    let holding = Holding::Session { session, resources: fresh.clone() };
    let note = Some("nobody could be told that it was acquired".to_owned());
    let settlement = Settlement::whole(Ending::Release(Ended::Failed), Vec::new()).noting(note);
    if !fresh.is_empty() {
        world.keepers().relieve(session, &fresh);
        let what = match world.store.settle(&holding, &settlement, CALL) {
            Ok(_) => "is given back, since nobody was told of it",
            Err(_) => "was acquired, and could not be given back: it runs out by itself",
        };
        report::say(&format!("locked: {} {what}", names(&fresh).join(" ")));
    }
    if !before.is_empty() {
        report::say(&format!("locked: {} is held as before", names(&before).join(" ")));
    }
    exit
}

fn said(
    as_json: bool,
    tokens: &[(Resource, FencingToken)],
    adopted: &[Resource],
    lasts: Duration,
    keeper: Option<&Keeper>,
) -> Exit {
    let list: Vec<_> = tokens
        .iter()
        .map(|(resource, token)| {
            json!({"resource": resource.name.as_str(), "scope": resource.scope.to_string(), "token": token.0,
                   "held_before": adopted.contains(resource)})
        })
        .collect();
    let lines = tokens.iter().map(|(resource, _)| {
        let before = if adopted.contains(resource) { " (this session held it already)" } else { "" };
        format!("acquired {} for {}{before}", resource.name, show_duration(lasts))
    });
    let text = lines.chain(keeper.map(Keeper::line)).collect::<Vec<_>>().join("\n");
    let kept = keeper.map(Keeper::object);
    answer(as_json, &json!({"acquired": list, "expires_in_ms": lasts.as_millis(), "kept_alive": kept}), Some(text))
}
