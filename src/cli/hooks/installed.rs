//! `locked hooks install`, `uninstall`, `status` and `print`.
#![forbid(unsafe_code)]

use std::ffi::OsString;

use serde_json::json;

use crate::exit::{self, Exit};
use crate::hooks::{self, HooksError, Place, State};
use crate::report::{self, Refusal};
use crate::run::{Context, env_of};
use crate::terms::{Done, shell_quote};

use super::adopted::{self, Adopted};
use crate::cli::RunOptions;
use crate::cli::front::refuse;
use crate::cli::held::answer;
use crate::cli::out::print;
use crate::cli::table::table;

pub(super) fn install(context: &Context, options: &RunOptions, json: bool) -> Result<Exit, Exit> {
    let place = place(context)?;
    let done = hooks::install(&place, &ourselves(context)).map_err(|error| cannot(&error))?;
    let adopted = match adopted::adopt(context, options) {
        Ok(adopted) => adopted,
        Err((refusal, _)) => {
            report::say(&adopted::not_now(&refusal));
            Adopted::default()
        }
    };
    // What needs a person goes to standard error, the rest to the answer.
    let (warnings, lines): (Vec<_>, Vec<_>) = adopted.told().into_iter().partition(|line| line.starts_with("locked: "));
    warnings.iter().for_each(|warning| report::say(warning));
    Ok(told(&place, &done, &lines, Some(adopted.adopted), json))
}

pub(super) fn uninstall(context: &Context, json: bool) -> Result<Exit, Exit> {
    let place = place(context)?;
    let done = hooks::uninstall(&place).map_err(|error| cannot(&error))?;
    Ok(told(&place, &done, &[], None, json))
}

fn told(place: &Place, done: &[(&'static str, Done)], more: &[String], adopted: Option<usize>, json: bool) -> Exit {
    let directory = place.directory.display().to_string();
    let hooks: serde_json::Map<_, _> =
        done.iter().map(|(name, done)| ((*name).to_owned(), json!(done.word()))).collect();
    let words = done.iter().map(|(name, done)| format!("{name} {}", done.word())).collect::<Vec<_>>().join(", ");
    let mut value = json!({"directory": directory, "hooks": hooks});
    if let Some(adopted) = adopted {
        value["adopted"] = json!(adopted);
    }
    for kept in place.additions() {
        report::say(&format!("locked: what was written behind the end of our hook is kept in {}", kept.display()));
    }
    let text = [&[format!("{}: {words}", shown(place))], more].concat().join("\n");
    answer(json, &value, Some(text))
}

pub(super) fn status(context: &Context, json: bool) -> Result<Exit, Exit> {
    let place = place(context)?;
    let standing = hooks::standing(&place, &ourselves(context));
    if json {
        let hook = |one: &hooks::Standing| {
            let why = if let State::NotRun(why) = &one.state { Some(why) } else { None };
            json!({"hook": one.name, "state": one.state.word(), "chained": one.chained, "why": why})
        };
        let all: Vec<_> = standing.iter().map(hook).collect();
        let directory = place.directory.display().to_string();
        return Ok(print(&format!("{:#}", json!({"directory": directory, "whose": place.whose, "hooks": all}))));
    }
    let row = |one: &hooks::Standing| {
        let more = match &one.state {
            State::NotRun(why) => why.clone(),
            _ if one.chained => "after the hook that was there before".to_owned(),
            _ => String::new(),
        };
        vec![one.name.to_owned(), one.state.word().to_owned(), more]
    };
    let rows: Vec<Vec<String>> = standing.iter().map(row).collect();
    let whose = place.whose.map_or_else(String::new, |whose| format!(" ({whose})"));
    let head = ["HOOK", "STATE", ""].map(str::to_owned).to_vec();
    Ok(print(&format!("{}{whose}\n{}", shown(&place), table(&[vec![head], rows].concat()))))
}

fn shown(place: &Place) -> String {
    shell_quote(place.directory.as_os_str().as_encoded_bytes())
}

/// What a manager must be told.
pub(super) fn printed(manager: &str) -> &'static str {
    match manager {
        "lefthook" => hooks::LEFTHOOK,
        "husky" => hooks::HUSKY,
        _ => hooks::PRE_COMMIT,
    }
}

fn place(context: &Context) -> Result<Place, Exit> {
    hooks::find(&context.invocation.cwd, &env_of(context)).map_err(|error| cannot(&error))
}

/// Our own program, for who finds none on PATH.
fn ourselves(context: &Context) -> OsString {
    let executed = context.invocation.executed.as_ref().map(|path| context.invocation.cwd.join(path));
    std::env::current_exe().ok().or(executed).map(OsString::from).unwrap_or_default()
}

fn cannot(error: &HooksError) -> Exit {
    if let HooksError::Elsewhere { directory, .. } = error {
        let husky = directory.components().any(|part| part.as_os_str() == ".husky");
        let _the_refusal_has_the_status = print(if husky { hooks::HUSKY } else { hooks::OF_SOMEBODY }.trim_end());
    }
    let refusal = Refusal {
        word: "REFUSED",
        what: error.to_string(),
        why: "a hook that is not where git looks is never run, and nobody would know".to_owned(),
        retry: "no, not like this".to_owned(),
        next: error.remedy(),
    };
    let status = if matches!(error, HooksError::NoRepository(_)) { exit::USAGE } else { exit::CONFIG };
    refuse(&refusal, status)
}
