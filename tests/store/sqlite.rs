//! The embedded store: the contract, and what is its own.

use std::ffi::OsString;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use locked::clock::{Clock, Moment};
use locked::state::StateDir;
use locked::store::{SqliteStore, Store};

use super::contract::{World, every_promise};

/// A clock that stands still until it is told to go on. It starts late in a boot, on a day in 2026.
pub(crate) struct ManualClock(Mutex<(u64, Duration, i64)>);

impl ManualClock {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new((1, Duration::from_secs(1_000_000), 1_795_000_000_000))))
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Moment {
        Moment(self.0.lock().expect("clock").1)
    }

    fn wall_ms(&self) -> i64 {
        self.0.lock().expect("clock").2
    }

    fn boot_id(&self) -> String {
        format!("boot-{}", self.0.lock().expect("clock").0)
    }
}

/// A state directory of its own, and a clock in the hand.
pub(crate) struct Embedded {
    root: tempfile::TempDir,
    clock: Arc<ManualClock>,
}

impl Embedded {
    pub(crate) fn new() -> Self {
        let root = tempfile::Builder::new().prefix("locked-store-").tempdir().expect("directory");
        Self { root, clock: ManualClock::new() }
    }

    pub(crate) fn state(&self) -> StateDir {
        let path = self.root.path().join("state");
        let env = move |name: &str| (name == "LOCKED_STATE_DIR").then(|| OsString::from(&path));
        StateDir::open(&env).expect("state directory")
    }

    #[cfg(unix)]
    pub(crate) fn root(&self) -> &std::path::Path {
        self.root.path()
    }

    pub(crate) fn raw(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.state().path().join("locked.db")).expect("file")
    }
}

impl World for Embedded {
    fn store(&self) -> Box<dyn Store + Send> {
        Box::new(SqliteStore::new(&self.state(), Arc::<ManualClock>::clone(&self.clock)))
    }

    fn pass(&self, time: Duration) {
        let mut clock = self.clock.0.lock().expect("clock");
        clock.1 += time;
        clock.2 += i64::try_from(time.as_millis()).expect("fits");
    }

    fn reboot(&self) -> bool {
        let mut clock = self.clock.0.lock().expect("clock");
        clock.0 += 1;
        clock.1 = Duration::from_secs(10);
        true
    }

    fn lose_tokens(&self) {
        self.raw().execute("delete from resources", []).expect("deleted");
    }
}

every_promise!(Embedded::new());
