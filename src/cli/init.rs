//! `locked init`: a repository's own settings, every one of them a comment; what is here that matters; and the rest of the
//! set-up, for who wants it.
#![forbid(unsafe_code)]

mod found;
mod offer;
mod text;
mod write;

use std::io::IsTerminal as _;

use serde_json::json;

use crate::config::FILE;
use crate::exit::{self, Exit};
use crate::git::Repository;
use crate::report;
use crate::run::{Context, env_of};

use self::found::{Found, shown};
use self::offer::{Offer, says_yes};
use self::write::write;
use super::front::refuse;
use super::out::print;
use super::verbs::Init;

pub(super) fn init(context: &Context, verb: &Init) -> Exit {
    go(context, verb).unwrap_or_else(|exit| exit)
}

fn go(context: &Context, verb: &Init) -> Result<Exit, Exit> {
    let env = env_of(context);
    let wrong = |what: &str, next: &str| refuse(&report::misuse(what, next), exit::USAGE);
    let repository = Repository::around(&context.invocation.cwd)
        .map_err(|error| wrong(&error.to_string(), "git status"))?
        .ok_or_else(|| wrong("this is no git repository: there is no place for its settings", "git init"))?;
    let file = repository.worktree_root.join(FILE);
    let written = write(&file).map_err(|wrong| refuse(&wrong.refusal(&file), exit::CONFIG))?;
    let files = repository.files(&env).map_err(|error| wrong(&error.to_string(), "git status"))?;
    let found = Found::among(&repository.worktree_root, &files);
    let mut offers = Offer::all(&super::definition());
    // With --yes what is there is made right where it is not.
    offers.retain(|offer| verb.yes || !offer.stands(context));
    if !verb.json {
        let what = if written { "wrote" } else { "left as it is:" };
        let every = if written { ": every setting as a comment" } else { "" };
        let _nobody_may_listen = print(&format!("{what} {}{every}\nfound: {found}", shown(&file)));
    }
    let asks = !verb.yes && !verb.json && std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let mut status = Exit::OK;
    for offer in &mut offers {
        if verb.yes || (asks && says_yes(offer)) {
            let done = offer.carry_out(verb.json);
            offer.done = Some(done);
            if !done && status == Exit::OK {
                status = Exit::Code(exit::CONFIG);
            }
        }
    }
    if verb.json {
        let offers: Vec<_> = offers.iter().map(Offer::json).collect();
        let file = file.display().to_string();
        let _nobody_may_listen =
            print(&format!("{:#}", json!({"file": file, "written": written, "found": found.json(), "offers": offers})));
        return Ok(status);
    }
    for offer in offers.iter().filter(|offer| offer.done.is_none()) {
        let _nobody_may_listen = print(&format!("offer: {}\nnext:  {}", offer.why, offer.line()));
    }
    Ok(status)
}
