//! `store`: where leases live. One trait, one contract suite; only `open` knows the stores' names.
//!
//! Every store promises: at most one live lease per resource (a live lease is a row whose end is null); a token that
//! grows with every grant of a resource; all or none over a set; oldest request first; expiry judged by the store's own
//! clock and the TTL that the holder recorded. Only durations cross this edge, never a client's timestamp. Answers are
//! enums; an error means "unknown" and is read back before anyone concludes anything.
// `deny`, not `forbid`: the advisory store's platform file needs system calls.
#![deny(unsafe_code)]

pub mod advisory;
mod answer;
mod board;
mod door;
mod duty;
mod error;
mod exposure;
mod fits;
mod forced;
mod open;
mod place;
pub mod postgres;
mod request;
mod schema;
mod settlement;
mod sqlite;
mod theft;
mod upkeep;
mod view;

pub use advisory::AdvisoryStore;
pub use answer::{Acquisition, Ahead, Blocker, Granted, Release, Renewal, Unsettled};
pub use board::{Begun, Board, Figures, SessionView, WORDS, WaitView, Word};
pub(crate) use door::{printable, shown};
pub use duty::Discharge;
pub use error::StoreError;
pub use exposure::{Exposure, exposure};
pub use forced::{Forced, ForcedEnd};
pub use open::{named_file, one_boot, open};
#[cfg(unix)]
pub use open::{relay, relay_order};
pub use place::{place_of, shown_place};
pub use postgres::{
    Before, Connected, Connecting, Connector, Difference, NotConnected, PostgresStore, Schema, SchemaNameError, With,
};
#[cfg(unix)]
pub use postgres::{Order, Relay};
pub use request::{Claim, FileRecord, Holding, Live, Mode, Owner, Request};
pub use schema::schema_of;
use settlement::ran;
pub use settlement::{Ended, Ending, Receipt, ReceiptKind, Settlement};
pub use sqlite::SqliteStore;
pub use theft::{Became, Revocation, Theft, Victim};
pub use upkeep::{About, Cargo, Condition, EPOCH_MARGIN, Epoch, Initialised, Living, PAGE, Prune, Pruned, Upkeep};
pub use view::{Contents, HistoryFilter, LeaseState, LeaseView, MOST_CONTENTS, PastLease, StoredReceipt, last_of};

use std::time::Duration;

use crate::terms::{GrantId, Resource, Scope};

/// Lets the time pass.
#[expect(clippy::disallowed_methods, reason = "nobody is told that anything has changed")]
fn rest(span: Duration) {
    std::thread::sleep(span.max(Duration::from_millis(1)));
}

/// How far away a store is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distance {
    /// On this machine: a look costs next to nothing.
    Near,
    /// Across a network, and many ask.
    Far,
    /// The same, and it calls those who wait.
    Calling,
}

/// A place where leases live. `limit` bounds each call: when it has passed the answer is an error, and the caller does
/// not know whether the store did it.
pub trait Store {
    /// How far away it is: how often one who waits may ask.
    fn distance(&self) -> Distance {
        Distance::Near
    }

    /// Makes what it needs of this process while that has one thread and no child that is ours to stop: before the keeper
    /// is forked. Nothing is connected.
    ///
    /// # Errors
    /// The system has no process or descriptor left; the state directory cannot be used.
    fn prepare(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Whether a lease can stay without a running command.
    fn keeps(&self) -> bool {
        true
    }

    /// Lets a connection go that others may want meanwhile; the next call makes another.
    fn hang_up(&mut self) {}

    /// Waits until it may be our turn, or for so long: `place` is ours in line, the first is 1. A store that can be told of a change
    /// waits for that, and may return early; others just let the time pass.
    fn await_change(&mut self, _resources: &[Resource], _place: usize, span: Duration) {
        rest(span);
    }

    /// Asks for every resource of the request, all or none, in one round trip. Free or expired → granted with new
    /// tokens (the expired row ends, naming who reclaimed it). Held → busy, with the holder's facts and our place.
    ///
    /// A request that may wait ([`Mode::Wait`]) leaves or refreshes its one ticket when it is busy; the oldest ticket
    /// whose waiter is not silent is never overtaken by a younger one that shares a resource, [`Mode::Try`] included.
    /// A lease that this session holds without a running command is adopted: its row ends, and the new row remembers
    /// an explicit hold so that the settling can hand it back.
    ///
    /// # Errors
    /// The store could not answer; nothing was granted unless a read-back by grant id says otherwise.
    fn acquire(&mut self, request: &Request, limit: Duration) -> Result<Acquisition, StoreError>;

    /// Gives every resource of the holding a full TTL from now, whether it had expired or not, if nobody took it; what is kept
    /// for longer than that is not kept for less. Any lost is all lost; by a session's word, what anybody may take is.
    ///
    /// # Errors
    /// The store could not answer; the holder goes on until its own deadline.
    fn renew(&mut self, holding: &Holding, limit: Duration) -> Result<Renewal, StoreError>;

    /// Replaces the record of files that the lease may write, and clears the debt of predecessors' files, which were
    /// proven; `receipts` are those of writes that were found done and sound.
    ///
    /// # Errors
    /// The store could not answer.
    fn record_files(
        &mut self,
        holding: &Holding,
        files: &[FileRecord],
        receipts: &[Receipt],
        limit: Duration,
    ) -> Result<Renewal, StoreError>;

    /// Ends the holding in one transaction: receipts, then release, keep, quarantine, or hand-over to the explicit
    /// hold it was adopted from. Files of others that the holder owed and has not recorded anew stay owed: a release then
    /// leaves a lease that has run out, for the next one to prove.
    ///
    /// # Errors
    /// The store could not answer; read back before concluding.
    fn settle(&mut self, holding: &Holding, settlement: &Settlement, limit: Duration) -> Result<Release, StoreError>;

    /// Marks live leases for stealing, all of them or none. A running command learns it from its next renew, stops and
    /// settles, and only then (or when its TTL ends) is anybody else granted. What rests with its session, or has run out,
    /// can be taken from now on; what it may have written is proven by who takes it. Nothing is marked where somebody has one
    /// of them whom the person who said so was not shown. The ledger says `stolen`, by whom and why. Asking for what was taken away is an [`Store::acquire`] of its own.
    ///
    /// # Errors
    /// The store could not answer, or has no leases that outlive their holder's connection.
    fn revoke(&mut self, resources: &[Resource], theft: &Theft, limit: Duration) -> Result<Revocation, StoreError>;

    /// Records a run that held nothing (`--force`), once per grant however often and by however many it is told: an
    /// ended row for each of its resources, with the note "forced: …" and its receipts. A file that it left bad
    /// quarantines its resource: at once where nobody runs, else when the command that runs there has ended. Files that
    /// nobody has proven are left to whoever takes the resource next.
    ///
    /// # Errors
    /// The store could not answer; telling it again does no harm.
    fn record_forced(&mut self, forced: &Forced, limit: Duration) -> Result<(), StoreError>;

    /// Takes the ticket of this grant out of the queue. Nothing happens when there is none.
    ///
    /// # Errors
    /// The store could not answer; the ticket falls silent and is skipped.
    fn leave_queue(&mut self, grant: GrantId, limit: Duration) -> Result<(), StoreError>;

    /// Which of these grants the store still knows as a live lease, as a join or as a waiting request. Nobody asks for
    /// the live file of another one any more.
    ///
    /// # Errors
    /// The store could not answer.
    fn standing(&mut self, grants: &[GrantId], limit: Duration) -> Result<Vec<GrantId>, StoreError>;

    /// Every live lease, expired ones included, of these resources or of all, with how many wait for each.
    ///
    /// # Errors
    /// The store could not answer.
    fn leases(&mut self, resources: Option<&[Resource]>, limit: Duration) -> Result<Vec<LeaseView>, StoreError>;

    /// Ended leases, newest first.
    ///
    /// # Errors
    /// The store could not answer.
    fn history(&mut self, filter: &HistoryFilter, limit: Duration) -> Result<Vec<PastLease>, StoreError>;

    /// What was left to a person and nobody has done yet, newest first: ended rows, at most 1,000. A store without a ledger
    /// has none.
    ///
    /// # Errors
    /// The store could not answer.
    fn duties(&mut self, _limit: Duration) -> Result<Vec<PastLease>, StoreError> {
        Ok(Vec::new())
    }

    /// Ends every duty of this resource: its rows end as said, and their notes say by whom. The answer is how many there
    /// were; telling it again finds none.
    ///
    /// # Errors
    /// The store could not answer.
    fn discharge(&mut self, _resource: &Resource, _how: &Discharge, _limit: Duration) -> Result<u64, StoreError> {
        Ok(0)
    }

    /// The chain of receipts of one path, newest first. `path` is the repository-relative path as in the receipt.
    ///
    /// # Errors
    /// The store could not answer.
    fn receipts(&mut self, scope: &Scope, path: &str, limit: Duration) -> Result<Vec<StoredReceipt>, StoreError>;

    /// The chains of these paths, however many they are: one after the other, each newest first.
    ///
    /// # Errors
    /// The store could not answer.
    fn chains(&mut self, scope: &Scope, paths: &[&str], limit: Duration) -> Result<Vec<StoredReceipt>, StoreError>;

    /// The receipts that name one of these contents as their result, in this scope and under whatever path: of each path
    /// and content the newest, in no order; one that a person has accepted as a base is proven by nothing and does not count. Who has more contents than [`MOST_CONTENTS`] asks several times.
    ///
    /// # Errors
    /// The store could not answer; more was asked at once than it takes.
    fn receipts_of(
        &mut self,
        scope: &Scope,
        contents: &Contents,
        limit: Duration,
    ) -> Result<Vec<StoredReceipt>, StoreError>;

    /// Who works on what, and counts; none for a store without a ledger.
    fn board(&mut self) -> Option<&mut dyn Board> {
        None
    }

    /// What its owner does with it; none for a store without a ledger.
    fn upkeep(&mut self) -> Option<&mut dyn Upkeep> {
        None
    }
}
