//! Where a test plays: a directory with a repository, a state directory, and the programs on PATH.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// What stands for an encrypted file: one key, and what sops writes beside it.
pub(crate) const SOPS: &str = include_str!("encrypted.env");

/// No wait is longer, however many share the machine.
const LONGEST: Duration = Duration::from_secs(300);

pub(crate) struct Stage {
    root: tempfile::TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let root = tempfile::Builder::new().prefix("locked-stage-").tempdir().expect("directory");
        let stage = Self { root };
        for directory in ["bin", "repo/secrets", "repo/.git/objects", "repo/.git/refs", "home"] {
            std::fs::create_dir_all(stage.at(directory)).expect(directory);
        }
        std::fs::write(stage.at("repo/.git/HEAD"), "ref: refs/heads/main\n").expect("HEAD");
        let origin = "[remote \"origin\"]\n\turl = https://github.com/acme/infra.git\n";
        std::fs::write(stage.at("repo/.git/config"), origin).expect("config");
        stage
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    /// The program that plays several, as one of this name on PATH.
    pub(crate) fn with(self, name: &str) -> Self {
        self.put(name, &format!("bin/{name}.exe"));
        self
    }

    /// The same somewhere else.
    pub(crate) fn put(&self, name: &str, place: &str) -> PathBuf {
        let programs = std::env::var_os("LOCKED_TEST_PROGRAMS").expect("tests/windows/run says where they are");
        let place = self.at(place);
        std::fs::copy(programs, &place).unwrap_or_else(|error| panic!("{name}: {error}"));
        place
    }

    /// A secret's file of this name below the repository.
    pub(crate) fn secret(&self, name: &str) -> PathBuf {
        let path = self.at("repo").join(name);
        std::fs::write(&path, SOPS).expect("written");
        path
    }

    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        let system = |name: &str| (name.to_owned(), std::env::var_os(name).unwrap_or_default());
        command
            .current_dir(self.at("repo"))
            .env_clear()
            .envs(["SystemRoot", "TEMP", "TMP", "WINEPREFIX", "WINEDEBUG", "WINEDLLOVERRIDES"].map(system))
            .env("PATH", self.at("bin"))
            .env("USERPROFILE", self.at("home"))
            .env("LOCALAPPDATA", self.at("home/local"))
            .stdin(Stdio::null());
        command
    }

    /// `locked` as built.
    pub(crate) fn locked(&self, args: &[&str]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_locked"));
        command.args(args);
        command
    }

    /// Its output.
    pub(crate) fn ran(&self, args: &[&str]) -> Output {
        self.locked(args).output().expect("locked runs")
    }
}

/// Its output was as it should be.
#[track_caller]
pub(crate) fn good(output: &Output) -> String {
    let (said, told) = (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{:?}: {said}{told}", output.status.code());
    told.into_owned()
}

/// What is held, as JSON.
pub(crate) fn status(stage: &Stage) -> serde_json::Value {
    serde_json::from_str(&good(&stage.ran(&["status", "--json"]))).expect("JSON")
}

/// How what was held has ended, as JSON, the last first.
pub(crate) fn history(stage: &Stage) -> serde_json::Value {
    serde_json::from_str(&good(&stage.ran(&["history", "--json"]))).expect("JSON")
}

/// Waits until this is so.
#[track_caller]
pub(crate) fn until(what: &str, mut so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !so() {
        assert!(began.elapsed() < LONGEST, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether nobody has the file for himself.
pub(crate) fn is_free(file: &Path) -> bool {
    std::fs::OpenOptions::new().write(true).open(file).is_ok()
}
