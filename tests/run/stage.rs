//! The stage of the end-to-end tests: a repository with a SOPS file, sessions of their own, holders that stay until
//! they are told to go, and programs that stand where sops stands.
#![forbid(unsafe_code)]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::world::World;
pub(crate) use crate::world::ends::{LIMIT, ends, says, text, until};

/// The file that most tests write.
pub(crate) const FILE: &str = "secrets/monitoring.env.sops";
/// Its resource.
pub(crate) const RESOURCE: &str = "sops:monitoring";
/// What sops must be told about it.
pub(crate) const DOTENV: [&str; 4] = ["--input-type", "dotenv", "--output-type", "dotenv"];

/// A repository below `work`, committed, with `.sops.yaml` and [`FILE`].
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) world: World,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let world = World::new();
        let work = world.work();
        world.git(&work, &["-c", "init.defaultBranch=main", "init", "-q"]);
        fs::write(work.join(".sops.yaml"), format!("creation_rules:\n  - age: {}\n", world.recipient()))
            .expect("rules");
        world.encrypted(FILE, "FIRST=one\nSECOND=two\n", "dotenv");
        let stage = Self { world };
        stage.commit("start");
        stage
    }

    pub(crate) fn commit(&self, message: &str) {
        let work = self.world.work();
        self.world.git(&work, &["add", "-A"]);
        self.world.git(&work, &["commit", "-q", "-m", message]);
    }

    /// The file that most tests write.
    pub(crate) fn file(&self) -> PathBuf {
        self.world.work().join(FILE)
    }

    pub(crate) fn content(&self) -> Vec<u8> {
        fs::read(self.file()).expect("file")
    }

    /// The lines of the decrypted file.
    pub(crate) fn keys(&self) -> Vec<String> {
        self.world.decrypted(&self.file(), "dotenv").lines().map(str::to_owned).collect()
    }

    /// `locked` as this session.
    pub(crate) fn locked(&self, session: u32) -> Command {
        let mut command = self.world.locked();
        command.env("LOCKED_SESSION", uuid(session));
        command
    }

    /// `locked OPTIONS sops set FILE KEY VALUE` as this session.
    pub(crate) fn set(&self, session: u32, options: &[&str], key: &str, value: &str) -> Command {
        let mut command = self.locked(session);
        command.args(options).args(["sops", "set"]).args(DOTENV).arg(FILE);
        command.args([format!("[\"{key}\"]"), format!("\"{value}\"")]);
        command
    }

    /// A shell script of this name, in a directory of its own; the directory is the answer.
    pub(crate) fn script(&self, name: &str, body: &str) -> PathBuf {
        let directory =
            tempfile::Builder::new().prefix("bin-").tempdir_in(self.world.root()).expect("directory").keep();
        let path = directory.join(name);
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).expect("script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("mode");
        directory
    }

    /// A `sops` that does `body` when it is to write, and is the real one when it is to decrypt (the canary's arbiter).
    /// In the body `"$real"` is the real one and `"$file"` the file that most tests write. The answer is a PATH.
    pub(crate) fn stand_in(&self, body: &str) -> std::ffi::OsString {
        let (real, file) = (crate::world::real_sops(), self.file());
        let decrypts = "for word in \"$@\"; do [ \"$word\" = decrypt ] && exec \"$real\" \"$@\"; done";
        let text = format!("real='{}' file='{}'\n{decrypts}\n{body}", real.display(), file.display());
        in_front(&self.script("sops", &text))
    }

    /// A `locked` run of this session that holds until it is let go.
    pub(crate) fn hold(&self, session: u32, options: &[&str]) -> Held {
        self.hold_in(&self.world.work(), session, options)
    }

    pub(crate) fn hold_in(&self, cwd: &Path, session: u32, options: &[&str]) -> Held {
        let mut command = self.locked(session);
        command.current_dir(cwd).args(options).args(["sh", "-c", "echo up; cat"]);
        Held::start(&mut command)
    }

    /// `locked status --json`.
    pub(crate) fn status(&self) -> Vec<serde_json::Value> {
        self.json(self.world.locked().args(["status", "--json"]))
    }

    /// `locked history --json`, newest first.
    pub(crate) fn history(&self) -> Vec<serde_json::Value> {
        self.json(self.world.locked().args(["history", "--json"]))
    }

    pub(crate) fn json<T: serde::de::DeserializeOwned>(&self, command: &mut Command) -> T {
        let output = command.output().expect("locked runs");
        assert!(output.status.success(), "{command:?}: {}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&output.stdout)))
    }

    /// The kinds of the receipts, oldest first.
    pub(crate) fn receipts(&self) -> Vec<String> {
        let database = self.database();
        let mut statement = database.prepare("select kind from receipts order by id").expect("receipts");
        let kinds = statement.query_map([], |row| row.get(0)).expect("receipts");
        kinds.collect::<Result<_, _>>().expect("receipts")
    }

    /// The store's own file, for what no verb shows and for letting time pass.
    pub(crate) fn database(&self) -> rusqlite::Connection {
        let database = rusqlite::Connection::open(self.world.state().join("locked.db")).expect("database");
        database.busy_timeout(LIMIT).expect("timeout");
        database
    }

    /// Every lease that can expire expires now.
    pub(crate) fn let_leases_expire(&self) {
        self.database().execute("update leases set expires_ms = 0 where expires_ms is not null", []).expect("update");
    }

    /// Who may write the file now: nothing means everybody.
    pub(crate) fn state(&self) -> Option<String> {
        let status = self.status();
        assert!(status.len() <= 1, "{status:?}");
        Some(status.first()?["state"].as_str().expect("state").to_owned())
    }
}

/// A PATH with this directory in front.
pub(crate) fn in_front(directory: &Path) -> std::ffi::OsString {
    let old = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(directory.to_owned()).chain(std::env::split_paths(&old))).expect("PATH")
}

/// The name of a session; 7 reads as `07070707`.
pub(crate) fn uuid(session: u32) -> String {
    format!("{:08x}-0000-4000-8000-000000000000", session * 0x0101_0101)
}

/// A process that says "up" and stays until its standard input ends.
#[derive(Debug)]
pub(crate) struct Held {
    child: Child,
}

impl Held {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("piped")).read_line(&mut line).expect("a line");
        assert_eq!(line, "up\n", "{command:?}");
        Self { child }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Lets it go; it must end well.
    pub(crate) fn let_go(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().expect("waited").success());
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ended_already = self.child.wait();
    }
}

/// Runs it, and wants success without a word on standard error; the answer is its standard output.
#[track_caller]
pub(crate) fn silent(command: &mut Command) -> String {
    let output = ends(command, 0);
    assert_eq!(text(&output.stderr), "", "{command:?}");
    text(&output.stdout)
}

/// Every file below a directory.
pub(crate) fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten() {
        let path = entry.expect("entry").path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(files_below(&path));
        }
        found.push(path);
    }
    found
}

/// Whether these bytes stand in those.
pub(crate) fn contains(hay: &[u8], needle: &str) -> bool {
    hay.windows(needle.len()).any(|window| window == needle.as_bytes())
}
