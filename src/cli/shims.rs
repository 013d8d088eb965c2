//! `locked shims`: `locked` in front of programs, without anybody typing it.
#![forbid(unsafe_code)]

mod install;
mod list;
mod refused;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::exit::{self, Exit};
use crate::platform::OsStrExt as _;
use crate::report;
use crate::run::{Context, env_of};
use crate::shims::{self, Folder, ShimError, Standing, Tool};

use super::front::refuse;
use super::held::answer;
use super::out;
use super::verbs::{ExecVerb, RemoveVerb, ShimPlace, ShimsVerbs};

use self::refused::Wrong;

pub(super) fn shims(context: &Context, verb: &ShimsVerbs) -> Exit {
    let done = match verb {
        ShimsVerbs::Install(verb) => install::install(context, verb),
        ShimsVerbs::List(verb) => list::list(context, verb),
        ShimsVerbs::Remove(verb) => remove(context, verb),
        ShimsVerbs::Path(place) => path(context, place),
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

/// For programs: the bytes as they are.
fn path(context: &Context, place: &ShimPlace) -> Result<Exit, Exit> {
    let folder = folder(context, place)?;
    folder.serves().map_err(|error| failed(&error))?;
    out::write(&[folder.path().as_os_str().as_bytes(), b"\n"].concat()).map(|()| Exit::OK)
}

fn remove(context: &Context, verb: &RemoveVerb) -> Result<Exit, Exit> {
    let folder = folder(context, &verb.place)?;
    let mut tools = tools(&verb.tools, Tool::found)?;
    if verb.all {
        let all = shims::all(&folder, context.ourselves).map_err(|error| failed(&error))?;
        tools.extend(all.into_iter().map(|shim| shim.tool));
    }
    let (mut gone, mut absent, mut stay) = (Vec::new(), Vec::new(), Vec::new());
    for (tool, taken) in shims::remove(&folder, &tools, context.ourselves) {
        match taken {
            Ok(true) => gone.push(tool),
            Ok(false) => absent.push(tool),
            Err(error) => stay.push((tool, error)),
        }
    }
    let left: Vec<Wrong<'_>> = stay.iter().map(|(tool, error)| (*tool, error)).collect();
    let exit = refused::removed(&left, &gone);
    let names = |tools: &[&Tool]| tools.iter().map(|tool| lossy(tool)).collect::<Vec<_>>();
    let value = json!({ "folder": folder.path().to_string_lossy(), "removed": names(&gone), "absent": names(&absent) });
    let names = |tools: &[&Tool]| tools.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let said = match (gone.as_slice(), absent.as_slice()) {
        ([], []) => "no shims".to_owned(),
        ([], absent) => format!("no shim of {}", names(absent)),
        (gone, []) => format!("removed {}", names(gone)),
        (gone, absent) => format!("removed {}; no shim of {}", names(gone), names(absent)),
    };
    let printed = answer(verb.json, &value, Some(said).filter(|_| exit.is_none()));
    Ok(exit.unwrap_or(printed))
}

/// A tool's name for JSON, which has its own way to write what does not show.
fn lossy(tool: &Tool) -> String {
    tool.as_os_str().to_string_lossy().into_owned()
}

fn folder(context: &Context, place: &ShimPlace) -> Result<Folder, Exit> {
    Folder::choose(place.dir.as_deref(), place.system, &context.invocation.cwd, &env_of(context))
        .map_err(|error| failed(&error))
}

fn tools(words: &[OsString], named: fn(&OsStr) -> Result<Tool, ShimError>) -> Result<Vec<Tool>, Exit> {
    words.iter().map(|word| named(word).map_err(|error| failed(&error))).collect()
}

/// How callers find a tool, in words of JSON: `first`, `behind` or `absent`; and what is found before us.
fn shown(standing: &Standing) -> (&'static str, Option<&Path>) {
    match standing {
        Standing::First => ("first", None),
        Standing::Behind(before) => ("behind", Some(before)),
        Standing::Absent => ("absent", None),
    }
}

fn standing(context: &Context, tool: &Tool) -> (Standing, Option<PathBuf>) {
    let path = context.invocation.var("PATH");
    shims::standing(tool, path.as_deref(), &context.invocation.cwd, context.ourselves)
}

fn is_on_path(context: &Context, folder: &Folder) -> bool {
    shims::is_on_path(folder, context.invocation.var("PATH").as_deref(), &context.invocation.cwd)
}

/// Says what went wrong: a word that is none is misuse, everything else is for whoever set the machine up.
fn failed(error: &ShimError) -> Exit {
    match error {
        ShimError::NoName { .. } | ShimError::Ourselves => {
            refuse(&report::misuse(&error.to_string(), &error.remedy()), exit::USAGE)
        }
        _ => refused::refused(
            error.to_string(),
            "a shim that nobody finds guards nothing; nothing was done",
            error.remedy(),
        ),
    }
}

/// A path for people, who may type it.
fn quoted(path: &Path) -> String {
    crate::terms::shell_quote(path.as_os_str().as_encoded_bytes())
}
