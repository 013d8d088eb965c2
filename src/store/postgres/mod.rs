//! The PostgreSQL store: one lease for every machine. The protocol is a set of SQL functions on the server (`schema/`);
//! each verb is one call of one of them, so one round trip and one transaction, and works through poolers that hand out a
//! session per transaction: nothing is prepared under a name, nothing is left in the session, answers are one text.
//!
//! Every verb may be asked again: a grant, a settling and a forced run are known by the grant's id, so an answer that was
//! lost with its connection is read back by asking once more. No runtime, socket or thread exists before the first call.
//!
//! | file | what it does |
//! |---|---|
//! | `schema`, `setup` | the text of the protocol; making it, comparing it |
//! | `address`, `tls`, `via` | connection strings as libpq reads them; the way there, protected; through ssh |
//! | `board` | sessions, words, counts |
//! | `upkeep` | prune, epoch, move: as the owner |
//! | `link`, `connector` | the connection, its limit, asking again |
//! | `relay` | a process that keeps connections warm between commands, where one is asked for |
//! | `call`, `words` | a function's arguments, from our words |
//! | `column` | a column of an answer, as what it must be |
//! | `answer`, `seen` | its JSON, to our words, texts through the door |
//! | `fault` | what goes wrong, and its name |
#![forbid(unsafe_code)]

pub mod address;
mod answer;
mod board;
mod call;
mod column;
mod connector;
mod fault;
mod link;
mod listing;
#[cfg(unix)]
mod relay;
mod schema;
mod seen;
mod setup;
pub mod tls;
mod upkeep;
pub mod via;
mod words;

use std::time::Duration;

use crate::terms::{GrantId, Resource, Scope};

use super::{
    Acquisition, Board, Contents, Discharge, Distance, FileRecord, Forced, HistoryFilter, Holding, LeaseView,
    PastLease, Receipt, Release, Renewal, Request, Revocation, Settlement, Store, StoreError, StoredReceipt, Theft,
    Upkeep,
};
use address::{Address, Surroundings};
use call::Call;
use connector::At;
pub use connector::{Connected, Connecting, Connector, NotConnected, With};
use link::Link;
#[cfg(unix)]
pub use relay::{Order, Relay};
pub use schema::{Before, Schema, SchemaNameError};
pub use setup::Difference;

/// So many resources or paths stand in one question: a server takes no more than a few thousand.
const AT_ONCE: usize = 1000;

/// The store on a PostgreSQL server.
pub struct PostgresStore {
    link: Link,
    schema: Schema,
}

impl std::fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresStore").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl PostgresStore {
    /// The store at this address, through the machine between if there is one, in this schema. Nothing is connected before the first call.
    #[must_use]
    pub fn new(config: tokio_postgres::Config, connector: Box<dyn Connector>, schema: Schema) -> Self {
        Self { link: Link::new(config, connector), schema }
    }

    /// The store at this address, in this schema. Nothing is connected before the first call, and what lies around the
    /// address (certificates) is read then.
    #[must_use]
    pub fn at(
        address: Address,
        around: Box<dyn Surroundings + Send>,
        bastion: Option<via::Bastion>,
        schema: Schema,
    ) -> Self {
        Self { link: link_at(address, around, bastion), schema }
    }

    /// The same, by a relay while there is one.
    #[cfg(unix)]
    #[must_use]
    pub fn through(self, relay: Option<Relay>) -> Self {
        Self { link: self.link.through(relay), ..self }
    }

    /// Names this store: made once with the schema, so that two checkouts can find that they look at two stores.
    ///
    /// # Errors
    /// The store could not answer.
    pub fn store_id(&mut self, limit: Duration) -> Result<String, StoreError> {
        let about: answer::About = self.ask(Call::new("about_v1"), limit)?;
        Ok(about.store_id)
    }

    fn ask<T: serde::de::DeserializeOwned>(&mut self, call: Call, limit: Duration) -> Result<T, StoreError> {
        let text = self.link.call(&call.sql(&self.schema), &call, limit)?;
        serde_json::from_str(&text).map_err(|_| StoreError::Failed("its answer cannot be read".to_owned()))
    }
}

/// Serves as the relay of this order until nobody comes any more.
///
/// # Errors
/// Its socket cannot be made.
#[cfg(unix)]
pub(super) fn serve_relay(
    order: Order,
    around: impl Fn() -> Box<dyn Surroundings + Send> + Send + Sync + 'static,
) -> std::io::Result<()> {
    let told = order.clone();
    let make: relay::Make = Box::new(move || link_at(told.address.clone(), around(), told.bastion.clone()));
    match Relay::of(order) {
        Some(relay) => relay::serve(relay, make),
        None => Err(std::io::ErrorKind::InvalidInput.into()),
    }
}

fn link_at(address: Address, around: Box<dyn Surroundings + Send>, bastion: Option<via::Bastion>) -> Link {
    let mut config = tokio_postgres::Config::new();
    if !address.doubtful {
        config.user(&address.user);
    }
    Link::new(config, Box::new(At { address, around, bastion }))
}

impl Store for PostgresStore {
    fn upkeep(&mut self) -> Option<&mut dyn Upkeep> {
        Some(self)
    }

    fn board(&mut self) -> Option<&mut dyn Board> {
        Some(self)
    }

    fn distance(&self) -> Distance {
        if self.link.is_called() { Distance::Calling } else { Distance::Far }
    }

    fn hang_up(&mut self) {
        self.link.hang_up();
    }

    fn await_change(&mut self, resources: &[Resource], place: usize, span: Duration) {
        let wanted: Vec<String> = resources.iter().map(|it| format!("{} {}", it.scope, it.name)).collect();
        self.link.hear(&self.schema.to_string(), &wanted, changes(place), span);
    }

    fn acquire(&mut self, request: &Request, limit: Duration) -> Result<Acquisition, StoreError> {
        let answer: answer::Acquired = self.ask(words::acquire(request)?, limit)?;
        answer.read()
    }

    fn renew(&mut self, holding: &Holding, limit: Duration) -> Result<Renewal, StoreError> {
        let answer: answer::Beat = self.ask(words::held("renew_v1", holding), limit)?;
        answer.read()
    }

    fn record_files(
        &mut self,
        holding: &Holding,
        files: &[FileRecord],
        receipts: &[Receipt],
        limit: Duration,
    ) -> Result<Renewal, StoreError> {
        let answer: answer::Beat = self.ask(words::record_files(holding, files, receipts)?, limit)?;
        answer.read()
    }

    fn settle(&mut self, holding: &Holding, settlement: &Settlement, limit: Duration) -> Result<Release, StoreError> {
        let answer: answer::Settled = self.ask(words::settle(holding, settlement), limit)?;
        answer.read()
    }

    fn revoke(&mut self, resources: &[Resource], theft: &Theft, limit: Duration) -> Result<Revocation, StoreError> {
        let answer: answer::TakenAway = self.ask(words::revoke(resources, theft), limit)?;
        answer.read()
    }

    fn record_forced(&mut self, forced: &Forced, limit: Duration) -> Result<(), StoreError> {
        self.ask::<serde::de::IgnoredAny>(words::forced(forced)?, limit).map(drop)
    }

    fn leave_queue(&mut self, grant: GrantId, limit: Duration) -> Result<(), StoreError> {
        let call = Call::new("leave_queue_v1").uuid("grant_id", Some(grant.to_string()));
        self.ask::<serde::de::IgnoredAny>(call, limit).map(drop)
    }

    fn standing(&mut self, grants: &[GrantId], limit: Duration) -> Result<Vec<GrantId>, StoreError> {
        let standing: Vec<String> = self.ask(Call::new("standing_v1").grants("grants", grants), limit)?;
        standing.iter().map(|text| answer::uuid(text).map(GrantId)).collect()
    }

    fn leases(&mut self, resources: Option<&[Resource]>, limit: Duration) -> Result<Vec<LeaseView>, StoreError> {
        let mut rows: Vec<seen::Seen> = Vec::new();
        match resources {
            None => rows = self.ask(words::leases(None), limit)?,
            Some(all) => {
                for some in all.chunks(AT_ONCE) {
                    rows.extend(self.ask::<Vec<_>>(words::leases(Some(some)), limit)?);
                }
            }
        }
        rows.into_iter().map(seen::Seen::read).collect()
    }

    fn history(&mut self, filter: &HistoryFilter, limit: Duration) -> Result<Vec<PastLease>, StoreError> {
        let rows: Vec<seen::Past> = self.ask(words::history(filter), limit)?;
        rows.into_iter().map(seen::Past::read).collect()
    }

    fn duties(&mut self, limit: Duration) -> Result<Vec<PastLease>, StoreError> {
        let rows: Vec<seen::Past> = self.ask(Call::new("duties_v1"), limit)?;
        rows.into_iter().map(seen::Past::read).collect()
    }

    fn discharge(&mut self, resource: &Resource, how: &Discharge, limit: Duration) -> Result<u64, StoreError> {
        self.ask(words::discharge(resource, how), limit)
    }

    fn receipts(&mut self, scope: &Scope, path: &str, limit: Duration) -> Result<Vec<StoredReceipt>, StoreError> {
        let call = Call::new("receipts_v1").text("scope", Some(&scope.0)).text("path", Some(path));
        let rows: Vec<seen::Link> = self.ask(call, limit)?;
        Ok(rows.into_iter().map(seen::Link::read).collect())
    }

    fn chains(&mut self, scope: &Scope, paths: &[&str], limit: Duration) -> Result<Vec<StoredReceipt>, StoreError> {
        let mut links = Vec::new();
        for some in paths.chunks(AT_ONCE) {
            match self.ask::<Vec<seen::Link>>(words::chains(scope, some), limit) {
                Ok(rows) => links.extend(rows.into_iter().map(seen::Link::read)),
                // A schema of before has no such function: path by path it answers all the same.
                Err(StoreError::Refused { .. }) => {
                    for path in some {
                        links.extend(self.receipts(scope, path, limit)?);
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(links)
    }

    fn receipts_of(
        &mut self,
        scope: &Scope,
        contents: &Contents,
        limit: Duration,
    ) -> Result<Vec<StoredReceipt>, StoreError> {
        let rows: Vec<seen::Link> = self.ask(words::receipts_of(scope, contents.bounded()?), limit)?;
        Ok(rows.into_iter().map(seen::Link::read).collect())
    }
}

/// So often the resource changes hands before it is worth a look. Only the last change but one says whether all before us had
/// their turns or some gave up; if each waiter looked at each change, a long line would look at nothing else.
fn changes(place: usize) -> usize {
    place.saturating_sub(1).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_in_line_looks_at_each_change_and_those_behind_when_they_may_be_next() {
        assert_eq!([1, 2, 3, 64].map(changes), [1, 1, 2, 63]);
    }
}
