//! A line that an agent is about to run. A shim in front of a program takes the lease when the program is called; where none
//! would, nothing is run without `locked` in front. No lease is taken here that a shim will take.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};

use crate::agents::{self, Judgement};
use crate::exit::Exit;
use crate::naming::{Local, Namer};
use crate::plan::{self, HoldPlan, Plan};
use crate::program::{self, is_our_name, is_ours};
use crate::report::{self, ByHand};
use crate::rules::{self, Book, Caller, Change, Classification, Command, Part};
use crate::run::{self, Context, env_of};
use crate::state::StateDir;
use crate::terms::Resource;

use super::hold::{self, Wanted};
use super::sops;
use crate::cli::RunOptions;
use crate::cli::world::World;

/// Programs that bring a whole file from elsewhere; any other that is not sops writes into it.
const BRING: [&str; 9] = ["cp", "mv", "install", "ln", "git", "rm", "unlink", "rsync", "scp"];

pub(super) fn judge(context: &Context, options: &RunOptions, line: &str) -> Result<Judgement, Exit> {
    let args = [OsString::from("-c"), OsString::from(line)];
    let env = env_of(context);
    let name = OsStr::new("bash");
    let command = Command { name, args: &args, cwd: &context.invocation.cwd, env: &env, stdout: None };
    let (class, book) = run::classified(context, &command, &[])?;
    if !may_hold(&class) {
        return Ok(Judgement::Pass);
    }
    let path = path(context);
    let unseen = rules::apart(&command, &book).into_iter().filter(|part| may_hold(&part.class));
    let unseen: Vec<Part> = unseen.filter(|part| !is_seen(context, part, path.as_deref())).collect();
    let mut told = Vec::new();
    for part in unseen {
        let Some(plan) = draw(context, &book, part.class.clone(), &env)? else { continue };
        match unguarded(context, options, &part, &plan)? {
            Judgement::Pass => {}
            Judgement::Told(text) => told.push(text),
            deny @ Judgement::Deny(_) => return Ok(deny),
        }
    }
    Ok(if told.is_empty() { Judgement::Pass } else { Judgement::Told(told.join("\n")) })
}

/// Whether a plan may come to a lease at all.
fn may_hold(class: &Classification) -> bool {
    let touches = class
        .deeds
        .iter()
        .any(|deed| !deed.writes.is_empty() || !deed.reads.is_empty() || deed.sql != rules::Told::default());
    !class.writes.is_empty() || !class.claims.is_empty() || !class.zones.is_empty() || touches
}

/// PATH as the agent's commands have it: where we have put the shims first, they are first.
fn path(context: &Context) -> Option<OsString> {
    let path = context.invocation.var("PATH");
    let session = run::settings_or_fault(context)
        .ok()
        .and_then(|settings| run::session(context, context.session, &settings).ok());
    let state = StateDir::existing(&env_of(context)).ok().flatten();
    let exported = state.zip(session).and_then(|(state, session)| agents::exported(&state, session.id));
    match exported {
        Some(exported) => {
            let mut first = exported.shims.into_os_string();
            if let Some(path) = path {
                first.push(":");
                first.push(path);
            }
            Some(first)
        }
        None => path,
    }
}

/// Whether `locked` stands in front of it, by its own name or as a shim: of itself, or of what starts it.
fn is_seen(context: &Context, part: &Part, path: Option<&OsStr>) -> bool {
    part.under.iter().chain([&part.caller]).any(|caller| stands_before(context, caller, path))
}

fn stands_before(context: &Context, caller: &Caller, path: Option<&OsStr>) -> bool {
    let (word, cwd) = (caller.word.as_os_str(), &context.invocation.cwd);
    let name = std::path::Path::new(word).file_name().unwrap_or(word);
    if is_our_name(name) {
        return true;
    }
    if caller.elsewhere || word.is_empty() {
        return false;
    }
    if word.as_encoded_bytes().contains(&b'/') {
        return is_ours(&cwd.join(word), context.ourselves);
    }
    let path = caller.path.as_deref().or(path);
    let mut found = program::places(word, path).into_iter().map(|place| cwd.join(place));
    // What stands first on PATH is what a shell starts.
    found.find(|place| place.is_file()).is_some_and(|place| is_ours(&place, context.ourselves))
}

/// What one part would hold.
fn draw(
    context: &Context,
    book: &Book,
    class: Classification,
    env: &dyn Fn(&str) -> Option<OsString>,
) -> Result<Option<HoldPlan>, Exit> {
    let said = run::said_scope(context);
    let mut namer = Namer::new(Local::Peek, env).heeding(&said);
    match plan::draw(class, &[], &context.invocation.cwd, &run::world(context, book, env), &mut namer) {
        Ok(Plan::PassThrough { .. }) => Ok(None),
        Ok(Plan::Hold(plan)) => Ok(Some(*plan)),
        Err(error) => Err(run::refuse_unnamed(&error)),
    }
}

/// Nobody would take the lease: what is a zone's the session may hold, of anything else `locked` must be told.
fn unguarded(context: &Context, options: &RunOptions, part: &Part, plan: &HoldPlan) -> Result<Judgement, Exit> {
    let mut world = World::open(context, context.session)?;
    if plan.files.is_empty() {
        if plan.resources.iter().all(|resource| resource.name.kind() == "zone") {
            return zone(&mut world, options, plan);
        }
        let own = hold::own(&mut world, &plan.resources)?;
        let is_own = |resource: &Resource| own.iter().any(|lease| lease.resource == *resource);
        if plan.resources.iter().all(is_own) {
            return Ok(Judgement::Pass);
        }
    }
    let name = std::path::Path::new(&part.caller.word).file_name().unwrap_or_default().to_string_lossy();
    let by_hand = plan.files.iter().find(|file| file.write.change == Change::Other && !BRING.contains(&&*name));
    let refusal = match by_hand {
        Some(file) => sops::refusal(&world, &file.target, ByHand::Ciphertext, None),
        None => report::unseen(&plan.operation, &plan.resources, &line(part, &plan.operation)),
    };
    Ok(Judgement::Deny(refusal.to_string()))
}

fn zone(world: &mut World<'_>, options: &RunOptions, plan: &HoldPlan) -> Result<Judgement, Exit> {
    let wanted = Wanted {
        resources: plan.resources.clone(),
        ask: plan.ask.clone(),
        policy: &plan.policy,
        operation: plan.operation.clone(),
    };
    Ok(hold::hold(world, options, wanted)?.map_or(Judgement::Pass, Judgement::Told))
}

/// How the line begins as it should be: `locked` before what the shell starts, and what that starts.
fn line(part: &Part, operation: &str) -> String {
    // The first is the agent's own shell.
    let around = part.under.iter().skip(1).map(|caller| {
        let name = std::path::Path::new(&caller.word).file_name().unwrap_or_default();
        crate::terms::shell_quote(name.as_encoded_bytes())
    });
    let words: Vec<String> = std::iter::once("locked".to_owned()).chain(around).chain([operation.to_owned()]).collect();
    words.join(" ")
}
