//! The test world: a directory of its own with its own HOME, its own state, an age key, and the real programs.

pub(crate) mod apart;
pub(crate) mod board;
pub(crate) mod cluster;
pub(crate) mod ends;
pub(crate) mod groups;
pub(crate) mod held;
pub(crate) mod next;
pub(crate) mod pooler;
pub(crate) mod processes;
pub(crate) mod relay;
pub(crate) mod ward;

use std::path::{Path, PathBuf};
use std::process::Command;

use age::secrecy::ExposeSecret as _;

/// A world: everything that a test touches lies below one temporary directory.
#[derive(Debug)]
pub(crate) struct World {
    root: tempfile::TempDir,
    recipient: String,
    /// Where the leases live, if not in the state directory.
    store: Option<String>,
}

impl World {
    /// A fresh world with an age key and an empty `home` and `work` directory.
    pub(crate) fn new() -> Self {
        Self::at(tempfile::Builder::new().prefix("locked-test-").tempdir().expect("temporary directory"))
    }

    /// The same in memory, where nothing waits for a disk; on one where this system has no such place.
    pub(crate) fn in_memory() -> Self {
        let root = tempfile::Builder::new().prefix("locked-test-").tempdir_in("/dev/shm");
        root.map_or_else(|_| Self::new(), Self::at)
    }

    /// The same below this directory.
    pub(crate) fn below(directory: &Path) -> Self {
        Self::at(tempfile::Builder::new().prefix("locked-test-").tempdir_in(directory).expect("temporary directory"))
    }

    fn at(root: tempfile::TempDir) -> Self {
        for directory in ["home", "work", "state", "tmp"] {
            std::fs::create_dir(root.path().join(directory)).expect(directory);
        }
        let identity = age::x25519::Identity::generate();
        std::fs::write(root.path().join("key.txt"), format!("{}\n", identity.to_string().expose_secret()))
            .expect("key");
        Self { root, recipient: identity.to_public().to_string(), store: None }
    }

    /// The same with its leases in a database of this name on the server.
    pub(crate) fn on_server(self, name: &str) -> Self {
        let server = cluster::shared();
        server.database(name);
        let socket = server.socket().display().to_string().replace('/', "%2F");
        let store = format!("postgres://postgres@{socket}:{}/{name}", server.port());
        Self { store: Some(store), ..self }
    }

    /// The same with its leases in the store at this address.
    pub(crate) fn with_store(self, address: String) -> Self {
        Self { store: Some(address), ..self }
    }

    /// Two worlds: one over the embedded store, and one over a database of this name.
    pub(crate) fn both(name: &str) -> [Self; 2] {
        [Self::new(), Self::new().on_server(name)]
    }

    /// The root of everything.
    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    /// Where the test works.
    pub(crate) fn work(&self) -> PathBuf {
        self.root().join("work")
    }

    /// The state directory that `locked` uses here.
    pub(crate) fn state(&self) -> PathBuf {
        self.root().join("state")
    }

    /// The file with the age identity.
    pub(crate) fn key_file(&self) -> PathBuf {
        self.root().join("key.txt")
    }

    /// The public key of that identity.
    pub(crate) fn recipient(&self) -> &str {
        &self.recipient
    }

    /// A command in this world: clean environment, own HOME, own state directory, the age key.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.work())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.root().join("home"))
            .env("TMPDIR", self.root().join("tmp"))
            .env("LOCKED_STATE_DIR", self.state())
            .env("LOCKED_SHIMS_DIR", self.root().join("shims"))
            .env("SOPS_AGE_KEY_FILE", self.key_file())
            .env("SOPS_DISABLE_VERSION_CHECK", "1")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_NAME", "t")
            .env("GIT_AUTHOR_EMAIL", "t@example.org")
            .env("GIT_COMMITTER_NAME", "t")
            .env("GIT_COMMITTER_EMAIL", "t@example.org")
            .envs(self.store.iter().map(|store| ("LOCKED_STORE", store)))
            .stdin(std::process::Stdio::null());
        command
    }

    /// The real sops in this world.
    pub(crate) fn sops(&self) -> Command {
        self.command(real_sops())
    }

    /// `locked` in this world, as built.
    pub(crate) fn locked(&self) -> Command {
        self.command(env!("CARGO_BIN_EXE_locked"))
    }

    /// Runs git in `directory`; a failure is the test's.
    pub(crate) fn git(&self, directory: &Path, args: &[&str]) -> String {
        let output = self.command("git").current_dir(directory).args(args).output().expect("git runs");
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// Writes a plaintext file below `work` and encrypts it in place for this world's key. The types are given to sops
    /// when the name alone would not say (`x.env.sops` → dotenv).
    pub(crate) fn encrypted(&self, name: &str, plaintext: &str, kind: &str) -> PathBuf {
        let path = self.work().join(name);
        std::fs::create_dir_all(path.parent().expect("parent")).expect("directory");
        std::fs::write(&path, plaintext).expect("plaintext");
        let output = self
            .sops()
            .args(["encrypt", "--age", self.recipient(), "--input-type", kind, "--output-type", kind, "-i"])
            .arg(&path)
            .output()
            .expect("sops runs");
        assert!(output.status.success(), "sops: {}", String::from_utf8_lossy(&output.stderr));
        path
    }

    /// Decrypts with the real sops; a failure is the test's.
    pub(crate) fn decrypted(&self, path: &Path, kind: &str) -> String {
        let output = self
            .sops()
            .args(["decrypt", "--input-type", kind, "--output-type", kind])
            .arg(path)
            .output()
            .expect("sops runs");
        assert!(output.status.success(), "sops decrypt {path:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    }
}

/// The real sops on PATH. Its absence is a failure, never a skipped test: `install/test` brings it.
pub(crate) fn real_sops() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|directory| directory.join("sops"))
        .find(|candidate| candidate.is_file())
        .expect("the real sops is on PATH; `install/test` installs what the tests need")
}
