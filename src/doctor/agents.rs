//! Agents: whether those that are here ask us before they write, and whether we have understood all that they told.
#![forbid(unsafe_code)]

use std::path::Path;

use crate::agents::{self, Agent, Level};
use crate::program;
use crate::report::day_and_time;
use crate::run::env_of;

use super::Finding;
use super::patient::Patient;

pub(super) fn look(patient: &Patient<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = unread(patient).into_iter().collect();
    found.extend(Agent::ALL.into_iter().filter_map(|agent| hooks(patient, agent)));
    if found.is_empty() {
        found.push(Finding::ok("agents.none", "no agent is here whose settings are known"));
    }
    found
}

fn unread(patient: &Patient<'_>) -> Option<Finding> {
    let state = patient.state.as_ref().ok().and_then(Option::as_ref)?;
    let unread = agents::unread(state)?;
    let what = format!(
        "{} call{} of agents' hooks could not be understood, the last at {}: {}",
        unread.count,
        if unread.count == 1 { "" } else { "s" },
        day_and_time(unread.last),
        unread.why
    );
    Some(
        Finding::warn("agents.unread", what)
            .because("what the agent did then was let through without a look; is locked older than the agent?")
            .remedy("locked doctor --fix agents")
            .fixed_by(|patient| {
                let state =
                    patient.state.as_ref().ok().and_then(Option::as_ref).ok_or("there is no state directory")?;
                agents::forget_unread(state).map(|()| "forgot them".to_owned()).map_err(|error| error.to_string())
            }),
    )
}

/// An agent that has a directory here, at the level at which its hooks stand, if at any.
fn hooks(patient: &Patient<'_>, agent: Agent) -> Option<Finding> {
    let env = env_of(patient.context);
    agent.home(&env).ok().filter(|home| home.is_dir())?;
    let root = patient.repository().map_or(&patient.context.invocation.cwd, |repository| &repository.worktree_root);
    let mut partial = None;
    for level in [Level::User, Level::Project] {
        let place = agent.place(level, root, &env).ok()?;
        let install = format!("locked agents install {} --{}", agent.word(), level.word());
        match agents::standing(agent, &place) {
            Err(error) => {
                return Some(
                    Finding::warn("agents.settings", format!("{error}"))
                        .because(format!("{} may not ask before it writes", agent.name()))
                        .remedy(error.remedy()),
                );
            }
            Ok(standing) if standing.hooks == "whole" => {
                return Some(match standing.called.iter().find(|word| !is_there(patient, word)) {
                    Some(_) => Finding::fault(
                        "agents.gone",
                        format!("the hooks of {} call a locked that is not there", agent.name()),
                    )
                    .because("nothing that it writes is looked at")
                    .remedy(install),
                    None => Finding::ok("agents.hooks", format!("{} asks before it writes", agent.name())),
                });
            }
            Ok(standing) if standing.hooks != "absent" => partial = partial.or(Some((standing.hooks, install))),
            Ok(_) => {}
        }
    }
    Some(match partial {
        Some(("off", _)) => Finding::warn("agents.off", format!("{} has all hooks switched off", agent.name()))
            .because("files that it writes itself are not looked at")
            .remedy("take disableAllHooks out of its settings"),
        Some((_, install)) => Finding::warn("agents.partial", format!("{} has only some of the hooks", agent.name()))
            .because("files that it writes itself may not be looked at")
            .remedy(install),
        None => Finding::note("agents.unasked", format!("{} is here, and does not ask before it writes", agent.name()))
            .because("shims see its commands, and nobody the files that it writes itself")
            .remedy(format!("locked agents install {}", agent.word())),
    })
}

/// Whether what a hook calls is there.
fn is_there(patient: &Patient<'_>, word: &str) -> bool {
    if word.contains('/') {
        return Path::new(word).is_file();
    }
    let path = patient.context.invocation.var("PATH");
    program::places(word.as_ref(), path.as_deref()).iter().any(|place| place.is_file())
}
