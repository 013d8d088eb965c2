//! The age identities at hand, found where sops finds them (getsops/sops `age/keysource.go`): `SOPS_AGE_KEY`,
//! `SOPS_AGE_KEY_FILE`, the user's `sops/age/keys.txt`, SSH keys. What sops would run or ask for is only noted: a
//! command in `SOPS_AGE_KEY_CMD` may prompt, and the arbiter runs it anyway.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use age::secrecy::{ExposeSecret as _, SecretString};

/// No key file is larger (bytes).
const FILE_CAP: u64 = 1024 * 1024;

/// Variables with which sops may reach keys that are not read here.
const ELSEWHERE: [&str; 3] = ["SOPS_AGE_KEY_CMD", "SOPS_AGE_SSH_PRIVATE_KEY_CMD", "SOPS_KEYSERVICE"];

/// Which kinds of identity are worth looking for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::canary) struct Wanted {
    /// `AGE-SECRET-KEY-1…`
    pub(in crate::canary) native: bool,
    /// SSH keys.
    pub(in crate::canary) ssh: bool,
}

/// The identities at hand. It has no `Debug`: nothing of it may be shown.
pub(in crate::canary) struct Keyring {
    identities: Vec<Box<dyn age::Identity>>,
    complete: bool,
}

impl Keyring {
    /// Looks in all places; `env` and `cwd` are the command's.
    pub(in crate::canary) fn gather(env: &[(OsString, OsString)], cwd: &Path, wanted: Wanted) -> Self {
        let mut keyring = Self { identities: Vec::new(), complete: true };
        let get = |name: &str| env.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_os_str());
        keyring.complete = ELSEWHERE.iter().all(|name| get(name).is_none());
        if wanted.native {
            keyring.gather_native(get, cwd);
        }
        if wanted.ssh {
            keyring.gather_ssh(get, cwd);
        }
        keyring
    }

    /// All identities that sops would try could be read: only then "none opens it" is certain.
    pub(in crate::canary) fn is_complete(&self) -> bool {
        self.complete
    }

    pub(in crate::canary) fn identities(&self) -> impl Iterator<Item = &dyn age::Identity> {
        self.identities.iter().map(AsRef::as_ref)
    }

    fn gather_native<'e>(&mut self, get: impl Fn(&str) -> Option<&'e OsStr>, cwd: &Path) {
        if let Some(text) = get("SOPS_AGE_KEY").and_then(OsStr::to_str) {
            self.add_lines(&SecretString::from(text.to_owned()));
        }
        for path in native_files(get, cwd) {
            if let Some(text) = read(&path) {
                self.add_lines(&text);
            }
        }
    }

    /// One identity per line; a line of another kind (plugin, post-quantum, an encrypted file) is one that we lack.
    fn add_lines(&mut self, text: &SecretString) {
        for line in
            text.expose_secret().lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
        {
            match line.parse::<age::x25519::Identity>() {
                Ok(identity) => self.identities.push(Box::new(identity)),
                Err(_) => self.complete = false,
            }
        }
    }

    fn gather_ssh<'e>(&mut self, get: impl Fn(&str) -> Option<&'e OsStr>, cwd: &Path) {
        let home = get("HOME").map(|home| cwd.join(home).join(".ssh"));
        let files = [
            get("SOPS_AGE_SSH_PRIVATE_KEY_FILE").map(|path| cwd.join(path)),
            home.as_ref().map(|ssh| ssh.join("id_ed25519")),
            home.as_ref().map(|ssh| ssh.join("id_rsa")),
        ];
        for path in files.into_iter().flatten() {
            let Some(text) = read(&path) else { continue };
            match age::ssh::Identity::from_buffer(text.expose_secret().as_bytes(), None) {
                Ok(identity @ age::ssh::Identity::Unencrypted(_)) => self.identities.push(Box::new(identity)),
                // Behind a passphrase, or of a kind that we cannot use: sops may.
                Ok(_) | Err(_) => self.complete = false,
            }
        }
    }
}

/// The files that may have native identities.
pub(in crate::canary) fn key_files(env: &[(OsString, OsString)], cwd: &Path) -> Vec<PathBuf> {
    native_files(|name| env.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_os_str()), cwd)
}

fn native_files<'e>(get: impl Fn(&str) -> Option<&'e OsStr>, cwd: &Path) -> Vec<PathBuf> {
    let named = get("SOPS_AGE_KEY_FILE").map(|path| cwd.join(path));
    named.into_iter().chain(user_keys(&get)).collect()
}

/// The user's own key file.
fn user_keys<'e>(get: &impl Fn(&str) -> Option<&'e OsStr>) -> Option<PathBuf> {
    config_directory(get).map(|directory| directory.join("sops").join("age").join("keys.txt"))
}

/// As Go's `os.UserConfigDir`, which sops asks; on macOS sops itself looks at `XDG_CONFIG_HOME` first.
fn config_directory<'e>(get: &impl Fn(&str) -> Option<&'e OsStr>) -> Option<PathBuf> {
    let set = |name: &str| get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if cfg!(windows) {
        return set("AppData").or_else(|| set("APPDATA"));
    }
    let below_home = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".config" };
    set("XDG_CONFIG_HOME").filter(|path| path.is_absolute()).or_else(|| set("HOME").map(|home| home.join(below_home)))
}

/// A key file's text, wiped when it is dropped; none when there is no such file.
fn read(path: &Path) -> Option<SecretString> {
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    // Room enough from the start, so that growing leaves no copy behind.
    let mut text = String::with_capacity(FILE_CAP.min(64 * 1024) as usize);
    std::fs::File::open(path).ok()?.take(FILE_CAP).read_to_string(&mut text).ok()?;
    Some(SecretString::from(text))
}
