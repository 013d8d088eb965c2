//! What a store's owner does with it: set up, compare, prune, raise the epoch, move away. Apart from [`super::Store`], which
//! is what every command needs, and harmless to who may only take part: a role that is not the owner's is refused.
#![forbid(unsafe_code)]

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::StoreError;

/// Every token of a new epoch is this much above the last known: a day of milliseconds, so that a server whose clock is
/// behind by less cannot give out a token again that was lost with the old one.
pub const EPOCH_MARGIN: i64 = 86_400_000;

/// What an application of the schema did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Initialised {
    /// Everything was there already.
    Unchanged,
    /// The schema was made, or brought to this program's version.
    Applied,
}

/// What a store says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// Names it for ever.
    pub store_id: String,
    /// Counts how often its tokens were raised; the first is 1.
    pub epoch: i64,
    /// Where it has moved to, and the name of that store.
    pub moved: Option<(String, String)>,
}

/// What a server says of itself and of the role that asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// The role that asks.
    pub role: String,
    /// It may do everything.
    pub superuser: bool,
    /// It may act as the owner of the schema.
    pub owner: bool,
    /// The server's wall clock, in milliseconds since 1970.
    pub wall_ms: i64,
    /// The connection is encrypted, as the server sees it; none where it does not say.
    pub encrypted: Option<bool>,
    /// `synchronous_commit`, as it is for this role.
    pub synchronous_commit: String,
    /// The server writes through to its disk (`fsync`).
    pub fsync: bool,
    /// How many standbys follow it.
    pub standbys: i64,
    /// Some of them confirm before a commit returns (`synchronous_standby_names`).
    pub confirmed: bool,
    /// Tables of the schema that the role may write past its functions.
    pub writes: Option<String>,
}

/// What is to be pruned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prune {
    /// Only what ended longer ago.
    pub older_than: Duration,
    /// Never the last so many of a resource.
    pub keep: u32,
    /// Only count.
    pub dry_run: bool,
}

/// What was pruned, or would be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Pruned {
    /// Ended leases.
    pub leases: u64,
    /// Receipts of theirs.
    pub receipts: u64,
    /// Ended leases that stay.
    pub left: u64,
}

/// A new epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Epoch {
    /// Its number.
    pub epoch: i64,
    /// Every token from now on is above this.
    pub above: i64,
    /// How many counters were raised.
    pub resources: u64,
}

/// A lease that lives while its store was to move.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Living {
    /// The resource.
    pub name: String,
    /// Its scope.
    pub scope: String,
    /// Short session and label.
    pub holder: String,
    /// Its state as views show it.
    pub state: String,
}

/// What goes along in a move, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cargo {
    /// The counters of tokens.
    Resources,
    /// Ended leases.
    Leases,
    /// Receipts.
    Receipts,
}

impl Cargo {
    /// All of it.
    pub const ALL: [Self; 3] = [Self::Resources, Self::Leases, Self::Receipts];

    /// Its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Resources => "resources",
            Self::Leases => "leases",
            Self::Receipts => "receipts",
        }
    }
}

/// Rows of a page at most.
pub const PAGE: u32 = 1_000;

/// The upkeep of a store that has a ledger. `limit` bounds each call.
pub trait Upkeep {
    /// Makes the store or brings it to this program's version; does nothing where all is there. Many may do it at once.
    ///
    /// # Errors
    /// The store could not answer or will not; nothing was changed then.
    fn init(&mut self, limit: Duration) -> Result<Initialised, StoreError>;

    /// What is not as this program has it, and what this role may not do that it must: a sentence for each.
    ///
    /// # Errors
    /// The store could not answer.
    fn faults(&mut self, limit: Duration) -> Result<Vec<String>, StoreError>;

    /// What it says of itself.
    ///
    /// # Errors
    /// The store could not answer.
    fn about(&mut self, limit: Duration) -> Result<About, StoreError>;

    /// How the server that has it is set up; none where there is no server.
    ///
    /// # Errors
    /// The store could not answer.
    fn condition(&mut self, limit: Duration) -> Result<Option<Condition>, StoreError> {
        let _there_is_none = limit;
        Ok(None)
    }

    /// Takes old history out: never a live lease, a counter, the last of a resource or the end of a chain of receipts.
    ///
    /// # Errors
    /// The store could not answer, or this role may not.
    fn prune(&mut self, what: &Prune, limit: Duration) -> Result<Pruned, StoreError>;

    /// Raises every counter, and where new resources begin, above all tokens that it knows of, its clock and `above`, by
    /// [`EPOCH_MARGIN`].
    ///
    /// # Errors
    /// The store could not answer, or this role may not.
    fn raise_epoch(&mut self, above: Option<i64>, limit: Duration) -> Result<Epoch, StoreError>;

    /// From here it grants nothing any more and names `place` (and the store of this name) instead. When leases live in it,
    /// nothing changes and they are the answer.
    ///
    /// # Errors
    /// The store could not answer, or this role may not.
    fn leave_for(&mut self, place: &str, store_id: &str, limit: Duration) -> Result<Vec<Living>, StoreError>;

    /// It grants again.
    ///
    /// # Errors
    /// The store could not answer, or this role may not.
    fn come_back(&mut self, limit: Duration) -> Result<(), StoreError>;

    /// Up to [`PAGE`] rows behind the first `skip` of this kind; none when there are no more.
    ///
    /// # Errors
    /// The store could not answer, or this role may not.
    fn load(&mut self, what: Cargo, skip: u64, limit: Duration) -> Result<Vec<Value>, StoreError>;

    /// Takes rows in, once however often they come; the answer is how many were new. Counters only grow.
    ///
    /// # Errors
    /// The store could not answer, or this role may not.
    fn unload(&mut self, what: Cargo, rows: &[Value], limit: Duration) -> Result<u64, StoreError>;
}
