//! `locked agents install`, `remove` and `status`.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::agents::{self, Agent, AgentsError, BLOCK, Level, Place, Standing};
use crate::exit::{self, Exit};
use crate::git::Repository;
use crate::program;
use crate::report::{self, Refusal};
use crate::run::{Context, env_of};
use crate::shims;
use crate::state::StateDir;
use crate::terms::{Done, shell_quote};

use crate::cli::front::refuse;
use crate::cli::held::answer;
use crate::cli::table::table;
use crate::cli::verbs::{AgentLevel, InstallAgentsVerb, RemoveAgentsVerb};

pub(super) fn install(context: &Context, verb: &InstallAgentsVerb) -> Exit {
    if verb.agent.as_deref() == Some("print") {
        return answer(verb.json, &json!({"block": BLOCK}), Some(BLOCK.to_owned()));
    }
    let level = level(&verb.level);
    let chosen: Vec<Agent> = match &verb.agent {
        Some(word) => Agent::named(word).into_iter().collect(),
        None => Agent::ALL.into_iter().filter(|agent| is_here(context, *agent)).collect(),
    };
    if chosen.is_empty() {
        let text = "no agent is found here; for one that is to come: locked agents install claude, or codex";
        return answer(verb.json, &json!({"agents": []}), Some(text.to_owned()));
    }
    let locked = match called(context, level) {
        Ok(locked) => locked,
        Err(exit) => return exit,
    };
    let state = StateDir::open(&env_of(context)).ok();
    each(context, level, &chosen, verb.json, |agent, place| {
        let done = agents::install(agent, level, place, &locked, state.as_ref())?;
        // Codex runs no hook that its person has not looked at ("Hooks", on trust).
        if agent == Agent::Codex && done.iter().any(|(_, done)| matches!(done, Done::Installed | Done::Renewed)) {
            report::say(
                "locked: Codex runs new hooks only after somebody has looked at them: /hooks in its next session",
            );
        }
        Ok(done)
    })
}

pub(super) fn remove(context: &Context, verb: &RemoveAgentsVerb) -> Exit {
    let chosen = match &verb.agent {
        Some(word) => Agent::named(word).into_iter().collect(),
        None => Agent::ALL.to_vec(),
    };
    let state = StateDir::existing(&env_of(context)).ok().flatten();
    each(context, level(&verb.level), &chosen, verb.json, |_, place| agents::remove(place, state.as_ref()))
}

/// Does it for each agent; one that cannot be done stands in no other's way.
fn each(
    context: &Context,
    level: Level,
    chosen: &[Agent],
    as_json: bool,
    work: impl Fn(Agent, &Place) -> Result<Vec<(PathBuf, Done)>, AgentsError>,
) -> Exit {
    let (mut list, mut lines, mut status) = (Vec::new(), Vec::new(), Exit::OK);
    for &agent in chosen {
        let place = agent.place(level, &root(context), &env_of(context));
        match place.and_then(|place| work(agent, &place)) {
            Ok(done) => {
                let files: serde_json::Map<String, Value> =
                    done.iter().map(|(path, done)| (path.display().to_string(), json!(done.word()))).collect();
                list.push(json!({"agent": agent.word(), "level": level.word(), "files": files}));
                lines.extend(done.iter().map(|(path, done)| format!("{}: {}", shown(path), done.word())));
            }
            Err(error) => status = cannot(&error),
        }
    }
    let told = answer(as_json, &json!({"agents": list}), Some(lines.join("\n")).filter(|_| !lines.is_empty()));
    if status == Exit::OK { told } else { status }
}

pub(super) fn status(context: &Context, as_json: bool) -> Exit {
    let mut list = Vec::new();
    let mut rows = vec![["AGENT", "LEVEL", "HOOKS", "BLOCK", "SETTINGS"].map(str::to_owned).to_vec()];
    let mut status = Exit::OK;
    for agent in Agent::ALL {
        for level in [Level::User, Level::Project] {
            let place = match agent.place(level, &root(context), &env_of(context)) {
                Ok(place) => place,
                Err(error) => {
                    status = cannot(&error);
                    continue;
                }
            };
            match agents::standing(agent, &place) {
                Ok(standing) => {
                    list.push(entry(agent, level, &place, &standing));
                    let words = [agent.word(), level.word(), standing.hooks, standing.block].map(str::to_owned);
                    rows.push([words.to_vec(), vec![shown(&place.settings)]].concat());
                }
                Err(error) => status = cannot(&error),
            }
        }
    }
    let told = answer(as_json, &json!(list), Some(table(&rows)));
    if status == Exit::OK { told } else { status }
}

fn entry(agent: Agent, level: Level, place: &Place, standing: &Standing) -> Value {
    json!({
        "agent": agent.word(), "level": level.word(), "hooks": standing.hooks, "commands": standing.commands,
        "block": standing.block, "settings": place.settings.display().to_string(),
        "instructions": place.instructions.display().to_string(),
    })
}

fn level(level: &AgentLevel) -> Level {
    if level.project { Level::Project } else { Level::User }
}

/// The root of the project: of the repository, else where one stands.
fn root(context: &Context) -> PathBuf {
    let cwd = &context.invocation.cwd;
    Repository::around(cwd).ok().flatten().map_or_else(|| cwd.clone(), |repository| repository.worktree_root)
}

/// An agent is here whose hooks do not call us.
pub(super) fn lacks_hooks(context: &Context) -> bool {
    let whole = |agent: Agent, level: Level| {
        let place = agent.place(level, &root(context), &env_of(context));
        place.and_then(|place| agents::standing(agent, &place)).is_ok_and(|standing| standing.hooks == "whole")
    };
    let here = Agent::ALL.into_iter().filter(|agent| is_here(context, *agent));
    here.into_iter().any(|agent| !whole(agent, Level::User) && !whole(agent, Level::Project))
}

/// It has its directory, or its program is on PATH.
fn is_here(context: &Context, agent: Agent) -> bool {
    let path = context.invocation.var("PATH");
    let on_path = || {
        let places = program::places(agent.word().as_ref(), path.as_deref());
        places.iter().any(|place| context.invocation.cwd.join(place).is_file())
    };
    agent.home(&env_of(context)).is_ok_and(|home| home.is_dir()) || on_path()
}

/// How the hooks call us. What is committed must be right on every machine; what is this account's own is a path, since an
/// agent that was started from a desktop may have another PATH.
fn called(context: &Context, level: Level) -> Result<String, Exit> {
    if level == Level::Project {
        return Ok("locked".to_owned());
    }
    let (invocation, path) = (&context.invocation, context.invocation.var("PATH"));
    let found = shims::launcher(invocation.executed.as_deref(), path.as_deref(), &invocation.cwd, context.ourselves);
    match found {
        Ok(path) => Ok(shell_quote(path.as_os_str().as_encoded_bytes())),
        Err(error) => Err(refuse(&report::misuse(&error.to_string(), "call locked by its path"), exit::CONFIG)),
    }
}

fn shown(path: &Path) -> String {
    shell_quote(path.as_os_str().as_encoded_bytes())
}

fn cannot(error: &AgentsError) -> Exit {
    let refusal = Refusal {
        word: "REFUSED",
        what: error.to_string(),
        why: "what cannot be read is not written over, and an agent reads no half-written settings".to_owned(),
        retry: "yes, after the next step".to_owned(),
        next: error.remedy(),
    };
    refuse(&refusal, exit::CONFIG)
}
