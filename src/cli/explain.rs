//! `locked explain`: what a command line would lock and why. Touches no store and runs nothing.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::time::Duration;

use serde_json::{Value, json};

use crate::config::Settings;
use crate::exit::{self, Exit};
use crate::naming::{Local, Namer};
use crate::plan::{HoldPlan, Plan};
use crate::program;
use crate::rules::{Canary, Change, Command, Follow};
use crate::run::{self, Context, Options};
use crate::terms::{ResourceName, percent_encode, shell_quote, show_duration};

/// Explains. A program that is not installed is explained all the same; `program` is null then. As for a run, `options`
/// matter only where something is held.
pub(super) fn explain(
    context: &Context,
    by_hand: &[ResourceName],
    options: &dyn Fn(&Settings) -> Result<Options, Exit>,
    words: &[OsString],
    as_json: bool,
) -> Exit {
    let Some((word, args)) = words.split_first() else { return Exit::Code(exit::USAGE) };
    let cwd = &context.invocation.cwd;
    let path = context.invocation.var("PATH");
    let found = program::resolve(word, path.as_deref(), cwd, context.ourselves).ok();
    let name = &program::own_name(std::path::Path::new(word).file_name().unwrap_or(word));
    let env = |name: &str| context.invocation.var(name);
    // Descriptor 1 is ours here, not the command's.
    let stdin = context.invocation.stdin();
    let command = Command { name, args, cwd, env: &env, stdout: None, stdin: stdin.as_ref() };
    let (class, book) = match run::classified(context, &command, by_hand) {
        Ok(classified) => classified,
        Err(exit) => return exit,
    };
    let rule = class.rule.clone();
    let rule = rule.as_deref();
    let said = run::said_scope(context);
    let mut namer = Namer::new(Local::Peek, &env).heeding(&said);
    let plan = match run::drawn(context, class, by_hand, &run::world(context, &book, &env), &mut namer) {
        Ok(plan) => plan,
        Err(undrawn) => return undrawn.refuse(context),
    };
    let program = found.map(|program| cwd.join(program.path));
    let program = program.as_deref().map(|path| shell_quote(path.as_os_str().as_encoded_bytes()));
    let text = match (&plan, as_json) {
        (Plan::PassThrough { reason, notes }, true) => Ok(pass_json(reason, notes, rule, program.as_deref())),
        (Plan::PassThrough { reason, notes }, false) => Ok(pass_text(reason, notes, rule, program.as_deref())),
        (Plan::Hold(plan), _) => {
            run::settings_for(context, plan).and_then(|settings| options(&settings)).map(|options| {
                let text = if as_json { hold_json } else { hold_text };
                text(plan, &options.under(&plan.policy), program.as_deref())
            })
        }
    };
    text.map_or_else(|exit| exit, |text| super::out::print(&text))
}

fn pass_json(reason: &str, notes: &[String], rule: Option<&str>, program: Option<&str>) -> String {
    let answer = json!({
        "decision": "pass", "resources": [], "scope": null, "leases": [], "writes": [],
        "rule": rule, "program": program, "reason": reason, "notes": notes,
    });
    format!("{answer:#}")
}

fn hold_json(plan: &HoldPlan, options: &Options, program: Option<&str>) -> String {
    let leases: Vec<_> = plan
        .resources
        .iter()
        .map(|resource| json!({"resource": resource.name.as_str(), "scope": resource.scope.to_string()}))
        .collect();
    let scopes: Vec<_> = plan.resources.iter().map(|resource| &resource.scope).collect();
    let common = scopes.first().filter(|first| scopes.iter().all(|scope| scope == *first));
    let mut answer = json!({
        "decision": "lock",
        "resources": plan.resources.iter().map(|resource| resource.name.as_str()).collect::<Vec<_>>(),
        "scope": common.map(ToString::to_string),
        "leases": leases,
        "writes": plan.files.iter().map(|file| path_text(&file.write.path)).collect::<Vec<_>>(),
        "rule": plan.rule,
        "program": program,
        "reason": plan.reason,
        "notes": plan.notes,
        "ttl_ms": options.times.ttl.as_millis(),
        "canary": canary(plan, options),
        "names": plan.files.iter().map(|file| file.target.stem_from.as_str()).collect::<Vec<_>>(),
    });
    if let Some(fields) = answer.as_object_mut() {
        fields.extend(terms(plan).into_iter().map(|(name, value, _)| (name.to_owned(), value)));
    }
    format!("{answer:#}")
}

fn path_text(path: &std::path::Path) -> String {
    path.to_str().map_or_else(|| percent_encode(path.as_os_str().as_encoded_bytes()), str::to_owned)
}

/// What the rule asks of the lease besides, where it asks: the field, its value, and the line for people.
fn terms(plan: &HoldPlan) -> Vec<(&'static str, Value, String)> {
    let policy = &plan.policy;
    let span =
        |name, line: &str, span: Duration| (name, json!(span.as_millis()), format!("{line}{}", show_duration(span)));
    let keep = policy.keep.map(|keep| ("keep", json!(keep.as_str()), format!("keep:     {}", keep.as_str())));
    let one = |it: &Follow| json!({"workflow": it.workflow, "repository": it.repository});
    let names = || policy.follow.iter().map(|it| it.workflow.as_str()).collect::<Vec<_>>().join(", ");
    let follow = policy.follow.first().map(|first| ("follow", one(first), format!("follow:   {}", names())));
    let spans = [
        policy.keep_for.map(|it| span("keep_for_ms", "keep for: ", it)),
        policy.hold_for.map(|it| span("hold_for_ms", "hold for: ", it)),
        plan.gives_back_after().map(|it| span("give_back_ms", "give back after: ", it)),
    ];
    keep.into_iter().chain(follow).chain(spans.into_iter().flatten()).collect()
}

/// The proofs after the command; of one that a rule runs not the words, which may hold a secret.
fn canary(plan: &HoldPlan, options: &Options) -> &'static str {
    let command = options.canary && matches!(plan.policy.canary, Canary::Command(_));
    match plan.files.first().map(|file| file.write.change) {
        Some(_) if !options.canary || plan.policy.canary == Canary::Off => "none",
        Some(Change::DecryptInPlace | Change::DecryptTo) => "open edit",
        Some(_) if command => "sops, command",
        Some(_) => "sops",
        None if command => "command",
        None => "none",
    }
}

fn pass_text(reason: &str, notes: &[String], rule: Option<&str>, program: Option<&str>) -> String {
    let notes: String = notes.iter().map(|note| format!("\nnote:     {note}")).collect();
    format!(
        "decision: pass\nprogram:  {}\nrule:     {}\nreason:   {reason}{notes}",
        program.unwrap_or("not found"),
        rule.unwrap_or("none")
    )
}

fn hold_text(plan: &HoldPlan, options: &Options, program: Option<&str>) -> String {
    let mut lines = vec![
        "decision: lock".to_owned(),
        format!("program:  {}", program.unwrap_or("not found")),
        format!("rule:     {}", plan.rule.as_deref().unwrap_or("none")),
    ];
    lines.extend(plan.resources.iter().map(|resource| format!("resource: {} in {}", resource.name, resource.scope)));
    for file in &plan.files {
        lines.push(format!("writes:   {}", shell_quote(file.write.path.as_os_str().as_encoded_bytes())));
        lines.push(format!("name:     {}", file.target.stem_from));
    }
    lines.push(format!("ttl:      {}", show_duration(options.times.ttl)));
    lines.push(format!("canary:   {}", canary(plan, options)));
    lines.extend(terms(plan).into_iter().map(|(_, _, line)| line));
    lines.push(format!("reason:   {}", plan.reason));
    lines.extend(plan.notes.iter().map(|note| format!("note:     {note}")));
    lines.join("\n")
}
