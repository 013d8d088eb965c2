//! A repository with SOPS files, a zone and creation rules, and agents that ask before they use a tool.
#![forbid(unsafe_code)]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::world::World;
use crate::world::board::uuid;
pub(super) use crate::world::ends::{ends, says, text};

/// What the zone's files have in common, and what makes one of them the zone's.
const SETTINGS: &str = "[[zone]]\nname = \"DB_GRANTS\"\npaths = [\"db/*.sql\"]\ncontent = [\"(?i)grant\"]\n";

/// The repository.
#[derive(Debug)]
pub(super) struct Bench {
    pub(super) world: World,
    root: PathBuf,
}

impl Bench {
    /// `secrets/x.yaml` and `secrets/mon.env.sops` are SOPS; `db/roles.sql` lies in a zone.
    pub(super) fn new() -> Self {
        let world = World::in_memory();
        let root = fs::canonicalize(world.work()).expect("work").join("infra");
        fs::create_dir(&root).expect("directory");
        let bench = Self { world, root };
        bench.git(&["-c", "init.defaultBranch=main", "init", "-q"]);
        bench.git(&["remote", "add", "origin", "git@host:infra"]);
        let rules = format!("creation_rules:\n  - path_regex: secrets/.*\n    age: {}\n", bench.world.recipient());
        bench.write(".sops.yaml", &rules);
        bench.write(".locked.toml", SETTINGS);
        bench.world.encrypted("infra/secrets/x.yaml", "A: one\nB: two\n", "yaml");
        bench.world.encrypted("infra/secrets/mon.env.sops", "A=1\n", "dotenv");
        bench.write("db/roles.sql", "grant all;\n");
        bench.write("db/other.sql", "select 1;\n");
        bench.write("readme.md", "hello\n");
        bench
    }

    /// Nobody waits for long here: by the settings of this account, since a repository's may only add.
    pub(super) fn hurry(&self) {
        let settings = self.world.root().join("home/.config/locked");
        fs::create_dir_all(&settings).expect("directory");
        fs::write(settings.join("config.toml"), "wait = \"50ms\"\n").expect("written");
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn path(&self, inside: &str) -> PathBuf {
        self.root.join(inside)
    }

    pub(super) fn write(&self, inside: &str, content: &str) {
        let path = self.path(inside);
        fs::create_dir_all(path.parent().expect("parent")).expect("directory");
        fs::write(path, content).expect("written");
    }

    pub(super) fn read(&self, inside: &str) -> String {
        fs::read_to_string(self.path(inside)).expect("read")
    }

    fn git(&self, args: &[&str]) {
        self.world.git(&self.root, args);
    }

    /// A program here, of no session.
    pub(super) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = self.world.command(program);
        command.current_dir(&self.root);
        command
    }

    pub(super) fn locked(&self) -> Command {
        self.command(env!("CARGO_BIN_EXE_locked"))
    }

    /// `locked` as what the agent of this number runs.
    pub(super) fn locked_by(&self, agent: u32) -> Command {
        let mut command = self.locked();
        command.env("CLAUDE_CODE_SESSION_ID", uuid(agent));
        command
    }

    /// What the hook of an agent says of this call; none: nothing.
    #[track_caller]
    pub(super) fn says_of(&self, command: &mut Command, told: &[u8]) -> Option<Value> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        child.stdin.take().expect("a pipe").write_all(told).expect("told");
        let output = child.wait_with_output().expect("it ends");
        let (out, error) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{}: {out}{error}", text(told));
        if out.is_empty() {
            return None;
        }
        let answer: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("no JSON: {out}{error}"));
        assert_eq!(out.lines().count(), 1, "one line: {out}");
        Some(answer["hookSpecificOutput"].clone())
    }

    /// The call of the agent of this number, as Claude Code makes it.
    pub(super) fn call(&self, agent: u32, event: &str, tool: &str, input: &Value) -> Value {
        json!({
            "session_id": uuid(agent), "transcript_path": "/t.jsonl", "cwd": self.root, "permission_mode": "default",
            "hook_event_name": event, "tool_name": tool, "tool_input": input, "tool_use_id": "toolu_01",
        })
    }

    #[track_caller]
    pub(super) fn ask(&self, agent: u32, tool: &str, input: &Value) -> Option<Value> {
        let call = self.call(agent, "PreToolUse", tool, input);
        self.says_of(self.locked().args(["agents", "check"]), call.to_string().as_bytes())
    }

    /// Nothing against it; the answer is what is to be known.
    #[track_caller]
    pub(super) fn passes(&self, agent: u32, tool: &str, input: &Value) -> String {
        let answer = self.ask(agent, tool, input).unwrap_or_default();
        assert!(answer["permissionDecision"].is_null(), "{tool} {input}: {answer}");
        answer["additionalContext"].as_str().unwrap_or_default().to_owned()
    }

    /// It is denied; the answer is why.
    #[track_caller]
    pub(super) fn denied(&self, agent: u32, tool: &str, input: &Value) -> String {
        let answer = self.ask(agent, tool, input).unwrap_or_else(|| panic!("{tool} {input}: nothing was said"));
        denial(&answer)
    }

    /// The end of an agent's session.
    #[track_caller]
    pub(super) fn end(&self, agent: u32) {
        let call = self.call(agent, "SessionEnd", "", &Value::Null);
        let answer = self.says_of(self.locked().args(["agents", "check"]), call.to_string().as_bytes());
        assert_eq!(answer, None);
    }
}

/// Why it is denied: at most five lines, with a word, a reason and a next step.
#[track_caller]
pub(super) fn denial(answer: &Value) -> String {
    assert_eq!(
        (&answer["hookEventName"], &answer["permissionDecision"]),
        (&json!("PreToolUse"), &json!("deny")),
        "{answer}"
    );
    let why = answer["permissionDecisionReason"].as_str().expect("a reason").to_owned();
    let words = ["BLOCKED: ", "REFUSED: ", "QUARANTINED: "];
    assert!(words.iter().any(|word| why.starts_with(word)) && why.lines().count() <= 5, "{why}");
    assert!(why.contains("\nwhy:   ") && why.contains("\nretry: ") && why.contains("\nnext:  "), "{why}");
    crate::world::next::each_is_one_thing(&why);
    for word in ["--force", "steal", "LOCKED_BYPASS"] {
        assert!(!why.contains(word), "it teaches to force: {why}");
    }
    why
}
