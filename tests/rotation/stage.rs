//! A repository with SOPS files that share a key, a gh that answers from a file, and either store.
#![forbid(unsafe_code)]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::world::World;
use crate::world::board::{in_front, json};
use crate::world::cluster::{self, Desk};
pub(crate) use crate::world::ends::{ends, says, text, until};
pub(crate) use crate::world::held::Held;

/// What most tests rotate.
pub(crate) const ROTATION: &str = "rotation:API_KEY";
/// The issue that it is for.
pub(crate) const ISSUE: &str = "acme/infra#5925";
/// A file with the key, and another one.
pub(crate) const APP: &str = "secrets/app.env.sops";
pub(crate) const N8N: &str = "secrets/n8n.yaml";

/// The real one prints the fields that `--json` names as one object, exits 1 when there is no such issue and 4 when nobody
/// is logged in. What it is asked is noted beside it.
const GH: &str = r#"
here=$(dirname "$0")
printf '%s\n' "$*" >> "$here/calls"
state=$(cat "$here/state.$3" 2>/dev/null || cat "$here/state")
case "$state" in
  wait) read -r state < "$here/gate" ;;
  none) echo 'GraphQL: Could not resolve to an issue or pull request with the number of 5925. (repository.issue)' >&2; exit 1 ;;
  login) echo 'To get started with GitHub CLI, please run:  gh auth login' >&2; exit 4 ;;
esac
case "$1 $2" in
  'issue view') [ "$*" = "issue view $3 --repo acme/infra --json state" ] || exit 1
    printf '{"state":"%s"}\n' "$state" ;;
  'issue comment') echo 'https://github.com/acme/infra/issues/5925#issuecomment-1' ;;
  *) exit 1 ;;
esac"#;

pub(crate) struct Stage {
    pub(crate) world: World,
    /// The database on the server; none: the embedded store.
    database: Option<String>,
    gh: PathBuf,
}

impl Stage {
    /// Over the embedded store.
    pub(crate) fn new() -> Self {
        let world = World::new();
        let work = world.work();
        world.git(&work, &["-c", "init.defaultBranch=main", "init", "-q"]);
        world.encrypted(APP, "API_KEY=old\nOTHER=x\n", "dotenv");
        world.encrypted(N8N, "env:\n  - API_KEY: old\n", "yaml");
        world.encrypted("secrets/other.json", "{\"API_KEY_2\": \"x\", \"note\": \"API_KEY\"}", "json");
        fs::write(work.join("notes.env"), "API_KEY=in the open\n").expect("notes");
        world.git(&work, &["add", "-A"]);
        world.git(&work, &["commit", "-q", "-m", "start"]);
        let gh = world.script("gh", GH);
        let stage = Self { world, database: None, gh };
        stage.issue_is("OPEN");
        stage
    }

    /// In a world that is there, over its embedded store.
    pub(crate) fn over(world: World) -> Self {
        let gh = world.script("gh", GH);
        let stage = Self { world, database: None, gh };
        stage.issue_is("OPEN");
        stage
    }

    /// Over each of the stores, a database of this name on the server.
    pub(crate) fn both(name: &str) -> [Self; 2] {
        [Self::new(), Self::on_server(name)]
    }

    /// Over a database of this name.
    pub(crate) fn on_server(name: &str) -> Self {
        cluster::shared().database(name);
        Self { database: Some(name.to_owned()), ..Self::new() }
    }

    /// `locked` as this session.
    pub(crate) fn locked(&self, session: u32) -> Command {
        let mut command = self.world.locked_as(session);
        command.env("PATH", in_front(&self.gh));
        if let Some(name) = &self.database {
            command.env("LOCKED_STORE", address(name));
        }
        command
    }

    /// `locked --secret API_KEY OPTIONS sh -c SCRIPT` as this session.
    pub(crate) fn rotates(&self, session: u32, options: &[&str], script: &str) -> Command {
        let mut command = self.locked(session);
        command.args(["--secret", "API_KEY"]).args(options).args(["sh", "-c", script]);
        command
    }

    /// `locked sops set FILE ["API_KEY"] "new SESSION"` and its like.
    pub(crate) fn writes(&self, session: u32, file: &str) -> Command {
        let key = if file == APP { "[\"API_KEY\"]" } else { "[\"env\"][0][\"API_KEY\"]" };
        let types: &[&str] = if file == APP { &["--input-type", "dotenv", "--output-type", "dotenv"] } else { &[] };
        let mut command = self.locked(session);
        command.args(["sops", "set"]).args(types).args([file, key, &format!("\"new {session}\"")]);
        command
    }

    /// What gh answers from now on.
    pub(crate) fn issue_is(&self, state: &str) {
        fs::write(self.gh.join("state"), state).expect("state");
    }

    /// What gh answers of this issue from now on.
    pub(crate) fn issue_of_number_is(&self, number: u32, state: &str) {
        fs::write(self.gh.join(format!("state.{number}")), state).expect("state");
    }

    /// Where the state lies that gh answers.
    pub(crate) fn gh_state(&self) -> PathBuf {
        self.gh.join("state")
    }

    /// From now on gh answers when [`Self::answer`] has said what.
    pub(crate) fn gh_waits(&self) {
        let made = Command::new("mkfifo").arg(self.gh.join("gate")).status().expect("mkfifo runs");
        assert!(made.success());
        self.issue_is("wait");
    }

    /// It answers this, once.
    pub(crate) fn answer(&self, state: &str) {
        fs::write(self.gh.join("gate"), format!("{state}\n")).expect("it listens");
    }

    /// What gh was asked so far.
    pub(crate) fn asked(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.gh.join("calls")).unwrap_or_default();
        calls.lines().map(str::to_owned).collect()
    }

    pub(crate) fn history(&self) -> Vec<Value> {
        json(self.locked(9).args(["history", "--json"]))
    }

    pub(crate) fn status(&self) -> Vec<Value> {
        json(self.locked(9).args(["status", "--json"]))
    }

    /// Does a file of this name lie where the commands run?
    pub(crate) fn is_there(&self, name: &str) -> bool {
        self.world.work().join(name).exists()
    }

    /// Every lease is as old as its TTL now.
    pub(crate) fn back_date(&self) {
        self.change(
            "update leases set expires_ms = 0 where expires_ms is not null",
            "update locked.leases set expires_at = '2026-01-01' where ended_at is null",
        );
    }

    /// Every lease owes a file that a command of another host may have written.
    pub(crate) fn owes(&self) {
        let debt = r#"[{"token": 1, "holder": "3f2a91c0 (eve@elsewhere)", "operation": "sops set x", "host": "elsewhere",
            "files": [{"path": "/x", "scope": "s", "key": "x", "before": null}]}]"#;
        self.change(
            &format!("update leases set debt = '{debt}' where ended_at is null"),
            &format!("update locked.leases set debt = '{debt}' where ended_at is null"),
        );
    }

    /// Somebody has taken everything.
    pub(crate) fn taken(&self) {
        let set = "ended_as = 'expired', note = 'presumed crashed, reclaimed by eve' where ended_at is null";
        self.change(
            &format!("update leases set ended_at = 1, {set}"),
            &format!("update locked.leases set ended_at = now(), {set}"),
        );
    }

    fn change(&self, embedded: &str, server: &str) {
        match &self.database {
            None => drop(self.world.database().execute(embedded, []).expect("changed")),
            Some(_) => drop(self.desk().sql(server).expect("changed")),
        }
    }

    /// A connection to the database on the server.
    pub(crate) fn desk(&self) -> Desk {
        let mut config = cluster::shared().config("postgres");
        config.dbname(self.database.as_ref().expect("it is on the server"));
        Desk::at(&config).expect("a desk")
    }
}

fn address(name: &str) -> String {
    let server = cluster::shared();
    let socket = server.socket().display().to_string().replace('/', "%2F");
    format!("postgres://postgres@{socket}:{}/{name}", server.port())
}

/// Runs it, and wants success without a word on standard error; the answer is its standard output.
#[track_caller]
pub(crate) fn silent(command: &mut Command) -> String {
    let output = ends(command, 0);
    assert_eq!(text(&output.stderr), "", "{command:?}");
    text(&output.stdout)
}
