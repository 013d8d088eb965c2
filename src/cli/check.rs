//! `locked check`: are these still ours, and are their issues still open? To be asked immediately before a write that cannot be
//! taken back. A rotation that rests with the session is renewed at the same time, so that the write has a whole TTL.
#![forbid(unsafe_code)]

use serde_json::json;

use crate::exit::{self, Exit};
use crate::report::{self, reconcile};
use crate::run::{self, Context};
use crate::store::{Ended, HistoryFilter, Holding, LeaseState, LeaseView, Renewal, last_of};
use crate::terms::{FencingToken, Issue, Resource, ResourceName, SessionId};

use super::RunOptions;
use super::front::refuse;
use super::held::{answer, names, not_to_write};
use super::rotation;
use super::verbs::Check;
use super::world::{CALL, World};

pub(super) fn check(context: &Context, options: &RunOptions, verb: &Check) -> Exit {
    let named = verb.issue.clone().or_else(|| options.issue.clone());
    // The issues as they are known when the store has said nothing yet.
    let mut issues: Vec<Issue> = named.iter().cloned().collect();
    let mut about = verb.resources.clone();
    let exit = World::with(context, options, |world| {
        let resources = world.resources(&verb.resources)?;
        about = resources.iter().map(|resource| resource.name.clone()).collect();
        super::session::hear(world.store.as_mut(), world.session.id);
        if verb.token.is_some() && resources.len() > 1 {
            let misuse = report::misuse("a token is that of one resource", "locked check KIND:NAME --token N");
            return Err(refuse(&misuse, exit::USAGE));
        }
        let asked = Asked { resources, token: verb.token.map(FencingToken), inherited: inherited(context) };
        let (mut live, session) = (asked.live(world)?, world.session.id);
        // Who has it instead has an issue of their own, where nothing of ours is told.
        for lease in live.iter().filter(|lease| asked.has(lease, session)) {
            for issue in lease.issues() {
                issues.extend(Some(issue.clone()).filter(|issue| !issues.contains(issue)));
            }
        }
        if verb.comment {
            for issue in asked.lost(world, &live)? {
                issues.extend(Some(issue).filter(|issue| !issues.contains(issue)));
            }
        }
        // What is not ours at all needs no question.
        asked.refuse_but(world, &live, Asked::has)?;
        let wanted = names(&asked.resources).join(" ");
        // Order: first the issues, which may take a while; what happens to the leases meanwhile is seen by the look at them.
        for issue in &issues {
            if let Some((refusal, status)) = rotation::against(context, issue, &wanted, "do not write") {
                let against = issue.clone();
                issues = vec![against];
                return Err(refuse(&refusal, status));
            }
        }
        if renewed(world, &asked)? || !issues.is_empty() {
            live = asked.live(world)?;
        }
        asked.refuse_but(world, &live, Asked::holds)?;
        tell_deserted(world, &live);
        let tokens: Vec<_> = live
            .iter()
            .map(|lease| json!({"resource": lease.resource.name.as_str(), "token": lease.token.0}))
            .collect();
        let told: Vec<String> = issues.iter().map(ToString::to_string).collect();
        let value = json!({"ours": names(&asked.resources), "tokens": tokens, "issue": told.first(), "issues": told});
        Ok(answer(verb.json, &value, None))
    });
    if verb.comment {
        comment(context, &issues, &about, exit);
    }
    exit
}

/// So many ended leases of a resource are looked at for what this session had.
const LOOK_BACK: u32 = 200;

/// What was asked about.
struct Asked {
    resources: Vec<Resource>,
    /// Under which it is to be held.
    token: Option<FencingToken>,
    /// What a `locked` above us holds.
    inherited: Vec<(String, FencingToken)>,
}

/// Whether a `locked` above us holds this.
pub(super) fn is_inherited(inherited: &[(String, FencingToken)], lease: &LeaseView) -> bool {
    inherited.iter().any(|(name, token)| *name == lease.resource.name.as_str() && *token == lease.token)
}

impl Asked {
    fn live(&self, world: &mut World<'_>) -> Result<Vec<LeaseView>, Exit> {
        world.store.leases(Some(&self.resources), CALL).map_err(|error| world.down(&error))
    }

    /// It is the session's, or that of a command above us, however it stands.
    fn has(&self, lease: &LeaseView, session: SessionId) -> bool {
        lease.session == session || is_inherited(&self.inherited, lease)
    }

    /// The same, and nobody else may have it.
    fn holds(&self, lease: &LeaseView, session: SessionId) -> bool {
        let firm = matches!(lease.state, LeaseState::Held | LeaseState::Kept) && !lease.is_free_to_take();
        firm && self.token.is_none_or(|token| token == lease.token) && self.has(lease, session)
    }

    /// The issues of what the session had, and somebody has taken.
    fn lost(&self, world: &mut World<'_>, live: &[LeaseView]) -> Result<Vec<Issue>, Exit> {
        let session = world.session.id;
        let mut issues = Vec::new();
        let is_had = |resource: &Resource| live.iter().any(|it| it.resource == *resource && self.has(it, session));
        for resource in self.resources.iter().filter(|resource| !is_had(resource)) {
            let name = Some(resource.name.to_string());
            let filter = HistoryFilter { name, limit: Some(LOOK_BACK), ..HistoryFilter::default() };
            let past = world.store.history(&filter, CALL).map_err(|error| world.down(&error))?;
            let last = last_of(&past, resource, session);
            // Who has given it back was not about to write.
            let was_taken = last.first().is_some_and(|it| matches!(it.ended_as, Ended::Expired | Ended::Stolen));
            issues.extend(last.iter().filter(|_| was_taken).filter_map(|row| row.issue()));
        }
        Ok(issues)
    }

    /// Refuses unless every resource has a lease that is `good`.
    fn refuse_but(
        &self,
        world: &mut World<'_>,
        live: &[LeaseView],
        good: fn(&Self, &LeaseView, SessionId) -> bool,
    ) -> Result<(), Exit> {
        let session = world.session.id;
        let is_good = |resource: &Resource| live.iter().any(|it| it.resource == *resource && good(self, it, session));
        let missing: Vec<Resource> = self.resources.iter().filter(|it| !is_good(it)).cloned().collect();
        if missing.is_empty() { Ok(()) } else { Err(not_to_write(world, &missing, self.token)) }
    }
}

/// What is ours still ends by itself where the process that kept it alive is gone.
fn tell_deserted(world: &World<'_>, live: &[LeaseView]) {
    let keepers = world.keepers();
    for lease in live.iter().filter(|it| it.session == world.session.id && it.explicit && keepers.was_deserted(it)) {
        let lasts = lease.expires_in.map_or_else(String::new, |left| format!(" in {}", report::rough_span(left)));
        report::say(&format!(
            "locked: nobody keeps {} alive any more, whose keeper was killed: it ends{lasts}; locked acquire {} --keep-alive keeps it again",
            lease.resource, lease.resource.name
        ));
    }
}

/// Renews the rotations that rest with this session, as far as they do; whether there are any.
fn renewed(world: &mut World<'_>, asked: &Asked) -> Result<bool, Exit> {
    let under_us = |it: &&Resource| asked.inherited.iter().any(|(name, _)| *name == it.name.as_str());
    let rotations: Vec<Resource> =
        asked.resources.iter().filter(|it| it.name.is_rotation() && !under_us(it)).cloned().collect();
    if rotations.is_empty() {
        return Ok(false);
    }
    let holding = Holding::Session { session: world.session.id, resources: rotations.clone() };
    match world.store.renew(&holding, CALL).map_err(|error| world.down(&error))? {
        Renewal::Renewed(_) => Ok(true),
        Renewal::Revoked | Renewal::Gone => Err(not_to_write(world, &rotations, asked.token)),
    }
}

/// Tells those who read the issues why nothing is written. Names alone go there.
fn comment(context: &Context, issues: &[Issue], resources: &[ResourceName], exit: Exit) {
    let Exit::Code(status) = exit else { return };
    let wanted = resources.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let what = match status {
        exit::LOST => format!("`{wanted}` is not held any more by the session that was about to write"),
        exit::ISSUE_CLOSED => format!("this issue was closed before `{wanted}` was written"),
        exit::ISSUE_UNKNOWN => format!("whether this issue is open could not be learnt before `{wanted}` was written"),
        exit::UNREACHABLE => format!("whether `{wanted}` is still held could not be learnt: the store does not answer"),
        _ => return,
    };
    if issues.is_empty() {
        report::say("locked: no comment is left: which issue is meant is not known (--issue OWNER/REPO#N)");
    }
    let text = format!("`locked check`: {what}, so the write was not made. Next: {}.", reconcile(&wanted));
    for issue in issues {
        if let Err(why) = run::comment(context, issue, &text) {
            report::say(&format!("locked: no comment could be left on {issue}: {why}"));
        }
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
