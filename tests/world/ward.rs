//! Servers that the tests start never outlive them, however the tests end.

use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Starts the server, waits for the end of its standard input, which is the end of the tests (a kill included), stops the
/// server and removes its directory.
const WARD: &str = r#"
trap "" HUP INT TERM
root=$1 signal=$2
shift 2
"$@" </dev/null >>"$root/log" 2>&1 &
cat >/dev/null
kill "-$signal" $!
wait
rm -rf "$root"
"#;

/// A server under ward. It goes when this is dropped or the process ends.
#[derive(Debug)]
pub(crate) struct Ward(#[expect(dead_code, reason = "its standard input is held, not read")] Child);

/// A directory of its own for a server, short enough for the path of a socket, owned by whom the server runs as.
pub(crate) fn directory() -> PathBuf {
    let path = tempfile::Builder::new().prefix("locked-pg-").tempdir().expect("directory").keep();
    if let Some((user, group)) = other_account() {
        chown(&path, Some(user), Some(group)).expect("chown");
    }
    path
}

/// A command as the account that servers run as: they refuse to run as root.
pub(crate) fn as_server(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("LC_ALL", "C.UTF-8")
        .current_dir("/");
    if let Some((user, group)) = other_account() {
        command.uid(user).gid(group);
    }
    command
}

/// Runs the server under ward; `signal` stops it at once.
pub(crate) fn start(root: &Path, signal: &str, program: &Path, args: &[&str]) -> Ward {
    let mut ward = as_server("sh");
    ward.args(["-c", WARD, "ward"]).arg(root).arg(signal).arg(program).args(args);
    Ward(ward.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("sh starts"))
}

/// The account `postgres`, which its package makes, when we are root.
fn other_account() -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let accounts = std::fs::read_to_string("/etc/passwd").expect("accounts");
    let line = accounts.lines().find(|line| line.starts_with("postgres:")).expect("the account postgres");
    let mut numbers = line.split(':').skip(2).map(|field| field.parse().expect("a number"));
    numbers.next().zip(numbers.next())
}

/// A TCP port that nobody listens on at the moment.
pub(crate) fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    listener.local_addr().expect("address").port()
}
