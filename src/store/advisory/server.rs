//! The server's session that has the locks: made, proven to be one and the same, and asked.
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::{Client, Error};

use crate::store::door::shown;
use crate::store::postgres::address::{Address, Surroundings};
use crate::store::postgres::tls::{ConnectError, Unconnected};
use crate::store::postgres::via::{self, Bastion};

use super::queries;
use super::words::{Fault, HeldBy};

/// The way to the server.
pub struct Reach {
    /// The server.
    pub address: Address,
    /// Where its files are.
    pub around: Arc<dyn Surroundings + Send + Sync>,
    /// Through which machine, if through one.
    pub via: Option<Bastion>,
}

impl std::fmt::Debug for Reach {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reach").field("address", &self.address).field("via", &self.via).finish_non_exhaustive()
    }
}

/// So long we are polite when we hang up.
const FAREWELL: Duration = Duration::from_millis(100);

/// A session, or none yet.
pub(super) struct Session {
    runtime: Runtime,
    client: Option<Client>,
    driver: Option<JoinHandle<()>>,
}

impl Session {
    pub(super) fn new() -> Result<Self, Fault> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build();
        let runtime = runtime.map_err(|error| Fault::Unreachable(format!("no connection can be made: {error}")))?;
        Ok(Self { runtime, client: None, driver: None })
    }

    pub(super) fn stands(&mut self) -> bool {
        // Twice: once for the driver of the connection to be looked at, once for it to say that the server hung up.
        self.runtime.block_on(async {
            tokio::task::yield_now().await;
            tokio::task::yield_now().await;
        });
        self.client.as_ref().is_some_and(|client| !client.is_closed())
    }

    /// Connects, to look and not to lock.
    pub(super) fn look(&mut self, reach: &Reach, limit: Duration) -> Result<(), Fault> {
        let (client, driver) = self.within(limit, connect(reach, "locked", limit))?;
        (self.client, self.driver) = (Some(client), Some(driver));
        Ok(())
    }

    /// Connects under this name, unless it has, and proves that a lock means something there.
    pub(super) fn open(&mut self, reach: &Reach, name: &str, ttl: Duration, limit: Duration) -> Result<(), Fault> {
        if self.stands() {
            return Ok(());
        }
        let until = Instant::now() + limit;
        let (client, driver) = self.within(limit, async {
            let (client, driver) = connect(reach, name, limit).await?;
            queries::settle_in(&client, ttl).await?;
            prove_one(reach, &client, name, until.saturating_duration_since(Instant::now())).await?;
            Ok((client, driver))
        })?;
        (self.client, self.driver) = (Some(client), Some(driver));
        Ok(())
    }

    /// Locks all of these or none. Not locked: who has one.
    pub(super) fn take(&mut self, keys: &[i64], limit: Duration) -> Result<Option<HeldBy>, Fault> {
        let client = self.client.take().ok_or_else(nobody)?;
        let taken = self.within(limit, queries::take(&client, keys));
        if taken.is_ok() {
            self.client = Some(client);
            return taken;
        }
        // What the server did is unknown: with the session goes whatever it may have locked.
        drop(client);
        self.hang_up();
        taken
    }

    /// Does the session have all of these?
    pub(super) fn proves(&mut self, keys: &[i64], limit: Duration) -> Result<bool, Fault> {
        if !self.stands() {
            return Ok(false);
        }
        let client = self.client.take().ok_or_else(nobody)?;
        let found = self.within(limit, async { Ok(queries::mine(&client, keys).await?) });
        let closed = client.is_closed();
        self.client = Some(client);
        match found {
            Ok(count) => Ok(usize::try_from(count).is_ok_and(|count| count == distinct(keys))),
            // Its locks went with it.
            Err(_) if closed => Ok(false),
            Err(fault) => Err(fault),
        }
    }

    /// Unlocks all of these; false if one was not locked, or the session is gone. After an error it may have been done,
    /// or be done yet.
    pub(super) fn unlock(&mut self, keys: &[i64], limit: Duration) -> Result<bool, Fault> {
        if !self.stands() {
            return Ok(false);
        }
        let client = self.client.take().ok_or_else(nobody)?;
        let unlocked = self.within(limit, queries::unlock(&client, keys));
        let closed = client.is_closed();
        self.client = Some(client);
        if closed { Ok(false) } else { unlocked }
    }

    /// Who has these: the place in the list, and who.
    pub(super) fn holders(&mut self, keys: &[i64], limit: Duration) -> Result<Vec<HeldBy>, Fault> {
        let client = self.client.take().ok_or_else(nobody)?;
        let found = self.within(limit, async { Ok(queries::holders(&client, keys).await?) });
        self.client = Some(client);
        found
    }

    fn hang_up(&mut self) {
        self.client = None;
        if let Some(mut driver) = self.driver.take() {
            self.runtime.block_on(async {
                if timeout(FAREWELL, &mut driver).await.is_err() {
                    driver.abort();
                    drop(driver.await);
                }
            });
        }
    }

    fn within<T>(&self, limit: Duration, work: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
        let done = self.runtime.block_on(async { timeout(limit, work).await });
        done.unwrap_or_else(|_| Err(Fault::Unreachable("it did not answer in time".to_owned())))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.hang_up();
    }
}

async fn connect(reach: &Reach, name: &str, limit: Duration) -> Result<(Client, JoinHandle<()>), Fault> {
    let mut address = reach.address.clone();
    address.application_name = Some(name.to_owned());
    let connected = via::reach(&address, reach.around.as_ref(), reach.via.as_ref(), limit).await;
    let connected = connected.map_err(|error| unconnected(&error))?;
    let driver = connected.driver;
    // What ends a connection is told to who asks over it.
    Ok((connected.client, tokio::spawn(async move { drop(driver.await) })))
}

/// A lock of a session is worth nothing where sessions are lent out for one transaction each. A second connection tells:
/// while it is in a transaction, the first one's process is another's, or has changed.
async fn prove_one(reach: &Reach, first: &Client, name: &str, limit: Duration) -> Result<(), Fault> {
    let (process, standby) = queries::who(first).await?;
    if standby {
        // Refused, not misnamed: another server may be the primary in a moment, and this one too.
        return Err(Fault::Refused {
            why: "the store's server is a standby, whose locks the primary knows nothing of".to_owned(),
            remedy: "point the store's address at the primary (target_session_attrs=read-write)".to_owned(),
        });
    }
    let (second, driver) = connect(reach, name, limit).await?;
    if let Err(error) = second.batch_execute("begin").await {
        // A pooler that lends sessions for one statement refuses transactions.
        return Err(if error.as_db_error().is_some() { pooled() } else { error.into() });
    }
    let (other, _) = queries::who(&second).await?;
    let (again, _) = queries::who(first).await?;
    drop(second);
    drop(timeout(FAREWELL, driver).await);
    if other == process || again != process { Err(pooled()) } else { Ok(()) }
}

fn pooled() -> Fault {
    Fault::Misnamed {
        why:
            "a pooler stands before the store's server that lends out sessions for one transaction each, and so would lend the lock to \
              others"
                .to_owned(),
        remedy: "use the server's own address or the pooler's session mode (at Supabase port 5432), or the ledger \
                 (without advisory)"
            .to_owned(),
    }
}

fn distinct(keys: &[i64]) -> usize {
    keys.iter().collect::<std::collections::BTreeSet<_>>().len()
}

fn nobody() -> Fault {
    Fault::Unreachable("the connection is gone".to_owned())
}

/// Only what nobody answered may be stood in for; who answered and refused is another matter.
fn unconnected(error: &Unconnected) -> Fault {
    let silent = |error: &ConnectError| match error {
        ConnectError::Name { .. } | ConnectError::Unreachable { .. } | ConnectError::Silent { .. } => true,
        ConnectError::Refused { code, .. } => code == "57P03",
        ConnectError::Via(fault) => fault.is_unreachable(),
        _ => false,
    };
    match error.tries().iter().all(silent) {
        true => Fault::NoWay { why: error.to_string(), remedy: error.remedy() },
        false => Fault::Refused { why: error.to_string(), remedy: error.remedy() },
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        match error.as_db_error() {
            // Its message, and no detail, which can quote values.
            Some(said) => Self::Failed(format!("{} ({})", shown(said.message()), said.code().code())),
            None => Self::Unreachable(format!("the connection broke: {}", shown(&error.to_string()))),
        }
    }
}
