//! `locked status`: the board.
#![forbid(unsafe_code)]

mod board;
mod line;
mod object;
mod ping;
mod prometheus;
mod rows;

pub(super) use board::Board;

use crate::config::StoreSetting;
use crate::exit::Exit;
use crate::run::Context;
use crate::state::StateDir;
use crate::store::Store;

use super::RunOptions;
use super::duty;
use super::out::print;
use super::verbs::Status;
use super::world::{CALL, down, meant, opened, setting_of};
use line::Line;

/// `--stalled` found something, as grep says that it found nothing: no failure of ours.
const STALLED: i32 = 1;

pub(super) fn status(context: &Context, options: &RunOptions, verb: &Status) -> Exit {
    if !verb.ping.is_empty() {
        return ping::ping(context, options, verb);
    }
    let resources = match meant(context, &verb.resources) {
        Ok(resources) => resources,
        Err(exit) => return exit,
    };
    let verb = &Status { resources, ..verb.clone() };
    if verb.watch {
        return super::watch::watch(context, verb);
    }
    let (place, mut store) = match Place::open(context) {
        Ok(opened) => opened,
        Err(exit) if verb.format.as_deref() == Some("prometheus") => {
            let _status_of_the_store = print(prometheus::DOWN);
            return exit;
        }
        Err(exit) => return exit,
    };
    if verb.duties {
        return duties(verb, store.as_mut());
    }
    if verb.waiting {
        return waiting(verb, store.as_mut());
    }
    if verb.format.as_deref() == Some("prometheus") {
        return prometheus::print_figures(board::leases(context, verb, &place, store.as_mut()), store.as_mut());
    }
    super::session::noted(context, options, store.as_mut());
    let board = match Board::look(context, verb, &place, store.as_mut()) {
        Ok(board) => board,
        Err(error) => return down(&error),
    };
    let shown = if verb.is_json() {
        print(&format!("{:#}", board.objects(context)))
    } else {
        print(&board.rows(&verb.resources))
    };
    match shown {
        Exit::OK if verb.stalled.is_some() && !board.seen.is_empty() => Exit::Code(STALLED),
        exit => exit,
    }
}

/// What was left to a person.
fn duties(verb: &Status, store: &mut dyn Store) -> Exit {
    match duty::open(store, &verb.resources) {
        Ok(duties) if verb.json => print(&format!("{:#}", duty::objects(&duties))),
        Ok(duties) if duties.is_empty() => print("nothing is left to a person"),
        Ok(duties) => print(&duty::rows(&duties)),
        Err(error) => down(&error),
    }
}

/// Who stands in line, also for what nobody holds.
fn waiting(verb: &Status, store: &mut dyn Store) -> Exit {
    let leases = match store.leases(None, CALL) {
        Ok(leases) => leases,
        Err(error) => return down(&error),
    };
    let line = match super::session::board(store).map(|board| board.waiting(CALL)) {
        Ok(Ok(waiting)) => Line::of(waiting, &leases),
        Ok(Err(error)) => return down(&error),
        Err(exit) => return exit,
    };
    if verb.json {
        return print(&format!("{:#}", line.objects(&verb.resources)));
    }
    let rows = line.rows(&verb.resources);
    print(if rows.is_empty() { "nobody stands in line" } else { &rows })
}

/// Where the board is looked at.
pub(super) struct Place {
    state: StateDir,
    setting: StoreSetting,
}

impl Place {
    /// With its store. What stands in the way has been said.
    pub(super) fn open(context: &Context) -> Result<(Self, Box<dyn Store>), Exit> {
        let setting = setting_of(context)?;
        let (state, store) = opened(context, &setting)?;
        Ok((Self { state, setting }, store))
    }
}
