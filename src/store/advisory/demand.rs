//! What a lock without a table cannot give: asked before anything is connected, so that no command starts on it.
#![forbid(unsafe_code)]

use crate::rules::Change;
use crate::store::{Claim, Request, StoreError};

/// What of a request the advisory store has no place for.
pub(super) fn refuse(request: &Request) -> Result<(), StoreError> {
    if request.claim == Claim::Steal {
        return Err(refused("taking a live lock from its holder"));
    }
    if !request.ask.is_empty() {
        return Err(refused("asking a person before a stale one is taken"));
    }
    if request.claim.is_explicit() {
        return Err(refused("holding it between commands"));
    }
    if let Some(rotation) = request.resources.iter().find(|resource| resource.name.kind() == "rotation") {
        return Err(refused(&format!("{rotation}, whose history is what protects it,")));
    }
    if let Some(edit) = request.files.iter().find(|file| file.change == Some(Change::DecryptInPlace)) {
        return Err(refused(&format!("{}, which stays with its session while it is plaintext,", edit.key)));
    }
    Ok(())
}

/// The refusal of what needs a table: `what` is that, with its commas.
#[must_use]
pub fn refused(what: &str) -> StoreError {
    // Not what `--force` answers: the store is there, and others may hold what is wanted.
    StoreError::Misnamed {
        why: format!(
            "the advisory store has locks and no table (no tokens, receipts, history, queue or keep), and {what} needs one"
        ),
        remedy: "use the ledger: take advisory out of the store's setting, after `locked store init`".to_owned(),
    }
}
