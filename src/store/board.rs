//! The board: which sessions work on what, words left for a holder, and counts for whoever watches a store. Apart from
//! [`super::Store`], which is what every command needs: nothing here stands in the way of a lease.
#![forbid(unsafe_code)]

use std::time::Duration;

use serde::Deserialize;

use crate::terms::{Resource, SessionId};

use super::{Ended, StoreError};

/// So many words wait for a session at most; the oldest go first.
pub const WORDS: u32 = 16;

/// What a session says of itself when it begins. Texts for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begun {
    /// Whose.
    pub session: SessionId,
    /// What it is called by people, for example `PWA`.
    pub name: String,
    /// What it looks after.
    pub domain: String,
    /// What it is about to do.
    pub task: String,
    /// What it is called without that: `claude@ws-1`.
    pub label: String,
    /// Where.
    pub host: String,
}

/// A session that has begun, as views show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionView {
    /// Whose. Shown short.
    pub session: SessionId,
    /// What it is called by people.
    pub name: String,
    /// What it looks after.
    pub domain: String,
    /// What it does.
    pub task: String,
    /// What it is called without that.
    pub label: String,
    /// Where.
    pub host: String,
    /// Wall clock, ms since 1970, for showing.
    pub began_at: i64,
    /// When it was last heard of: its beginning, a grant, a renew or an end of a lease of its, or a verb of its that asked for
    /// words. What was renewed in its name between commands does not count. Wall clock, for showing.
    pub seen_at: i64,
    /// How long ago that was, by the store's clock.
    pub idle: Duration,
    /// When it ended, if it has.
    pub ended_at: Option<i64>,
}

/// A session that was heard of so short a time ago is not noted anew.
pub(super) const SEEN_ANEW: Duration = Duration::from_secs(1);

/// A request that stands in line, as views show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitView {
    /// Short session and label.
    pub holder: String,
    /// Since when; wall clock, ms since 1970, for showing. A store of before does not say.
    pub since: Option<i64>,
    /// What it waits for, sorted.
    pub resources: Vec<Resource>,
}

impl WaitView {
    /// The short session, and its label.
    #[must_use]
    pub fn who(&self) -> (&str, &str) {
        let (session, label) = self.holder.split_once(" (").unwrap_or((&self.holder, ""));
        (session, label.strip_suffix(')').unwrap_or(label))
    }
}

/// A word for who holds something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Short session and label of who left it.
    pub holder: String,
    /// The resource that it is about.
    pub about: String,
    /// What was said.
    pub text: String,
    /// Wall clock, ms since 1970, for showing.
    pub at: i64,
}

/// Counts. Those of what has happened only grow, also over pruning.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Figures {
    /// Requests in the queue that are not silent.
    pub waiting: u64,
    /// Requests that stood in the queue.
    pub waits: u64,
    /// Files found bad: resources that were quarantined.
    pub quarantines: u64,
    /// Ended leases by how they ended.
    pub completed: u64,
    /// The command failed.
    pub failed: u64,
    /// The TTL passed, or the holder was proven gone.
    pub expired: u64,
    /// Taken by a person.
    pub stolen: u64,
    /// Handed to a person.
    pub human_action: u64,
}

impl Figures {
    /// How many leases ended so.
    #[must_use]
    pub fn ended(&self, how: Ended) -> u64 {
        match how {
            Ended::Completed => self.completed,
            Ended::Failed => self.failed,
            Ended::Expired => self.expired,
            Ended::Stolen => self.stolen,
            Ended::HumanAction => self.human_action,
        }
    }
}

/// The board of a store that has a ledger. `limit` bounds each call.
pub trait Board {
    /// A session says what it does; said again, it says so anew.
    ///
    /// # Errors
    /// The store could not answer.
    fn begin(&mut self, begun: &Begun, limit: Duration) -> Result<(), StoreError>;

    /// A session is over. False: it had not begun, or was over.
    ///
    /// # Errors
    /// The store could not answer.
    fn end(&mut self, session: SessionId, limit: Duration) -> Result<bool, StoreError>;

    /// Every session that has begun and was not pruned, the last to be heard of first.
    ///
    /// # Errors
    /// The store could not answer.
    fn sessions(&mut self, limit: Duration) -> Result<Vec<SessionView>, StoreError>;

    /// Leaves a word for a session; its moment is the store's. Its next grant brings it along
    /// ([`super::Granted::words`]), or it asks ([`Board::hear`]); once, whoever comes first.
    ///
    /// # Errors
    /// The store could not answer.
    fn leave_word(&mut self, to: SessionId, word: &Word, limit: Duration) -> Result<(), StoreError>;

    /// The words that wait for a session. They are heard with that, and not told again; and the session has been heard of.
    ///
    /// # Errors
    /// The store could not answer.
    fn hear(&mut self, session: SessionId, limit: Duration) -> Result<Vec<Word>, StoreError>;

    /// The requests that stand in line and are not silent, the oldest first.
    ///
    /// # Errors
    /// The store could not answer; a schema of before cannot.
    fn waiting(&mut self, limit: Duration) -> Result<Vec<WaitView>, StoreError>;

    /// Counts.
    ///
    /// # Errors
    /// The store could not answer.
    fn figures(&mut self, limit: Duration) -> Result<Figures, StoreError>;
}
