//! `locked session begin`.
#![forbid(unsafe_code)]

use serde_json::{Value, json};

use crate::cli::RunOptions;
use crate::cli::front::refuse;
use crate::cli::held::answer;
use crate::cli::verbs::BeginVerb;
use crate::cli::world::{CALL, World};
use crate::exit::{self, Exit};
use crate::holder::ProcFs;
use crate::report;
use crate::run::Context;
use crate::store::Begun;

use super::list::{look, object};
use super::who::Entry;
use super::{board, hear};

pub(super) fn begin(context: &Context, options: &RunOptions, verb: &BeginVerb) -> Exit {
    World::with(context, options, |world| {
        world.session.for_explicit().map_err(|error| refuse(&report::no_session(&error), exit::USAGE))?;
        let begun = Begun {
            session: world.session.id,
            name: verb.name.clone(),
            domain: verb.domain.clone(),
            task: verb.task.clone(),
            label: world.session.label.clone(),
            host: ProcFs::host(),
        };
        board(world.store.as_mut())?.begin(&begun, CALL).map_err(|error| world.down(&error))?;
        hear(world.store.as_mut(), begun.session);
        // After ours: of two that begin at once at least one sees the other.
        let (own, others): (Vec<Entry>, Vec<Entry>) =
            look(world)?.into_iter().filter(Entry::is_there).partition(|entry| entry.session == begun.session);
        if let Some(namesake) = others.iter().find(|entry| entry.name() == begun.name && !entry.is_quiet()) {
            report::say(&format!("locked: another session is called {} too: {}", begun.name, namesake.line()));
        }
        let list: Vec<Value> = others.iter().map(|entry| object(entry, begun.session)).collect();
        let value = json!({"holder": begun.session.short(), "name": begun.name, "others": list});
        let exit = answer(verb.json, &value, Some(said(&begun, own.first(), &others)));
        if exit != Exit::OK {
            report::say(&format!(
                "locked: {} has begun all the same (locked session end takes it off the board)",
                begun.name
            ));
        }
        Ok(exit)
    })
}

fn said(begun: &Begun, own: Option<&Entry>, others: &[Entry]) -> String {
    let mut lines = vec![format!("begun: {} {} ({})", begun.name, begun.session, begun.label)];
    if let Some(own) = own.filter(|own| !own.holds.is_empty()) {
        lines.push(format!("this session holds {} already", own.held()));
    }
    let word = |entry: &Entry| if entry.is_quiet() { "quiet" } else { "active" };
    lines.extend(others.iter().map(|entry| format!("{}: {}", word(entry), entry.line())));
    if others.is_empty() {
        lines.push("nobody else is active".to_owned());
    }
    lines.join("\n")
}
