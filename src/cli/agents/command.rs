//! A line that an agent is about to run. A shim in front of a program takes the lease when the program is called; where none
//! would, nothing is run without `locked` in front. No lease is taken here that a shim will take.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::agents::{self, Judgement, Touch};
use crate::exit::Exit;
use crate::naming::{Local, Namer};
use crate::plan::{self, HoldPlan, Plan, PlannedFile};
use crate::report::{self, ByHand};
use crate::rules::{self, Book, Change, Classification, Command, Part};
use crate::run::{self, Context, env_of};
use crate::terms::Resource;

use super::by_hand::Walk;
use super::hold::{self, Wanted};
use super::place::places;
use super::seen::{is_seen, line, name_of, path};
use super::{files, sops};
use crate::cli::RunOptions;
use crate::cli::world::World;

/// Programs that bring a whole file from elsewhere; any other that is not sops writes into it.
const BRING: [&str; 9] = ["cp", "mv", "install", "ln", "git", "rm", "unlink", "rsync", "scp"];

/// Names by which Codex calls its patches from a shell.
const PATCHES: [&str; 2] = ["apply_patch", "applypatch"];

pub(super) fn judge(context: &Context, options: &RunOptions, line: &str) -> Result<Judgement, Exit> {
    let args = [OsString::from("-c"), OsString::from(line)];
    let env = env_of(context);
    let name = OsStr::new("bash");
    let command = Command { name, args: &args, cwd: &context.invocation.cwd, env: &env, stdout: None, stdin: None };
    let (_, book) = files::classified(context, &command);
    let parts = rules::apart(&command, &book);
    // The first is the agent's own shell.
    let path = if parts.iter().skip(1).any(concerns) { path(context) } else { return Ok(Judgement::Pass) };
    let mut told = Vec::new();
    let mut walk = Walk::new(context, &book);
    for (at, part) in parts.iter().enumerate().skip(1) {
        let seen = is_seen(context, part, path.as_deref());
        let mut judged = vec![patched(context, options, part)?, walk.step(&parts, at, seen)?];
        if !seen && !matches!(judged[1], Judgement::Deny(_)) {
            judged.push(one(context, options, &book, part, &walk)?);
        }
        for judgement in judged {
            match judgement {
                Judgement::Pass => {}
                Judgement::Told(text) => told.push(text),
                deny @ Judgement::Deny(_) => return Ok(deny),
            }
        }
    }
    Ok(if told.is_empty() { Judgement::Pass } else { Judgement::Told(told.join("\n")) })
}

/// Whether anything may be said about it.
fn concerns(part: &Part) -> bool {
    let name = name_of(&part.caller.word);
    let reads = crate::program::is_our_name(name) || PATCHES.iter().any(|patch| name == *patch);
    reads || may_hold(&part.class) || is_blind(part) || !part.redirected.is_empty()
}

/// Whether it writes what only run time knows: a rule says so, or sops is told words that nobody sees before (`sops set "$@"`).
fn is_blind(part: &Part) -> bool {
    let refused = part.class.rule.as_deref() == Some("sops.refused");
    part.class.unnamed || (refused && part.args.iter().any(|word| !rules::is_known(word)))
}

/// Whether a plan may come to a lease at all.
fn may_hold(class: &Classification) -> bool {
    let touches = class
        .deeds
        .iter()
        .any(|deed| !deed.writes.is_empty() || !deed.reads.is_empty() || deed.sql != rules::Told::default());
    !class.writes.is_empty() || !class.claims.is_empty() || !class.zones.is_empty() || touches
}

/// A patch that is told to a shell is one of the agent's own tools all the same.
fn patched(context: &Context, options: &RunOptions, part: &Part) -> Result<Judgement, Exit> {
    let name = name_of(&part.caller.word);
    if part.caller.elsewhere || !PATCHES.iter().any(|patch| name == *patch) {
        return Ok(Judgement::Pass);
    }
    let text = part.input.as_deref().map(String::from_utf8_lossy);
    let text = text.or_else(|| part.args.first().map(|text| text.to_string_lossy())).unwrap_or_default();
    let joined = |touch: Touch| Touch { path: part.cwd.join(touch.path), ..touch };
    let touched: Vec<Touch> = agents::files_of_patch(&text).into_iter().map(joined).collect();
    let mut found = Vec::new();
    for touch in touched {
        let places: Vec<PathBuf> = places(context, &touch.path);
        found.extend(places.into_iter().map(|path| Touch { path, ..touch.clone() }));
    }
    files::judge(context, options, "apply_patch", &found)
}

/// A command in front of which nobody stands.
fn one(context: &Context, options: &RunOptions, book: &Book, part: &Part, walk: &Walk<'_>) -> Result<Judgement, Exit> {
    if is_blind(part) {
        let known = part.class.operation.split(' ').take_while(|word| !word.contains("%1A"));
        let operation = known.collect::<Vec<_>>().join(" ");
        return Ok(Judgement::Deny(report::nameless(&operation, &line(part)).to_string()));
    }
    if !may_hold(&part.class) {
        return Ok(Judgement::Pass);
    }
    let Some(plan) = draw(context, book, part.class.clone())? else { return Ok(Judgement::Pass) };
    unguarded(context, options, part, &plan, walk)
}

/// What one part would hold.
fn draw(context: &Context, book: &Book, class: Classification) -> Result<Option<HoldPlan>, Exit> {
    let env = env_of(context);
    let said = run::said_scope(context);
    let mut namer = Namer::new(Local::Peek, &env).heeding(&said);
    match plan::draw(class, &[], &context.invocation.cwd, &run::world(context, book, &env), &mut namer) {
        Ok(Plan::PassThrough { .. }) => Ok(None),
        Ok(Plan::Hold(plan)) => Ok(Some(*plan)),
        Err(error) => Err(run::refuse_unnamed(&error)),
    }
}

/// Nobody would take the lease: what is a zone's the session may hold, of anything else `locked` must be told.
fn unguarded(
    context: &Context,
    options: &RunOptions,
    part: &Part,
    plan: &HoldPlan,
    walk: &Walk<'_>,
) -> Result<Judgement, Exit> {
    let by_others = |change| change == Change::Other;
    // What may be open for an edit was asked about on the way already, if the line names it: it is this session's or nobody's.
    let asked = |file: &PlannedFile| file.once && part.class.writes.iter().any(|write| write.path == file.write.path);
    let opened = |file: &PlannedFile| asked(file) || walk.has_opened(&file.target.path);
    let of_files =
        |resource: &&Resource| plan.files.iter().any(|file| file.target.resources().any(|it| it == *resource));
    let rest: Vec<Resource> = plan.resources.iter().filter(|it| !of_files(it)).cloned().collect();
    let is_free = plan.files.iter().all(|file| by_others(file.write.change) && opened(file));
    if is_free && rest.is_empty() {
        return Ok(Judgement::Pass);
    }
    let mut world = World::open(context, context.session)?;
    if is_free {
        if rest.iter().all(|resource| resource.name.kind() == "zone") {
            return zone(&mut world, options, plan, rest);
        }
        let own = hold::own(&mut world, &rest)?;
        let is_own = |resource: &Resource| own.iter().any(|lease| lease.resource == *resource);
        if rest.iter().all(is_own) {
            return Ok(Judgement::Pass);
        }
    }
    let name = name_of(&part.caller.word).to_string_lossy();
    let by_hand = plan.files.iter().find(|file| by_others(file.write.change) && !BRING.contains(&&*name));
    let refusal = match by_hand {
        Some(file) => sops::refusal(&world, &file.target, ByHand::Ciphertext, None),
        None => report::unseen(&plan.operation, &plan.resources, &line(part)),
    };
    Ok(Judgement::Deny(refusal.to_string()))
}

fn zone(
    world: &mut World<'_>,
    options: &RunOptions,
    plan: &HoldPlan,
    resources: Vec<Resource>,
) -> Result<Judgement, Exit> {
    let operation = plan.operation.clone();
    let wanted = Wanted { resources, ask: plan.ask.clone(), policy: &plan.policy, operation };
    Ok(hold::hold(world, options, wanted)?.map_or(Judgement::Pass, Judgement::Told))
}
