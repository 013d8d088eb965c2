//! The connection: made late, kept between calls, every call under its limit, lost answers asked for again.
#![forbid(unsafe_code)]

use std::hash::{BuildHasher as _, RandomState};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config};

use crate::store::StoreError;

use super::call::Call;
use super::connector::Connector;
use super::fault::Fault;

/// So long we are polite when we close.
const FAREWELL: Duration = Duration::from_millis(100);

/// The way to the server.
pub(super) struct Link {
    config: Config,
    connector: Box<dyn Connector>,
    /// None before the first call.
    runtime: Option<Runtime>,
    client: Option<Client>,
    driver: Option<tokio::task::JoinHandle<()>>,
}

impl Link {
    pub(super) fn new(config: Config, connector: Box<dyn Connector>) -> Self {
        Self { config, connector, runtime: None, client: None, driver: None }
    }

    /// Calls a function and returns the one text of its answer.
    ///
    /// A transaction that the server took back is asked for again. So is an answer that was lost with its connection:
    /// each function knows what it did already. Both until the limit.
    pub(super) fn call(&mut self, sql: &str, call: &Call, limit: Duration) -> Result<String, StoreError> {
        self.run(limit, async |client: &mut Client| {
            let values: Vec<(&(dyn ToSql + Sync), Type)> =
                call.values().map(|value| (value as &(dyn ToSql + Sync), Type::TEXT)).collect();
            let rows = client.query_typed(sql, &values).await?;
            let text: Option<&str> = rows.first().map(|row| row.try_get(0)).transpose()?;
            text.map(str::to_owned).ok_or(Fault::Odd("an answer without a row"))
        })
    }

    /// Runs `work` over a connection; work that may be done twice.
    pub(super) fn run<T>(
        &mut self,
        limit: Duration,
        mut work: impl AsyncFnMut(&mut Client) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let deadline = Instant::now() + limit;
        let mut count = 0;
        // Somebody may have done what we asked for: then the answer is worth waiting for.
        let mut unknown = false;
        let mut before: Option<Fault> = None;
        loop {
            let fault = match self.attempt(deadline, &mut work) {
                Ok(answer) => return Ok(answer),
                Err(fault) => fault,
            };
            if !fault.leaves_the_connection() {
                self.client = None;
            }
            unknown = unknown || fault.loses_the_answer();
            let again = fault.was_taken_back() || fault.is_a_crush() || unknown && fault.may_pass();
            let pause = pause(count);
            if !again || Instant::now() + pause >= deadline {
                // What the server said last says more than that time ran out over the next try.
                let told = if fault.says_nothing() { before.unwrap_or(fault) } else { fault };
                return Err(told.named(self.config.get_user()));
            }
            before = Some(fault);
            count += 1;
            self.rest(pause);
        }
    }

    fn attempt<T>(
        &mut self,
        deadline: Instant,
        work: &mut impl AsyncFnMut(&mut Client) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let runtime = match &mut self.runtime {
            Some(runtime) => runtime,
            none => {
                let made = Builder::new_current_thread().enable_io().enable_time().build();
                none.insert(made.map_err(Fault::System)?)
            }
        };
        let left = deadline.saturating_duration_since(Instant::now());
        let (client, driver) = (&mut self.client, &mut self.driver);
        let (config, connector) = (&self.config, &self.connector);
        let sent = std::cell::Cell::new(false);
        let work = async {
            // Twice: once for the driver of the connection to be looked at, once for it to say that the server hung up.
            tokio::task::yield_now().await;
            tokio::task::yield_now().await;
            if client.as_ref().is_some_and(Client::is_closed) {
                *client = None;
            }
            let client = match client {
                Some(client) => client,
                none => {
                    let (made, carries) = connector.connect(config, left).await.map_err(Fault::of_connecting)?;
                    *driver = Some(tokio::spawn(async move {
                        // What ends a connection is told to who asks over it.
                        drop(carries.await);
                    }));
                    none.insert(made)
                }
            };
            sent.set(true);
            work(client).await
        };
        // Order: the timer is made inside the runtime.
        let done = runtime.block_on(async { timeout(left, work).await });
        done.unwrap_or(Err(Fault::TooLate { sent: sent.get() }))
    }

    fn rest(&self, span: Duration) {
        if let Some(runtime) = &self.runtime {
            // Order: the timer is made inside the runtime.
            runtime.block_on(async { tokio::time::sleep(span).await });
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.client = None;
        let Some(runtime) = self.runtime.take() else { return };
        if let Some(driver) = self.driver.take() {
            // The driver says goodbye when nobody asks any more. A server that does not listen is left.
            drop(runtime.block_on(async { timeout(FAREWELL, driver).await }));
        }
        // A resolver that hangs must not hold us.
        runtime.shutdown_background();
    }
}

/// How long to wait before the next try, twice as long each time up to half a second, never in step with others.
fn pause(count: u32) -> Duration {
    let usual = 4_000_u64 << count.min(7);
    Duration::from_micros(usual / 2 + RandomState::new().hash_one(count) % usual)
}
