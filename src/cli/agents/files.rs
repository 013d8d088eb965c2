//! Files that an agent is about to write with a tool of its own. The rules are asked as for a program that writes the file.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::agents::{Brings, Judgement, Touch};
use crate::audit;
use crate::exit::Exit;
use crate::naming::{self, Local, Namer};
use crate::plan::{self, HoldPlan, Plan};
use crate::report;
use crate::rules::{self, Book, Classification, Command, Policy, Stale};
use crate::run::{self, Context, env_of};
use crate::terms::{Resource, may_hold_a_secret};

use super::around::there;
use super::hold::{self, Wanted};
use super::place::{from_elsewhere, root_elsewhere};
use super::sops::{self, Writing};
use crate::cli::RunOptions;
use crate::cli::world::World;

pub(super) fn judge(context: &Context, options: &RunOptions, tool: &str, touched: &[Touch]) -> Result<Judgement, Exit> {
    let mut told = Vec::new();
    for touch in touched {
        match one(context, options, tool, touch)? {
            Judgement::Pass => {}
            Judgement::Told(text) => told.push(text),
            deny @ Judgement::Deny(_) => return Ok(deny),
        }
    }
    Ok(if told.is_empty() { Judgement::Pass } else { Judgement::Told(told.join("\n")) })
}

fn one(around: &Context, options: &RunOptions, tool: &str, touch: &Touch) -> Result<Judgement, Exit> {
    let path = around.invocation.cwd.join(&touch.path);
    let elsewhere = root_elsewhere(around, &path).map(|root| there(around, root));
    let context = elsewhere.as_ref().unwrap_or(around);
    Ok(match judged(context, options, tool, &path, touch)? {
        Judgement::Deny(why) if elsewhere.is_some() => Judgement::Deny(from_elsewhere(context, &why)),
        judgement => judgement,
    })
}

/// What speaks against a program's writing this file, which is not sops. `acquired`: what the line has taken before.
pub(super) fn against(
    around: &Context,
    path: &Path,
    brings: &Brings,
    acquired: &[String],
) -> Result<Option<String>, Exit> {
    let demanded = naming::holds_sops(path) || audit::demands(path);
    let elsewhere = root_elsewhere(around, path).map(|root| there(around, root));
    let context = elsewhere.as_ref().unwrap_or(around);
    let env = env_of(context);
    let args = [path.as_os_str().to_owned()];
    if plan::is_safe(path, &classified(context, &written(context, &args, brings, &env)).1) {
        return Ok(None);
    }
    let said = run::said_scope(context);
    let mut namer = Namer::new(Local::Make, &env).heeding(&said);
    let target = if demanded {
        namer.name(path).map_err(|error| run::refuse_unnamed(&error))?
    } else {
        let Some(target) = run::was_sops(context, path) else { return Ok(None) };
        target
    };
    let Some(mut world) = world(context, demanded)? else { return Ok(None) };
    let promised = acquired.iter().any(|name| *name == target.resource.to_string());
    let refusal = sops::against(&mut world, &target, &Writing { brings, demanded, promised })?;
    let why = refusal.map(|refusal| refusal.to_string());
    Ok(if elsewhere.is_some() { why.map(|why| from_elsewhere(context, &why)) } else { why })
}

/// The rules for a command, and what they say of it. Where the settings cannot be followed the built-in ones count: what would
/// lock something is stopped when its lease is asked for, and nothing else is, the mending of the settings least of all.
pub(super) fn classified(context: &Context, command: &Command<'_>) -> (Classification, Book) {
    let (found, said) = report::overhear(|| run::classified(context, command, &[]));
    match found {
        Ok(found) => {
            said.iter().for_each(|text| report::say(text));
            found
        }
        Err(_) => (rules::classify(command, &Book::new()), Book::new()),
    }
}

/// The store and what goes with it. Where nothing says that the file is a secret, a store that cannot be asked stops nothing.
fn world(context: &Context, needed: bool) -> Result<Option<World<'_>>, Exit> {
    if needed {
        return World::open(context, context.session).map(Some);
    }
    Ok(report::overhear(|| World::open(context, context.session)).0.ok())
}

/// As it is asked for a program that writes this file, or takes it away.
fn written<'a>(
    context: &'a Context,
    args: &'a [OsString; 1],
    brings: &Brings,
    env: &'a dyn Fn(&str) -> Option<OsString>,
) -> Command<'a> {
    let name = if *brings == Brings::Nothing { "rm" } else { "tee" };
    Command { name: OsStr::new(name), args, cwd: &context.invocation.cwd, env, stdout: None, stdin: None }
}

fn judged(context: &Context, options: &RunOptions, tool: &str, path: &Path, touch: &Touch) -> Result<Judgement, Exit> {
    let env = env_of(context);
    let args = [path.as_os_str().to_owned()];
    let (class, book) = classified(context, &written(context, &args, &touch.brings, &env));
    let said = run::said_scope(context);
    let mut namer = Namer::new(Local::Make, &env).heeding(&said);
    let drawn = plan::draw(class, &[], &context.invocation.cwd, &run::world(context, &book, &env), &mut namer);
    let plan = match drawn.map_err(|error| run::refuse_unnamed(&error))? {
        Plan::Hold(plan) => Some(*plan),
        Plan::PassThrough { .. } => None,
    };
    let file = plan.as_ref().and_then(|plan| plan.files.first());
    let demanded = file.is_some_and(|file| !file.once) || audit::demands(path);
    let target = match file {
        Some(file) => Some(file.target.clone()),
        None if demanded && !plan::is_safe(path, &book) => {
            Some(namer.name(path).map_err(|error| run::refuse_unnamed(&error))?)
        }
        None => None,
    };
    let shared = shared(context, &mut namer, &book, plan.as_ref(), path, touch)?;
    if target.is_none() && shared.is_none() {
        return Ok(Judgement::Pass);
    }
    let Some(mut world) = world(context, demanded || shared.is_some())? else { return Ok(Judgement::Pass) };
    if let Some(target) = target
        && let Some(refusal) =
            sops::against(&mut world, &target, &Writing { brings: &touch.brings, demanded, promised: false })?
    {
        return Ok(Judgement::Deny(refusal.to_string()));
    }
    let Some((resources, ask, policy)) = shared else { return Ok(Judgement::Pass) };
    let wanted = Wanted { resources, ask, policy: &policy, operation: operation(context, tool, path) };
    Ok(hold::hold(&mut world, options, wanted)?.map_or(Judgement::Pass, Judgement::Told))
}

type Shared = (Vec<Resource>, Vec<Resource>, Policy);

/// What is to be held besides SOPS files: zones, and what rules name; by what stands in the file, and by what comes into it.
fn shared(
    context: &Context,
    namer: &mut Namer<'_>,
    book: &Book,
    plan: Option<&HoldPlan>,
    path: &Path,
    touch: &Touch,
) -> Result<Option<Shared>, Exit> {
    let mut resources = plan.map_or_else(Vec::new, |plan| plan.by_rule.clone());
    let mut ask = plan.map_or_else(Vec::new, |plan| plan.ask.clone());
    let mut policy = plan.map(|plan| plan.policy.clone());
    if let Brings::Whole(text) | Brings::Part(text) = &touch.brings {
        for zone in plan::entered_with(path, text.as_bytes(), book) {
            let name = zone.resource();
            let scope = plan::scope_of(&name, &context.invocation.cwd, namer);
            let resource = Resource { scope: scope.map_err(|error| run::refuse_unnamed(&error))?, name };
            if zone.stale == Stale::Ask {
                ask.push(resource.clone());
            }
            resources.push(resource);
            policy = Some(policy.map_or_else(|| zone.policy.clone(), |policy| policy.and(zone.policy.clone())));
        }
    }
    for list in [&mut resources, &mut ask] {
        list.sort();
        list.dedup();
    }
    Ok((!resources.is_empty()).then(|| (resources, ask, policy.unwrap_or_default())))
}

/// What the others see of it.
fn operation(context: &Context, tool: &str, path: &Path) -> String {
    let file: OsString = path.strip_prefix(&context.invocation.cwd).unwrap_or(path).into();
    match may_hold_a_secret(file.as_encoded_bytes()) {
        true => tool.to_owned(),
        false => format!("{tool} {}", crate::terms::percent_encode(file.as_encoded_bytes())),
    }
}
