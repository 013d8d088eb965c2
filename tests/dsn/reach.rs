//! Several hosts, silent ones, the files at home, and whole URIs: as psql does it.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use locked::store::postgres::address::read;
use locked::store::postgres::tls::{ConnectError, Unconnected, connect};

use super::around::Around;
use super::cluster::Cluster;
use super::matrix::{QUESTION, ours};

/// Why nothing was reached, within this limit.
fn unreached(text: &str, limit: Duration) -> Unconnected {
    let around = Around::default();
    let address = read(text, &around).expect("address");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime");
    runtime.block_on(async { connect(&address, &around, limit).await.map(drop).expect_err("no server") })
}

#[test]
fn whole_strings_end_as_with_psql() {
    let cluster = Cluster::start();
    cluster.ask("create user reader; alter user reader set default_transaction_read_only = on").expect("reader");
    // A port with nobody behind it: the socket is bound and never listens.
    let closed = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("port").port();
    let silent = TcpListener::bind("127.0.0.1:0").expect("silent server");
    let silent_port = silent.local_addr().expect("address").port();
    let ca = cluster.authority.file("ca.crt");
    let (port, socket) = (cluster.port, cluster.socket());
    let encoded = socket.replace('/', "%2F");
    let table: [(String, Option<&str>); 24] = [
        (format!("postgres://postgres@127.0.0.1:{port}/postgres"), Some("t")),
        (format!("postgresql://postgres@127.0.0.1:{port}/postgres?sslmode=disable"), Some("f")),
        (
            format!(
                "postgres://scram:hunter2@db.example.test:{port}/postgres?hostaddr=127.0.0.1&sslmode=verify-full&sslrootcert={ca}"
            ),
            Some("t"),
        ),
        (
            format!("postgres://scram:hunter%32@127.0.0.1:{port}/postgres?sslmode=verify-full&sslrootcert={ca}"),
            Some("t"),
        ),
        (format!("postgres://scram:hunter3@127.0.0.1:{port}/postgres"), None),
        (format!("postgres://postgres@{encoded}:{port}/postgres?sslmode=verify-full"), Some("f")),
        (format!("postgres://scram:hunter2@/postgres?host={socket}&port={port}"), Some("f")),
        (format!("postgres://scram@/postgres?host={socket}&port={port}"), None),
        (format!("postgres://postgres@127.0.0.1:{port}/postgres?ssl=true"), Some("t")),
        (format!("postgres://postgres@127.0.0.1:{closed}/postgres"), None),
        (format!("postgres://postgres@127.0.0.1:{closed},127.0.0.1:{port}/postgres"), Some("t")),
        (format!("postgres://postgres@%2Fnowhere:1,{encoded}:{port}/postgres"), Some("f")),
        (
            format!(
                "host=127.0.0.1,127.0.0.1 port={silent_port},{port} user=postgres dbname=postgres connect_timeout=2"
            ),
            Some("t"),
        ),
        (format!("host=no-such-host.invalid,127.0.0.1 port={port} user=postgres dbname=postgres"), Some("t")),
        // Who is refused a login does not try it at the next host.
        (format!("host=127.0.0.1,{socket} port={port} user=scram password=wrong dbname=postgres"), None),
        (format!("host=127.0.0.1,{socket} port={port} user=onlyssl dbname=postgres sslmode=disable"), None),
        (format!("host=127.0.0.1 port={port} user=reader dbname=postgres target_session_attrs=any"), Some("t")),
        (format!("host=127.0.0.1 port={port} user=reader dbname=postgres target_session_attrs=read-write"), None),
        (format!("host=127.0.0.1 port={port} user=reader dbname=postgres target_session_attrs=read-only"), Some("t")),
        (format!("host=127.0.0.1 port={port} user=reader dbname=postgres target_session_attrs=primary"), Some("t")),
        (
            format!("host=127.0.0.1 port={port} user=postgres dbname=postgres target_session_attrs=read-write"),
            Some("t"),
        ),
        (format!("host=127.0.0.1 port={port} user=postgres dbname=postgres target_session_attrs=standby"), None),
        (
            format!("host=127.0.0.1 port={port} user=postgres dbname=postgres target_session_attrs=prefer-standby"),
            Some("t"),
        ),
        (format!("host=localhost port={port} user=postgres dbname=postgres options='-c search_path=x'"), Some("t")),
    ];
    for (text, end) in table {
        let (we, psql) = (ours(&text, &cluster.home()), cluster.psql(&text, &cluster.home(), QUESTION));
        assert_eq!(we.as_deref().ok(), end, "{text}: {we:?}");
        assert_eq!(psql.as_deref().ok(), end, "{text}: {psql:?}");
        assert!(!we.is_err_and(|said| said.contains("hunter")), "{text}");
    }
    drop(silent);
}

#[test]
fn the_files_at_home_serve_as_with_psql() {
    let mut cluster = Cluster::start();
    let server = format!("host=db.example.test hostaddr=127.0.0.1 port={} dbname=postgres", cluster.port);
    /// The server's certificate, files from the authority at home, what the string adds, and how it ends.
    type Home<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str, &'a str, Option<&'a str>);
    let homes: [Home<'_>; 11] = [
        ("good", &[("ca.crt", ".postgresql/root.crt")], "user=postgres sslmode=verify-full", "", Some("t")),
        ("good", &[("stranger.crt", ".postgresql/root.crt")], "user=postgres sslmode=verify-full", "", None),
        ("good", &[("stranger.crt", ".postgresql/root.crt")], "user=postgres sslmode=require", "", None),
        ("good", &[("stranger.crt", ".postgresql/root.crt")], "user=postgres", "", Some("f")),
        (
            "good",
            &[("stranger.crt", ".postgresql/root.crt")],
            "user=postgres sslmode=verify-full sslrootcert=",
            "{ca}",
            Some("t"),
        ),
        (
            "good",
            &[("certuser.crt", ".postgresql/postgresql.crt"), ("certuser.key", ".postgresql/postgresql.key")],
            "user=certuser sslmode=require",
            "",
            Some("t"),
        ),
        ("good", &[("certuser.crt", ".postgresql/postgresql.crt")], "user=certuser sslmode=require", "", None),
        (
            "good",
            &[("certuser.crt", ".postgresql/postgresql.crt"), ("open.key", ".postgresql/postgresql.key")],
            "user=certuser sslmode=require",
            "",
            None,
        ),
        ("good", &[], "user=scram sslmode=require", "db.example.test:*:postgres:scram:hunter2", Some("t")),
        ("good", &[], "user=scram sslmode=require", "127.0.0.1:*:postgres:scram:hunter2", None),
        (
            "revoked",
            &[("ca.crt", ".postgresql/root.crt"), ("ca.crl", ".postgresql/root.crl")],
            "user=postgres sslmode=verify-ca",
            "",
            None,
        ),
    ];
    let mut shown = "good";
    for (certificate, files, more, extra, end) in homes {
        if certificate != shown {
            cluster.present(certificate);
            shown = certificate;
        }
        let home = tempfile::tempdir().expect("home");
        std::fs::create_dir(home.path().join(".postgresql")).expect("directory");
        for (from, to) in files {
            std::fs::copy(cluster.authority.file(from), home.path().join(to)).expect("copy");
        }
        let text = match extra {
            "{ca}" => format!("{server} {more}{}", cluster.authority.file("ca.crt")),
            passwords => {
                write_private(&home.path().join(".pgpass"), passwords);
                format!("{server} {more}")
            }
        };
        let (we, psql) = (ours(&text, home.path()), cluster.psql(&text, home.path(), QUESTION));
        assert_eq!(we.as_deref().ok(), end, "{certificate} {files:?} {more}: {we:?}");
        assert_eq!(psql.as_deref().ok(), end, "{certificate} {files:?} {more}: {psql:?}");
    }
}

fn write_private(path: &Path, text: &str) {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut file =
        std::fs::OpenOptions::new().write(true).create(true).mode(0o600).truncate(true).open(path).expect("file");
    writeln!(file, "{text}").expect("write");
}

#[test]
fn a_server_that_accepts_and_says_nothing_ends_with_the_limit() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("silent server");
    let port = silent.local_addr().expect("address").port();
    for mode in ["disable", "prefer", "require"] {
        let error = unreached(&format!("host=127.0.0.1 port={port} sslmode={mode}"), Duration::from_millis(300));
        assert!(matches!(error.tries(), [ConnectError::Silent { .. }, ..]), "{mode}: {error}");
        assert!(error.remedy().contains("firewall"), "{mode}");
    }
}

#[test]
fn every_try_is_told_in_its_order() {
    let closed = || TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("port").port();
    let (one, two) = (closed(), closed());
    let error =
        unreached(&format!("host=127.0.0.1,127.0.0.1 port={one},{two} sslmode=require"), Duration::from_secs(30));
    assert_eq!(error.tries().len(), 2, "{error}");
    let said = error.to_string();
    let at = |port: u16| said.find(&port.to_string()).unwrap_or_else(|| panic!("{said}"));
    assert!(at(one) < at(two) && said.contains("refused"), "{said}");
}

/// Said to this very program, started again with its own `SSL_CERT_FILE`.
const STRING: &str = "LOCKED_TEST_CONNECTION";

#[test]
fn the_systems_authorities_count_when_they_are_asked_for() {
    if let Ok(text) = std::env::var(STRING) {
        assert_eq!(ours(&text, Path::new("/nowhere")), Ok("t".to_owned()));
        return;
    }
    let cluster = Cluster::start();
    let text = format!(
        "host=db.example.test hostaddr=127.0.0.1 port={} user=postgres dbname=postgres sslrootcert=system",
        cluster.port
    );
    for (file, good) in [("ca.crt", true), ("stranger.crt", false)] {
        let status = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "dsn::reach::the_systems_authorities_count_when_they_are_asked_for"])
            .env(STRING, &text)
            .env("SSL_CERT_FILE", cluster.authority.file(file))
            .env_remove("SSL_CERT_DIR")
            .output()
            .expect("started again");
        assert_eq!(status.status.success(), good, "{file}: {}", String::from_utf8_lossy(&status.stdout));
    }
}
