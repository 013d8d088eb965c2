//! Leases that a session holds between its tools: what it changes without a program is its own until it ends or gives it
//! back.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::exit::Exit;
use crate::lease::{self, Patience};
use crate::rules::Policy;
use crate::run::Context;
use crate::store::{Claim, Holding, LeaseState, LeaseView, Renewal};
use crate::terms::{Resource, SessionId, parse_duration, show_duration};

use super::around::hands;
use crate::cli::RunOptions;
use crate::cli::acquire::{ask, confirmed, granted, request};
use crate::cli::held::names;
use crate::cli::prove::proven;
use crate::cli::world::{CALL, World};

/// Within the time that the settings of an agent give a hook of ours.
const LONGEST_WAIT: Duration = Duration::from_secs(45);

/// What is to be held.
pub(super) struct Wanted<'a> {
    /// Sorted, unique.
    pub(super) resources: Vec<Resource>,
    /// Those of them that nobody reclaims without a person's word.
    pub(super) ask: Vec<Resource>,
    pub(super) policy: &'a Policy,
    pub(super) operation: String,
}

/// The live leases on these that are this session's.
pub(super) fn own(world: &mut World<'_>, resources: &[Resource]) -> Result<Vec<LeaseView>, Exit> {
    let live = world.store.leases(Some(resources), CALL).map_err(|error| world.down(&error))?;
    let ours = ours(world);
    let good = |lease: &LeaseView| matches!(lease.state, LeaseState::Held | LeaseState::Kept);
    Ok(live.into_iter().filter(|lease| ours.contains(&lease.session) && good(lease)).collect())
}

/// This session, and that of its commands where they are told another one.
pub(super) fn ours(world: &World<'_>) -> Vec<SessionId> {
    let session = world.session.id;
    std::iter::once(session).chain(hands(world.context, &world.state, session)).collect()
}

/// `LOCKED_WAIT` and `LOCKED_NO_WAIT` of the agent; what makes no sense stands in its way no more than any other mistake.
fn asked(context: &Context) -> Option<Duration> {
    let said = |name: &str| Some(context.invocation.var(name)?.to_str()?.to_owned());
    let none = |word: String| !["", "0", "n", "no", "f", "false", "off"].contains(&&*word.to_ascii_lowercase());
    if said("LOCKED_NO_WAIT").is_some_and(none) {
        return Some(Duration::ZERO);
    }
    parse_duration(&said("LOCKED_WAIT")?).ok()
}

/// Sees to it that this session holds all of them. The answer is what is to be known of it, if it is new.
pub(super) fn hold(world: &mut World<'_>, options: &RunOptions, wanted: Wanted<'_>) -> Result<Option<String>, Exit> {
    crate::cli::session::hear(world.store.as_mut(), world.session.id);
    let own = own(world, &wanted.resources)?;
    let rests = |lease: &&LeaseView| lease.pid.is_none() && lease.session == world.session.id;
    let resting: Vec<Resource> = own.iter().filter(rests).map(|it| it.resource.clone()).collect();
    let mut missing = wanted.resources;
    missing.retain(|resource| !own.iter().any(|lease| lease.resource == *resource));
    if !resting.is_empty() {
        let holding = Holding::Session { session: world.session.id, resources: resting.clone() };
        match world.store.renew(&holding, CALL).map_err(|error| world.down(&error))? {
            Renewal::Renewed(_) => {}
            // Somebody took it at this moment: it is asked for like the others.
            Renewal::Revoked | Renewal::Gone => missing.extend(resting),
        }
    }
    missing.sort();
    missing.dedup();
    if missing.is_empty() {
        return Ok(None);
    }
    let wait = asked(world.context).or(wanted.policy.wait.filter(|_| !options.no_wait && options.wait.is_none()));
    let patience = match (wait, options.patience(&world.settings)) {
        (Some(wait), _) => Patience::of(wait.min(LONGEST_WAIT)),
        (None, Patience::Wait(wait)) => Patience::of(wait.min(LONGEST_WAIT)),
        (None, Patience::None) => Patience::None,
    };
    let mut request = request(world, Claim::Explicit, missing, wanted.policy.ttl, wanted.operation)?;
    request.ask = wanted.ask.into_iter().filter(|resource| request.resources.contains(resource)).collect();
    let obtained = ask(world, &request, |request, asker| lease::acquire(request, patience, asker))?;
    let granted = granted(world, options, &request, obtained)?;
    proven(world, &request, &granted, false)?;
    let lasts = confirmed(world, &request, &granted)?;
    let held = names(&request.resources).join(" ");
    Ok(Some(format!(
        "locked: this session holds {held} for {} from its last change in it, or until its end; locked release {held} gives it back earlier",
        show_duration(lasts)
    )))
}
