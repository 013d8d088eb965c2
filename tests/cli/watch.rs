//! `locked status --watch` and `--stalled`.
#![forbid(unsafe_code)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::Value;

use crate::run::stage::{ends, silent, until};
use crate::world::World;
use crate::world::ends::LIMIT;

/// A watcher whose standard output is a pipe.
struct Watcher {
    child: Child,
    lines: Receiver<String>,
}

impl Watcher {
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let (sender, receiver) = channel();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, lines: receiver }
    }

    /// The next line that `wants` takes; others are passed over.
    #[track_caller]
    fn line(&self, what: &str, wants: impl Fn(&str) -> bool) -> String {
        loop {
            let line = self.lines.recv_timeout(LIMIT).unwrap_or_else(|_| panic!("it never came: {what}"));
            if wants(&line) {
                return line;
            }
        }
    }

    /// Ctrl-C as it is typed; the answer is the exit status of what has the terminal.
    fn type_interrupt(mut self) -> Option<i32> {
        self.child.stdin.take().expect("piped").write_all(b"\x03").expect("typed");
        until("it ends", || self.child.try_wait().expect("waited")).code()
    }

    /// Ctrl-C; the answer is the signal it died of.
    fn interrupt(mut self) -> Option<i32> {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().expect("kill runs").success());
        until("it ends", || self.child.try_wait().expect("waited")).signal()
    }
}

#[test]
fn a_watcher_in_a_pipe_is_told_of_each_change_once_and_dies_of_ctrl_c() {
    let world = World::new();
    let watcher = Watcher::start(world.locked().args(["status", "--watch", "--json"]));
    let block =
        |what: &str| -> Value { serde_json::from_str(&watcher.line(what, |_| true)).expect("JSON in one line") };
    assert_eq!(block("the beginning"), Value::Array(vec![]));
    silent(world.locked_as(1).args(["acquire", "server:a"]));
    let seen = block("the first lease");
    assert_eq!((&seen[0]["resource"], seen.as_array().map(Vec::len)), (&"server:a".into(), Some(1)));
    // That time goes by is no change: the next block is the next lease.
    silent(world.locked_as(1).args(["acquire", "server:b"]));
    assert_eq!(block("the second lease").as_array().map(Vec::len), Some(2));
    silent(world.locked_as(1).args(["release", "server:a", "server:b"]));
    assert_eq!(block("the end"), Value::Array(vec![]));
    assert_eq!(watcher.interrupt(), Some(2));
}

#[test]
fn people_get_a_block_with_its_time_for_each_change() {
    let world = World::new();
    let watcher = Watcher::start(world.locked().args(["status", "--watch"]));
    watcher.line("an empty board", |line| line == "no live leases");
    silent(world.locked_as(1).args(["acquire", "server:a"]));
    let head = watcher.line("a head", |line| line.starts_with("RESOURCE"));
    assert!(!head.contains('\u{1b}'), "nothing is drawn into a pipe");
    watcher.line("the lease", |line| line.starts_with("server:a "));
    assert_eq!(watcher.interrupt(), Some(2));
}

/// Who stands in line is part of it, and so is that somebody has left it.
#[test]
fn a_watcher_sees_the_line_too() {
    let world = World::new();
    silent(world.locked_as(1).args(["acquire", "server:a"]));
    let [programs, people] =
        [&["--json"][..], &[]].map(|words| Watcher::start(world.locked().args(["status", "--watch"]).args(words)));
    let waiting = |programs: &Watcher, what: &str| -> Value {
        let block: Value = serde_json::from_str(&programs.line(what, |_| true)).expect("JSON in one line");
        block[0]["waiting"].clone()
    };
    assert_eq!(waiting(&programs, "the lease"), Value::Array(vec![]));
    let mut waits = world.locked_as(2).args(["acquire", "server:a", "--wait", "60s"]).spawn().expect("it starts");
    let line = waiting(&programs, "who waits");
    assert_eq!((&line[0]["holder"], &line[0]["place"]), (&"02020202".into(), &1.into()));
    people.line("a head", |line| line.starts_with("WAITING "));
    people.line("who waits", |line| line.starts_with("02020202 (") && line.contains(", who holds server:a"));
    assert!(Command::new("kill").arg(waits.id().to_string()).status().expect("kill runs").success());
    waits.wait().expect("it ends");
    assert_eq!(waiting(&programs, "it has left"), Value::Array(vec![]));
    silent(world.locked_as(1).args(["release", "server:a", "--as", "human-action", "--note", "revoke the old key"]));
    people.line("a duty", |line| line.ends_with("revoke the old key"));
    assert_eq!((programs.interrupt(), people.interrupt()), (Some(2), Some(2)));
}

/// `script` gives it a terminal.
#[test]
fn a_terminal_is_redrawn() {
    let world = World::new();
    silent(world.locked_as(1).args(["acquire", "server:a"]));
    let command = format!("'{}' status --watch", env!("CARGO_BIN_EXE_locked"));
    let watcher =
        Watcher::start(world.command("script").args(["-qefc", &command, "/dev/null"]).env("SHELL", "/bin/sh"));
    for _ in 0..2 {
        watcher.line("it draws anew, whether something has changed or not", |line| line.contains("\u{1b}[H\u{1b}[2J"));
        watcher.line("the lease", |line| line.starts_with("server:a "));
    }
    assert_eq!(watcher.type_interrupt(), Some(130));
}

#[test]
fn a_watcher_that_begins_without_a_store_is_told_so() {
    let world = World::new();
    let refused = crate::run::stage::says(
        world.locked().args(["status", "--watch"]).env("LOCKED_STORE", "postgres://nobody@127.0.0.1:1/none"),
        69,
    );
    assert!(refused.starts_with("REFUSED: "), "{refused}");
}

#[test]
fn stalled_shows_what_was_not_renewed_for_so_long() {
    let world = World::new();
    silent(world.locked_as(1).args(["acquire", "server:a"]));
    silent(world.locked_as(1).args(["acquire", "server:b"]));
    world
        .database()
        .execute("update leases set renewed_at = renewed_at - 7300000 where name = 'server:a'", [])
        .expect("two hours ago");
    // What else the board has is not in it.
    silent(world.locked_as(1).args(["acquire", "rotation:K"]));
    silent(world.locked_as(1).args(["release", "rotation:K", "--as", "human-action"]));
    assert_eq!(silent(world.locked().args(["status", "--stalled", "3h"])), "nothing is stalled\n");
    // As grep has it: what is found has a status, and is no failure.
    let shown = |span: &str, status: i32| -> Vec<String> {
        let found = ends(world.locked().args(["status", "--stalled", span, "--json"]), status);
        assert_eq!(ends(world.locked().args(["status", "--stalled", span]), status).stderr, b"");
        let leases: Vec<Value> = serde_json::from_slice(&found.stdout).expect("JSON");
        leases.iter().map(|lease| lease["resource"].as_str().expect("a name").to_owned()).collect()
    };
    assert_eq!(shown("2h", 1), ["server:a"]);
    assert_eq!(shown("3h", 0), Vec::<String>::new());
    assert_eq!(shown("0", 1), ["server:a", "server:b"]);
    let idle = world.status()[0]["idle_ms"].as_i64().expect("a span");
    assert!(idle >= 7_300_000, "{idle}");
}
