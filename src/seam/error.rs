//! Why a piece of code did not run under a lease to its end.
#![forbid(unsafe_code)]

use crate::lease::Busy;
use crate::store::StoreError;

/// Each case says what happened; [`SeamError::remedy`] has the next step.
#[derive(Debug, thiserror::Error)]
pub enum SeamError {
    /// Others have at least one of the resources, or asked before us, and the wait is over. Nothing was run.
    #[error("busy: {0}")]
    Busy(String),
    /// A file under one of the resources is bad, and waiting would not help. Nothing was run.
    #[error("quarantined: {0}")]
    Quarantined(String),
    /// The store cannot say that the lease is ours. Nothing was run.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What was asked makes no sense. Nothing was run.
    #[error("{0}")]
    Misused(String),
    /// The lease was lost while the work ran: others may have written meanwhile.
    #[error("the lease was lost while the work ran")]
    Lost,
    /// The lease was ours to the end of the work, and the store could not be told of that end: it stays until its TTL.
    #[error("the work was done under the lease, which could not be released: {0}")]
    Unsettled(StoreError),
}

impl SeamError {
    pub(super) fn busy(busy: &Busy) -> Self {
        let Some(blocker) = busy.blockers.first() else {
            return Self::Busy(format!("{} older requests go first", busy.ahead.len()));
        };
        let lease = &blocker.lease;
        let text = format!("{} is held by {} ({}), {}", lease.resource, lease.session, lease.label, lease.operation);
        Self::Busy(text)
    }

    pub(super) fn quarantined(busy: &Busy) -> Self {
        let bad = busy.blockers.iter().find(|blocker| blocker.quarantined()).map(|blocker| &blocker.lease);
        let text = bad.map(|lease| format!("{}: {}", lease.resource, lease.reason.as_deref().unwrap_or_default()));
        Self::Quarantined(text.unwrap_or_default())
    }

    /// The next step for a person.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::Busy(_) => "try again; `locked status` shows who has it".to_owned(),
            Self::Quarantined(_) => "`locked restore` the file that it names".to_owned(),
            Self::Store(error) => error.remedy(),
            Self::Misused(_) => "see the documentation of with_lease".to_owned(),
            Self::Lost => "look at what the work left before it is done again".to_owned(),
            Self::Unsettled(_) => "nothing: the lease ends by itself".to_owned(),
        }
    }
}
