//! The world as an agent's commands find it.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use crate::agents::{Agent, Call};
use crate::config::Shelf;
use crate::invocation::Invocation;
use crate::run::{Account, Context};

/// Names the agent's session for which `LOCKED_SESSION` was exported: below it another agent may be started, which inherits
/// both, and is not that session.
pub(super) const EXPORTED_FOR: &str = "LOCKED_AGENT_SESSION";

/// The world as the agent's commands find it: where it works, and under which session. What its commands get as a variable
/// its hooks are told as `session_id`.
pub(super) fn during(context: &Context, agent: Agent, call: &Call) -> Context {
    let mut invocation = context.invocation.clone();
    let exported_for = invocation.var(EXPORTED_FOR);
    let another = exported_for.is_some_and(|of| of != OsStr::new(&call.session));
    // Codex gives its commands the environment that it has itself, and so another's session; who asks is who writes.
    if another && agent == Agent::Claude {
        without(&mut invocation.env, "LOCKED_SESSION");
    }
    if !call.session.is_empty() {
        let variable = agent.session_variable();
        without(&mut invocation.env, variable);
        invocation.env.push(OsString::from(format!("{variable}={}", call.session)));
    }
    if let Some(cwd) = call.cwd.as_ref().filter(|cwd| cwd.is_dir()) {
        invocation.cwd.clone_from(cwd);
    }
    with(context, invocation)
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
