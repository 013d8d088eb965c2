//! `locked --force --reason TEXT acquire`: somebody goes on although the store does not answer. Nothing is held; the ledger
//! learns of it through the spool, as something that a person must look after.
#![forbid(unsafe_code)]

use serde_json::json;

use crate::exit::Exit;
use crate::report;
use crate::run::{self, ForcedHold};
use crate::store::StoreError;
use crate::terms::{Issue, Resource};

use super::front::refuse;
use super::held::{answer, names};
use super::rotation;
use super::world::World;

/// Goes on without these. An issue that is closed counts all the same.
pub(super) fn without(
    world: &World<'_>,
    resources: &[Resource],
    operation: String,
    issue: Option<&Issue>,
    (reason, down): (&str, &StoreError),
    as_json: bool,
) -> Result<Exit, Exit> {
    let wanted = names(resources).join(" ");
    let against = issue.and_then(|issue| rotation::against(world.context, issue, &wanted, "nothing is held"));
    if let Some((refusal, status)) = against {
        return Err(refuse(&refusal, status));
    }
    let setting = run::store_here(world.context).map_err(|wrong| wrong.refuse(world.context))?;
    let hold = ForcedHold {
        owner: world.owner(operation),
        resources: resources.to_vec(),
        reason: reason.to_owned(),
        at: world.now_ms(),
    };
    run::note_hold(&world.state, &setting, hold).map_err(|error| world.down(&error))?;
    report::say(&format!("locked: {wanted} is not held, by force ({reason}): {down}; the ledger will be told"));
    Ok(answer(as_json, &json!({"acquired": [], "forced": reason}), None))
}
