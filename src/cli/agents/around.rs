//! The world as an agent's commands find it.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use uuid::Uuid;

use crate::agents::{self, Agent, Call};
use crate::config::Shelf;
use crate::invocation::Invocation;
use crate::platform::OsStrExt as _;
use crate::run::{self, Account, Context};
use crate::state::StateDir;
use crate::terms::SessionId;

/// Names the agent's session for which `LOCKED_SESSION` was exported: below it another agent may be started, which inherits
/// both, and is not that session.
pub(super) const EXPORTED_FOR: &str = "LOCKED_AGENT_SESSION";

/// In our own copy of the environment: the session that the agent's commands have, where they inherit another one than its
/// hooks are told of.
const HANDS: &str = "LOCKED_AGENT_HANDS";

/// The world as the agent's commands find it: where it works, and under which session. The `session_id` that a hook is told makes
/// the session, whatever it inherits: two agents below one exported `LOCKED_SESSION`, or one below another, are two.
pub(super) fn during(context: &Context, agent: Agent, call: &Call) -> Context {
    let mut invocation = context.invocation.clone();
    let exported_for = invocation.var(EXPORTED_FOR);
    let others = Agent::ALL.map(Agent::session_variable).into_iter().filter(|name| *name != agent.session_variable());
    let named: Vec<&str> = others.chain(["LOCKED_SESSION", "P24_ENV_LOCK_SESSION_ID"]).collect();
    let inherits = (exported_for.is_none_or(|of| of == OsStr::new(&call.session)) || agent == Agent::Codex)
        && named.iter().any(|name| invocation.var(name).is_some());
    if !call.session.is_empty() {
        let variable = agent.session_variable();
        let own = OsString::from(format!("{variable}={}", call.session));
        without(&mut invocation.env, variable);
        invocation.env.push(own);
        let hands = inherits.then(|| session_of(&with(context, invocation.clone()))).flatten();
        named.into_iter().chain([HANDS]).for_each(|name| without(&mut invocation.env, name));
        invocation.env.extend(hands.map(|hands| OsString::from(format!("{HANDS}={}", hands.whole()))));
    }
    if let Some(cwd) = call.cwd.as_ref().filter(|cwd| cwd.is_dir()) {
        invocation.cwd.clone_from(cwd);
    }
    with(context, invocation)
}

fn session_of(context: &Context) -> Option<SessionId> {
    let settings = run::settings_or_fault(context).ok()?;
    run::session(context, context.session, &settings).ok().map(|session| session.id)
}

/// The session of the agent's commands, where that is another one: what they hold the agent holds as well. An agent whose
/// commands were told their session at its start has none.
pub(super) fn hands(context: &Context, state: &StateDir, session: SessionId) -> Option<SessionId> {
    let hands = SessionId(Uuid::parse_str(context.invocation.var(HANDS)?.to_str()?).ok()?);
    (hands != session && agents::exported(state, session).is_none()).then_some(hands)
}

/// The same in another directory: its repository's settings count there, and its names.
pub(super) fn there(context: &Context, cwd: PathBuf) -> Context {
    with(context, Invocation { cwd, ..context.invocation.clone() })
}

fn with(context: &Context, invocation: Invocation) -> Context {
    Context {
        invocation,
        clock: context.clock.clone(),
        voice: context.voice,
        ourselves: context.ourselves,
        account: Account::default(),
        store: context.store.clone(),
        advisory: context.advisory,
        shim: None,
        session: context.session,
        shelf: Shelf::default(),
    }
}

fn without(env: &mut Vec<OsString>, name: &str) {
    let names =
        |entry: &OsString| entry.as_bytes().strip_prefix(name.as_bytes()).is_some_and(|rest| rest.starts_with(b"="));
    env.retain(|entry| !names(entry));
}
