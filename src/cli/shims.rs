//! `locked shims`: `locked` in front of programs, without anybody typing it.
#![forbid(unsafe_code)]

mod install;
mod list;

use std::ffi::{OsStr, OsString};

use serde_json::json;

use crate::exit::{self, Exit};
use crate::report;
use crate::run::{Context, env_of};
use crate::shims::{self, Folder, ShimError, Standing, Tool};

use super::front::{print_bytes, refuse};
use super::held::answer;
use super::verbs::{ExecVerb, RemoveVerb, ShimPlace, ShimsVerbs};

pub(super) fn shims(context: &Context, verb: &ShimsVerbs) -> Exit {
    let done = match verb {
        ShimsVerbs::Install(verb) => install::install(context, verb),
        ShimsVerbs::List(verb) => list::list(context, verb),
        ShimsVerbs::Remove(verb) => remove(context, verb),
        ShimsVerbs::Path(place) => {
            folder(context, place).map(|folder| print_bytes(folder.path().as_os_str().as_encoded_bytes()))
        }
        // It takes the context as the front door does, and never comes here.
        ShimsVerbs::Exec(_) => Ok(Exit::Code(exit::INTERNAL)),
    };
    done.unwrap_or_else(|exit| exit)
}

/// `locked shims exec`: what the shim of this program would do.
pub(super) fn exec(context: Context, verb: &ExecVerb) -> Exit {
    let Some((word, args)) = verb.command.split_first() else { return Exit::Code(exit::USAGE) };
    match Tool::named(word) {
        Ok(tool) => super::front::in_place_of(context, tool.as_os_str().to_owned(), None, args),
        Err(error) => failed(&error),
    }
}

fn remove(context: &Context, verb: &RemoveVerb) -> Result<Exit, Exit> {
    let folder = folder(context, &verb.place)?;
    let mut tools = tools(&verb.tools)?;
    if verb.all {
        let all = shims::all(&folder, context.ourselves).map_err(|error| failed(&error))?;
        tools.extend(all.into_iter().map(|shim| shim.tool));
    }
    let (mut gone, mut absent, mut exit) = (Vec::new(), Vec::new(), Exit::OK);
    for (tool, taken) in shims::remove(&folder, &tools, context.ourselves) {
        match taken {
            Ok(true) => gone.push(tool.to_string()),
            Ok(false) => absent.push(tool.to_string()),
            Err(error) => exit = failed(&error),
        }
    }
    let said = match (gone.as_slice(), absent.as_slice()) {
        ([], []) => "no shims".to_owned(),
        ([], absent) => format!("no shim of {}", absent.join(" ")),
        (gone, []) => format!("removed {}", gone.join(" ")),
        (gone, absent) => format!("removed {}; no shim of {}", gone.join(" "), absent.join(" ")),
    };
    let value = json!({ "folder": folder.path().to_string_lossy(), "removed": gone, "absent": absent });
    let printed = answer(verb.json, &value, Some(said).filter(|_| exit == Exit::OK));
    Ok(if exit == Exit::OK { printed } else { exit })
}

fn folder(context: &Context, place: &ShimPlace) -> Result<Folder, Exit> {
    Folder::choose(place.dir.as_deref(), place.system, &context.invocation.cwd, &env_of(context))
        .map_err(|error| failed(&error))
}

fn tools(words: &[OsString]) -> Result<Vec<Tool>, Exit> {
    words.iter().map(|word| Tool::named(word).map_err(|error| failed(&error))).collect()
}

/// How callers find a tool, in words of JSON: `first`, `behind` or `absent`; and what is found before us.
fn shown(standing: &Standing) -> (&'static str, Option<String>) {
    match standing {
        Standing::First => ("first", None),
        Standing::Behind(before) => ("behind", Some(before.to_string_lossy().into_owned())),
        Standing::Absent => ("absent", None),
    }
}

fn standing(context: &Context, tool: &Tool) -> (Standing, Option<String>) {
    let path = context.invocation.var("PATH");
    let (standing, real) = shims::standing(tool, path.as_deref(), &context.invocation.cwd, context.ourselves);
    (standing, real.map(|real| real.to_string_lossy().into_owned()))
}

fn is_on_path(context: &Context, folder: &Folder) -> bool {
    shims::is_on_path(folder, context.invocation.var("PATH").as_deref(), &context.invocation.cwd)
}

/// Says what went wrong: a word that is none is misuse, everything else is for whoever set the machine up.
fn failed(error: &ShimError) -> Exit {
    match error {
        ShimError::NoName { .. } | ShimError::Ourselves => {
            refuse(&report::misuse(&error.to_string(), "locked shims install sops"), exit::USAGE)
        }
        _ => refuse(&report::misconfigured(&error.to_string(), "locked shims install --help"), exit::CONFIG),
    }
}

/// A path for a shell's start-up file.
fn quoted(path: &OsStr) -> String {
    crate::terms::shell_quote(path.as_encoded_bytes())
}
