//! `locked shims install`: makes them, and says what is left to do.
#![forbid(unsafe_code)]

use std::path::Path;

use serde_json::{Value, json};

use crate::cli::out::print;
use crate::cli::verbs::InstallShimsVerb;
use crate::exit::Exit;
use crate::run::{self, Context};
use crate::shims::{self, Done, Folder, Installed, MORE, READY, ShimError, Standing, Tool};

use super::refused::{self, Wrong};
use super::{failed, folder, is_on_path, lossy, quoted, shown, standing, tools};

pub(super) fn install(context: &Context, verb: &InstallShimsVerb) -> Result<Exit, Exit> {
    let folder = folder(context, &verb.place)?;
    let tools = wanted(context, verb)?;
    let invocation = &context.invocation;
    let path = invocation.var("PATH");
    let is_system_s = folder.path() == Path::new(shims::SYSTEM);
    let launcher = if is_system_s { shims::launcher_for_all } else { shims::launcher };
    let target = launcher(invocation.executed.as_deref(), path.as_deref(), &invocation.cwd, context.ourselves)
        .map_err(|error| failed(&error))?;
    let done = shims::install(&folder, &tools, &target, context.ourselves).map_err(|error| failed(&error))?;
    if verb.json {
        let rows: Vec<Value> = done.iter().map(|(tool, result)| object(context, tool, result)).collect();
        let value = json!({
            "folder": folder.path().to_string_lossy(), "leads_to": target.to_string_lossy(),
            "on_path": is_on_path(context, &folder), "shims": rows,
        });
        let printed = print(&format!("{value:#}"));
        return Ok(faults(context, &folder, &done).unwrap_or(printed));
    }
    let text = told(context, &folder, &done);
    let printed = if text.is_empty() { Exit::OK } else { print(&text) };
    Ok(faults(context, &folder, &done).unwrap_or(printed))
}

/// Says what could not be done, and what was.
fn faults(context: &Context, folder: &Folder, done: &[Done<'_>]) -> Option<Exit> {
    let wrong: Vec<Wrong<'_>> =
        done.iter().filter_map(|(tool, result)| Some((*tool, result.as_ref().err()?))).collect();
    let made = done.iter().filter(|(_, result)| matches!(result, Ok(Installed::Made | Installed::Renewed)));
    let made: Vec<&Tool> = made.map(|(tool, _)| *tool).collect();
    refused::installed(context, folder, &wrong, &made)
}

/// The tools that were named, else the ready ones; and what the options add. Each once, in that order.
fn wanted(context: &Context, verb: &InstallShimsVerb) -> Result<Vec<Tool>, Exit> {
    let mut wanted = tools(&verb.tools, Tool::named)?;
    let mut add = |name: &str| {
        if let Ok(tool) = Tool::named(name.as_ref()) {
            wanted.push(tool);
        }
    };
    if verb.tools.is_empty() {
        READY.into_iter().for_each(&mut add);
    }
    if verb.all {
        MORE.into_iter().for_each(&mut add);
    }
    if verb.from_rules {
        run::book_here(context)?.programs().iter().for_each(|name| add(name));
    }
    let mut seen = Vec::new();
    wanted.retain(|tool| {
        !seen.contains(tool) && {
            seen.push(tool.clone());
            true
        }
    });
    Ok(wanted)
}

fn object(context: &Context, tool: &Tool, result: &Result<Installed, ShimError>) -> Value {
    let (standing, program) = standing(context, tool);
    let (stands, before) = shown(&standing);
    let (word, why) = match result {
        Ok(Installed::Made) => ("made", None),
        Ok(Installed::Renewed) => ("renewed", None),
        Ok(Installed::AsItWas) => ("unchanged", None),
        Err(error) => ("refused", Some(error.to_string())),
    };
    let path = |path: &Path| path.to_string_lossy().into_owned();
    json!({
        "tool": lossy(tool), "result": word, "why": why, "stands": stands, "before": before.map(path),
        "program": program.as_deref().map(path),
    })
}

/// What was done, and what is left to do.
fn told(context: &Context, folder: &Folder, done: &[Done<'_>]) -> String {
    let there: Vec<&Tool> = done.iter().filter(|(_, result)| result.is_ok()).map(|(tool, _)| *tool).collect();
    if there.is_empty() {
        return String::new();
    }
    let names = |tools: &[&Tool]| tools.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let place = quoted(folder.path());
    let mut lines = vec![format!("{place} has shims of {}", names(&there))];
    let mut missing = Vec::new();
    let on_path = is_on_path(context, folder);
    for &tool in &there {
        let (standing, program) = standing(context, tool);
        if program.is_none() {
            missing.push(tool);
        }
        if let Standing::Behind(before) = standing {
            lines.push(format!("{} is found before the shim, so that it runs without locked", quoted(&before)));
        } else if let (Standing::Absent, Some(program), true) = (standing, program, on_path) {
            lines.push(format!("{} is found, and the shim is not: look at {place}", quoted(&program)));
        }
    }
    if !missing.is_empty() {
        let them = if missing.len() == 1 { "its shim ends" } else { "their shims end" };
        lines.push(format!("not installed here: {}; until then {them} with 127", names(&missing)));
    }
    if let Some(loose) = shims::changed_by_others(folder.path(), &run::env_of(context)) {
        let path = quoted(&loose.path);
        lines.push(format!("others can change what stands there, and so what you run: {path}: {}", loose.why));
        lines.extend(loose.mode.map(|mode| format!("    chmod {mode} {path}")));
    }
    let all_first = there.iter().all(|tool| standing(context, tool).0 == Standing::First);
    if !all_first {
        lines.push("put the folder first on PATH, in the file that your shell reads when it starts:".to_owned());
        lines.push(format!("    export PATH={place}:\"$PATH\""));
    }
    if done.iter().any(|(_, result)| matches!(result, Ok(Installed::Made))) {
        lines.push("shells that are open remember where programs were: hash -r (zsh: rehash)".to_owned());
    }
    lines.join("\n")
}
