//! Files that an agent is about to write with a tool of its own. The rules are asked as for a program that writes the file.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::agents::{Brings, Judgement, Touch};
use crate::audit;
use crate::exit::Exit;
use crate::git::Repository;
use crate::naming::{self, Local, Namer};
use crate::plan::{self, HoldPlan, Plan};
use crate::rules::{Book, Command, Policy, Stale};
use crate::run::{self, Context, env_of};
use crate::terms::{Resource, may_hold_a_secret, shell_quote};

use super::around::there;
use super::hold::{self, Wanted};
use super::sops;
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
    match judged(context, options, tool, &path, touch)? {
        // Its names mean something in its own repository.
        Judgement::Deny(why) if elsewhere.is_some() => {
            let root = shell_quote(context.invocation.cwd.as_os_str().as_encoded_bytes());
            Ok(Judgement::Deny(why.replace("\nnext:  ", &format!("\nnext:  in {root}: "))))
        }
        judgement => Ok(judgement),
    }
}

/// The root of the file's repository, if that is another one than the agent works in.
fn root_elsewhere(context: &Context, path: &Path) -> Option<PathBuf> {
    let physical = naming::place(path).ok()?.path;
    let root = Repository::discover(&physical).ok()??.worktree_root;
    let own =
        std::fs::canonicalize(&context.invocation.cwd).ok().and_then(|cwd| Repository::around(&cwd).ok().flatten());
    (own.map(|own| own.worktree_root).as_ref() != Some(&root)).then_some(root)
}

fn judged(context: &Context, options: &RunOptions, tool: &str, path: &Path, touch: &Touch) -> Result<Judgement, Exit> {
    let env = env_of(context);
    // As it is asked for a program that writes this file, or takes it away.
    let name = if touch.brings == Brings::Nothing { "rm" } else { "tee" };
    let args = [path.as_os_str().to_owned()];
    let command =
        Command { name: OsStr::new(name), args: &args, cwd: &context.invocation.cwd, env: &env, stdout: None };
    let (class, book) = run::classified(context, &command, &[])?;
    let said = run::said_scope(context);
    let mut namer = Namer::new(Local::Make, &env).heeding(&said);
    let drawn = plan::draw(class, &[], &context.invocation.cwd, &run::world(context, &book, &env), &mut namer);
    let plan = match drawn.map_err(|error| run::refuse_unnamed(&error))? {
        Plan::Hold(plan) => Some(*plan),
        Plan::PassThrough { .. } => None,
    };
    let target = match plan.as_ref().and_then(|plan| plan.files.first()) {
        Some(file) => Some(file.target.clone()),
        None if touch.brings != Brings::Nothing && audit::demands(path) && !plan::is_safe(path, &book) => {
            Some(namer.name(path).map_err(|error| run::refuse_unnamed(&error))?)
        }
        None => None,
    };
    let shared = shared(context, &mut namer, &book, plan.as_ref(), path, touch)?;
    if target.is_none() && shared.is_none() {
        return Ok(Judgement::Pass);
    }
    let mut world = World::open(context, context.session)?;
    if let Some(target) = target
        && let Some(refusal) = sops::against(&mut world, &target, &touch.brings)?
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
