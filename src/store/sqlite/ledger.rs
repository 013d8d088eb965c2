//! The connection: made late, transactions with a limit, retries.
#![forbid(unsafe_code)]

use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::clock::Clock;
use crate::state::Account;
use crate::store::StoreError;

use super::fault::Fault;
use super::gate;
use super::schema;

/// So long a reader tries before it stands in line with the writers.
const READER_TRIES: Duration = Duration::from_millis(20);

/// The moment of a transaction: read once, under its lock.
pub(super) struct Now {
    /// This boot.
    pub(super) boot: String,
    /// Milliseconds on the boot clock.
    pub(super) ms: i64,
    /// Milliseconds since 1970.
    pub(super) wall: i64,
}

/// A span in milliseconds, as the tables keep it.
pub(super) fn ms(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX / 4)
}

/// A stored number of milliseconds; what is negative has passed.
pub(super) fn span(ms: i64) -> Duration {
    Duration::from_millis(u64::try_from(ms).unwrap_or(0))
}

/// The file and the way to it.
pub(super) struct Ledger {
    file: PathBuf,
    account: Account,
    clock: Arc<dyn Clock + Send + Sync>,
    connection: Option<Connection>,
    /// Until when the busy handler is patient.
    deadline: Arc<Mutex<Instant>>,
}

impl Ledger {
    pub(super) fn new(file: PathBuf, account: Account, clock: Arc<dyn Clock + Send + Sync>) -> Self {
        Self { file, account, clock, connection: None, deadline: Arc::new(Mutex::new(Instant::now())) }
    }

    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Nothing was asked of it yet.
    pub(super) fn is_closed(&self) -> bool {
        self.connection.is_none()
    }

    /// Runs `work` over one consistent view of the file.
    pub(super) fn read<T>(
        &mut self,
        limit: Duration,
        work: impl Fn(&Connection, &Now) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        self.run(TransactionBehavior::Deferred, limit, work)
    }

    /// Runs `work` under the write lock; what it did is there for all or for none.
    pub(super) fn write<T>(
        &mut self,
        limit: Duration,
        work: impl Fn(&Connection, &Now) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        self.run(TransactionBehavior::Immediate, limit, work)
    }

    fn run<T>(
        &mut self,
        behavior: TransactionBehavior,
        limit: Duration,
        work: impl Fn(&Connection, &Now) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let deadline = Instant::now() + limit;
        // SQLite makes and removes its journal in every writing transaction.
        let _as_owner = self.account.act();
        if matches!(behavior, TransactionBehavior::Deferred) {
            // A reader passes most writers without waiting. The unlucky one stands in line below, where nobody writes.
            match self.attempts(behavior, deadline.min(Instant::now() + READER_TRIES), &work) {
                Err(fault) if fault.is_busy() => {}
                done => return self.named(done),
            }
        }
        let _turn = gate::enter(self.file.parent().unwrap_or(&self.file), deadline);
        let done = self.attempts(behavior, deadline, &work);
        self.named(done)
    }

    fn named<T>(&mut self, done: Result<T, Fault>) -> Result<T, StoreError> {
        done.map_err(|fault| {
            // Order: closed before a damaged file is copied. Opening and closing the file a second time in this process
            // would drop the locks of the first (POSIX locks belong to the process).
            self.connection = None;
            fault.named(&self.file, self.account)
        })
    }

    /// Tries until the deadline while others hold the file.
    fn attempts<T>(
        &mut self,
        behavior: TransactionBehavior,
        deadline: Instant,
        work: &impl Fn(&Connection, &Now) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) = deadline;
        let mut count = 0;
        loop {
            match self.attempt(behavior, work) {
                Err(fault) if fault.is_busy() && wait_a_little(count, deadline) => count += 1,
                done => return done,
            }
        }
    }

    fn attempt<T>(
        &mut self,
        behavior: TransactionBehavior,
        work: &impl Fn(&Connection, &Now) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        if self.connection.is_none() {
            self.connection = Some(self.connect()?);
        }
        let Some(connection) = &self.connection else { return Err(Fault::Unreadable("it was closed")) };
        let transaction = Transaction::new_unchecked(connection, behavior)?;
        // Order: before any other statement. It takes the lock that a deferred transaction has not taken yet, so that "busy"
        // is told as such: a statement that is prepared first, over a schema from before the file had one, would report
        // a missing table instead. And the file may have been brought to a later version since it was opened.
        schema::check(&transaction)?;
        // Order: the moment is read after the lock was had; an earlier one would be as old as the wait.
        let now = Now { boot: self.clock.boot_id(), ms: ms(self.clock.now().0), wall: self.clock.wall_ms() };
        let answer = work(&transaction, &now)?;
        transaction.commit()?;
        Ok(answer)
    }

    fn connect(&self) -> Result<Connection, Fault> {
        // Order: made before it is opened. SQLite that misses the file tries again read-only, and would come to a file
        // that another made in between, for reading only.
        if !self.file.exists() {
            self.make()?;
        }
        let connection = self.open(&self.file)?;
        schema::migrate(&connection)?;
        Ok(connection)
    }

    /// Makes the file, with its schema, and 0600, under another name and linked into place: of many processes one makes it,
    /// and a file without a schema is never a fresh one but one that was emptied. When it cannot be made, opening it tells
    /// why.
    fn make(&self) -> Result<(), Fault> {
        let Some(directory) = self.file.parent() else { return Ok(()) };
        // Order: closed (`into_temp_path`) before SQLite opens it, and SQLite's own before it has its name. Closed later, it
        // would drop the locks that another thread's SQLite has on it by then.
        let Ok(fresh) = tempfile::NamedTempFile::new_in(directory).map(tempfile::NamedTempFile::into_temp_path) else {
            return Ok(());
        };
        schema::make(&self.open(&fresh)?)?;
        let _another_was_first = std::fs::hard_link(&fresh, &self.file);
        Ok(())
    }

    fn open(&self, file: &Path) -> Result<Connection, Fault> {
        // Without CREATE: SQLite would make the file with the mode that the umask leaves.
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut file = file.to_owned();
        if self.account.is_foreign() {
            // SQLite's flag refuses a link anywhere in the path, so the honest ones before the end are resolved here.
            flags |= OpenFlags::SQLITE_OPEN_NOFOLLOW;
            file = without_links(&file);
        }
        let mut connection = Connection::open_with_flags(&file, flags)?;
        let deadline = Arc::clone(&self.deadline);
        // Order: before any other statement, also before pragmas, which read the file.
        connection.busy_handler(Some(move |count| {
            wait_a_little(count, *deadline.lock().unwrap_or_else(PoisonError::into_inner))
        }))?;
        // The journal stays in mode DELETE: four fsyncs for each write; TRUNCATE and PERSIST cost five (measured).
        connection.pragma_update(None, "synchronous", "FULL")?;
        Ok(connection)
    }
}

/// The file in its directory's real place; unchanged when that cannot be found, and opening tells why.
fn without_links(file: &Path) -> PathBuf {
    match (file.parent().map(Path::canonicalize), file.file_name()) {
        (Some(Ok(directory)), Some(name)) => directory.join(name),
        _ => file.to_owned(),
    }
}

/// Waits before the next try, twice as long each time up to a thirtieth of a second, never in step with others; false
/// when the deadline has come. Writers that came through the gate wait here for readers only.
#[expect(clippy::disallowed_methods, reason = "SQLite tells nobody when the lock is free")]
fn wait_a_little(count: i32, deadline: Instant) -> bool {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return false;
    }
    let usual = 1_000_u64 << count.clamp(0, 5);
    let random = RandomState::new().hash_one(count);
    std::thread::sleep(Duration::from_micros(usual / 2 + random % usual).min(left));
    true
}
