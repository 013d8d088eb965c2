//! `locked doctor`: what is found, grouped, so that it can be read aloud; or as JSON.
//!
//! `--json` prints one object: `healthy` (nothing is wrong), `checks` (the names of those that were made), `counts` (`ok`,
//! `note`, `warning`, `fault`, `fixed`) and `findings`, each with
//!
//! | field | what it says |
//! |---|---|
//! | `id` | names the kind of finding: `check.thing`; never changes its meaning |
//! | `check` | the check that it comes from |
//! | `level` | `ok`, `note`, `warning`, `fault` |
//! | `what`, `why`, `remedy` | one sentence each; `why` and `remedy` are null where there is none |
//! | `fixable` | `--fix` mends it |
//! | `fixed` | null without `--fix` or where it cannot mend; else whether it did |
//! | `fix` | what `--fix` did, or why it could not; else null |
//!
//! Fields are only ever added. The exit status is 0 when nothing is wrong, notes allowed; 78 when a warning or a fault
//! stays, as `store check` has it: what is wrong is how things are set up, whatever it is.
#![forbid(unsafe_code)]

use std::ffi::OsString;

use clap::CommandFactory as _;
use serde_json::{Value, json};

use crate::config::nearest;
use crate::doctor::{self, Asked, Finding, Level, Twin};
use crate::exit::{self, Exit};
use crate::report;
use crate::run::Context;

use super::front::refuse;
use super::options::OnlyOptions;
use super::out::print;
use super::overruled::without_twins;
use super::verbs::Doctor;

pub(super) fn doctor(context: &Context, quiet: bool, verb: &Doctor) -> Exit {
    let checks = match wanted(&verb.checks) {
        Ok(checks) => checks,
        Err(exit) => return exit,
    };
    let asked = Asked { checks, fix: verb.fix, twins: twins(context) };
    let found = doctor::examine(context, &asked);
    let text = match (verb.json, verb.quiet || quiet) {
        (true, _) => Some(format!("{:#}", as_json(&found, &asked))),
        (false, quiet) => as_text(&found, quiet),
    };
    let said = text.map_or(Exit::OK, |text| print(&text));
    match said {
        Exit::OK if found.iter().any(Finding::is_wrong) => Exit::Code(exit::CONFIG),
        said => said,
    }
}

/// The checks of these names.
fn wanted(names: &[String]) -> Result<Vec<&'static str>, Exit> {
    let known = || doctor::checks().map(|(name, _)| name);
    let named = |name: &String| {
        known().find(|it| it == name).ok_or_else(|| {
            let next = match nearest(name, known()) {
                Some(near) => format!("locked doctor {near}"),
                None => format!("one of {}", known().collect::<Vec<_>>().join(", ")),
            };
            refuse(&report::misuse("there is no such check", &next), exit::USAGE)
        })
    };
    names.iter().map(named).collect()
}

/// The variables that stand for options, and which of them are set to what their option does not take.
fn twins(context: &Context) -> Vec<Twin> {
    let deaf = without_twins(OnlyOptions::command());
    let of = |arg: &clap::Arg| {
        let name = arg.get_env()?.to_str()?.to_owned();
        let long = arg.get_long()?;
        let value = context.invocation.var(&name).filter(|_| arg.get_action().takes_values());
        let wrong = value.is_some_and(|value| {
            let mut word = OsString::from(format!("--{long}="));
            word.push(value);
            deaf.clone().try_get_matches_from([OsString::from("locked"), word]).is_err()
        });
        Some(Twin { name, wrong })
    };
    OnlyOptions::command().get_arguments().filter_map(of).collect()
}

fn count(found: &[Finding], level: Level) -> usize {
    found.iter().filter(|finding| finding.level == level).count()
}

fn fixed(found: &[Finding]) -> usize {
    found.iter().filter(|finding| matches!(finding.mended, Some(Ok(_)))).count()
}

fn as_json(found: &[Finding], asked: &Asked) -> Value {
    let said = |text: &str| if text.is_empty() { Value::Null } else { json!(text) };
    let finding = |it: &Finding| {
        let (fixed, fix) = match &it.mended {
            None => (None, None),
            Some(Ok(done)) => (Some(true), Some(done)),
            Some(Err(why)) => (Some(false), Some(why)),
        };
        json!({
            "id": it.id, "check": it.check(), "level": it.level.as_str(), "what": it.what, "why": said(&it.why),
            "remedy": said(&it.remedy), "fixable": it.fixable(), "fixed": fixed, "fix": fix,
        })
    };
    let checks: Vec<&str> = doctor::checks()
        .map(|(name, _)| name)
        .filter(|name| asked.checks.is_empty() || asked.checks.contains(name))
        .collect();
    json!({
        "healthy": !found.iter().any(Finding::is_wrong),
        "checks": checks,
        "counts": {
            "ok": count(found, Level::Ok), "note": count(found, Level::Note), "warning": count(found, Level::Warn),
            "fault": count(found, Level::Fault), "fixed": fixed(found),
        },
        "findings": found.iter().map(finding).collect::<Vec<_>>(),
    })
}

/// Check by check, and the sum; when quiet only what is wrong, and nothing when nothing is.
fn as_text(found: &[Finding], quiet: bool) -> Option<String> {
    let shown = |finding: &&Finding| !quiet || finding.is_wrong() || finding.mended.is_some();
    let mut lines = Vec::new();
    for (name, about) in doctor::checks() {
        let of_check: Vec<&Finding> = found.iter().filter(|it| it.check() == name).filter(shown).collect();
        if of_check.is_empty() {
            continue;
        }
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(format!("{name}: {about}?"));
        of_check.into_iter().for_each(|finding| told(finding, &mut lines));
    }
    if !quiet {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(sum(found));
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn told(finding: &Finding, lines: &mut Vec<String>) {
    lines.push(format!("  {}: {}", finding.level.as_str(), finding.what));
    let mut add = |word: &str, text: &str| {
        if !text.is_empty() {
            lines.push(format!("    {word}: {text}"));
        }
    };
    add("why", &finding.why);
    match &finding.mended {
        Some(Ok(done)) => add("fixed", done),
        Some(Err(why)) => {
            add("not fixed", why);
            add("next", &finding.remedy);
        }
        None => add("next", &finding.remedy),
    }
}

fn sum(found: &[Finding]) -> String {
    let some = |count: usize, one: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        count => Some(format!("{count} {one}s")),
    };
    let notes = some(count(found, Level::Note), "note");
    let left = |level| found.iter().filter(|it| it.level == level && it.is_wrong()).count();
    let wrong: Vec<String> =
        [some(left(Level::Fault), "fault"), some(left(Level::Warn), "warning")].into_iter().flatten().collect();
    let mended = some(fixed(found), "finding").map(|text| format!("; fixed {text}")).unwrap_or_default();
    let fixable = found.iter().filter(|it| it.is_wrong() && it.fixable() && it.mended.is_none()).count();
    let hint =
        some(fixable, "finding").map(|text| format!("; locked doctor --fix puts {text} right")).unwrap_or_default();
    match wrong.is_empty() {
        true => format!("nothing is wrong{}{mended}", notes.map(|notes| format!(" ({notes})")).unwrap_or_default()),
        false => {
            format!("{}{}{mended}{hint}", wrong.join(", "), notes.map(|notes| format!(", {notes}")).unwrap_or_default())
        }
    }
}
