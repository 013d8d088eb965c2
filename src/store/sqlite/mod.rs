//! The embedded store: one SQLite file in the state directory, made for many short-lived processes.
//!
//! A rollback journal (no second file to recover for whoever comes first), a patient busy handler before anything else, and
//! `BEGIN IMMEDIATE` for whatever writes, so that nobody is told "busy" half-way. The moment is read under the write lock.
//! One connection belongs to one process: it opens at the first call, so a store may be carried over a fork unused.
//!
//! | file | what it does |
//! |---|---|
//! | `ledger`, `gate`, `bell` | the connection, transactions, retries; writers in line; who is next is called |
//! | `schema` | versions of the file |
//! | `row`, `debt`, `queue` | a lease, its unproven files, the tickets |
//! | `nest`, `left`, `cycle` | commands below a holder; who has left them; circles of waiters |
//! | `fate` | what a live lease means to who asks (pure) |
//! | `acquire`, `grant`, `renew`, `settle`, `revoke`, `forced`, `views`, `chain` | the trait, verb by verb |
//! | `board` | sessions, words, counts |
//! | `upkeep`, `moving` | prune, epoch, move |
//! | `fault`, `damage` | what goes wrong, and its name |
#![forbid(unsafe_code)]

mod acquire;
mod bell;
mod board;
mod chain;
mod cycle;
mod damage;
mod debt;
mod fate;
mod fault;
mod forced;
mod gate;
mod grant;
mod ledger;
mod left;
mod moving;
mod nest;
mod queue;
mod renew;
mod revoke;
mod row;
mod schema;
mod settle;
mod upkeep;
mod views;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;

use crate::clock::Clock;
use crate::state::StateDir;
use crate::terms::{GrantId, Resource, Scope};

use super::{
    Acquisition, Board, Contents, Discharge, FileRecord, Forced, HistoryFilter, Holding, LeaseView, Mode, PastLease,
    Receipt, Release, Renewal, Request, Revocation, Settlement, Store, StoreError, StoredReceipt, Theft, Upkeep,
};
use bell::Bell;
use fault::Fault;
use ledger::{Ledger, Now};

/// The name of the store's file in the state directory.
pub(super) const FILE_NAME: &str = "locked.db";

/// The embedded store.
pub struct SqliteStore {
    ledger: Ledger,
    /// The grant that was told to wait here: its next call is a poll.
    waiting: Option<GrantId>,
    bell: Bell,
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteStore").field("file", &self.ledger.file()).finish_non_exhaustive()
    }
}

impl SqliteStore {
    /// The store in this state directory. Nothing is opened before the first call.
    #[must_use]
    pub fn new(state: &StateDir, clock: Arc<dyn Clock + Send + Sync>) -> Self {
        Self::in_file(state.path().join(FILE_NAME), state, clock)
    }

    /// The store in a file of that directory.
    pub(super) fn in_file(file: PathBuf, state: &StateDir, clock: Arc<dyn Clock + Send + Sync>) -> Self {
        let bell = Bell::beside(&file, state.account());
        Self { ledger: Ledger::new(file, state.account(), clock), waiting: None, bell }
    }

    /// Writes what may let somebody else in.
    fn free<T>(
        &mut self,
        limit: Duration,
        work: impl Fn(&Connection, &Now) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let done = self.ledger.write(limit, work);
        self.bell.ring();
        done
    }

    /// Names this store: made once with the file, so that two checkouts can find that they look at two stores.
    ///
    /// # Errors
    /// The store could not answer.
    pub fn store_id(&mut self, limit: Duration) -> Result<String, StoreError> {
        self.ledger.read(limit, |connection, _| {
            Ok(connection.query_row("select value from meta where key = 'store_id'", [], |row| row.get(0))?)
        })
    }
}

impl Store for SqliteStore {
    fn upkeep(&mut self) -> Option<&mut dyn Upkeep> {
        Some(self)
    }

    fn board(&mut self) -> Option<&mut dyn Board> {
        Some(self)
    }

    fn await_change(&mut self, _resources: &[Resource], place: usize, span: Duration) {
        // Whoever else looked as well would only be in the way of who is next.
        if place != 1 || !self.bell.hear(span) {
            super::rest(span);
        }
    }

    fn acquire(&mut self, request: &Request, limit: Duration) -> Result<Acquisition, StoreError> {
        // Who comes to wait for the first time must write in any case, so a look beforehand would only cost time.
        let looks_first = request.mode == Mode::Try || self.waiting == Some(request.grant);
        let answer = acquire::acquire(&mut self.ledger, request, looks_first, limit)?;
        self.waiting = matches!(answer, Acquisition::Busy { .. }).then_some(request.grant);
        Ok(answer)
    }

    fn renew(&mut self, holding: &Holding, limit: Duration) -> Result<Renewal, StoreError> {
        self.ledger.write(limit, |connection, now| renew::renew(connection, holding, now))
    }

    fn record_files(
        &mut self,
        holding: &Holding,
        files: &[FileRecord],
        receipts: &[Receipt],
        limit: Duration,
    ) -> Result<Renewal, StoreError> {
        self.ledger.write(limit, |connection, now| renew::record_files(connection, holding, files, receipts, now))
    }

    fn settle(&mut self, holding: &Holding, settlement: &Settlement, limit: Duration) -> Result<Release, StoreError> {
        self.free(limit, |connection, now| settle::settle(connection, holding, settlement, now))
    }

    fn revoke(&mut self, resources: &[Resource], theft: &Theft, limit: Duration) -> Result<Revocation, StoreError> {
        self.free(limit, |connection, now| revoke::revoke(connection, resources, theft, now))
    }

    fn record_forced(&mut self, forced: &Forced, limit: Duration) -> Result<(), StoreError> {
        self.free(limit, |connection, now| forced::record(connection, forced, now))
    }

    fn leave_queue(&mut self, grant: GrantId, limit: Duration) -> Result<(), StoreError> {
        self.free(limit, |connection, _| queue::leave(connection, grant))
    }

    fn standing(&mut self, grants: &[GrantId], limit: Duration) -> Result<Vec<GrantId>, StoreError> {
        self.ledger.read(limit, |connection, _| views::standing(connection, grants))
    }

    fn leases(&mut self, resources: Option<&[Resource]>, limit: Duration) -> Result<Vec<LeaseView>, StoreError> {
        self.ledger.read(limit, |connection, now| views::leases(connection, resources, now))
    }

    fn history(&mut self, filter: &HistoryFilter, limit: Duration) -> Result<Vec<PastLease>, StoreError> {
        self.ledger.read(limit, |connection, now| views::history(connection, filter, now))
    }

    fn duties(&mut self, limit: Duration) -> Result<Vec<PastLease>, StoreError> {
        self.ledger.read(limit, |connection, _| views::duties(connection))
    }

    fn discharge(&mut self, resource: &Resource, how: &Discharge, limit: Duration) -> Result<u64, StoreError> {
        self.free(limit, |connection, _| settle::discharge(connection, resource, how))
    }

    fn receipts(&mut self, scope: &Scope, path: &str, limit: Duration) -> Result<Vec<StoredReceipt>, StoreError> {
        self.ledger.read(limit, |connection, _| chain::receipts(connection, scope, path))
    }

    fn chains(&mut self, scope: &Scope, paths: &[&str], limit: Duration) -> Result<Vec<StoredReceipt>, StoreError> {
        self.ledger.read(limit, |connection, _| chain::chains(connection, scope, paths))
    }

    fn receipts_of(
        &mut self,
        scope: &Scope,
        contents: &Contents,
        limit: Duration,
    ) -> Result<Vec<StoredReceipt>, StoreError> {
        let contents = contents.bounded()?;
        self.ledger.read(limit, |connection, _| chain::receipts_of(connection, scope, contents))
    }
}
