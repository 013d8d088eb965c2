//! A real PostgreSQL in a directory of its own, as a user who is not root, gone with the value.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::authority::Authority;
use crate::world::cluster::program;
use crate::world::ward;

/// No single step of the server takes longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Who may log in how. Users say by their name what the server does with them.
const RULES: &str = "\
local   all scram    scram-sha-256
local   all all      trust
hostssl all certuser all cert
host    all scram    all scram-sha-256
hostnossl all nossl  all trust
host    all nossl    all reject
hostssl all onlyssl  all trust
host    all onlyssl  all reject
host    all all      all trust
";

/// A server, with the authority that its certificates come from.
#[derive(Debug)]
pub(crate) struct Cluster {
    root: tempfile::TempDir,
    server: Child,
    pub(crate) authority: Authority,
    pub(crate) port: u16,
}

impl Cluster {
    /// Starts one with the certificate `good`, TLS on, and one user per rule.
    pub(crate) fn start() -> Self {
        let root = tempfile::Builder::new().prefix("locked-dsn-").tempdir().expect("directory");
        let directory = root.path();
        for name in ["ca", "home"] {
            std::fs::create_dir(directory.join(name)).expect(name);
        }
        let authority = Authority::new(&directory.join("ca"));
        own(directory);
        let data = directory.join("data");
        let made = as_server(&program("initdb"))
            .args(["--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C", "-D"])
            .arg(&data)
            .output()
            .expect("initdb runs");
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        std::fs::write(data.join("pg_hba.conf"), RULES).expect("rules");
        let port = ward::free_port();
        let mut server = as_server(&program("postgres"));
        server
            .args(["-F", "-D"])
            .arg(&data)
            .args(["-c", "listen_addresses=127.0.0.1", "-c", &format!("port={port}")])
            .args(["-c", &format!("unix_socket_directories={}", directory.display())])
            .args(["-c", "wal_level=minimal", "-c", "max_wal_senders=0", "-c", "shared_buffers=8MB"])
            .args(["-c", &format!("ssl_ca_file={}", authority.file("ca.crt"))])
            .args(["-c", &format!("hba_file={}", data.join("pg_hba.conf").display())])
            .args(["-c", "log_min_messages=fatal"])
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(directory.join("log")).expect("log"));
        let mut cluster = Self { root, server: spawn(&mut server, &data, &authority), authority, port };
        cluster.wait_for("it answers", |cluster| cluster.ask("select 1").is_some());
        cluster
            .ask("create user certuser; create user nossl; create user onlyssl; create user scram password 'hunter2'")
            .expect("users");
        cluster
    }

    /// The directory of its socket.
    pub(crate) fn socket(&self) -> String {
        self.root.path().to_str().expect("UTF-8").to_owned()
    }

    /// An empty home for those who connect.
    pub(crate) fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// Lets the server show this certificate from now on, and speak these versions of TLS; `off` switches TLS off.
    pub(crate) fn present(&mut self, certificate: &str) {
        configure(&self.root.path().join("data"), &self.authority, certificate);
        // SIGHUP reaches the postmaster alone; a session that shows the new value was born after it took effect.
        let pid = rustix::process::Pid::from_child(&self.server);
        rustix::process::kill_process(pid, rustix::process::Signal::HUP).expect("reload");
        let wanted = certificate.to_owned();
        self.wait_for("it reads its configuration", |cluster| {
            cluster.ask("show test.shown").as_deref() == Some(&wanted)
        });
    }

    /// psql with this string in a world with this home and nothing else: its answer, or what it says.
    pub(crate) fn psql(&self, text: &str, home: &Path, question: &str) -> Result<String, String> {
        let output = Command::new(program("psql"))
            .args(["-XwAtq", "-d", text, "-c", question])
            .env_clear()
            .env("HOME", home)
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .output()
            .expect("psql runs");
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
            false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        }
    }

    /// The answer of the superuser over the socket.
    pub(crate) fn ask(&self, question: &str) -> Option<String> {
        self.psql(&format!("host={} port={} user=postgres", self.socket(), self.port), &self.home(), question).ok()
    }

    fn wait_for(&mut self, what: &str, done: impl Fn(&Self) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !done(self) {
            let log = || std::fs::read_to_string(self.root.path().join("log")).unwrap_or_default();
            assert!(self.server.try_wait().expect("status").is_none(), "the server ended before {what}: {}", log());
            assert!(Instant::now() < end, "the server did not do in time: {what}: {}", log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.server);
        // Immediate shutdown: the postmaster ends its children and then itself.
        let told = rustix::process::kill_process(pid, rustix::process::Signal::QUIT);
        if told.is_err() || !ends(&mut self.server) {
            let _killed = self.server.kill();
        }
        let _reaped = self.server.wait();
    }
}

fn ends(server: &mut Child) -> bool {
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        if !matches!(server.try_wait(), Ok(None)) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

fn spawn(command: &mut Command, data: &Path, authority: &Authority) -> Child {
    configure(data, authority, "good");
    command.spawn().expect("postgres runs")
}

/// The one part of the configuration that changes while it runs. A word of our own says which certificate is shown.
fn configure(data: &Path, authority: &Authority, certificate: &str) {
    let text = match certificate {
        "off" => "ssl = off\ntest.shown = 'off'\n".to_owned(),
        _ => {
            let (name, max) = certificate.strip_suffix("@1.2").map_or((certificate, ""), |name| (name, "TLSv1.2"));
            format!(
                "ssl = on\nssl_cert_file = '{}'\nssl_key_file = '{}'\nssl_max_protocol_version = '{max}'\ntest.shown = '{certificate}'\n",
                authority.file(&format!("{name}.crt")),
                authority.file(&format!("{name}.key")),
            )
        }
    };
    std::fs::write(data.join("postgresql.auto.conf"), text).expect("configuration");
}

/// A program as the server's user, who must not be root; it dies with the test.
pub(crate) fn as_server(program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    if rustix::process::geteuid().is_root() {
        command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
    }
    command.args(["--pdeathsig=KILL", "--"]).arg(program).current_dir("/");
    command
}

/// Hands everything to the server's user, keys included: root may read them all the same.
pub(crate) fn own(directory: &Path) {
    if rustix::process::geteuid().is_root() {
        let status =
            Command::new("chown").args(["-R", "postgres:postgres"]).arg(directory).status().expect("chown runs");
        assert!(status.success(), "chown");
    }
}
