//! A real sshd of the test's own, on a free port, as a user who is not root, with keys made for it alone.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use locked::store::postgres::via::Bastion;

use crate::world::ward::{self, Ward};

/// The machine between.
#[derive(Debug)]
pub(crate) struct Gate {
    root: PathBuf,
    port: u16,
    user: String,
    /// On whose side the keys and the notes of the client are.
    client: tempfile::TempDir,
    _ward: Ward,
}

impl Gate {
    /// Starts one with these lines in its configuration besides.
    pub(crate) fn open(settings: &str) -> Self {
        let (root, client) = (ward::directory(), tempfile::tempdir().expect("directory"));
        key(&root.join("host"));
        key(&client.path().join("id"));
        std::fs::copy(client.path().join("id.pub"), root.join("authorized")).expect("copied");
        // As whom sshd runs it lets in, and nobody else.
        let user = ward::as_server("id").arg("-un").output().expect("id runs");
        let user = String::from_utf8(user.stdout).expect("UTF-8").trim().to_owned();
        let port = ward::free_port();
        let text = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nHostKey {host}\nAuthorizedKeysFile {keys}\nPidFile none\n\
             StrictModes no\nUsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n{settings}\n",
            host = root.join("host").display(),
            keys = root.join("authorized").display(),
        );
        std::fs::write(root.join("settings"), text).expect("written");
        own(&root);
        let settings = root.join("settings");
        let args = ["-D", "-e", "-f", settings.to_str().expect("UTF-8")];
        let ward = ward::start(&root, "TERM", Path::new("/usr/sbin/sshd"), &args);
        let gate = Self { root, port, user, client, _ward: ward };
        let until = Instant::now() + Duration::from_secs(60);
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < until, "sshd does not come up: {}", gate.log());
            std::thread::sleep(Duration::from_millis(10));
        }
        gate.knows(&gate.root.join("host.pub"));
        gate
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.root.join("log")).unwrap_or_default()
    }

    /// From now on the client believes that this is the machine's key.
    pub(crate) fn knows(&self, host_key: &Path) {
        let key = std::fs::read_to_string(host_key).expect("key");
        let line = format!("[127.0.0.1]:{} {key}", self.port);
        std::fs::write(self.client.path().join("known"), line).expect("written");
    }

    /// From now on the client knows nobody.
    pub(crate) fn knows_nobody(&self) {
        std::fs::write(self.client.path().join("known"), "").expect("written");
    }

    /// A key that is nobody's.
    pub(crate) fn strange_key(&self) -> PathBuf {
        let path = self.client.path().join("strange");
        if !path.exists() {
            key(&path);
        }
        path
    }

    /// The way through it, with the client's own key.
    pub(crate) fn bastion(&self) -> Bastion {
        self.bastion_at(self.port, &self.client.path().join("id"))
    }

    /// The way through what listens on this port, with this key.
    pub(crate) fn bastion_at(&self, port: u16, key: &Path) -> Bastion {
        let text = format!("ssh://{}@127.0.0.1:{port}", self.user);
        Bastion::read(&text, &self.client_with(key)).expect("a bastion")
    }

    /// How the settings name it.
    pub(crate) fn name(&self) -> String {
        format!("ssh://{}@127.0.0.1:{}", self.user, self.port)
    }

    /// A directory for PATH: its `ssh` is the client with its own key.
    pub(crate) fn on_path(&self) -> PathBuf {
        let directory = self.client.path().join("bin");
        if !directory.exists() {
            std::fs::create_dir(&directory).expect("directory");
            let client = self.client_with(&self.client.path().join("id"));
            std::os::unix::fs::symlink(client, directory.join("ssh")).expect("link");
        }
        directory
    }

    /// The real ssh with the configuration of this world instead of the tester's. It notes its process id and what it was
    /// told.
    fn client_with(&self, key: &Path) -> PathBuf {
        let directory = self.client.path();
        let path = directory.join(format!("ssh-{}", key.file_name().expect("name").display()));
        let text = format!(
            "#!/bin/sh\necho $$ >>{pids}\necho \"$@\" >>{told}\nexec {ssh} -F none -i {key} -o IdentitiesOnly=yes -o IdentityAgent=none \
             -o UserKnownHostsFile={known} -o GlobalKnownHostsFile=none -o StrictHostKeyChecking=yes \"$@\"\n",
            ssh = on_path("ssh").display(),
            pids = directory.join("pids").display(),
            told = directory.join("told").display(),
            key = key.display(),
            known = directory.join("known").display(),
        );
        std::fs::write(&path, text).expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("mode");
        path
    }

    /// Settings for the real client in which these names lead here, and no others (`ssh -F`).
    pub(crate) fn settings_of_client(&self, names: &[&str]) -> PathBuf {
        let directory = self.client.path();
        let path = directory.join("settings");
        let text = format!(
            "Host {names}\nHostName 127.0.0.1\nPort {port}\nUser {user}\nIdentityFile {key}\nIdentitiesOnly yes\n\
             IdentityAgent none\nUserKnownHostsFile {known}\nGlobalKnownHostsFile none\nStrictHostKeyChecking yes\n\
             BatchMode yes\n",
            names = names.join(" "),
            port = self.port,
            user = self.user,
            key = directory.join("id").display(),
            known = directory.join("known").display(),
        );
        std::fs::write(&path, text).expect("written");
        path
    }

    /// A directory on it where it may write.
    pub(crate) fn place(&self) -> PathBuf {
        let place = self.root.join("app");
        if !place.exists() {
            std::fs::create_dir(&place).expect("directory");
            own(&self.root);
        }
        place
    }

    /// The clients that were started so far.
    pub(crate) fn clients(&self) -> Vec<i32> {
        let pids = std::fs::read_to_string(self.client.path().join("pids")).unwrap_or_default();
        pids.lines().map(|line| line.parse().expect("a number")).collect()
    }

    /// What they were told.
    pub(crate) fn told(&self) -> String {
        std::fs::read_to_string(self.client.path().join("told")).unwrap_or_default()
    }
}

/// Whole, since our own stand-in may be on PATH before it.
fn on_path(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|directory| directory.join(name)).find(|path| path.is_file());
    found.unwrap_or_else(|| panic!("{name} is on PATH; `install/test` installs what the tests need"))
}

fn key(path: &Path) {
    let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path).output();
    let made = made.expect("ssh-keygen runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// Hands everything to whom the server runs as.
fn own(root: &Path) {
    use std::os::unix::fs::MetadataExt as _;
    let of = std::fs::metadata(root).expect("directory");
    for entry in std::fs::read_dir(root).expect("directory").flatten() {
        std::os::unix::fs::chown(entry.path(), Some(of.uid()), Some(of.gid())).expect("chown");
    }
}

/// A port where somebody listens and says nothing.
pub(crate) fn silent() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("address").port();
    (listener, port)
}
