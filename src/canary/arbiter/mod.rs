//! `arbiter`: the real sops decrypts a file to nowhere and says by its exit status whether it could. Nothing that it
//! prints is read, so no secret passes through here.
#![forbid(unsafe_code)]

#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(not(unix), path = "other.rs")]
mod platform;

pub(crate) use platform::run as run_within;

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::document::Format;
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

    fn decrypt(&self, path: &Path, format: Format) -> Ruling {
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
            .stdout(Stdio::null())
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
        let copy = tempfile::Builder::new().prefix("locked-canary-").tempfile().and_then(|mut copy| {
            copy.write_all(content)?;
            Ok(copy.into_temp_path())
        });
        match copy {
            Ok(path) => self.decrypt(&path, format),
            Err(error) => Ruling::Nothing(format!("no room for a temporary file ({})", error.kind())),
        }
    }
}

/// Absolute, so that a name like `decrypt` or `-x` is a file and nothing else.
fn rooted(path: &Path, cwd: &Path) -> PathBuf {
    cwd.join(path)
}
