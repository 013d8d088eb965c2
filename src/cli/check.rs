//! `locked check`: are these still ours, and is the issue still open? To be asked immediately before a write that cannot be
//! taken back. A rotation that rests with the session is renewed at the same time, so that the write has a whole TTL.
#![forbid(unsafe_code)]

use serde_json::json;

use crate::exit::{self, Exit};
use crate::report::{self, reconcile};
use crate::run::{self, Context};
use crate::store::{Holding, LeaseState, LeaseView, Renewal};
use crate::terms::{FencingToken, Issue, Resource, ResourceName};

use super::RunOptions;
use super::front::refuse;
use super::held::{answer, names, not_ours, not_ours_under};
use super::rotation;
use super::verbs::Check;
use super::world::{CALL, World};

pub(super) fn check(context: &Context, options: &RunOptions, verb: &Check) -> Exit {
    let named = verb.issue.clone().or_else(|| options.issue.clone());
    // The issue as it is known when the store has said nothing yet.
    let mut issue = named.clone();
    let mut about = verb.resources.clone();
    let exit = World::with(context, options, |world| {
        let resources = world.resources(&verb.resources)?;
        about = resources.iter().map(|resource| resource.name.clone()).collect();
        super::session::hear(world.store.as_mut(), world.session.id);
        if verb.token.is_some() && resources.len() > 1 {
            let misuse = report::misuse("a token is that of one resource", "locked check KIND:NAME --token N");
            return Err(refuse(&misuse, exit::USAGE));
        }
        let inherited = inherited(context);
        renewed(world, &resources, &inherited)?;
        let live = world.store.leases(Some(&resources), CALL).map_err(|error| world.down(&error))?;
        let ours = |lease: &LeaseView| {
            let good = matches!(lease.state, LeaseState::Held | LeaseState::Kept);
            let by_token =
                inherited.iter().any(|(name, token)| *name == lease.resource.name.as_str() && *token == lease.token);
            let as_said = verb.token.is_none_or(|token| FencingToken(token) == lease.token);
            good && as_said && (lease.session == world.session.id || by_token)
        };
        issue = named.clone().or_else(|| live.iter().find_map(|lease| Issue::of(&lease.operation)));
        let missing: Vec<Resource> = resources
            .iter()
            .filter(|resource| !live.iter().any(|lease| lease.resource == **resource && ours(lease)))
            .cloned()
            .collect();
        if !missing.is_empty() {
            return Err(not_ours_under(world, &missing, verb.token.map(FencingToken)));
        }
        let wanted = names(&resources).join(" ");
        let against = issue.as_ref().and_then(|issue| rotation::against(context, issue, &wanted, "do not write"));
        if let Some((refusal, status)) = against {
            return Err(refuse(&refusal, status));
        }
        let tokens: Vec<_> = live
            .iter()
            .map(|lease| json!({"resource": lease.resource.name.as_str(), "token": lease.token.0}))
            .collect();
        let issue = issue.as_ref().map(ToString::to_string);
        Ok(answer(verb.json, &json!({"ours": names(&resources), "tokens": tokens, "issue": issue}), None))
    });
    if verb.comment {
        comment(context, issue.as_ref(), &about, exit);
    }
    exit
}

/// Renews the rotations that rest with this session, as far as they do.
fn renewed(world: &mut World<'_>, resources: &[Resource], inherited: &[(String, FencingToken)]) -> Result<(), Exit> {
    let under_us = |it: &&Resource| inherited.iter().any(|(name, _)| *name == it.name.as_str());
    let rotations: Vec<Resource> =
        resources.iter().filter(|it| it.name.is_rotation() && !under_us(it)).cloned().collect();
    if rotations.is_empty() {
        return Ok(());
    }
    let holding = Holding::Session { session: world.session.id, resources: rotations.clone() };
    match world.store.renew(&holding, CALL).map_err(|error| world.down(&error))? {
        Renewal::Renewed(_) => Ok(()),
        Renewal::Revoked | Renewal::Gone => Err(not_ours(world, &rotations)),
    }
}

/// Tells who reads the issue why nothing is written. Names alone go there.
fn comment(context: &Context, issue: Option<&Issue>, resources: &[ResourceName], exit: Exit) {
    let Exit::Code(status) = exit else { return };
    let wanted = resources.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let what = match status {
        exit::LOST => format!("`{wanted}` is not held any more by the session that was about to write"),
        exit::ISSUE_CLOSED => format!("this issue was closed before `{wanted}` was written"),
        exit::ISSUE_UNKNOWN => format!("whether this issue is open could not be learnt before `{wanted}` was written"),
        exit::UNREACHABLE => format!("whether `{wanted}` is still held could not be learnt: the store does not answer"),
        _ => return,
    };
    let Some(issue) = issue else {
        report::say("locked: no comment is left: which issue is meant is not known (--issue OWNER/REPO#N)");
        return;
    };
    let text = format!("`locked check`: {what}, so the write was not made. Next: {}.", reconcile(&wanted));
    if let Err(why) = run::comment(context, issue, &text) {
        report::say(&format!("locked: no comment could be left on {issue}: {why}"));
    }
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
