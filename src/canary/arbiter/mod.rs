//! `arbiter`: the real sops decrypts a file to nowhere and says by its exit status whether it could. What it prints is read
//! in one place alone, where two versions are compared by their values: it stays in memory, and only hashes are kept of it.
#![forbid(unsafe_code)]

#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod platform;

pub(crate) use platform::run as run_within;

use std::ffi::OsStr;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::document::{self, Document, Format};
use super::{Arbiter, Fault, Verdict};

/// What `sops decrypt` answered.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Ruling {
    /// It ended with this status.
    Code(i32),
    /// It gave no answer: why.
    Nothing(String),
}

/// The status with which sops says that no key at hand opens the file.
const NO_KEY: i32 = 128;

impl Arbiter {
    /// Decrypts the file; when that fails, decrypts what it was before too, so that the command is not blamed for what
    /// was so already (no key here; a sops that refuses old files, getsops/sops#2256).
    pub(super) fn judge(&self, path: &Path, format: Format, before: Option<(&[u8], Format)>) -> Verdict {
        let rc = match self.decrypt(path, format) {
            Ruling::Code(0) => return Verdict::Sound,
            Ruling::Nothing(why) => return Verdict::Unverified(why),
            Ruling::Code(rc) => rc,
        };
        let was = before.map(|(content, format)| self.decrypt_copy(content, format));
        match (rc, was) {
            (NO_KEY, Some(Ruling::Code(0))) => Verdict::Bad(Fault::LockedOut),
            (NO_KEY, _) => Verdict::Unverified("no key that opens it is at hand here".into()),
            (rc, Some(Ruling::Code(same))) if same == rc => {
                Verdict::Unverified(format!("this sops could not decrypt it before the command either (exit {rc})"))
            }
            (rc, _) => Verdict::Bad(Fault::Undecryptable { rc }),
        }
    }

    /// What a content decrypts to, as far as names and hashes of values go; none where it cannot be decrypted.
    pub(super) fn opened(&self, content: &[u8], format: Format) -> Option<Document> {
        let copy = copy_of(content).ok()?;
        let (mut reader, writer) = std::io::pipe().ok()?;
        // Order: the child's end falls with its command, so that the reader comes to an end.
        let read = std::thread::spawn(move || {
            let mut plain = Vec::new();
            reader.read_to_end(&mut plain).map(|_| plain)
        });
        let ruling = self.decrypt_to(&copy, format, writer.into());
        // Our caller may fork next, which it may only while there is one thread.
        let plain = read.join().ok()?.ok()?;
        (ruling == Ruling::Code(0)).then(|| document::read_as(&plain, format).ok()).flatten()
    }

    fn decrypt(&self, path: &Path, format: Format) -> Ruling {
        self.decrypt_to(path, format, Stdio::null())
    }

    fn decrypt_to(&self, path: &Path, format: Format, stdout: Stdio) -> Ruling {
        let Some(sops) = &self.sops else { return Ruling::Nothing("the real sops was not found".into()) };
        let config = match platform::empty_file() {
            Ok(config) => config,
            Err(error) => return Ruling::Nothing(format!("no room for a temporary file ({})", error.kind())),
        };
        let mut command = Command::new(sops);
        command
            .arg("--config")
            .arg(AsRef::<OsStr>::as_ref(&config))
            .args(["decrypt", "--input-type", format.as_type(), "--output-type", format.as_type()])
            .arg(rooted(path, &self.cwd))
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.cwd)
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(Stdio::null());
        match platform::run(&mut command, self.timeout) {
            Ok(Some(status)) => match status.code() {
                Some(code) => Ruling::Code(code),
                None => Ruling::Nothing("sops was killed while it decrypted the file".into()),
            },
            Ok(None) => Ruling::Nothing(format!("sops took longer than {:?} to decrypt it", self.timeout)),
            Err(error) => Ruling::Nothing(format!("sops could not be run ({})", error.kind())),
        }
    }

    /// The same for a content that is in no file any more: only ciphertext is ever copied, readable by us alone.
    fn decrypt_copy(&self, content: &[u8], format: Format) -> Ruling {
        match copy_of(content) {
            Ok(path) => self.decrypt(&path, format),
            Err(error) => Ruling::Nothing(format!("no room for a temporary file ({})", error.kind())),
        }
    }
}

fn copy_of(content: &[u8]) -> std::io::Result<tempfile::TempPath> {
    let mut copy = tempfile::Builder::new().prefix("locked-canary-").tempfile()?;
    copy.write_all(content)?;
    Ok(copy.into_temp_path())
}

/// Absolute, so that a name like `decrypt` or `-x` is a file and nothing else.
fn rooted(path: &Path, cwd: &Path) -> PathBuf {
    cwd.join(path)
}
