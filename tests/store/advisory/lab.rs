//! Machines that share one server: each with a state directory of its own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use locked::clock::SystemClock;
use locked::config::OnUnreachable;
use locked::state::StateDir;
use locked::store::advisory::{AdvisoryKey, Outside, Reach};
use locked::store::postgres::address::read;
use locked::store::postgres::via::Bastion;
use locked::store::{AdvisoryStore, Request};

use crate::dsn::around::Around;
use crate::store::cast::resource;
use crate::world::cluster::{self, Cluster};

/// A machine.
pub(super) struct Machine {
    directory: tempfile::TempDir,
    pub(super) state: StateDir,
    pub(super) said: Arc<Mutex<Vec<String>>>,
}

impl Machine {
    pub(super) fn new() -> Self {
        let directory = tempfile::tempdir().expect("directory");
        let state = state_at(directory.path());
        Self { directory, state, said: Arc::default() }
    }

    pub(super) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// A process of it, on the shared server.
    pub(super) fn store(&self) -> AdvisoryStore {
        self.store_at(&shared(), OnUnreachable::Deny, None)
    }

    /// A process of it whose dead commands leave something that cannot be ended.
    pub(super) fn store_with_rest(&self) -> AdvisoryStore {
        let outside = Outside { say: Arc::new(|_| {}), end_rest: Arc::new(|_| false) };
        let clock = Arc::new(SystemClock::new());
        AdvisoryStore::new(reach(&shared(), None), OnUnreachable::Deny, &self.state, clock, outside)
    }

    /// A process of it, on this server.
    pub(super) fn store_at(&self, address: &str, on_unreachable: OnUnreachable, via: Option<Bastion>) -> AdvisoryStore {
        let said = Arc::clone(&self.said);
        let say = Arc::new(move |text: &str| said.lock().expect("said").push(text.to_owned()));
        let clock = Arc::new(SystemClock::new());
        let outside = Outside { say, end_rest: Arc::new(|_| true) };
        AdvisoryStore::new(reach(address, via), on_unreachable, &self.state, clock, outside)
    }

    pub(super) fn said(&self) -> String {
        self.said.lock().expect("said").join("\n")
    }
}

pub(super) fn state_at(path: &Path) -> StateDir {
    let variables = BTreeMap::from([("LOCKED_STATE_DIR", OsString::from(path))]);
    StateDir::open(&move |name| variables.get(name).cloned()).expect("state")
}

pub(super) fn reach(address: &str, via: Option<Bastion>) -> Reach {
    let around = Around::default();
    Reach { address: read(address, &around).expect("address"), around: Arc::new(around), via }
}

/// The shared server, over its socket.
pub(super) fn shared() -> String {
    over_socket(cluster::shared())
}

pub(super) fn over_socket(cluster: &Cluster) -> String {
    format!("host={} port={} user=postgres dbname=postgres", cluster.socket().display(), cluster.port())
}

/// `sops:<name>`'s key.
pub(super) fn key(name: &str) -> i64 {
    AdvisoryKey::of_resource(&resource(name)).0
}

/// How many sessions of the server have the key of `sops:<name>`.
pub(super) fn locked(name: &str) -> usize {
    let sql = format!(
        "select pid from pg_locks where locktype = 'advisory' and granted and (classid::int8 << 32 | objid::int8) = {}",
        key(name)
    );
    cluster::shared().sql(&sql).len()
}

/// How many sessions of the server belong to this request's owner.
pub(super) fn sessions(request: &Request) -> usize {
    let name = format!("locked {} ", request.owner.session.short());
    let sql = format!("select pid from pg_stat_activity where application_name like '{name}%'");
    cluster::shared().sql(&sql).len()
}

/// Waits until it is so.
pub(super) fn until(what: &str, mut so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !so() {
        assert!(Instant::now() < end, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
