//! One name in two repositories: what this session holds in another one than the name means here.
#![forbid(unsafe_code)]

use crate::cli::world::{CALL, World};
use crate::report::Refusal;
use crate::store::LeaseView;
use crate::terms::Resource;

/// What to say where the session holds nothing of these here, `live` being what is live of them, and has the name elsewhere.
pub(super) fn of(world: &mut World<'_>, resources: &[Resource], live: &[LeaseView]) -> Option<Refusal> {
    let session = world.session.id;
    let has = |resource: &Resource, leases: &[LeaseView]| {
        leases.iter().any(|lease| lease.resource == *resource && lease.session == session)
    };
    let missing = resources.iter().find(|resource| !has(resource, live))?;
    let all = world.store.leases(None, CALL).ok()?;
    let other = all.iter().find(|lease| lease.session == session && lease.resource.name == missing.name)?;
    let (held, here) = (&other.resource.scope, &missing.scope);
    Some(Refusal {
        word: "REFUSED",
        what: format!(
            "{} is this session's in {held}, and from here the name means another one, of {here}",
            missing.name
        ),
        why:
            "what is a repository's has its name from the repository around the working directory; nothing was changed"
                .to_owned(),
        retry: format!("yes, from a checkout of {held}"),
        next: format!("change to a checkout of {held}, and say it again"),
    })
}
