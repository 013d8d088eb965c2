//! Is what is acquired for an issue still wanted? The issue is asked about before anything of the session's own is touched,
//! and again when something was granted anew.
#![forbid(unsafe_code)]

use crate::exit::Exit;
use crate::store::{Ended, Ending, Granted, Holding, Request, Settlement};
use crate::terms::{Issue, Resource};

use super::front::refuse;
use super::held::names;
use super::rotation;
use super::world::{CALL, World};

/// What the session holds already is not touched for an issue that is not open: the issue is asked about first. Whether it was.
pub(super) fn asked_before(world: &mut World<'_>, request: &Request, issue: Option<&Issue>) -> Result<bool, Exit> {
    let Some(issue) = issue else { return Ok(false) };
    let session = world.session.id;
    let live = world.store.leases(Some(&request.resources), CALL).map_err(|error| world.down(&error))?;
    let held: Vec<Resource> =
        live.into_iter().filter(|it| it.session == session && it.pid.is_none()).map(|it| it.resource).collect();
    if held.is_empty() {
        return Ok(false);
    }
    let wanted = names(&request.resources).join(" ");
    match rotation::against(world.context, issue, &wanted, &as_before(&held)) {
        None => Ok(true),
        Some((refusal, status)) => Err(refuse(&refusal, status)),
    }
}

fn as_before(held: &[Resource]) -> String {
    format!("{} is held as before", names(held).join(" "))
}

/// Held for an issue that is open; what is held for any other anew is given back.
pub(super) fn still_wanted(
    world: &mut World<'_>,
    request: &Request,
    granted: &Granted,
    issue: &Issue,
) -> Result<(), Exit> {
    let wanted = names(&request.resources).join(" ");
    let (before, fresh): (Vec<Resource>, Vec<Resource>) =
        request.resources.iter().cloned().partition(|resource| granted.adopted.contains(resource));
    let then = if before.is_empty() { "nothing is held".to_owned() } else { as_before(&before) };
    let Some((refusal, status)) = rotation::against(world.context, issue, &wanted, &then) else { return Ok(()) };
    let session = world.session.id;
    if !fresh.is_empty() {
        let holding = Holding::Session { session, resources: fresh.clone() };
        let note = Some(refusal.what.clone());
        let settlement = Settlement::whole(Ending::Release(Ended::Failed), Vec::new()).noting(note);
        // What was taken meanwhile is not ours to give back.
        let _released_or_gone = world.store.settle(&holding, &settlement, CALL).map_err(|error| world.down(&error))?;
        world.keepers().relieve(session, &fresh);
    }
    if !before.is_empty() {
        let holding = Holding::Session { session, resources: before };
        // It has its whole time again, as far as it is still the session's.
        let _renewed_or_gone = world.store.renew(&holding, CALL).map_err(|error| world.down(&error))?;
    }
    Err(refuse(&refusal, status))
}
