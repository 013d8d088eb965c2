//! A real pgbouncer before the shared server.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use tokio_postgres::Config;

use super::cluster::Cluster;
use super::ward::{self, Ward};

/// A pooler.
#[derive(Debug)]
pub(crate) struct Pooler {
    root: PathBuf,
    port: u16,
    _ward: Ward,
}

/// The pooler in transaction mode that all tests of this process share, before the shared server.
pub(crate) fn shared() -> &'static Pooler {
    static SHARED: OnceLock<Pooler> = OnceLock::new();
    SHARED.get_or_init(|| Pooler::start(super::cluster::shared(), "transaction", 10))
}

impl Pooler {
    /// A pooler in this mode with so many connections to the server for each role.
    pub(crate) fn start(cluster: &Cluster, mode: &str, connections: u32) -> Self {
        let (root, port) = (ward::directory(), ward::free_port());
        let write = |name: &str, text: &str| {
            let path = root.join(name);
            std::fs::write(&path, text).expect("written");
            path
        };
        let users = write("users", "\"postgres\" \"\"\n\"worker\" \"\"\n");
        let settings = format!(
            "[databases]\n* = host={} port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
             unix_socket_dir = {}\nauth_type = trust\nauth_file = {}\npool_mode = {mode}\n\
             default_pool_size = {connections}\nmax_client_conn = 2000\n",
            cluster.socket().display(),
            cluster.port(),
            root.display(),
            users.display(),
        );
        let settings = write("settings", &settings);
        let ward = ward::start(&root, "TERM", &program(), &[settings.to_str().expect("UTF-8")]);
        let pooler = Self { root, port, _ward: ward };
        let until = Instant::now() + Duration::from_secs(60);
        let socket = pooler.root.join(format!(".s.PGSQL.{port}"));
        while std::os::unix::net::UnixStream::connect(&socket).is_err() {
            let log = std::fs::read_to_string(pooler.root.join("log")).unwrap_or_default();
            assert!(Instant::now() < until, "the pooler does not come up: {log}");
            std::thread::sleep(Duration::from_millis(10));
        }
        pooler
    }

    /// The address of the server's database through it, for this role.
    pub(crate) fn config(&self, user: &str) -> Config {
        let mut config = Config::new();
        config.host_path(&self.root).port(self.port).user(user).dbname("postgres");
        config
    }
}

/// Debian keeps it where only root's PATH looks.
fn program() -> PathBuf {
    let known = PathBuf::from("/usr/sbin/pgbouncer");
    if known.is_file() { known } else { PathBuf::from("pgbouncer") }
}
