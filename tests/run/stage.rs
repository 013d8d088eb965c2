//! The stage of the end-to-end tests: a repository with a SOPS file, sessions of their own, holders that stay until
//! they are told to go, and programs that stand where sops stands.
#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::world::World;
pub(crate) use crate::world::board::{in_front, json, uuid};
pub(crate) use crate::world::ends::{ends, says, text, until};
pub(crate) use crate::world::held::Held;

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
        Self::over(World::new())
    }

    /// One over the embedded store, and one over a database of this name.
    pub(crate) fn both(name: &str) -> [Self; 2] {
        World::both(name).map(Self::over)
    }

    fn over(world: World) -> Self {
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
        self.world.locked_as(session)
    }

    /// `locked OPTIONS sops set FILE KEY VALUE` as this session.
    pub(crate) fn set(&self, session: u32, options: &[&str], key: &str, value: &str) -> Command {
        let mut command = self.locked(session);
        command.args(options).args(["sops", "set"]).args(DOTENV).arg(FILE);
        command.args([format!("[\"{key}\"]"), format!("\"{value}\"")]);
        command
    }

    /// A `sops` that does `body` when it is to write, and is the real one when it is to decrypt (the canary's arbiter).
    /// In the body `"$real"` is the real one and `"$file"` the file that most tests write. The answer is a PATH.
    pub(crate) fn stand_in(&self, body: &str) -> std::ffi::OsString {
        let (real, file) = (crate::world::real_sops(), self.file());
        let decrypts = "for word in \"$@\"; do [ \"$word\" = decrypt ] && exec \"$real\" \"$@\"; done";
        let text = format!("real='{}' file='{}'\n{decrypts}\n{body}", real.display(), file.display());
        in_front(&self.world.script("sops", &text))
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
        self.world.status()
    }

    /// `locked history --json`, newest first.
    pub(crate) fn history(&self) -> Vec<serde_json::Value> {
        self.world.history()
    }

    /// The kinds of the receipts, oldest first.
    pub(crate) fn receipts(&self) -> Vec<String> {
        let database = self.world.database();
        let mut statement = database.prepare("select kind from receipts order by id").expect("receipts");
        let kinds = statement.query_map([], |row| row.get(0)).expect("receipts");
        kinds.collect::<Result<_, _>>().expect("receipts")
    }

    /// Every lease that can expire expires now.
    pub(crate) fn let_leases_expire(&self) {
        self.world
            .database()
            .execute("update leases set expires_ms = 0 where expires_ms is not null", [])
            .expect("update");
    }

    /// Who may write the file now: nothing means everybody.
    pub(crate) fn state(&self) -> Option<String> {
        let status = self.status();
        assert!(status.len() <= 1, "{status:?}");
        Some(status.first()?["state"].as_str().expect("state").to_owned())
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
