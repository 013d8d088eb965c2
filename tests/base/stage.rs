//! The stage: a bare origin, checkouts of it, sessions of their own, and the store that they share.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::store::postgres::lab::{Lab, Way};
use crate::world::World;
pub(crate) use crate::world::ends::{ends, says, text};

/// The file that the tests write.
pub(crate) const FILE: &str = "secrets/app.yaml";

/// Which store the checkouts share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum At {
    /// The embedded one.
    Here,
    /// The server.
    Server,
}

/// Tells each of these stories on either store.
macro_rules! on_either_store {
    ($($story:ident),+ $(,)?) => {
        mod here {
            $(#[test]
            fn $story() {
                super::$story(super::At::Here);
            })+
        }
        mod server {
            $(#[test]
            fn $story() {
                super::$story(super::At::Server);
            })+
        }
    };
}
pub(crate) use on_either_store;

pub(crate) struct Stage {
    pub(crate) world: World,
    lab: Option<Lab>,
}

impl Stage {
    /// A bare repository `origin.git` with [`FILE`] on its branch `main`.
    pub(crate) fn new(at: At) -> Self {
        let world = World::in_memory();
        let lab = (at == At::Server).then(|| Lab::ticking(Way::Client));
        let stage = Self { world, lab };
        let (seed, origin) = (stage.world.work(), stage.dir("origin.git"));
        stage.git(&seed, &["init", "-q", "-b", "main"]);
        std::fs::write(seed.join(".sops.yaml"), format!("creation_rules:\n  - age: {}\n", stage.world.recipient()))
            .expect("rules");
        stage.world.encrypted(FILE, "first: one\n", "yaml");
        stage.commit(&seed, "start");
        stage.git(&seed, &["clone", "-q", "--bare", ".", origin.to_str().expect("UTF-8")]);
        stage
    }

    /// A place beside the others, by its physical path.
    pub(crate) fn dir(&self, name: &str) -> PathBuf {
        self.world.root().canonicalize().expect("root").join(name)
    }

    /// A clone of the origin with these options.
    pub(crate) fn clone(&self, name: &str, options: &[&str]) -> PathBuf {
        let place = self.dir(name);
        // As a URL: a path would share objects, and no filter would count.
        let url = format!("file://{}", self.dir("origin.git").display());
        let args = [&["clone", "-q"], options, &[&url, place.to_str().expect("UTF-8")]].concat();
        self.git(self.world.root(), &args);
        place
    }

    /// A work tree of this repository on a new branch of this name.
    pub(crate) fn worktree(&self, of: &Path, branch: &str) -> PathBuf {
        let place = self.dir(branch);
        self.git(of, &["worktree", "add", "-q", "--no-track", "-b", branch, place.to_str().expect("UTF-8")]);
        place
    }

    pub(crate) fn git(&self, place: &Path, args: &[&str]) -> String {
        self.world.git(place, args)
    }

    pub(crate) fn commit(&self, place: &Path, message: &str) {
        self.git(place, &["add", "-A"]);
        self.git(place, &["commit", "-q", "-m", message]);
    }

    pub(crate) fn push(&self, place: &Path) {
        self.commit(place, "a change");
        self.git(place, &["push", "-q"]);
    }

    /// `locked` as this session in this checkout.
    pub(crate) fn locked(&self, session: u32, place: &Path) -> Command {
        let mut command = self.world.locked_as(session);
        command.current_dir(place);
        if let Some(lab) = &self.lab {
            let socket = lab.cluster().socket().display().to_string().replace('/', "%2F");
            let port = lab.cluster().port();
            let address = format!("postgres://worker@{socket}:{port}/postgres?locked_schema={}", lab.schema());
            command.env("LOCKED_STORE", address);
        }
        command
    }

    /// `locked OPTIONS sops set FILE KEY`.
    pub(crate) fn set_with(&self, session: u32, place: &Path, options: &[&str], key: &str) -> Command {
        let mut command = self.locked(session, place);
        command.arg("-n").args(options).args(["sops", "set", FILE, &format!("[\"{key}\"]"), "\"value\""]);
        command
    }

    pub(crate) fn set(&self, session: u32, place: &Path, key: &str) -> Command {
        self.set_with(session, place, &[], key)
    }

    /// It goes through, and this is what it says.
    #[track_caller]
    pub(crate) fn sets(&self, session: u32, place: &Path, key: &str) -> String {
        says(&mut self.set(session, place, key), 0)
    }

    /// It is refused; the command that it names.
    #[track_caller]
    pub(crate) fn refused(&self, session: u32, place: &Path) -> (String, String) {
        let said = says(&mut self.set(session, place, "REFUSED"), 74);
        assert!(said.starts_with(&format!("REFUSED: {FILE} is an older version here; ")), "{said}");
        assert_eq!(said.lines().count(), 4, "{said}");
        let next = next(&said);
        (said, next)
    }

    /// What a refusal says to run, run where it was said.
    #[track_caller]
    pub(crate) fn runs(&self, place: &Path, line: &str) {
        ends(self.world.command("sh").current_dir(place).args(["-c", line]), 0);
    }

    /// The same where the line runs `locked` as this session, and sops.
    #[track_caller]
    pub(crate) fn follows(&self, session: u32, place: &Path, line: &str) {
        ends(&mut self.line(session, place, line), 0);
    }

    /// A line of the shell that runs `locked` as this session.
    pub(crate) fn line(&self, session: u32, place: &Path, line: &str) -> Command {
        let mut shell = self.locked(session, place);
        let locked = shell.get_program().to_owned();
        shell.args(["-n", "sh", "-c", "exit 0"]);
        let line = line.replace("locked ", &format!("{} ", locked.to_string_lossy()));
        let mut command = self.world.command("sh");
        for (name, value) in shell.get_envs() {
            value.map(|value| command.env(name, value));
        }
        command.current_dir(place).args(["-c", &line]);
        command
    }

    /// The keys of the file, decrypted.
    #[track_caller]
    pub(crate) fn keys(&self, place: &Path) -> Vec<String> {
        let plain = self.world.decrypted(&place.join(FILE), "yaml");
        plain.lines().filter_map(|line| Some(line.split_once(':')?.0.to_owned())).collect()
    }

    /// The kinds of the receipts, oldest first.
    pub(crate) fn kinds(&self) -> Vec<String> {
        match &self.lab {
            None => {
                let database = self.world.database();
                let mut statement = database.prepare("select kind from receipts order by id").expect("receipts");
                let kinds = statement.query_map([], |row| row.get(0)).expect("receipts");
                kinds.collect::<Result<_, _>>().expect("receipts")
            }
            Some(lab) => {
                let rows = lab.cluster().sql(&format!("select kind from {}.receipts order by id", lab.schema()));
                rows.into_iter().flatten().collect()
            }
        }
    }

    /// Changes the newest receipt, as another machine would have written it.
    pub(crate) fn newest_is(&self, change: &str) {
        let newest = |table: &str| format!("update {table} set {change} where id = (select max(id) from {table})");
        match &self.lab {
            None => assert_eq!(self.world.database().execute(&newest("receipts"), []).expect("changed"), 1),
            Some(lab) => {
                lab.cluster().sql(&newest(&format!("{}.receipts", lab.schema())));
            }
        }
    }

    /// The newest receipt was written so much earlier.
    pub(crate) fn newest_is_older_by(&self, ms: i64) {
        self.newest_is(&match self.lab {
            None => format!("at = at - {ms}"),
            Some(_) => format!("at = at - {ms} * interval '1 millisecond'"),
        });
    }
}

/// The last line of a refusal, without its word.
#[track_caller]
pub(crate) fn next(said: &str) -> String {
    said.lines().find_map(|line| line.strip_prefix("next:  ")).unwrap_or_else(|| panic!("{said}")).to_owned()
}
