//! `locked audit`: what the hooks look at, where nobody can pass them by: over commits, in CI and in a receiving repository.
#![forbid(unsafe_code)]

use std::collections::HashSet;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::audit::{self, Audited, Commit, Door, Finding, Wanted};
use crate::exit::{self, Exit};
use crate::report::{self, Refusal};
use crate::run::{self, Context};
use crate::terms::{Scope, SessionId};

use super::RunOptions;
use super::findings::{self, line, object};
use super::front::refuse;
use super::hooks::{Tips, no_git, pushes, told};
use super::ledger::{self, Ledger, Unasked};
use super::out::{counted, print};
use super::verbs::AuditVerb;
use super::zoned::{self, Entered};

/// What the receipts say, or why they were not asked.
enum Receipts {
    Asked(Vec<Finding>),
    NotAsked(&'static str),
}

pub(super) fn audit(context: &Context, options: &RunOptions, verb: &AuditVerb) -> Exit {
    attempt(context, options, verb).unwrap_or_else(|(refusal, status)| refuse(&refusal, status))
}

fn attempt(context: &Context, options: &RunOptions, verb: &AuditVerb) -> Result<Exit, Unasked> {
    let door = Door::at(&context.invocation.cwd, &run::env_of(context));
    let mut audited = look(&door, verb)?;
    let root = door.root().map_err(|error| no_git(&error))?;
    let history = std::mem::take(&mut audited.history);
    let zones = if history.is_empty() { Vec::new() } else { zoned::zones(context) };
    let entered = zoned::entered_by(&door, root.as_deref(), &zones, &history)?;
    let receipts = if audited.wanted.is_empty() && entered.is_empty() {
        Receipts::Asked(Vec::new())
    } else {
        match ask(context, options, verb, (&door, &history), root, &audited, &entered) {
            // What is wrong by itself is told whatever the store would say.
            Err(_) if !audited.findings.is_empty() => Receipts::NotAsked("the store does not answer"),
            other => other?,
        }
    };
    let why = match receipts {
        Receipts::Asked(found) => {
            let found = audit::without_reverts(&door, &history, found).map_err(|error| no_git(&error))?;
            audited.findings.extend(found);
            None
        }
        Receipts::NotAsked(why) => {
            let found = audit::by_content(&door, &audited.wanted).map_err(|error| no_git(&error))?;
            audited.findings.extend(found);
            Some(why)
        }
    };
    Ok(answer(verb, &audited, why))
}

fn look(door: &Door, verb: &AuditVerb) -> Result<Audited, Unasked> {
    let git = |error| no_git(&error);
    if verb.pre_receive {
        let Tips { commits: mut words, in_trees } = Tips::of(door, pushes(&told(), 1)).map_err(git)?;
        let mut audited = Audited::default();
        if !words.is_empty() {
            words.extend(["--not".to_owned(), "--all".to_owned()]);
            audited = audit::commits_and_copies(door, &words).map_err(git)?;
        }
        audited.findings.extend(in_trees);
        return Ok(audited);
    }
    let misuse = |end: &str| {
        // Nobody is told to type what was typed.
        let next = match end.strip_prefix("origin/") {
            Some(_) => "git fetch origin '+refs/heads/*:refs/remotes/origin/*'",
            None => "locked audit origin/main..HEAD",
        };
        (report::misuse(&format!("{end:?} names no commit of this repository"), next), exit::USAGE)
    };
    match &verb.range {
        None => {
            // Nothing was found where nothing is: that must not pass for an audit.
            match door.commit("HEAD").map_err(git)? {
                Some(head) => audit::tree(door, &head).map_err(git),
                None if door.is_in_a_repository().map_err(git)? => Ok(Audited::default()),
                None => Err((no_repository(door), exit::USAGE)),
            }
        }
        Some(range) => {
            let ends = || range.split("..").map(|end| end.trim_start_matches('.'));
            for end in ends().filter(|end| !end.is_empty()) {
                if end.starts_with('-') || door.commit(end).map_err(git)?.is_none() {
                    let inside = door.is_in_a_repository().map_err(git)?;
                    return Err(if inside { misuse(end) } else { (no_repository(door), exit::USAGE) });
                }
            }
            let audited = audit::commits_and_copies(door, std::slice::from_ref(range)).map_err(git)?;
            match door.first_cut(&audited.history).map_err(git)? {
                None => Ok(audited),
                Some(commit) => Err((cut_off(range, &commit), exit::USAGE)),
            }
        }
    }
}

fn no_repository(door: &Door) -> Refusal {
    Refusal {
        word: "REFUSED",
        what: format!("{:?} lies in no repository", door.directory()),
        why: "there are no commits to look at, and nothing found would look like nothing wrong".to_owned(),
        retry: "yes, in a repository".to_owned(),
        next: "go into the repository that is meant, then say it again".to_owned(),
    }
}

/// What lies behind the beginning of a shallow clone is not looked at, and must not look as if it had been.
fn cut_off(range: &str, commit: &str) -> Refusal {
    Refusal {
        word: "REFUSED",
        what: format!(
            "{range:?} goes back to where this shallow clone begins ({})",
            commit.get(..12).unwrap_or(commit)
        ),
        why: "what was committed before that, and since, cannot be told apart here".to_owned(),
        retry: "yes, after the next step".to_owned(),
        next: "git fetch --unshallow".to_owned(),
    }
}

fn ask(
    context: &Context,
    options: &RunOptions,
    verb: &AuditVerb,
    (door, history): (&Door, &[Commit]),
    root: Option<PathBuf>,
    audited: &Audited,
    entered: &[Entered<'_>],
) -> Result<Receipts, Unasked> {
    let setting = ledger::setting(context)?;
    if ledger::is_own(&setting) {
        return Ok(Receipts::NotAsked("no store that all share is set"));
    }
    if setting.advisory {
        return Ok(Receipts::NotAsked("an advisory store keeps none"));
    }
    let said = verb.scope.clone().map(Scope);
    let Some(scope) = said.map_or_else(|| ledger::scope(context, root.as_ref()), |scope| Ok(Some(scope)))? else {
        return Ok(Receipts::NotAsked("a bare repository does not tell its scope, give it with --scope"));
    };
    let mut ledger = Ledger::open(context, &setting, scope, root, options.session.map(SessionId))?;
    let down = |error| (report::store_down(&error), run::status_of(&error));
    let missing = audit::unlocked(&audited.wanted, &ledger.known(&audited.wanted).map_err(down)?);
    let mut found: Vec<Finding> = missing.iter().map(Wanted::missing).collect();
    let unknown: HashSet<(&[u8], &str)> = missing.iter().map(|it| (&*it.path, &*it.blob)).collect();
    let is_known = |wanted: &&Wanted| !unknown.contains(&(&*wanted.path, &*wanted.blob));
    let replacing = audited.wanted.iter().filter(|wanted| !wanted.before.is_empty()).filter(is_known);
    let chains = ledger.chains(replacing).map_err(down)?;
    found.extend(audit::lost(door, history, &audited.wanted, &chains).map_err(|error| no_git(&error))?);
    found.extend(zoned::unheld(entered, &mut ledger).map_err(down)?);
    Ok(Receipts::Asked(found))
}

fn answer(verb: &AuditVerb, audited: &Audited, not_asked: Option<&str>) -> Exit {
    let Audited { commits, versions, findings, .. } = audited;
    let status = findings::status(findings);
    if verb.json {
        let value = json!({
            "commits": commits, "versions": versions, "receipts": not_asked.is_none(), "receipts_why": not_asked,
            "findings": findings.iter().map(object).collect::<Vec<Value>>(), "status": status,
        });
        return after(print(&format!("{value:#}")), status);
    }
    let content_only = not_asked.map(|why| format!("locked: content only, receipts were not asked for: {why}"));
    if verb.pre_receive {
        // Whoever set this up believes that receipts are asked for.
        content_only.iter().for_each(|note| report::say(note));
        return match findings::refusal(findings, "taken in", "", None) {
            Some((refusal, status)) => refuse(&refusal, status),
            None => Exit::OK,
        };
    }
    let mut lines = vec![format!(
        "{}, {} of SOPS files, {}",
        counted(*commits, "commit"),
        counted(*versions, "version"),
        counted(findings.len(), "finding")
    )];
    lines.extend(findings.iter().map(line));
    lines.extend(findings::ends_losses(findings));
    content_only.iter().for_each(|note| report::say(note));
    after(print(&lines.join("\n")), status)
}

/// How it ends, if the answer could be given.
fn after(printed: Exit, status: i32) -> Exit {
    if printed == Exit::OK { Exit::Code(status) } else { printed }
}
