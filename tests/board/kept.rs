//! The stage of what is kept alive: an agent that takes orders, and keepers looked at from outside.
#![forbid(unsafe_code)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};

use serde_json::Value;

use crate::rotation::stage::Stage;
use crate::world::board::json;
use crate::world::ends::{LIMIT, so, until};
use crate::world::processes::lives;

/// Runs each line that it is told in a shell of its own and says what that printed and how it ended. A shell's output ends
/// when nobody has it open any more: whatever stays behind with it holds the agent up.
const AGENT: &str =
    r#"$| = 1; while (my $line = <STDIN>) { chomp $line; my $out = `($line) 2>&1; :`; print $out, "=== $?\n"; }"#;

/// An agent that lives until it is killed or dropped.
pub(super) struct Agent {
    child: Child,
    said: Receiver<String>,
}

impl Agent {
    /// One that works here, for no session that anything names: it is the anchor itself.
    pub(super) fn new(stage: &Stage) -> Self {
        let mut model = stage.locked(1);
        model.env_remove("LOCKED_SESSION");
        Self::like(&model)
    }

    /// One whose tools act for this session.
    pub(super) fn of(stage: &Stage, session: u32) -> Self {
        Self::like(&stage.locked(session))
    }

    /// With the surroundings of this command.
    fn like(model: &Command) -> Self {
        let mut command = Command::new("perl");
        command.args(["-e", AGENT]).env_clear().current_dir(model.get_current_dir().expect("a directory"));
        command.envs(model.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("me", env!("CARGO_BIN_EXE_locked")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("perl starts");
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let (sender, said) = mpsc::channel();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, said }
    }

    /// Tells it to run this, which it does not wait for.
    pub(super) fn begins(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().expect("piped"), "{line}").expect("it listens");
    }

    /// What this printed, which is also its end.
    #[track_caller]
    pub(super) fn runs(&mut self, line: &str) -> String {
        self.begins(line);
        let mut text = String::new();
        loop {
            let said = self.said.recv_timeout(LIMIT).unwrap_or_else(|_| panic!("nothing holds up: {line}\n{text}"));
            if said.starts_with("=== ") {
                return text;
            }
            text.push_str(&said);
            text.push('\n');
        }
    }

    /// `locked WORDS --json` of it, which must go well.
    #[track_caller]
    pub(super) fn locked(&mut self, words: &str) -> Value {
        let text = self.runs(&format!("\"$me\" {words} --json"));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{words}: {error}: {text}"))
    }

    /// `locked acquire WORDS --keep-alive`: the keeper.
    #[track_caller]
    pub(super) fn keeps(&mut self, words: &str) -> u32 {
        let said = self.locked(&format!("acquire {words} --keep-alive"));
        u32::try_from(said["kept_alive"]["keeper"].as_u64().expect("a keeper")).expect("a process id")
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends it, with no time for a word. Nobody has waited for it yet: it is a zombie.
    pub(super) fn is_killed(&mut self) {
        self.child.kill().expect("it lives");
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _ended_already = self.child.wait();
    }
}

/// The lease on this resource, if somebody holds it.
pub(super) fn lease(stage: &Stage, resource: &str) -> Option<Value> {
    stage.status().into_iter().find(|lease| lease["resource"] == resource)
}

/// Who keeps this alive, by the board.
pub(super) fn keeper_of(stage: &Stage, resource: &str) -> Option<u64> {
    lease(stage, resource).and_then(|lease| lease["kept_alive_by"].as_u64())
}

/// Waits until it lasts for so long more than it did.
#[track_caller]
pub(super) fn is_renewed_for(stage: &Stage, resource: &str, ms: i64) {
    let ends = || {
        let lease = lease(stage, resource).unwrap_or_else(|| panic!("nobody holds {resource}"));
        lease["expires_at"].as_i64().expect("a moment")
    };
    let before = ends();
    until(&format!("{resource} is renewed for {ms} ms"), || (ends() - before >= ms).then_some(()));
}

/// Waits until nobody holds it; the answer is how it ended.
#[track_caller]
pub(super) fn ended(stage: &Stage, resource: &str) -> Value {
    so(&format!("{resource} is given back"), || lease(stage, resource).is_none());
    let past: Vec<Value> = json(stage.locked(9).args(["history", resource, "--json"]));
    past.into_iter().next().expect("it is in the history")
}

/// Waits until the keeper has left.
#[track_caller]
pub(super) fn has_left(keeper: u32) {
    so("the keeper leaves", || !lives(keeper));
}

/// What a process has open, by name; but for what it keeps in the state directory.
pub(super) fn open_files(pid: u32, state: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/fd")).expect("it lives");
    let links = entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    let mut names: Vec<String> =
        links.filter(|path| !path.starts_with(state)).map(|path| path.display().to_string()).collect();
    names.sort();
    names.dedup();
    names
}
