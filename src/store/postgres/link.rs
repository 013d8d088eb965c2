//! The connection: made late, kept between calls, every call under its limit, lost answers asked for again.
#![forbid(unsafe_code)]

use std::hash::{BuildHasher as _, RandomState};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config};

use crate::store::StoreError;

use super::call::Call;
use super::column::text_of;
use super::connector::Connector;
use super::fault::Fault;
#[cfg(unix)]
use super::relay::{Heard, Near, Relay};

/// So long we are polite when we close.
const FAREWELL: Duration = Duration::from_millis(100);
/// So long it may take to find out whether the server can call us.
const FIND_OUT: Duration = Duration::from_secs(1);

/// Whether the server calls us when something changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ear {
    /// Not asked yet.
    Untried,
    /// This connection listens.
    Open,
    /// Somebody stands between us and the server who would take the call for another's.
    Deaf,
}

/// The way to the server.
pub(super) struct Link {
    config: Config,
    connector: Box<dyn Connector>,
    /// None before the first call.
    runtime: Option<Runtime>,
    client: Option<Client>,
    driver: Option<JoinHandle<()>>,
    calls: Option<mpsc::Receiver<String>>,
    /// Whether the server calls us when something changed.
    ear: Ear,
    /// A relay that has a warm connection, where there is to be one.
    #[cfg(unix)]
    near: Option<Near>,
}

/// What came over a connection that listens.
#[cfg(unix)]
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The server called this out.
    Call(String),
    /// Nothing in the time.
    Nothing,
    /// The connection is gone.
    Gone,
}

impl Link {
    pub(super) fn new(config: Config, connector: Box<dyn Connector>) -> Self {
        Self {
            config,
            connector,
            runtime: None,
            client: None,
            driver: None,
            calls: None,
            ear: Ear::Untried,
            #[cfg(unix)]
            near: None,
        }
    }

    /// The same, which asks a relay first.
    #[cfg(unix)]
    pub(super) fn through(mut self, relay: Option<Relay>) -> Self {
        self.near = relay.map(Near::new);
        self
    }

    /// Calls a function and returns the one text of its answer.
    ///
    /// A transaction that the server took back is asked for again. So is an answer that was lost with its connection:
    /// each function knows what it did already. Both until the limit.
    pub(super) fn call(&mut self, sql: &str, call: &Call, limit: Duration) -> Result<String, StoreError> {
        let began = Instant::now();
        if let Some(answer) = self.by_relay(call, limit) {
            return answer;
        }
        let limit = limit.saturating_sub(began.elapsed());
        self.run(limit, async |client: &mut Client| {
            let values: Vec<(&(dyn ToSql + Sync), Type)> =
                call.values().map(|value| (value as &(dyn ToSql + Sync), Type::TEXT)).collect();
            text_of(&client.query_typed(sql, &values).await?)
        })
    }

    /// What a relay answers, where there is one that does.
    #[cfg(unix)]
    fn by_relay(&mut self, call: &Call, limit: Duration) -> Option<Result<String, StoreError>> {
        self.near.as_mut().filter(|_| self.client.is_none())?.call(call, limit)
    }

    /// There are none.
    #[cfg(not(unix))]
    #[expect(clippy::unused_self, reason = "there is one elsewhere")]
    fn by_relay(&mut self, _call: &Call, _limit: Duration) -> Option<Result<String, StoreError>> {
        None
    }

    /// Whether a relay has waited for us, as [`Self::hear`] does.
    #[cfg(unix)]
    fn hears_by_relay(&mut self, wanted: &[String], changes: usize, span: Duration) -> bool {
        let Some(near) = self.near.as_mut().filter(|near| near.is_there()) else { return false };
        let heard = near.hear(wanted, changes, span);
        self.ear = match heard {
            Some(Heard::Heard) => Ear::Open,
            Some(Heard::Deaf) => Ear::Deaf,
            None => Ear::Untried,
        };
        self.ear == Ear::Open
    }

    /// There are none.
    #[cfg(not(unix))]
    #[expect(clippy::unused_self, reason = "there is one elsewhere")]
    fn hears_by_relay(&mut self, _wanted: &[String], _changes: usize, _span: Duration) -> bool {
        false
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
            none => none.insert(runtime().map_err(Fault::System)?),
        };
        let left = deadline.saturating_duration_since(Instant::now());
        let (client, driver) = (&mut self.client, &mut self.driver);
        let (calls, ear) = (&mut self.calls, &mut self.ear);
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
                    let made = connector.connect(config, left).await.map_err(Fault::of_connecting)?;
                    *driver = Some(carry(made.driver));
                    *calls = Some(made.calls);
                    if *ear == Ear::Open {
                        *ear = Ear::Untried;
                    }
                    none.insert(made.client)
                }
            };
            sent.set(true);
            work(client).await
        };
        // Order: the timer is made inside the runtime.
        let done = runtime.block_on(async { timeout(left, work).await });
        done.unwrap_or(Err(Fault::TooLate { sent: sent.get() }))
    }

    /// Lets the connection go; the next call makes another.
    pub(super) fn hang_up(&mut self) {
        self.client = None;
        #[cfg(unix)]
        if let Some(near) = &mut self.near {
            near.hang_up();
        }
        if let (Some(runtime), Some(driver)) = (&self.runtime, self.driver.take()) {
            // The driver says goodbye when nobody asks any more. A server that does not listen is left.
            drop(runtime.block_on(async { timeout(FAREWELL, driver).await }));
        }
    }

    /// Whether the server calls us when something changed, as far as is known yet.
    pub(super) fn is_called(&self) -> bool {
        self.ear == Ear::Open
    }

    /// Waits until the server has said so often that something changed about one of these, for at most so long. Where it
    /// cannot say so that is all that it does. The first wait finds out which; what changed before that was told to
    /// nobody, so it does not wait when it can from now on.
    pub(super) fn hear(&mut self, channel: &str, wanted: &[String], changes: usize, span: Duration) {
        let begun = Instant::now();
        if self.hears_by_relay(wanted, changes, span) {
            return;
        }
        if self.ear == Ear::Untried {
            if self.listens(channel, span.max(FIND_OUT)) {
                self.ear = Ear::Open;
                return;
            }
            self.ear = Ear::Deaf;
        }
        let left = span.saturating_sub(begun.elapsed());
        match (&self.runtime, &mut self.calls) {
            (Some(runtime), Some(calls)) if self.ear == Ear::Open => {
                let heard = async {
                    let mut left_to_hear = changes;
                    while let Some(call) = calls.recv().await {
                        left_to_hear = left_to_hear.saturating_sub(usize::from(wanted.contains(&call)));
                        if left_to_hear == 0 {
                            return;
                        }
                    }
                    // The connection is gone: the next question makes another.
                    tokio::time::sleep(left).await;
                };
                // Order: the timer is made inside the runtime.
                let _heard_or_not = runtime.block_on(async { timeout(left, heard).await });
            }
            _ => self.rest(left),
        }
    }

    /// Listens, if the connection is the server's own. A pooler may hand every transaction to another session: then two
    /// connections of ours meet in one session, or one moves to another while the second sits in its place.
    fn listens(&mut self, channel: &str, limit: Duration) -> bool {
        let (Some(runtime), Some(client)) = (&self.runtime, &self.client) else { return false };
        let (connector, config) = (&self.connector, &self.config);
        let find_out = async {
            let first = session_of(client).await?;
            let other = connector.connect(config, limit).await.ok()?;
            let carries = carry(other.driver);
            other.client.simple_query("begin").await.ok()?;
            let second = session_of(&other.client).await?;
            let again = session_of(client).await?;
            drop(other.client);
            let direct = first == again && first != second;
            if direct {
                client.batch_execute(&format!("listen \"{channel}\"")).await.ok()?;
            }
            let _it_says_goodbye = timeout(FAREWELL, carries).await;
            direct.then_some(())
        };
        runtime.block_on(async { timeout(limit, find_out).await }).is_ok_and(|direct| direct.is_some())
    }

    fn rest(&mut self, span: Duration) {
        if self.runtime.is_none() {
            self.runtime = runtime().ok();
        }
        if let Some(runtime) = &self.runtime {
            // Order: the timer is made inside the runtime.
            runtime.block_on(async { tokio::time::sleep(span).await });
        }
    }

    /// Connects and listens; false where somebody stands between us and the server, or nothing answers.
    #[cfg(unix)]
    pub(super) fn opens_its_ear(&mut self, channel: &str, limit: Duration) -> bool {
        let connected = self.run(limit, async |_: &mut Client| Ok(()));
        connected.is_ok() && self.listens(channel, limit)
    }

    /// What the server calls out next, within so long.
    #[cfg(unix)]
    pub(super) fn next_call(&mut self, span: Duration) -> Next {
        let (Some(runtime), Some(calls)) = (&self.runtime, &mut self.calls) else { return Next::Gone };
        // Order: the timer is made inside the runtime.
        match runtime.block_on(async { timeout(span, calls.recv()).await }) {
            Ok(Some(call)) => Next::Call(call),
            Ok(None) => Next::Gone,
            Err(_) => Next::Nothing,
        }
    }
}

fn runtime() -> std::io::Result<Runtime> {
    Builder::new_current_thread().enable_io().enable_time().build()
}

impl Drop for Link {
    fn drop(&mut self) {
        self.hang_up();
        let Some(runtime) = self.runtime.take() else { return };
        // A resolver that hangs must not hold us.
        runtime.shutdown_background();
    }
}

/// Runs what carries a connection.
fn carry(driver: impl Future<Output = Result<(), tokio_postgres::Error>> + Send + 'static) -> JoinHandle<()> {
    tokio::spawn(async move {
        // What ends a connection is told to who asks over it.
        drop(driver.await);
    })
}

/// Which session of the server answers here.
async fn session_of(client: &Client) -> Option<i32> {
    let rows = client.query_typed("select pg_backend_pid()", &[]).await.ok()?;
    rows.first()?.try_get(0).ok()
}

/// How long to wait before the next try, twice as long each time up to half a second, never in step with others.
fn pause(count: u32) -> Duration {
    let usual = 4_000_u64 << count.min(7);
    Duration::from_micros(usual / 2 + RandomState::new().hash_one(count) % usual)
}
