//! Another machine, and somebody who works on it: the real clients with settings of the test's own.
#![forbid(unsafe_code)]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use locked::terms::shell_quote;

use crate::via::gate::Gate;
use crate::world::World;
use crate::world::ends::ends;

/// A name by which the client knows the machine.
pub(super) const NAME: &str = "web-1";
/// What is held for it under this name.
pub(super) const RESOURCE: &str = "server:web-1";
/// Another name by which the client knows it.
pub(super) const OTHER_NAME: &str = "www";

/// The machine with an `.env` on it.
pub(super) struct Host {
    pub(super) world: World,
    /// The settings of the client.
    pub(super) client: PathBuf,
    /// The directory over there.
    pub(super) place: PathBuf,
    gate: Gate,
}

impl Host {
    /// With these settings of the user's own for `locked`.
    pub(super) fn with(settings: &str) -> Self {
        // As many connections at once as the tests like; sshd drops some of more than ten otherwise.
        let (world, gate) = (World::new(), Gate::open("Subsystem sftp internal-sftp\nMaxStartups 100"));
        let (client, place) = (gate.settings_of_client(&[NAME, OTHER_NAME]), gate.place());
        let directory = world.root().join("home/.config/locked");
        fs::create_dir_all(&directory).expect("directory");
        fs::write(directory.join("config.toml"), settings).expect("settings");
        Self { world, client, place, gate }
    }

    /// Without any.
    pub(super) fn new() -> Self {
        Self::with("")
    }

    /// Over there: a path.
    pub(super) fn path(&self, name: &str) -> String {
        self.place.join(name).display().to_string()
    }

    /// Over there: the file that is written.
    pub(super) fn env(&self) -> String {
        self.path(".env")
    }

    /// Writes it without `locked`, as who may write it later.
    pub(super) fn put(&self, content: &str) {
        let script = format!("printf %s {} > {}", shell_quote(content.as_bytes()), self.env());
        ends(&mut self.ssh_after(self.world.command("env"), NAME, &script), 0);
    }

    /// What it holds.
    pub(super) fn text(&self) -> String {
        fs::read_to_string(self.env()).unwrap_or_else(|error| panic!("{error}; {}", self.gate.log()))
    }

    /// `ssh -F SETTINGS NAME SCRIPT` behind these words.
    pub(super) fn ssh_after(&self, mut command: Command, name: &str, script: &str) -> Command {
        command.args(["ssh", "-F"]).arg(&self.client).args([name, script]);
        command
    }

    /// The same by `locked OPTIONS` as this session.
    pub(super) fn ssh(&self, session: u32, options: &[&str], script: &str) -> Command {
        self.ssh_to(NAME, session, options, script)
    }

    /// The same to the machine by this name.
    pub(super) fn ssh_to(&self, name: &str, session: u32, options: &[&str], script: &str) -> Command {
        let mut command = self.world.locked_as(session);
        command.args(options);
        self.ssh_after(command, name, script)
    }

    /// `locked WORDS…` as this session, where `CLIENT` stands for the settings of the client and `THERE` for the directory
    /// on the machine.
    pub(super) fn line(&self, session: u32, words: &[&str]) -> Command {
        let mut command = self.world.locked_as(session);
        let (client, place) = (self.client.display().to_string(), self.place.display().to_string());
        command.args(words.iter().map(|word| word.replace("CLIENT", &client).replace("THERE", &place)));
        command
    }

    /// How the leases on it have ended, newest first.
    pub(super) fn endings(&self) -> Vec<String> {
        let word = |past: &serde_json::Value| {
            assert_eq!(past["resource"], RESOURCE, "{past}");
            past["ended_as"].as_str().expect("word").to_owned()
        };
        self.world.history().iter().map(word).collect()
    }
}
