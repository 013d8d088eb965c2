//! `locked hooks`: git's hooks, and what they call.
#![forbid(unsafe_code)]

mod adopted;
mod amended;
mod committed;
mod installed;
mod pushed;

use crate::audit::{Door, Finding};
use crate::exit::{self, Exit};
use crate::git::GitError;
use crate::naming;
use crate::report::{self, Refusal};
use crate::run::{self, Context};
use crate::terms::{Resource, ResourceName, said_somehow};

use super::RunOptions;
use super::front::refuse;
use super::ledger;
use super::out::print;
use super::verbs::{HookVerb, HooksVerbs};

pub(super) use pushed::{Tips, pushes, told};

pub(super) fn hooks(context: &Context, options: &RunOptions, verb: &HooksVerbs) -> Exit {
    let done = match verb {
        HooksVerbs::Install(form) => installed::install(context, options, form.json),
        HooksVerbs::Uninstall(form) => installed::uninstall(context, form.json),
        HooksVerbs::Status(form) => installed::status(context, form.json),
        HooksVerbs::Print(verb) => Ok(print(installed::printed(&verb.manager).trim_end())),
        HooksVerbs::Run(verb) => run(context, options, verb),
    };
    done.unwrap_or_else(|exit| exit)
}

fn run(context: &Context, options: &RunOptions, verb: &HookVerb) -> Result<Exit, Exit> {
    let (findings, deed) = match verb.hook.as_str() {
        "pre-push" => (pushed::findings(context, options), "pushed"),
        _ => (committed::findings(context, options), "committed"),
    };
    let below = context.invocation.var("GIT_PREFIX").unwrap_or_default();
    let (refused, findings) = match findings {
        Ok(findings) if findings.is_empty() => (None, findings),
        Ok(findings) => (
            super::findings::refusal(
                &findings,
                deed,
                &below.to_string_lossy(),
                root_of(context).map(|root| (context, root)),
            ),
            findings,
        ),
        Err(unasked) => (Some(unasked), Vec::new()),
    };
    match refused {
        None => Ok(Exit::OK),
        Some((refusal, status)) => Err(refused_unless_bypassed(context, &verb.hook, &findings, &refusal, status)),
    }
}

fn root_of(context: &Context) -> Option<std::path::PathBuf> {
    crate::audit::Door::at(&context.invocation.cwd, &crate::run::env_of(context)).root().ok().flatten()
}

/// `LOCKED_BYPASS` lets through what is refused, and is told of; what is not refused needs none.
fn refused_unless_bypassed(
    context: &Context,
    hook: &str,
    findings: &[Finding],
    refusal: &Refusal,
    status: i32,
) -> Exit {
    let Some(reason) = context.invocation.var("LOCKED_BYPASS") else { return refuse(refusal, status) };
    let reason = said_somehow(&reason.to_string_lossy());
    if reason.is_empty() {
        return refuse(refusal, status);
    }
    let told = match record(context, hook, &reason, findings) {
        Ok(told) => told.to_owned(),
        Err(why) => format!("nothing could be recorded: {why}"),
    };
    report::insist(&format!(
        "locked: {hook} lets it through, bypassed ({reason}); {told}; without that, {}",
        refusal.what
    ));
    Exit::OK
}

/// Tells the ledger what was let through: the files, or where none could be looked at, the hook.
fn record(context: &Context, hook: &str, reason: &str, findings: &[Finding]) -> Result<&'static str, String> {
    let door = Door::at(&context.invocation.cwd, &run::env_of(context));
    let root = door.root().map_err(|error| error.to_string())?;
    let scope = ledger::scope(context, root.as_ref()).map_err(|(refusal, _)| refusal.what)?;
    let scope = scope.ok_or("no scope is known")?;
    let mut resources: Vec<Resource> =
        findings.iter().map(|finding| naming::tracked(&scope, root.as_deref(), &finding.path).resource).collect();
    if resources.is_empty() {
        resources.push(Resource { name: ResourceName::of("hook", hook.as_bytes()), scope });
    }
    resources.sort();
    resources.dedup();
    run::record_bypass(context, reason, &format!("git {hook}"), &resources)
}

/// git cannot say what is to be looked at: nothing is let through unseen.
pub(super) fn no_git(error: &GitError) -> (Refusal, i32) {
    let refusal = Refusal {
        word: "REFUSED",
        what: error.to_string(),
        why: "without git nobody can tell what would be taken in".to_owned(),
        retry: "yes, when git works".to_owned(),
        next: "git status".to_owned(),
    };
    (refusal, exit::INTERNAL)
}
