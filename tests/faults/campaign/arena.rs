//! Where a campaign takes place: a world with a store, files and a log; and the runs that are started in it.
#![forbid(unsafe_code)]

use std::fs::OpenOptions;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use super::evidence::{Bounds, Evidence, lines};
use super::ledger::Ledger;
use super::place::Disk;
use super::writer;
use crate::faults::stage::Run;
use crate::machines::wire::Machine;
use crate::world::board::write_program;
use crate::world::cluster::Cluster;
use crate::world::ends::{ends, text};
use crate::world::processes::{carriers, kill_all};
use crate::world::{World, real_sops};

/// The plain resources; some runs ask for two.
pub(crate) const SETS: [&[&str]; 4] = [&["test:a"], &["test:b"], &["test:c"], &["test:a", "test:b"]];
/// The files, and the resources that they are.
pub(crate) const FILES: [(&str, &str); 2] = [("secrets/one.yaml", "sops:one"), ("secrets/two.yaml", "sops:two")];

pub(crate) struct Arena {
    pub(crate) world: World,
    pub(crate) ledger: Ledger,
    /// The server, for what is done to it.
    pub(crate) server: Option<Arc<Cluster>>,
    pub(crate) wire: Option<Arc<Machine>>,
    pub(crate) disk: Option<Disk>,
    /// What stands in the place of `locked`: a script that gets the same words.
    pub(crate) stand_in: Option<PathBuf>,
    other: String,
    /// The log and what the children's libraries look at: not on the disk that fills up.
    aside: tempfile::TempDir,
}

impl Arena {
    /// One over the embedded store, on a small disk where that may be had.
    pub(crate) fn embedded(disk: Option<Disk>) -> Self {
        let world = disk.as_ref().map_or_else(World::new, |disk| World::below(disk.path()));
        let ledger = Ledger::Embedded(world.state().join("locked.db"));
        Self::new(world, ledger, disk)
    }

    /// One over a database of this name on the server, whose runs reach it over the wire where there is one.
    pub(crate) fn server(cluster: Arc<Cluster>, wire: Option<Arc<Machine>>, name: &str) -> Self {
        cluster.database(name);
        let mut config = cluster.config("postgres");
        config.dbname(name);
        let host = wire.as_ref().map_or("127.0.0.1", |wire| wire.server.as_str());
        let address = format!("postgres://postgres@{host}:{}/{name}?sslmode=disable", cluster.port());
        let world = World::new().with_store(address);
        let mut arena = Self::new(world, Ledger::Server(Box::new(config)), None);
        (arena.server, arena.wire) = (Some(cluster), wire);
        arena
    }

    fn new(world: World, ledger: Ledger, disk: Option<Disk>) -> Self {
        let aside = tempfile::Builder::new().prefix("locked-campaign-").tempdir().expect("directory");
        std::fs::write(aside.path().join("log"), "").expect("log");
        let other = age::x25519::Identity::generate().to_public().to_string();
        let arena = Self { world, ledger, server: None, wire: None, disk, stand_in: None, other, aside };
        let bin = arena.world.root().join("bin");
        std::fs::create_dir(&bin).expect("bin");
        write_program(&bin.join("sops"), include_str!("sops.sh"));
        arena.world.git(&arena.world.work(), &["init", "-q"]);
        for (file, _) in FILES {
            arena.world.encrypted(file, "first: one\n", "yaml");
            // From here on there is a version that is known to be good.
            ends(arena.world.locked().args(["sops", "set", file, "[\"second\"]", "\"two\""]), 0);
        }
        arena.ledger.begins_to_note();
        arena
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.aside.path().join("log")
    }

    /// A file aside.
    pub(crate) fn aside(&self, name: &str) -> PathBuf {
        self.aside.path().join(name)
    }

    /// A line of the hand's.
    pub(crate) fn say(&self, word: &str, who: &str, resource: &str, detail: &str) {
        let mut log = OpenOptions::new().append(true).open(self.log()).expect("the log");
        writer::say(&mut log, word, who, resource, "-", detail);
    }

    /// `locked`, or what stands for it, with these options before these words, for this one.
    pub(crate) fn locked(&self, who: &str, options: &[String], words: &[String]) -> Command {
        let program = self.stand_in.clone().unwrap_or_else(|| env!("CARGO_BIN_EXE_locked").into());
        let path = std::env::var("PATH").expect("PATH");
        let mut command = self.world.command(program);
        command
            .args(options)
            .args(words)
            .env("PATH", format!("{}:{path}", self.world.root().join("bin").display()))
            .env("REAL_SOPS", real_sops())
            .env("LOCKED_SESSION", format!("{who}-0000-4000-8000-000000000000"))
            .env("REAL_LOCKED", env!("CARGO_BIN_EXE_locked"))
            .env("CAMPAIGN_OPTIONS", options.len().to_string())
            .env("CAMPAIGN_OURS", self.world.recipient())
            .env("CAMPAIGN_OTHER", &self.other)
            .env(writer::LOG, self.log())
            .env(writer::WHO, who)
            .env(writer::FILES, self.world.work());
        command
    }

    /// Starts it, on the other side of the wire where there is one.
    pub(crate) fn start(&self, command: Command, stdout: Stdio) -> Run {
        let mut command = match &self.wire {
            Some(wire) => wire.runs(&command),
            None => command,
        };
        command.stdin(Stdio::null()).stdout(stdout);
        Run::of(command)
    }

    /// What a file holds, by the real sops: the names of its keys.
    pub(crate) fn keys(&self, file: &str) -> Option<Vec<String>> {
        let mut sops = self.world.sops();
        let output = sops.args(["decrypt", "--output-type", "json", file]).output().expect("sops runs");
        let keys: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&output.stdout).ok()?;
        output.status.success().then(|| keys.keys().cloned().collect())
    }

    /// Everything that was seen.
    pub(crate) fn evidence(&self, bounds: Bounds) -> Evidence {
        let log = lines(&text(&std::fs::read(self.log()).expect("log")));
        Evidence { log, events: self.ledger.events(), left: self.ledger.left(), bounds }
    }

    /// Everything of this arena that lives.
    pub(crate) fn inhabitants(&self) -> Vec<u32> {
        carriers(&format!("{}={}", writer::LOG, self.log().display()))
    }

    /// What a run said, for whoever looks for the reason of a finding.
    pub(crate) fn tells(&self, line: &str) {
        let file = OpenOptions::new().create(true).append(true).open(self.aside("story"));
        file.and_then(|mut file| std::io::Write::write_all(&mut file, line.as_bytes())).expect("the story");
    }

    /// The log and the story go where they can be read afterwards.
    pub(crate) fn keeps(&self, name: &str) -> PathBuf {
        let place = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&place).expect("a place");
        for file in ["log", "story"] {
            std::fs::copy(self.aside(file), place.join(file)).expect("copied");
        }
        place
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        kill_all(|| self.inhabitants());
    }
}
