//! Duties: what a holder left to a person (`human-action`). The slot is free, and the ended row says who must do what until
//! somebody says that it is done.
#![forbid(unsafe_code)]

use crate::terms::SessionId;

use super::Ended;

/// Somebody says what has become of a duty.
#[derive(Debug, Clone)]
pub struct Discharge {
    /// Who says so.
    pub session: SessionId,
    /// What people call that session.
    pub label: String,
    /// It was done ([`Ended::Completed`]), or will not be ([`Ended::Failed`]).
    pub ended: Ended,
    /// In a few words.
    pub note: Option<String>,
}

impl Discharge {
    /// What the ledger says of it, behind what was to be done.
    #[must_use]
    pub(super) fn told(&self) -> String {
        let how = if self.ended == Ended::Completed { "done" } else { "given up" };
        let note = self.note.as_deref().map(|note| format!(": {note}")).unwrap_or_default();
        format!("{how} by {} ({}){note}", self.session.short(), self.label)
    }
}
