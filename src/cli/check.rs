//! `locked check`: are these still ours? To be asked immediately before a write that cannot be taken back.
#![forbid(unsafe_code)]

use serde_json::json;

use crate::exit::Exit;
use crate::run::Context;
use crate::store::{LeaseState, LeaseView};
use crate::terms::{FencingToken, Resource};

use super::RunOptions;
use super::held::{answer, names, not_ours};
use super::verbs::Named;
use super::world::{CALL, World};

pub(super) fn check(context: &Context, options: &RunOptions, verb: &Named) -> Exit {
    World::with(context, options, |world| {
        let resources = world.resources(&verb.resources)?;
        super::session::hear(world.store.as_mut(), world.session.id);
        let live = world.store.leases(Some(&resources), CALL).map_err(|error| world.down(&error))?;
        let inherited = inherited(context);
        let ours = |lease: &LeaseView| {
            let good = matches!(lease.state, LeaseState::Held | LeaseState::Kept);
            let by_token =
                inherited.iter().any(|(name, token)| *name == lease.resource.name.as_str() && *token == lease.token);
            good && (lease.session == world.session.id || by_token)
        };
        let missing: Vec<Resource> = resources
            .iter()
            .filter(|resource| !live.iter().any(|lease| lease.resource == **resource && ours(lease)))
            .cloned()
            .collect();
        if !missing.is_empty() {
            return Err(not_ours(world, &missing));
        }
        let tokens: Vec<_> = live
            .iter()
            .map(|lease| json!({"resource": lease.resource.name.as_str(), "token": lease.token.0}))
            .collect();
        Ok(answer(verb.json, &json!({"ours": names(&resources), "tokens": tokens}), None))
    })
}

/// What a wrapped command got from its `locked`: names and tokens. The tokens are compared with the store's, so that a
/// stale environment proves nothing.
pub(super) fn inherited(context: &Context) -> Vec<(String, FencingToken)> {
    let words = |name: &str| {
        let text = context.invocation.var(name).unwrap_or_default();
        text.to_string_lossy().split(' ').map(str::to_owned).collect::<Vec<_>>()
    };
    let tokens = words("LOCKED_TOKENS").into_iter().map(|token| token.parse().ok().map(FencingToken));
    words("LOCKED_RESOURCES").into_iter().zip(tokens).filter_map(|(name, token)| Some((name, token?))).collect()
}
