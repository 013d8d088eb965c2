//! `locked agents check`: what the hooks of agents call. An agent says what it is about to do; we say nothing, or why not and
//! what to do instead.
//!
//! What is no call that we know stops nothing: it is noted for `doctor`, and the status is 0. What would lock something and
//! cannot be decided (the store is down, settings cannot be followed) is denied, as the wrapper would refuse it.
#![forbid(unsafe_code)]

use std::io::{IsTerminal as _, Read as _};

use crate::agents::{self, Agent, Answer, Call, Event, Judgement, NoCall};
use crate::clock::Clock as _;
use crate::exit::{self, Exit};
use crate::report;
use crate::run::{self, Context, env_of};
use crate::state::StateDir;
use crate::terms::{Resource, ResourceName, Scope, said_somehow};

use super::around::during;
use super::{command, files, start};
use crate::cli::RunOptions;
use crate::cli::front::refuse;
use crate::cli::out::print;
use crate::cli::verbs::CheckCallVerb;

/// Nobody says more (bytes).
const LONGEST: u64 = 64 * 1024 * 1024;

pub(super) fn check(context: &Context, options: &RunOptions, verb: &CheckCallVerb) -> Exit {
    if std::io::stdin().is_terminal() {
        let what = "this is what an agent's hooks call, with JSON on standard input";
        return refuse(&report::misuse(what, "locked agents install"), exit::USAGE);
    }
    let agent = Agent::named(&verb.agent).unwrap_or(Agent::Claude);
    let call = match told().and_then(|told| Call::read(&told)) {
        Ok(call) => call,
        Err(why) => {
            unread(context, why);
            return Exit::OK;
        }
    };
    let context = during(context, agent, &call);
    let (answer, said) = report::overhear(|| answered(&context, options, &call));
    let answer = answer.map_or_else(|_| refused(&call, &said), |answer| answer.map(|answer| answer.and(&said)));
    let answer = unless_bypassed(&context, &call, answer);
    match answer.and_then(|answer| answer.json()) {
        Some(answer) => print(&answer.to_string()),
        None => Exit::OK,
    }
}

fn told() -> Result<Vec<u8>, NoCall> {
    let mut told = Vec::new();
    let read = std::io::stdin().lock().take(LONGEST + 1).read_to_end(&mut told);
    match read {
        Err(_) => Err(NoCall::Unreadable),
        Ok(length) if length as u64 > LONGEST => Err(NoCall::TooLong),
        Ok(_) => Ok(told),
    }
}

fn unread(context: &Context, why: NoCall) {
    if let Ok(state) = StateDir::open(&env_of(context)) {
        agents::note_unread(&state, why, context.clock.wall_ms());
    }
}

/// None where nothing is said. An error has been said.
fn answered(context: &Context, options: &RunOptions, call: &Call) -> Result<Option<Answer>, Exit> {
    let judgement = match &call.event {
        Event::Start => return start::start(context, call).map(|text| Some(Answer::Start(text))),
        Event::End => {
            start::end(context, options, call)?;
            return Ok(None);
        }
        Event::Command(line) => command::judge(context, options, line)?,
        Event::Files(tool, touched) => files::judge(context, options, tool, touched)?,
        Event::Other => Judgement::Pass,
    };
    Ok(Some(Answer::Tool(judgement)))
}

/// `LOCKED_BYPASS='reason'` in the agent's own environment lets through what is denied, and is told of: a person has set it
/// where the agent was started.
fn unless_bypassed(context: &Context, call: &Call, answer: Option<Answer>) -> Option<Answer> {
    let (Some(Answer::Tool(Judgement::Deny(why))), Some(reason)) = (&answer, context.invocation.var("LOCKED_BYPASS"))
    else {
        return answer;
    };
    let reason = said_somehow(&reason.to_string_lossy());
    if reason.is_empty() {
        return answer;
    }
    let tool = match &call.event {
        Event::Files(tool, _) => tool.as_str(),
        _ => "Bash",
    };
    let resource = Resource { name: ResourceName::of("agent", tool.as_bytes()), scope: Scope::global() };
    let told = match run::record_bypass(context, &reason, &format!("agent {tool}"), &[resource]) {
        Ok(told) => told.to_owned(),
        Err(error) => format!("nothing could be recorded: {error}"),
    };
    let what = why.lines().next().unwrap_or_default();
    Some(Answer::Tool(Judgement::Told(format!("locked: let through, bypassed ({reason}); {told}: {what}"))))
}

/// What was said as a refusal, for who asked.
fn refused(call: &Call, said: &[String]) -> Option<Answer> {
    let words = ["BLOCKED: ", "REFUSED: ", "QUARANTINED: "];
    let refusal = said.iter().find(|text| words.iter().any(|word| text.starts_with(word)));
    let text = refusal.cloned().unwrap_or_else(|| said.join("\n"));
    match call.event {
        Event::Command(_) | Event::Files(..) if !text.is_empty() => Some(Answer::Tool(Judgement::Deny(text))),
        Event::Start => Some(Answer::Start(format!("The board of locked cannot be shown now.\n{text}"))),
        _ => None,
    }
}
