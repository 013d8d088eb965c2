//! A world with one SOPS file, sessions by number, programs of our own, and looks that come to an end.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::world::World;
pub(crate) use crate::world::board::in_front;
pub(crate) use crate::world::ends::{ends, says, so, text, until};
pub(crate) use crate::world::held::{Held, bounded};
pub(crate) use crate::world::processes::{child_of, kill, lives};

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
        self.world.locked_as(session)
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

    /// `locked status --json`.
    pub(crate) fn status(&self) -> Vec<Value> {
        self.world.status()
    }

    /// `locked history --json`, newest first.
    pub(crate) fn history(&self) -> Vec<Value> {
        self.world.history()
    }

    /// Ends every lease as somebody else would who took it.
    pub(crate) fn steal_all(&self) {
        self.world
            .database()
            .execute("update leases set ended_at = 1, ended_as = 'stolen' where ended_at is null", [])
            .expect("stolen");
    }
}

/// The JSON in a file.
pub(crate) fn json_in(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}
