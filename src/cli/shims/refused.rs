//! What is said where shims could not be made or taken away: of several tools each has its own answer, and the others are
//! done all the same, so the refusal says which.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use crate::cli::front::refuse;
use crate::exit::{self, Exit};
use crate::report::Refusal;
use crate::run::{Context, env_of};
use crate::shims::{self, Folder, ShimError, Tool};

/// A tool, and why nothing was done for it.
pub(super) type Wrong<'a> = (&'a Tool, &'a ShimError);

/// A refusal about shims.
pub(super) fn refused(what: String, why: &str, next: String) -> Exit {
    let refusal =
        Refusal { word: "REFUSED", what, why: why.to_owned(), retry: "yes, after the next step".to_owned(), next };
    refuse(&refusal, exit::CONFIG)
}

/// Of `locked shims install`: what stands in the way is never replaced, and the line to type moves it aside.
pub(super) fn installed(context: &Context, folder: &Folder, wrong: &[Wrong<'_>], made: &[&Tool]) -> Option<Exit> {
    let (_, first) = wrong.first()?;
    let others =
        if made.is_empty() { "no shim was made".to_owned() } else { format!("made: shims of {}", names(made)) };
    let foreign = wrong.iter().filter_map(|(tool, error)| match error {
        ShimError::NotOurs { path } => Some((*tool, path.clone())),
        _ => None,
    });
    let (tools, places): (Vec<&Tool>, Vec<PathBuf>) = foreign.unzip();
    let invocation = &context.invocation;
    let path = invocation.var("PATH");
    let may_go = |(place, tool): (&PathBuf, &&Tool)| {
        shims::may_be_moved(place, tool, path.as_deref(), &invocation.cwd, context.ourselves)
    };
    let next = match places.is_empty() {
        true => first.remedy(),
        false if places.iter().zip(&tools).all(may_go) => {
            let line = shims::install_line(folder.path(), tools.iter().copied(), &env_of(context));
            format!("{} && {line}", shims::moved_aside(&places))
        }
        false => {
            "give the shims a folder of their own, where no programs are: --dir DIR, or LOCKED_SHIMS_DIR".to_owned()
        }
    };
    Some(refused(all(wrong), &format!("what is not a shim of locked may be somebody's; {others}"), next))
}

/// Of `locked shims remove`.
pub(super) fn removed(wrong: &[Wrong<'_>], gone: &[&Tool]) -> Option<Exit> {
    let (_, first) = wrong.first()?;
    let others = if gone.is_empty() { "nothing was removed".to_owned() } else { format!("removed: {}", names(gone)) };
    Some(refused(all(wrong), &format!("only shims of locked are taken away; {others}"), first.remedy()))
}

fn all(wrong: &[Wrong<'_>]) -> String {
    wrong.iter().map(|(_, error)| error.to_string()).collect::<Vec<_>>().join("; ")
}

fn names(tools: &[&Tool]) -> String {
    tools.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}
