//! A real PostgreSQL server of the test process's own: one for all its tests, on a private socket and a free port.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use locked::store::{Initialised, PostgresStore, Schema, With};
use tokio_postgres::{Config, NoTls, SimpleQueryMessage};

use super::ends::LIMIT;
use super::ward::{self, Ward};

/// Runs the server, and runs it again after it ended, once it is told to by a file; on USR1 it ends with it.
const LIFE: &str = r#"
again=$1 over=
shift
trap 'over=yes; kill -QUIT "$server"' USR1
while [ ! "$over" ]; do
    "$@" &
    server=$!
    if [ "$over" ]; then kill -QUIT "$server"; fi
    while kill -0 "$server" 2>/dev/null; do wait "$server"; done
    until [ "$over" ] || rm "$again" 2>/dev/null; do sleep 0.02; done
done
"#;

/// A server.
#[derive(Debug)]
pub(crate) struct Cluster {
    root: PathBuf,
    port: u16,
    _ward: Ward,
}

/// The server that all tests of this process share. Its absence is a failure, never a skipped test: `install/test` brings
/// what it needs.
pub(crate) fn shared() -> &'static Cluster {
    static SHARED: OnceLock<Cluster> = OnceLock::new();
    SHARED.get_or_init(|| {
        let cluster = Cluster::start(&["-c", "fsync=off", "-c", "max_connections=400"]);
        // Roles are the whole server's: made once, before databases of several tests want them at one time.
        cluster.sql(
            "create role locked_owner nologin; create role locked_client nologin; create role locked_reader nologin",
        );
        cluster
    })
}

impl Cluster {
    /// A fresh server with these options besides its address.
    pub(crate) fn start(options: &[&str]) -> Self {
        let root = ward::directory();
        let data = root.join("data");
        let made = ward::as_server(program("initdb"))
            .args(["--no-sync", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--username=postgres", "-D"])
            .arg(&data)
            .output()
            .expect("initdb runs");
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        let cluster = Self::in_directory(root, options);
        cluster.await_ready("select 1");
        cluster
    }

    /// A standby of this server, which has all that was committed here until now.
    pub(crate) fn standby(&self) -> Self {
        let root = ward::directory();
        let copied = ward::as_server(program("pg_basebackup"))
            .args(["--no-sync", "--checkpoint=fast", "--write-recovery-conf", "-U", "postgres", "-h"])
            .arg(&self.root)
            .args(["-p", &self.port.to_string(), "-D"])
            .arg(root.join("data"))
            .output()
            .expect("pg_basebackup runs");
        assert!(copied.status.success(), "pg_basebackup: {}", String::from_utf8_lossy(&copied.stderr));
        let standby = Self::in_directory(root, &["-c", "fsync=off"]);
        let here = self.sql("select pg_current_wal_flush_lsn()").remove(0).remove(0);
        standby.await_ready(&format!("select 1 / (pg_last_wal_replay_lsn() >= '{here}')::int"));
        standby
    }

    fn in_directory(root: PathBuf, options: &[&str]) -> Self {
        let port = ward::free_port();
        let text = |path: PathBuf| path.into_os_string().into_string().expect("UTF-8");
        let (server, again) = (text(program("postgres")), text(root.join("again")));
        let (data, root_text, port_text) = (text(root.join("data")), text(root.clone()), port.to_string());
        let mut args = vec!["-c", LIFE, "life", &again, &server, "-D", &data, "-k", &root_text, "-p", &port_text];
        args.extend(["-c", "listen_addresses=127.0.0.1"]);
        args.extend(options);
        Self { _ward: ward::start(&root, "USR1", Path::new("sh"), &args), root, port }
    }

    /// Stops the server in this way of pg_ctl: fast, immediate.
    pub(crate) fn stop(&self, how: &str) {
        let stopped = ward::as_server(program("pg_ctl"))
            .args(["stop", "-s", "-m", how, "-D"])
            .arg(self.root.join("data"))
            .output()
            .expect("pg_ctl runs");
        assert!(stopped.status.success(), "pg_ctl: {}", String::from_utf8_lossy(&stopped.stderr));
    }

    /// Starts it again.
    pub(crate) fn go_on(&self) {
        std::fs::write(self.root.join("again"), "").expect("written");
        self.await_ready("select 1");
    }

    fn await_ready(&self, question: &str) {
        let until = Instant::now() + Duration::from_secs(60);
        while let Err(error) = self.try_sql(question) {
            let log = std::fs::read_to_string(self.root.join("log")).unwrap_or_default();
            assert!(Instant::now() < until, "the server does not come up: {error}\n{log}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// A database of its own with the schema `locked`, which the program takes for granted.
    pub(crate) fn database(&self, name: &str) {
        self.sql(&format!("create database {name}"));
        let mut config = self.config("postgres");
        config.dbname(name);
        let mut admin = PostgresStore::new(config, Box::new(With(NoTls)), Schema::default());
        assert_eq!(admin.init(LIMIT).expect("made"), Initialised::Applied);
    }

    /// Where its socket is.
    pub(crate) fn socket(&self) -> &Path {
        &self.root
    }

    /// Its port, on the socket and on 127.0.0.1.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// The address of its one database, over its socket, for this role.
    pub(crate) fn config(&self, user: &str) -> Config {
        let mut config = Config::new();
        config.host_path(&self.root).port(self.port).user(user).dbname("postgres");
        config
    }

    /// Runs statements as the superuser; a failure is the test's.
    pub(crate) fn sql(&self, sql: &str) -> Vec<Vec<String>> {
        self.try_sql(sql).unwrap_or_else(|error| panic!("{sql}: {error:?}"))
    }

    /// The same, with the error.
    pub(crate) fn try_sql(&self, sql: &str) -> Result<Vec<Vec<String>>, tokio_postgres::Error> {
        self.try_sql_as("postgres", sql)
    }

    /// Runs statements as a role: the rows of all of them, as text.
    pub(crate) fn try_sql_as(&self, user: &str, sql: &str) -> Result<Vec<Vec<String>>, tokio_postgres::Error> {
        Desk::at(&self.config(user))?.sql(sql)
    }
}

/// A session of its own, for statements of the tests.
pub(crate) struct Desk {
    runtime: tokio::runtime::Runtime,
    client: tokio_postgres::Client,
}

impl Desk {
    /// Connects.
    pub(crate) fn at(config: &Config) -> Result<Self, tokio_postgres::Error> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build().expect("runtime");
        let client = runtime.block_on(async {
            let (client, driver) = config.connect(NoTls).await?;
            tokio::spawn(driver);
            Ok::<_, tokio_postgres::Error>(client)
        })?;
        Ok(Self { runtime, client })
    }

    /// The rows of all these statements, as text.
    pub(crate) fn sql(&self, sql: &str) -> Result<Vec<Vec<String>>, tokio_postgres::Error> {
        let rows =
            self.runtime.block_on(self.client.simple_query(sql))?.into_iter().filter_map(|message| match message {
                SimpleQueryMessage::Row(row) => {
                    Some((0..row.len()).map(|at| row.get(at).unwrap_or("null").to_owned()).collect())
                }
                _ => None,
            });
        Ok(rows.collect())
    }
}

/// A program of the newest PostgreSQL here.
pub(crate) fn program(name: &str) -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let found = versions.map(|it| it.path().join("bin").join(name)).filter(|it| it.is_file());
    let newest = found.max_by_key(|path| {
        path.iter().nth(4).and_then(|it| it.to_str()).and_then(|it| it.parse::<u32>().ok()).unwrap_or_default()
    });
    newest.unwrap_or_else(|| PathBuf::from(name))
}
