//! `locked status --ping`: leaves a word for who holds a resource.
#![forbid(unsafe_code)]

use serde_json::{Value, json};

use crate::cli::RunOptions;
use crate::cli::front::refuse;
use crate::cli::held::{answer, elsewhere};
use crate::cli::session::{board, hear};
use crate::cli::verbs::Status;
use crate::cli::world::{CALL, World};
use crate::exit::{self, Exit};
use crate::run::Context;
use crate::store::Word;

/// What is said when nothing else is.
const READY: &str = "somebody waits for it; please release it as soon as you can";

pub(super) fn ping(context: &Context, options: &RunOptions, verb: &Status) -> Exit {
    World::with(context, options, |world| {
        let resources = world.resources(&verb.ping)?;
        let live = world.store.leases(Some(&resources), CALL).map_err(|error| world.down(&error))?;
        if let Some(refusal) = elsewhere::of_anybody(world, &resources, &live) {
            return Err(refuse(&refusal, exit::USAGE));
        }
        let own = world.session.id;
        hear(world.store.as_mut(), own);
        let holder = format!("{own} ({})", world.session.label);
        let text = verb.message.clone().unwrap_or_else(|| READY.to_owned());
        let mut lines = Vec::new();
        let mut list: Vec<Value> = Vec::new();
        for resource in &resources {
            let lease = live.iter().find(|lease| lease.resource == *resource);
            let told = match lease {
                None => {
                    lines.push(format!("nobody holds {}", resource.name));
                    None
                }
                Some(lease) if lease.session == own => {
                    lines.push(format!("{} is held by this session", resource.name));
                    None
                }
                Some(lease) => {
                    let word =
                        Word { holder: holder.clone(), about: resource.name.to_string(), text: text.clone(), at: 0 };
                    let left = board(world.store.as_mut())?.leave_word(lease.session, &word, CALL);
                    left.map_err(|error| world.down(&error))?;
                    lines.push(format!("left a word for {} ({}) about {}", lease.session, lease.label, resource.name));
                    Some(lease.session.short())
                }
            };
            list.push(json!({"resource": resource.name.as_str(), "scope": resource.scope.to_string(), "told": told}));
        }
        Ok(answer(verb.json, &Value::Array(list), Some(lines.join("\n"))))
    })
}
