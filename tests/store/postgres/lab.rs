//! A schema of its own on the shared server, with its clock in the test's hand.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use locked::store::{Initialised, PostgresStore, Schema, Store, With};
use tokio_postgres::{Config, NoTls};

use super::relayed;
use crate::store::cast::LIMIT;
use crate::store::contract::World;
use crate::world::cluster::{self, Cluster};
use crate::world::pooler;

/// How a contender comes to the server.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Way {
    /// As the superuser.
    Direct,
    /// As a role with `locked_client` alone.
    Client,
    /// The same through pgbouncer in transaction mode.
    Pooled,
    /// The same through a relay.
    Relayed,
}

/// A schema.
pub(crate) struct Lab {
    schema: Schema,
    way: Way,
    /// Nothing was done to it but what emptying undoes: the next test may have it, from here.
    pool: Option<&'static Pool>,
}

/// Schemas of tests that have ended well. Making one costs more than most tests do.
type Pool = Mutex<Vec<Schema>>;

/// Those whose clocks stand still.
static STANDING: Pool = Mutex::new(Vec::new());

/// Those with the server's own clock.
static RUNNING: Pool = Mutex::new(Vec::new());

impl Lab {
    /// An empty schema. Its clock stands still until it is told to go on: its one function `clock` is replaced, here alone,
    /// by one that reads a table. The shipped one is the server's clock.
    pub(crate) fn new(way: Way) -> Self {
        Self::of(&STANDING, way, Self::alone)
    }

    /// An empty schema with the server's own clock.
    pub(crate) fn ticking(way: Way) -> Self {
        Self::of(&RUNNING, way, Self::running)
    }

    fn of(pool: &'static Pool, way: Way, make: impl FnOnce(Way) -> Self) -> Self {
        let emptied = pool.lock().expect("no panic").pop();
        let mut lab = emptied.map_or_else(|| make(way), |schema| Self { schema, way, pool: None });
        lab.pool = Some(pool);
        lab
    }

    /// The same for this test alone, which may do to it what it likes.
    pub(crate) fn alone(way: Way) -> Self {
        let lab = Self::running(way);
        let name = &lab.schema;
        lab.cluster().sql(&format!(
            "insert into lab.clocks values ('{name}', '2026-11-20');
             create or replace function {name}.clock() returns timestamptz language sql volatile as
             $$ select c.at from lab.clocks c where c.schema = '{name}' $$"
        ));
        lab
    }

    /// A fresh schema with the server's own clock.
    pub(crate) fn running(way: Way) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        prepare();
        let name = format!("w{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let lab = Self { schema: Schema::named(&name).expect("a name"), way, pool: None };
        let mut admin = PostgresStore::new(lab.cluster().config("postgres"), Box::new(With(NoTls)), lab.schema.clone());
        assert_eq!(admin.init(LIMIT).expect("made"), Initialised::Applied);
        lab
    }

    pub(crate) fn cluster(&self) -> &'static Cluster {
        cluster::shared()
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The address by which a contender comes.
    pub(crate) fn config(&self) -> Config {
        match self.way {
            Way::Direct => cluster::shared().config("postgres"),
            Way::Client | Way::Relayed => cluster::shared().config("worker"),
            Way::Pooled => pooler::shared().config("worker"),
        }
    }

    /// The store of a contender, by its own type.
    pub(crate) fn contender(&self) -> PostgresStore {
        if let Way::Relayed = self.way {
            return relayed::store(&self.schema);
        }
        PostgresStore::new(self.config(), Box::new(With(NoTls)), self.schema.clone())
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let Some(pool) = self.pool.filter(|_| !std::thread::panicking()) else { return };
        let name = &self.schema;
        let emptied = self.cluster().try_sql(&format!(
            "truncate {name}.leases, {name}.tickets, {name}.ticket_resources, {name}.joins, {name}.left_joins, {name}.receipts, {name}.resources, {name}.waits,
               {name}.sessions, {name}.words, {name}.tally;
             update lab.clocks set at = '2026-11-20' where schema = '{name}'"
        ));
        if emptied.is_ok() {
            pool.lock().expect("no panic").push(self.schema.clone());
        }
    }
}

/// Makes the schema under its usual name on a server of a test's own, and the user `worker`, who may call its functions.
pub(crate) fn furnish(server: &Cluster) {
    let mut admin = PostgresStore::new(server.config("postgres"), Box::new(With(NoTls)), Schema::default());
    assert_eq!(admin.init(LIMIT).expect("made"), Initialised::Applied);
    server.sql("create role worker login in role locked_client");
}

/// Once for the whole server: users, and the table of clocks.
fn prepare() {
    static DONE: OnceLock<()> = OnceLock::new();
    DONE.get_or_init(|| {
        cluster::shared().sql(
            "create role worker login in role locked_client; create role looker login in role locked_reader;
             create schema lab; create table lab.clocks (schema text primary key, at timestamptz not null);
             grant usage on schema lab to public; grant select on lab.clocks to public;",
        );
    });
}

impl World for Lab {
    fn store(&self) -> Box<dyn Store + Send> {
        Box::new(self.contender())
    }

    fn pass(&self, time: Duration) {
        let (name, ms) = (&self.schema, time.as_millis());
        self.cluster()
            .sql(&format!("update lab.clocks set at = at + {ms} * interval '1 millisecond' where schema = '{name}'"));
    }

    /// The server's clock knows no boots of ours: the promises about them say nothing here.
    fn reboot(&self) -> bool {
        false
    }

    fn lose_tokens(&self) {
        self.cluster().sql(&format!("delete from {}.resources", self.schema));
    }
}
