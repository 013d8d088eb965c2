//! The stage: one world, one log, and runs of `locked` that can be looked into.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::world::World;
use crate::world::ends::{so, until};
use crate::world::processes::{carriers, children, freeze, kill_all, thaw};

use super::actor;
use super::log::{self, Life};

/// A world and its log. When it goes, everything that was started in it is killed.
pub(crate) struct Stage {
    pub(crate) world: World,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let stage = Self { world: World::new() };
        std::fs::write(stage.log(), "").expect("log");
        stage
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.world.root().join("log")
    }

    /// A file that tells a child to end.
    pub(crate) fn flag(&self, name: &str) -> PathBuf {
        self.world.root().join(format!("flag-{name}"))
    }

    pub(crate) fn raise(&self, name: &str) {
        std::fs::write(self.flag(name), "").expect("flag");
    }

    /// `locked` with these options, as a session of its own, in front of `words`; what the child is called is `id`, and
    /// it ends when the flag of that name is raised.
    pub(crate) fn command(&self, id: &str, options: &[&str], words: &[String]) -> Command {
        let mut command = self.world.locked();
        command.args(options).args(words);
        self.prepare(&mut command, id);
        command
    }

    /// The variables of a child.
    pub(crate) fn prepare(&self, command: &mut Command, id: &str) {
        command
            .env(actor::LOG, self.log())
            .env(actor::ID, id)
            .env(actor::UNTIL, self.flag(id))
            .env("LOCKED_SESSION", uuid::Uuid::new_v4().to_string())
            .stdout(Stdio::null());
    }

    /// Starts it with the plain actor as the program.
    pub(crate) fn start(&self, id: &str, options: &[&str]) -> Run {
        Run::of(self.command(id, options, &actor::program()))
    }

    /// Starts it with a shell line; `$ME` is the actor.
    pub(crate) fn start_shell(&self, id: &str, options: &[&str], line: &str) -> Run {
        let mut command = self.command(id, options, &["sh".to_owned(), "-c".to_owned(), line.to_owned()]);
        command.env("ME", actor::words().join(" "));
        Run::of(command)
    }

    /// The lives in the log so far.
    pub(crate) fn lives(&self) -> Vec<Life> {
        log::lives(&self.log())
    }

    /// Waits until the child of this name lives, and says under which process id.
    pub(crate) fn alive(&self, id: &str) -> u32 {
        until(&format!("{id} starts"), || self.lives().iter().find(|life| life.id == id).map(|life| life.pid))
    }

    pub(crate) fn has_begun(&self, id: &str) -> bool {
        self.lives().iter().any(|life| life.id == id)
    }

    /// Everything of this world that lives.
    pub(crate) fn inhabitants(&self) -> Vec<u32> {
        carriers(&format!("LOCKED_STATE_DIR={}", self.world.state().display()))
    }

    /// Those of them that belong to the run of this name.
    pub(crate) fn of_run(&self, id: &str) -> Vec<u32> {
        let named = carriers(&format!("{}={id}", actor::ID));
        self.inhabitants().into_iter().filter(|pid| named.contains(pid)).collect()
    }

    /// Freezes it where it does not hold the store's file: SQLite's lock would be frozen with it, for everybody.
    pub(crate) fn freeze_outside_the_store(&self, pid: u32) {
        so("it is frozen outside of the store", || {
            freeze(pid);
            let database = self.world.database();
            database.busy_timeout(Duration::ZERO).expect("no timeout");
            let is_outside = database.execute_batch("begin immediate; rollback").is_ok();
            if !is_outside {
                thaw(pid);
            }
            is_outside
        });
    }

    /// Waits until nothing of this world lives any more.
    pub(crate) fn is_empty_soon(&self) {
        so("nothing is left", || self.inhabitants().is_empty());
    }

    /// The file of the store.
    pub(crate) fn store(&self) -> PathBuf {
        self.world.state().join("locked.db")
    }

    pub(crate) fn sql(&self, statement: &str) -> usize {
        self.world.database().execute(statement, []).expect("sql")
    }

    /// One number from the store.
    pub(crate) fn number(&self, query: &str) -> i64 {
        self.world.database().query_row(query, [], |row| row.get(0)).expect("query")
    }

    /// How many leases live.
    pub(crate) fn leases(&self) -> i64 {
        self.number("select count(*) from leases where ended_at is null and state != 'quarantined'")
    }

    pub(crate) fn tickets(&self) -> i64 {
        self.number("select count(*) from tickets")
    }

    /// A newcomer gets in, does its work and leaves. Under the TTL of half an hour that these tests have when they name no
    /// other, nobody gets in by waiting: it must have been settled or proven.
    pub(crate) fn next_gets_in(&self, id: &str, options: &[&str]) {
        self.raise(id);
        let ended = self.start(id, options).ends();
        assert_eq!(ended.code, Some(0), "{id}: {}", ended.said);
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        kill_all(|| self.inhabitants());
    }
}

/// A run: the wrapper, and what stands below it.
pub(crate) struct Run {
    wrapper: Child,
    said: File,
}

/// How a wrapper ended.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) code: Option<i32>,
    /// The signal that it died by.
    pub(crate) signal: Option<i32>,
    pub(crate) said: String,
}

impl Run {
    /// Its words go to a file: a pipe would stay open as long as anything that it left behind.
    pub(crate) fn of(mut command: Command) -> Self {
        let said = tempfile::tempfile().expect("a file");
        command.stderr(said.try_clone().expect("twice"));
        Self { wrapper: command.spawn().expect("locked starts"), said }
    }

    pub(crate) fn wrapper(&self) -> u32 {
        self.wrapper.id()
    }

    /// The keeper: the wrapper's child, forked before anything is asked.
    pub(crate) fn keeper(&self) -> u32 {
        until("the keeper is hired", || children(self.wrapper()).first().copied())
    }

    pub(crate) fn keeper_now(&self) -> Option<u32> {
        children(self.wrapper()).first().copied()
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.wrapper.try_wait().expect("wait").is_some()
    }

    /// Waits until its child lives. A run that ends before says why in the failure.
    pub(crate) fn begins(mut self, stage: &Stage, id: &str) -> Self {
        so(&format!("{id} begins, or ends before"), || stage.has_begun(id) || self.has_ended());
        if !stage.has_begun(id) {
            panic!("{id} ended before it began: {:?}", self.ends());
        }
        self
    }

    /// Waits (bounded) until the wrapper has ended.
    pub(crate) fn ends(mut self) -> End {
        so("the wrapper ends", || self.has_ended());
        let status = self.wrapper.wait().expect("status");
        let mut said = String::new();
        self.said.rewind().expect("its beginning");
        self.said.read_to_string(&mut said).expect("UTF-8");
        End { code: status.code(), signal: status.signal(), said }
    }
}
