//! `locked session`: which session this is, and the board of those that work.
#![forbid(unsafe_code)]

mod begin;
mod closing;
mod end;
mod list;
mod rest;
mod who;

use serde_json::json;

use crate::exit::{self, Exit};
use crate::report::{self, Refusal};
use crate::run::{self, Context};
use crate::store::{Board, Store};
use crate::terms::SessionId;

use super::RunOptions;
use super::front::refuse;
use super::held::answer;
use super::verbs::{SessionVerb, SessionVerbs};

pub(super) use closing::closing;
pub(super) use end::finish;
pub(super) use list::shown;
pub(super) use who::names;

pub(super) fn session(context: &Context, options: &RunOptions, verb: &SessionVerb) -> Exit {
    match &verb.verb {
        None => which(context, options, verb.json).unwrap_or_else(|exit| exit),
        Some(SessionVerbs::List(verb)) => list::list(context, options, verb),
        Some(SessionVerbs::Begin(verb)) => begin::begin(context, options, verb),
        Some(SessionVerbs::End(verb)) => end::end(context, options, verb),
    }
}

/// Asks no store. The whole identity is shown: who asks is its owner.
fn which(context: &Context, options: &RunOptions, as_json: bool) -> Result<Exit, Exit> {
    let settings = run::settings_here(context)?;
    let session = run::session(context, options.session.map(SessionId), &settings)
        .map_err(|refusal| refuse(&refusal, exit::USAGE))?;
    let lasts = match session.for_explicit() {
        Ok(()) => "yes: a later command of this session can release what this one acquires".to_owned(),
        Err(error) => format!("no: {error}"),
    };
    let (named_by, why) = (session.source.named_by(), session.source.why());
    let value = json!({"session": session.id.whole(), "holder": session.id.short(), "label": session.label,
        "named_by": named_by, "why": why, "lasts": session.explicit_ok});
    let text = format!(
        "session:  {}\nshown as: {} ({})\nnamed by: {named_by}\nwhy:      {why}\nlasts:    {lasts}",
        session.id.whole(),
        session.id,
        session.label
    );
    Ok(answer(as_json, &value, Some(text)))
}

/// The board of a store that has one.
pub(super) fn board(store: &mut dyn Store) -> Result<&mut dyn Board, Exit> {
    store.board().ok_or_else(|| {
        let refusal = Refusal {
            word: "REFUSED",
            what: "this store has no board".to_owned(),
            why: "the advisory store keeps nothing but locks of the server's sessions".to_owned(),
            retry: "no, not before another store is set: postgres://… without advisory, or none".to_owned(),
            next: "locked config show store".to_owned(),
        };
        refuse(&refusal, exit::USAGE)
    })
}

/// What was typed here is a sign of life of this session, if one can be told and it has begun; and it hears what others left.
pub(super) fn noted(context: &Context, options: &RunOptions, store: &mut dyn Store) {
    let session = || run::session(context, options.session.map(SessionId), &run::settings_here(context).ok()?).ok();
    if let Some(session) = session() {
        hear(store, session.id);
    }
}

/// Says the words that others left for this session. A store that cannot answer now keeps them for later.
pub(super) fn hear(store: &mut dyn Store, session: SessionId) {
    if let Some(board) = store.board()
        && let Ok(words) = board.hear(session, super::world::CALL)
    {
        report::say_words(&words, store, session);
    }
}
