//! A world with one SOPS file, sessions by number, programs of our own, and looks that come to an end.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

use crate::world::World;
pub(crate) use crate::world::ends::{LIMIT, ends, says, text, until};

/// The SOPS file, by its path in `work`.
pub(crate) const FILE: &str = "secrets/app.yaml";

/// `locked -r KIND:NAME` holds this one where a test needs no file.
pub(crate) const RESOURCE: &str = "server:web-1";

/// The place.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) world: World,
}

impl Stage {
    /// An empty world.
    pub(crate) fn bare() -> Self {
        Self { world: World::new() }
    }

    /// A repository with the SOPS file.
    pub(crate) fn with_file() -> Self {
        let stage = Self::bare();
        stage.world.git(&stage.world.work(), &["init", "-q"]);
        stage.world.encrypted(FILE, "a: one\nb: two\n", "yaml");
        stage
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.world.work().join(FILE)
    }

    /// `locked` as this session.
    pub(crate) fn locked(&self, session: u32) -> Command {
        let mut command = self.world.locked();
        command.env("LOCKED_SESSION", format!("{session:08x}-0000-4000-8000-000000000000"));
        command
    }

    /// `locked OPTIONS -r RESOURCE sh -c SCRIPT` as this session.
    pub(crate) fn shell(&self, session: u32, options: &[&str], script: &str) -> Command {
        let mut command = self.locked(session);
        command.args(options).args(["-r", RESOURCE, "sh", "-c", script]);
        command
    }

    /// `locked OPTIONS sops set FILE ["KEY"] "VALUE"` as this session.
    pub(crate) fn set(&self, session: u32, options: &[&str], key: &str, value: &str) -> Command {
        let mut command = self.locked(session);
        command.args(options).args(["sops", "set", FILE]).args([format!("[\"{key}\"]"), format!("\"{value}\"")]);
        command
    }

    /// An executable shell script in a directory of its own, which is the answer.
    pub(crate) fn script(&self, name: &str, body: &str) -> PathBuf {
        let directory = tempfile::Builder::new().prefix("bin-").tempdir_in(self.world.root()).expect("dir").keep();
        let path = directory.join(name);
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).expect("script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("mode");
        directory
    }

    /// `locked status --json`.
    pub(crate) fn status(&self) -> Vec<Value> {
        self.listed("status")
    }

    /// `locked history --json`, newest first.
    pub(crate) fn history(&self) -> Vec<Value> {
        self.listed("history")
    }

    fn listed(&self, verb: &str) -> Vec<Value> {
        let output = self.world.locked().args([verb, "--json"]).output().expect("it runs");
        assert!(output.status.success(), "{verb}: {}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    /// The store's own file, for arranging what only time or a theft would.
    pub(crate) fn database(&self) -> rusqlite::Connection {
        let database = rusqlite::Connection::open(self.world.state().join("locked.db")).expect("database");
        database.busy_timeout(LIMIT).expect("timeout");
        database
    }

    /// Ends every lease as somebody else would who took it.
    pub(crate) fn steal_all(&self) {
        self.database()
            .execute("update leases set ended_at = 1, ended_as = 'stolen' where ended_at is null", [])
            .expect("stolen");
    }
}

/// A PATH with this directory in front.
pub(crate) fn in_front(directory: &Path) -> std::ffi::OsString {
    let old = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(directory.to_owned()).chain(std::env::split_paths(&old))).expect("PATH")
}

/// A program that runs until its standard input ends. It has printed its first line.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    /// The first line that it printed.
    pub(crate) line: String,
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("piped")).read_line(&mut line).expect("a line");
        Self { child, line: line.trim_end().to_owned() }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its end.
    pub(crate) fn ended(mut self) -> Output {
        let input = self.child.stdin.take();
        until("the program ends", || self.child.try_wait().expect("waited"));
        drop(input);
        let mut output = Output { status: self.child.wait().expect("waited"), stdout: vec![], stderr: vec![] };
        std::io::Read::read_to_end(&mut self.child.stderr.take().expect("piped"), &mut output.stderr).expect("read");
        output
    }

    /// Lets it go on to its end.
    pub(crate) fn let_go(mut self) -> Output {
        drop(self.child.stdin.take());
        self.ended()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ended_already = self.child.kill();
        let _ended_already = self.child.wait();
    }
}

/// Runs it to its end, which must come; what it says on standard error goes through a file, so that nothing that it leaves
/// behind can hold us up.
#[track_caller]
pub(crate) fn bounded(command: &mut Command) -> (Option<i32>, String) {
    let said = tempfile::NamedTempFile::new().expect("file");
    let stderr = said.as_file().try_clone().expect("descriptor");
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr).spawn().expect("it starts");
    let mut run = Running { child, line: String::new() };
    let status = until("it ends", || run.child.try_wait().expect("waited"));
    (status.code(), fs::read_to_string(said.path()).expect("UTF-8"))
}

/// Ended; one that waits to be reaped has ended too.
pub(crate) fn is_gone(pid: u32) -> bool {
    stat(pid).is_none_or(|fields| fields[0] == "Z")
}

/// The first process below this one.
pub(crate) fn child_of(parent: u32) -> Option<u32> {
    let mut all =
        fs::read_dir("/proc").expect("/proc").filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    all.find(|pid| stat(*pid).is_some_and(|fields| fields[1] == parent.to_string()))
}

fn stat(pid: u32) -> Option<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(stat.rsplit_once(')')?.1.split_whitespace().map(str::to_owned).collect())
}

/// Kills it with KILL.
pub(crate) fn kill(pid: u32) {
    let sent = Command::new("sh").args(["-c", "kill -KILL \"$1\"", "kill", &pid.to_string()]).status();
    assert!(sent.expect("sh runs").success(), "kill {pid}");
}

/// The JSON in a file.
pub(crate) fn json_in(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}
