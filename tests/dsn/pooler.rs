//! Through a real pgbouncer, which keeps some of the server's words to itself.

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::cluster::{Cluster, as_server, own};
use super::matrix::{QUESTION, ours};
use crate::world::ward;

/// A pooler in transaction mode before a cluster; gone with the value.
struct Pooler {
    _directory: tempfile::TempDir,
    pooler: Child,
    port: u16,
}

impl Pooler {
    fn before(cluster: &Cluster) -> Self {
        let directory = tempfile::Builder::new().prefix("locked-dsn-").tempdir().expect("directory");
        let port = ward::free_port();
        let path = directory.path().display();
        let text = format!(
            "[databases]\n* = host={} port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
             auth_type = trust\nauth_file = {path}/users\npool_mode = transaction\nlogfile = {path}/log\n",
            cluster.socket(),
            cluster.port
        );
        std::fs::write(directory.path().join("ini"), text).expect("configuration");
        std::fs::write(directory.path().join("users"), "\"postgres\" \"\"\n\"reader\" \"\"\n").expect("users");
        std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o700)).expect("mode");
        own(directory.path());
        let pooler = as_server("pgbouncer".as_ref())
            .arg("-q")
            .arg(directory.path().join("ini"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("pgbouncer runs; install/test brings it");
        let pooler = Self { _directory: directory, pooler, port };
        let end = Instant::now() + Duration::from_secs(60);
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < end, "pgbouncer does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        pooler
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _killed = self.pooler.kill();
        let _reaped = self.pooler.wait();
    }
}

#[test]
fn a_server_that_does_not_say_what_it_is_gets_asked() {
    let cluster = Cluster::start();
    cluster.ask("create user reader; alter user reader set default_transaction_read_only = on").expect("reader");
    let pooler = Pooler::before(&cluster);
    let server = format!("host=127.0.0.1 port={} dbname=postgres sslmode=prefer", pooler.port);
    let table = [
        ("user=postgres target_session_attrs=read-write", true),
        ("user=postgres target_session_attrs=primary", true),
        ("user=postgres target_session_attrs=read-only", false),
        ("user=postgres target_session_attrs=standby", false),
        ("user=postgres target_session_attrs=prefer-standby", true),
        ("user=reader target_session_attrs=read-write", false),
        ("user=reader target_session_attrs=read-only", true),
    ];
    for (more, good) in table {
        let text = format!("{server} {more}");
        let (we, psql) = (ours(&text, &cluster.home()), cluster.psql(&text, &cluster.home(), QUESTION));
        assert_eq!(we.is_ok(), good, "{more}: {we:?}");
        assert_eq!(psql.is_ok(), good, "{more}: {psql:?}");
    }
}

#[test]
fn start_up_options_that_a_pooler_refuses_are_named() {
    let cluster = Cluster::start();
    let pooler = Pooler::before(&cluster);
    let text = format!("host=127.0.0.1 port={} user=postgres dbname=postgres options='-c search_path=x'", pooler.port);
    let said = ours(&text, &cluster.home()).expect_err("refused");
    assert!(said.contains("08P01") && said.contains("take options out"), "{said}");
}
