//! A relay that keeps connections warm: what it carries, who may ask, and that nothing hangs on it.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use locked::store::postgres::address::{self, Machine};
use locked::store::{Order, PostgresStore, Relay, Schema};
use rustix::process::Signal;

use crate::world::World;
use crate::world::cluster::{self, Cluster};
use crate::world::ends::{ends, so, text, until};
use crate::world::held::Held;
use crate::world::processes::{is_halted, lives, signal};
use crate::world::ward;

/// Longer than any test takes, but for those that wait for the end.
const STAYS: Duration = Duration::from_secs(20);

fn address_of(server: &Cluster, user: &str, more: &str) -> String {
    format!(
        "host={} port={} user={user} dbname=postgres sslmode=disable {more}",
        server.socket().display(),
        server.port()
    )
}

fn order(schema: &Schema) -> Order {
    let env = |_: &str| None;
    let text = address_of(cluster::shared(), "worker", "");
    let address = address::read(&text, &Machine::new(&env)).expect("an address");
    static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();
    Order::new(address, schema.clone(), DIRECTORY.get_or_init(ward::directory).clone(), STAYS)
}

/// The store by a relay that is there. Each schema has one, for all who come.
pub(super) fn store(schema: &Schema) -> PostgresStore {
    static THERE: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
    let (order, env) = (order(schema), |_: &str| None);
    let relay = Relay::of(order.clone()).expect("a short path");
    {
        let mut there = THERE.lock().expect("nobody failed");
        let is_there = there.get(&schema.to_string()).is_some_and(|place| place.exists());
        if !is_there {
            drop(start(&order));
            so("it is there", || relay.place().exists());
            there.insert(schema.to_string(), relay.place().to_owned());
        }
    }
    let address = address::read(&address_of(cluster::shared(), "worker", ""), &Machine::new(&env)).expect("an address");
    PostgresStore::at(address, Box::new(Nothing), None, schema.clone()).through(Some(relay))
}

/// Nothing lies around: the address says it all.
struct Nothing;

impl address::Surroundings for Nothing {
    fn variable(&self, _: &str) -> Option<std::ffi::OsString> {
        None
    }

    fn home(&self) -> Option<PathBuf> {
        None
    }

    fn account(&self) -> Option<String> {
        None
    }

    fn look(&self, path: &Path) -> std::io::Result<address::Look> {
        address::look(path)
    }

    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        std::fs::read(path)
    }

    fn place(&self, path: &Path) -> PathBuf {
        path.to_owned()
    }
}

fn start(order: &Order) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_locked"));
    command.args(["store", "relay"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("it starts");
    serde_json::to_writer(child.stdin.take().expect("a pipe"), order).expect("told");
    child
}

/// A world on a server of its own, whose sessions are counted.
struct Stage {
    world: World,
    server: Cluster,
}

impl Stage {
    fn new() -> Self {
        let (world, server) = (World::new(), Cluster::start(&[]));
        super::lab::furnish(&server);
        Self { world, server }
    }

    fn locked(&self, more: &str, stays: &str, words: &[&str]) -> Command {
        let mut command = self.world.locked();
        command.env("LOCKED_STORE", address_of(&self.server, "worker", more)).env("LOCKED_RELAY", stays).args(words);
        command
    }

    fn runs(&self, more: &str, stays: &str) {
        let output = ends(&mut self.locked(more, stays, &["-r", "server:x", "true"]), 0);
        assert_eq!(text(&output.stderr), "");
    }

    /// The relay's socket, if there is one.
    fn socket(&self) -> Option<PathBuf> {
        let mut entries =
            std::fs::read_dir(self.world.state()).expect("state").map(|entry| entry.expect("an entry").path());
        let named = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name.starts_with("relay-") && !name.contains('.')
        };
        entries.find(named)
    }

    /// The relay's process: whoever listens at its socket.
    fn relay(&self) -> u32 {
        let place = until("it is there", || self.socket()).display().to_string();
        until("somebody listens", || {
            let table = std::fs::read_to_string("/proc/net/unix").expect("sockets");
            let mut inodes =
                table.lines().filter(|line| line.contains(&place)).filter_map(|line| line.split_whitespace().nth(6));
            inodes.find_map(|inode| {
                crate::world::processes::all().into_iter().find(|pid| {
                    let links = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
                    links
                        .filter_map(|it| std::fs::read_link(it.path()).ok())
                        .any(|to| to.to_string_lossy() == format!("socket:[{inode}]"))
                })
            })
        })
    }

    /// How many sessions of `worker` the server has had, those that are not open any more included.
    fn sessions(&self) -> Vec<String> {
        let sql = "select pid::text from pg_stat_activity where usename = 'worker' order by 1";
        self.server.sql(sql).into_iter().map(|mut row| row.remove(0)).collect()
    }
}

#[test]
fn the_first_command_starts_it_and_those_after_it_share_one_warm_session() {
    let stage = Stage::new();
    stage.runs("", "20s");
    let socket = until("it is there", || stage.socket());
    assert_eq!(std::fs::metadata(&socket).expect("a socket").permissions().mode() & 0o777, 0o600);
    stage.runs("", "20s");
    let warm = stage.sessions();
    assert_eq!(warm.len(), 1, "one after the other need one: {warm:?}");
    (0..3).for_each(|_| stage.runs("", "20s"));
    assert_eq!(stage.sessions(), warm);
    let history = ends(&mut stage.locked("", "20s", &["history", "--json"]), 0);
    assert_eq!(text(&history.stdout).matches("\"completed\"").count(), 5);
}

#[test]
fn without_the_setting_there_is_none() {
    let stage = Stage::new();
    stage.runs("", "0s");
    stage.runs("", "");
    // Who only looks, and a keeper, start none either.
    ends(&mut stage.locked("", "20s", &["status"]), 0);
    assert_eq!(stage.socket(), None);
    assert!(stage.sessions().is_empty());
}

#[test]
fn who_could_not_have_connected_as_it_did_is_not_served() {
    let stage = Stage::new();
    stage.runs("", "20s");
    let _relay = stage.relay();
    stage.runs("", "20s");
    let warm = stage.sessions();
    assert_eq!(warm.len(), 1);
    // Served, it would be called by the name that the relay's session has.
    let mut other = stage.locked("password=another", "20s", &["-r", "server:x", "sh", "-c", "echo up; cat"]);
    let held = Held::start(&mut other);
    assert!(stage.sessions().len() > warm.len(), "it came by itself");
    held.let_go();
}

#[test]
fn one_that_is_frozen_or_killed_holds_nobody_up() {
    let stage = Stage::new();
    stage.runs("", "60s");
    let relay = stage.relay();
    stage.runs("", "60s");
    signal(relay, Signal::STOP);
    so("it is frozen", || is_halted(relay));
    stage.runs("", "60s");
    // A holder whose relay goes away in the middle.
    signal(relay, Signal::CONT);
    let held = Held::start(&mut stage.locked("", "60s", &["-r", "server:x", "sh", "-c", "echo up; cat"]));
    signal(relay, Signal::KILL);
    so("it is gone", || !lives(relay));
    held.let_go();
    // Its socket is left; another takes its place.
    stage.runs("", "60s");
    let next = stage.relay();
    assert_ne!(next, relay);
    stage.runs("", "60s");
    signal(next, Signal::KILL);
}

#[test]
fn it_ends_when_nobody_comes_and_holds_nothing_of_who_started_it() {
    let stage = Stage::new();
    stage.runs("", "1s");
    let relay = stage.relay();
    let own: Vec<String> = std::fs::read_dir(format!("/proc/{relay}/fd"))
        .expect("descriptors")
        .filter_map(|it| std::fs::read_link(it.expect("one").path()).ok())
        .map(|to| to.display().to_string())
        .collect();
    assert!(own.iter().all(|to| !to.starts_with("pipe:") && !to.contains("/work")), "{own:?}");
    assert_eq!(std::fs::read_link(format!("/proc/{relay}/cwd")).expect("a directory"), Path::new("/"));
    let known = std::fs::read(format!("/proc/{relay}/environ")).expect("its environment");
    let words = std::fs::read(format!("/proc/{relay}/cmdline")).expect("its words");
    for told in [known, words] {
        assert!(!text(&told).contains("dbname="), "the address is in its memory alone: {}", text(&told));
    }
    so("it ends", || !lives(relay));
    assert_eq!(stage.socket(), None);
    so("its session has ended", || stage.sessions().is_empty());
}

#[test]
fn many_at_once_start_one_and_none_is_lost() {
    let stage = Stage::new();
    let start = |nth: usize| {
        let mut command = stage.locked("", "20s", &["--wait", "1m", "-r", "server:x", "sh", "-c"]);
        command.arg(format!("echo {nth} >> turns")).stderr(Stdio::piped());
        command.spawn().expect("it starts")
    };
    let all: Vec<Child> = (0..16).map(start).collect();
    for child in all {
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    let turns = std::fs::read_to_string(stage.world.work().join("turns")).expect("turns");
    assert_eq!(turns.lines().count(), 16);
    let relay = stage.relay();
    stage.runs("", "20s");
    assert_eq!(stage.relay(), relay);
}

#[test]
fn who_waits_is_called_through_it() {
    let stage = Stage::new();
    stage.runs("", "60s");
    let _relay = stage.relay();
    let held = Held::start(&mut stage.locked("", "60s", &["-r", "server:x", "sh", "-c", "echo up; cat"]));
    let mut waiter = stage.locked("", "60s", &["--wait", "1m", "-r", "server:x", "true"]);
    let mut waiter = waiter.stderr(Stdio::null()).spawn().expect("it starts");
    so("it waits", || {
        stage.server.sql("select 1 from locked.tickets").len() == 1
            && stage
                .server
                .sql("select 1 from pg_stat_activity where usename = 'worker' and query ilike 'listen%'")
                .len()
                == 1
    });
    held.let_go();
    assert!(waiter.wait().expect("it ends").success());
}

#[test]
fn a_server_that_was_started_again_is_reached_again() {
    let stage = Stage::new();
    stage.runs("", "60s");
    let relay = stage.relay();
    stage.runs("", "60s");
    stage.server.stop("fast");
    let output = stage.locked("", "60s", &["-r", "server:x", "true"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(69), "{}", text(&output.stderr));
    stage.server.go_on();
    stage.runs("", "60s");
    assert!(lives(relay));
    signal(relay, Signal::KILL);
}
