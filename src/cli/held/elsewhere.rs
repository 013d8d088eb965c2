//! One name in two repositories: what this session holds in another one than the name means here.
#![forbid(unsafe_code)]

use crate::cli::world::{CALL, World};
use crate::report::Refusal;
use crate::store::{LeaseView, PastLease};
use crate::terms::Resource;

/// What to say where one of these is not held here, `live` being what is live of them, and somebody has the name elsewhere: who
/// names what others hold means that one.
pub(in crate::cli) fn of_anybody(world: &mut World<'_>, resources: &[Resource], live: &[LeaseView]) -> Option<Refusal> {
    let missing: Vec<&Resource> =
        resources.iter().filter(|it| !live.iter().any(|lease| lease.resource == **it)).collect();
    if missing.is_empty() {
        return None;
    }
    let all = world.store.leases(None, CALL).ok()?;
    missing.into_iter().find_map(|missing| {
        let lease = all.iter().find(|lease| is_its_name(&lease.resource, missing))?;
        let whose = match lease.session == world.session.id {
            true => "is this session's".to_owned(),
            false => format!("is held by {} ({})", lease.session, lease.label),
        };
        Some(another(missing, &lease.resource, &whose))
    })
}

/// The same of what is left to a person.
pub(in crate::cli) fn of_duties(resources: &[Resource], open: &[PastLease]) -> Option<Refusal> {
    let is_left = |it: &&Resource| open.iter().any(|duty| duty.resource == **it);
    resources.iter().filter(|it| !is_left(it)).find_map(|missing| {
        let duty = open.iter().find(|duty| is_its_name(&duty.resource, missing))?;
        Some(another(missing, &duty.resource, "was left to a person"))
    })
}

fn is_its_name(other: &Resource, here: &Resource) -> bool {
    other.name == here.name && other.scope != here.scope
}

/// What to say where the session holds nothing of these here, `live` being what is live of them, and has the name elsewhere.
pub(super) fn of(world: &mut World<'_>, resources: &[Resource], live: &[LeaseView]) -> Option<Refusal> {
    let session = world.session.id;
    let is_held = |it: &&Resource| live.iter().any(|lease| lease.resource == **it && lease.session == session);
    let missing: Vec<&Resource> = resources.iter().filter(|it| !is_held(it)).collect();
    if missing.is_empty() {
        return None;
    }
    let all = world.store.leases(None, CALL).ok()?;
    missing.into_iter().find_map(|missing| {
        let other = all.iter().find(|lease| lease.session == session && is_its_name(&lease.resource, missing))?;
        Some(another(missing, &other.resource, "is this session's"))
    })
}

/// One name, two resources: what is here, and the other one, `whose` in words.
fn another(here: &Resource, other: &Resource, whose: &str) -> Refusal {
    let (name, held, here) = (&here.name, &other.scope, &here.scope);
    Refusal {
        word: "REFUSED",
        what: format!("{name} {whose} in {held}, and from here the name means another one, of {here}"),
        why:
            "what is a repository's has its name from the repository around the working directory; nothing was changed"
                .to_owned(),
        retry: format!("yes, from a checkout of {held}"),
        next: format!("change to a checkout of {held}, and say it again"),
    }
}
