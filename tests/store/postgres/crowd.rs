//! More come to a server's socket at once than its queue has room for: they come again until their time is over.

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use locked::store::postgres::address::{Address, read};
use locked::store::postgres::via::reach;
use locked::store::{Connecting, Connector, NotConnected, PostgresStore, Store as _, With};
use tokio::net::UnixListener;
use tokio_postgres::{Config, NoTls};

use super::lab::{Lab, Way};
use crate::dsn::around::Around;
use crate::store::cast::LIMIT;
use crate::world::ends::so;

/// Longer than a few tries.
const SHORT: Duration = Duration::from_millis(300);

/// Connects as the one inside does, and counts how often.
struct Counted {
    tries: Arc<AtomicU32>,
    inside: Inside,
}

enum Inside {
    /// Without anything around.
    Plain(With<NoTls>),
    /// As by a connection string.
    Address(Box<Address>),
}

impl Connector for Counted {
    fn connect<'a>(&'a self, config: &'a Config, limit: Duration) -> Connecting<'a> {
        self.tries.fetch_add(1, Ordering::SeqCst);
        match &self.inside {
            Inside::Plain(with) => with.connect(config, limit),
            Inside::Address(address) => {
                Box::pin(
                    async move { reach(address, &Around::default(), None, limit).await.map_err(NotConnected::Tried) },
                )
            }
        }
    }
}

/// A server's socket whose queue is full, until somebody serves.
struct Full {
    directory: tempfile::TempDir,
    port: u16,
    _listens: UnixListener,
    _waits: UnixStream,
}

impl Full {
    fn new(port: u16) -> Self {
        let directory = tempfile::Builder::new().prefix("locked-crowd-").tempdir().expect("directory");
        let path = directory.path().join(format!(".s.PGSQL.{port}"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().expect("runtime");
        let _inside = runtime.enter();
        let socket = tokio::net::UnixSocket::new_stream().expect("a socket");
        socket.bind(&path).expect("bound");
        // Room for none beside the one that is served next: Linux lets in one more than it is told.
        let _listens = socket.listen(0).expect("listens");
        let _waits = UnixStream::connect(&path).expect("the last place");
        Self { directory, port, _listens, _waits }
    }

    /// From now on the server behind it answers; at no moment does nobody.
    fn serve(&self, real: PathBuf) {
        let name = format!(".s.PGSQL.{}", self.port);
        let beside = self.directory.path().join("served");
        symlink(real.join(&name), &beside).expect("linked");
        std::fs::rename(beside, self.directory.path().join(name)).expect("in its place");
    }
}

#[test]
fn a_full_queue_is_come_to_again_until_the_limit() {
    let lab = Lab::running(Way::Client);
    let (port, real) = (lab.cluster().port(), lab.cluster().socket().to_owned());
    for by_address in [false, true] {
        let full = Full::new(port);
        let socket = full.directory.path();
        let mut config = Config::new();
        config.host_path(socket).port(port).user("worker").dbname("postgres");
        let text = format!("host={} port={port} user=worker dbname=postgres", socket.display());
        let tries = Arc::new(AtomicU32::new(0));
        let inside = match by_address {
            false => Inside::Plain(With(NoTls)),
            true => Inside::Address(Box::new(read(&text, &Around::default()).expect("an address"))),
        };
        let counted = Counted { tries: Arc::clone(&tries), inside };
        let mut store = PostgresStore::new(config, Box::new(counted), lab.schema().clone());
        let error = store.standing(&[], SHORT).expect_err("no room").to_string();
        assert!(error.contains("cannot be reached") && !error.contains("in time"), "what is in the way: {error}");
        assert!(!by_address || error.contains("no room in its queue"), "{error}");
        let before = tries.load(Ordering::SeqCst);
        assert!(before > 1, "it came again");
        std::thread::scope(|threads| {
            let waiting = threads.spawn(|| store.standing(&[], LIMIT));
            so("another try", || tries.load(Ordering::SeqCst) > before || waiting.is_finished());
            full.serve(real.clone());
            waiting.join().expect("no panic").expect("room");
        });
    }
}
