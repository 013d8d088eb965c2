//! A repository with our hooks, versions of a SOPS file, and receipts for those that are to have one.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use locked::git::ObjectFormat;
use locked::terms::{Digest, percent_encode};

use crate::world::World;
use crate::world::board::uuid;
pub(crate) use crate::world::ends::{ends, says, text};

/// The scope that the origin gives.
const SCOPE: &str = "host/infra";
/// The file that most tests change.
pub(crate) const FILE: &str = "secrets/a.env";

/// Versions of one file, made once by the real sops.
#[derive(Debug)]
pub(crate) struct Versions {
    pub(crate) recipient: String,
    /// Two keys, `A` and `B`.
    pub(crate) first: Vec<u8>,
    /// `first` with another `A`.
    pub(crate) second: Vec<u8>,
    /// `first` with another `B`.
    pub(crate) other: Vec<u8>,
    /// For somebody else.
    pub(crate) foreign: Vec<u8>,
}

pub(crate) fn versions() -> &'static Versions {
    static VERSIONS: OnceLock<Versions> = OnceLock::new();
    VERSIONS.get_or_init(|| {
        let world = World::in_memory();
        let file = world.encrypted("x.env", "A=1\nM=between\nB=1\n", "dotenv");
        let read = || fs::read(&file).expect("file");
        let set = |from: &[u8], key: &str| {
            fs::write(&file, from).expect("written");
            ends(world.sops().args(["set", "x.env", &format!("[\"{key}\"]"), "\"2\""]), 0);
            read()
        };
        let first = read();
        let (second, other) = (set(&first, "A"), set(&first, "B"));
        let elsewhere = World::in_memory();
        let foreign = fs::read(elsewhere.encrypted("x.env", "A=1\n", "dotenv")).expect("file");
        Versions { recipient: world.recipient().to_owned(), first, second, other, foreign }
    })
}

/// The repository.
#[derive(Debug)]
pub(crate) struct Yard {
    pub(crate) world: World,
    root: PathBuf,
    branch: &'static str,
}

impl Yard {
    /// With hooks, [`FILE`] in its first version and with a receipt, and a plain file; committed and tagged `base`.
    pub(crate) fn new() -> Self {
        let yard = Self::without_hooks();
        ends(yard.locked().args(["hooks", "install"]), 0);
        yard
    }

    pub(crate) fn without_hooks() -> Self {
        let yard = Self::empty();
        yard.write(FILE, &versions().first);
        yard.write("plain.txt", b"plain\n");
        yard.knows(FILE, &versions().first, None);
        yard.git(&["add", "-A"]);
        yard.git(&["commit", "-qm", "base"]);
        yard.git(&["tag", "base"]);
        yard
    }

    /// Without any commit.
    pub(crate) fn empty() -> Self {
        let world = World::in_memory();
        let root = fs::canonicalize(world.work()).expect("work").join("infra");
        fs::create_dir(&root).expect("directory");
        let yard = Self { world, root, branch: "main" };
        yard.git(&["-c", "init.defaultBranch=main", "init", "-q"]);
        yard.git(&["remote", "add", "origin", "git@host:infra"]);
        let rules = format!("creation_rules:\n  - path_regex: secrets/.*\n    age: {}\n", versions().recipient);
        yard.write(".sops.yaml", rules.as_bytes());
        yard
    }

    /// In a linked work tree of a yard.
    pub(crate) fn work_tree() -> Self {
        let yard = Self::new();
        yard.git(&["worktree", "add", "-q", "-b", "tree", "../tree"]);
        Self { root: yard.beside("tree"), branch: "tree", ..yard }
    }

    /// In a yard that is the submodule of another repository.
    pub(crate) fn submodule() -> Self {
        let yard = Self::without_hooks();
        let outer = yard.beside("outer");
        let (from, to) = (yard.root.to_str().expect("UTF-8"), outer.to_str().expect("UTF-8"));
        yard.git(&["init", "-q", to]);
        let add = ["-C", to, "-c", "protocol.file.allow=always", "submodule", "add", "-q", from, "part"];
        yard.git(&add);
        let yard = Self { root: outer.join("part"), ..yard };
        yard.git(&["remote", "set-url", "origin", "git@host:infra"]);
        ends(yard.locked().args(["hooks", "install"]), 0);
        yard
    }

    /// In a clone of a yard that has no contents but those that are checked out.
    pub(crate) fn partial_clone() -> Self {
        let yard = Self::without_hooks();
        yard.git(&["config", "uploadpack.allowFilter", "true"]);
        let clone = yard.beside("clone");
        let from = format!("file://{}", yard.root.display());
        yard.git(&["clone", "-q", "-o", "up", "--filter=blob:none", &from, clone.to_str().expect("UTF-8")]);
        let yard = Self { root: clone, ..yard };
        yard.git(&["remote", "add", "origin", "git@host:infra"]);
        ends(yard.locked().args(["hooks", "install"]), 0);
        yard
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.root.parent().expect("parent").join(name)
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// As it was at `base`, whatever has been done.
    pub(crate) fn reset(&self) {
        for args in [&["checkout", "-qf", self.branch][..], &["reset", "-q", "--hard", "base"], &["clean", "-fdqx"]] {
            self.git(args);
        }
    }

    pub(crate) fn path(&self, inside: impl AsRef<OsStr>) -> PathBuf {
        self.root.join(inside.as_ref())
    }

    pub(crate) fn write(&self, inside: impl AsRef<OsStr>, content: &[u8]) {
        let path = self.path(inside);
        fs::create_dir_all(path.parent().expect("parent")).expect("directory");
        fs::write(path, content).expect("written");
    }

    /// A command here, of session 1.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = self.world.command(program);
        command.current_dir(&self.root).env("LOCKED_SESSION", uuid(1));
        command
    }

    pub(crate) fn locked(&self) -> Command {
        self.command(env!("CARGO_BIN_EXE_locked"))
    }

    /// git with these words.
    pub(crate) fn try_git<S: AsRef<OsStr>>(&self, args: &[S]) -> Output {
        self.command("git").args(args).output().expect("git runs")
    }

    /// The same, and it succeeds.
    #[track_caller]
    pub(crate) fn git<S: AsRef<OsStr> + std::fmt::Debug>(&self, args: &[S]) -> String {
        let output = self.try_git(args);
        assert!(output.status.success(), "git {args:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Runs git, and wants it to go through without a word of ours, or to be refused with these words.
    #[track_caller]
    pub(crate) fn is<S: AsRef<OsStr> + std::fmt::Debug>(&self, args: &[S], refused: Option<&str>) {
        self.judged(&format!("{args:?}"), &self.try_git(args), refused);
    }

    #[track_caller]
    pub(crate) fn judged(&self, what: &str, output: &Output, refused: Option<&str>) {
        let said = text(&output.stderr);
        match refused {
            None => assert!(output.status.success() && !said.contains("REFUSED"), "{what}: {said}"),
            Some(words) => {
                assert!(!output.status.success() && said.contains(words), "{what}, not {words:?}: {said}");
                let ours: Vec<&str> = said.lines().skip_while(|line| !line.starts_with("REFUSED: ")).take(4).collect();
                assert!(ours.len() == 4 && ours[3].starts_with("next:  "), "{what}: {said}");
            }
        }
    }

    /// A receipt for this content at this path.
    pub(crate) fn knows(&self, inside: impl AsRef<OsStr>, content: &[u8], base: Option<&[u8]>) {
        if !self.world.state().join("locked.db").exists() {
            ends(self.locked().args(["status"]), 0);
        }
        let key = percent_encode(inside.as_ref().as_bytes());
        let database = self.world.database();
        let next: i64 = database
            .query_row("select coalesce(max(token), 0) + 1 from receipts", [], |row| row.get(0))
            .expect("token");
        let made = database.execute(
            "insert into receipts (lease, scope, path, base, new, blob, host, token, holder, kind, at) \
             values (0, ?1, ?2, ?3, ?4, ?5, 'h', ?6, 'x', 'proven', ?6) on conflict do nothing",
            (
                SCOPE,
                key,
                base.map(|base| Digest::of(base).as_str().to_owned()),
                Digest::of(content).as_str(),
                ObjectFormat::Sha1.blob_id(content),
                next,
            ),
        );
        made.expect("a receipt");
    }

    /// The next commit with the same words is another one: nothing of it has a receipt, or is in a ref.
    pub(crate) fn forget(&self) {
        self.world.database().execute("delete from receipts", []).expect("deleted");
        self.knows(FILE, &versions().first, None);
    }
}
