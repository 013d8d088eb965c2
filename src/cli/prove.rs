//! Before a hold between commands is reported: what its predecessors left unsettled is proven, as before a command.
#![forbid(unsafe_code)]

use crate::exit::{self, Exit};
use crate::report;
use crate::run::{self, LeftBad, Predecessors};
use crate::state;
use crate::store::{Ended, Ending, Granted, Holding, Receipt, Renewal, Request, Settlement};
use crate::terms::Resource;

use super::front::refuse;
use super::held::{names, not_ours};
use super::world::{CALL, World};

/// Why nothing is reported as held.
const THEN: &str = "nothing was acquired";

/// Sees to it that the grant owes nothing; else what is bad is quarantined, what was granted anew goes, and it is refused.
/// `at_once`: its predecessor was not waited for, and what runs of it is left alone; the next command looks then.
pub(super) fn proven(world: &mut World<'_>, request: &Request, granted: &Granted, at_once: bool) -> Result<(), Exit> {
    if granted.unsettled.is_empty() && granted.reclaimed.is_empty() {
        return Ok(());
    }
    let host = &request.owner.host;
    let found = run::predecessors(world.context, &world.state, host, granted, !at_once);
    match found.map_err(|error| world.down(&error))? {
        Predecessors::Run(_) if at_once => Ok(()),
        // Not settled: it runs out, and what it owes goes on to the next one.
        Predecessors::Run(grant) => {
            let wanted = names(&request.resources).join(" ");
            Err(refuse(&run::still_running(&wanted, grant, THEN), exit::BUSY))
        }
        // What lies on another host is proven there.
        Predecessors::Sound { all: false, .. } => Ok(()),
        Predecessors::Sound { receipts, .. } => {
            noted(world, &part(request, granted, |_| true), &receipts, &request.resources)?;
            granted.reclaimed.iter().for_each(|&grant| state::discard(&world.state, grant));
            Ok(())
        }
        Predecessors::Bad { bad, receipts } => Err(quarantined(world, request, granted, &bad, receipts)?),
    }
}

/// This part of what was granted.
fn part(request: &Request, granted: &Granted, of: impl Fn(&Resource) -> bool) -> Holding {
    let resources = granted.tokens.iter().filter(|(resource, _)| of(resource)).cloned().collect();
    Holding::Grant { grant: request.grant, key: request.key.clone(), resources }
}

/// It owes nothing any more.
fn noted(world: &mut World<'_>, holding: &Holding, receipts: &[Receipt], resources: &[Resource]) -> Result<(), Exit> {
    match world.store.record_files(holding, &[], receipts, CALL).map_err(|error| world.down(&error))? {
        Renewal::Renewed(_) => Ok(()),
        Renewal::Revoked | Renewal::Gone => Err(not_ours(world, resources)),
    }
}

/// The bad files' resources stay, quarantined; of the rest the session has what it had before.
fn quarantined(
    world: &mut World<'_>,
    request: &Request,
    granted: &Granted,
    bad: &[LeftBad],
    receipts: Vec<Receipt>,
) -> Result<Exit, Exit> {
    let is_bad = |resource: &Resource| bad.iter().any(|bad| bad.resource == *resource);
    let is_fresh = |resource: &Resource| !is_bad(resource) && !granted.adopted.contains(resource);
    let (of_bad, of_sound): (Vec<_>, Vec<_>) = receipts.into_iter().partition(|it| is_bad(&it.resource));
    let Some(first) = bad.first() else { return Ok(Exit::Code(exit::INTERNAL)) };
    let settlement = Settlement {
        ending: first.ending().1,
        apart: bad.iter().map(LeftBad::ending).collect(),
        receipts: of_bad,
        note: None,
    };
    let stays = part(request, granted, is_bad);
    let _lost_is_refused_as_well = world.store.settle(&stays, &settlement, CALL).map_err(|error| world.down(&error))?;
    let rest: Vec<Resource> = request.resources.iter().filter(|it| !is_bad(it)).cloned().collect();
    if !rest.is_empty() && granted.unsettled.iter().all(|left| left.host == request.owner.host) {
        noted(world, &part(request, granted, |it| !is_bad(it)), &of_sound, &rest)?;
    }
    let fresh: Vec<Resource> = rest.iter().filter(|it| is_fresh(it)).cloned().collect();
    if !fresh.is_empty() {
        let note = Some(format!("nothing was acquired: {} is bad", first.shown));
        let settlement = Settlement::whole(Ending::Release(Ended::Failed), Vec::new()).noting(note);
        let _it_runs_out = world.store.settle(&part(request, granted, is_fresh), &settlement, CALL);
        world.keepers().relieve(world.session.id, &fresh);
    }
    let before: Vec<Resource> = rest.into_iter().filter(|it| !is_fresh(it)).collect();
    if !before.is_empty() {
        let _it_runs_out = world
            .store
            .renew(&part(request, granted, |it| before.contains(it)), CALL)
            .map_err(|error| world.down(&error))?;
        report::say(&format!("locked: {} is held as before", names(&before).join(" ")));
    }
    let (refusal, status) = first.refusal(THEN);
    Ok(refuse(&refusal, status))
}
