//! One file of settings, as it is written.
#![forbid(unsafe_code)]

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{ConfigError, Layer};

/// Everything that a file may set.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) store: Option<Store>,
    pub(super) session: Option<Session>,
}

/// `[session]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Session {
    /// Variables that name the session.
    #[serde(default)]
    pub(super) env: Vec<String>,
}

/// `store = { … }`. No `Debug` of what it holds: an address can have a password.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Store {
    /// The address itself.
    pub(super) url: Option<String>,
    /// The variable that has it.
    pub(super) url_env: Option<String>,
    /// The SOPS file that has it.
    pub(super) url_sops: Option<InSops>,
    /// The schema of its database that has the leases.
    pub(super) schema: Option<String>,
    /// `ssh://[user@]host[:port]`: the way there.
    pub(super) via: Option<String>,
    /// Session locks of the server instead of the ledger.
    #[serde(default)]
    pub(super) advisory: bool,
    /// What the advisory store does when the server cannot be reached: `deny` or `local`.
    pub(super) on_unreachable: Option<super::OnUnreachable>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("advisory", &self.advisory).finish_non_exhaustive()
    }
}

/// A value inside a SOPS file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InSops {
    /// The file, from where the settings lie.
    pub(super) file: PathBuf,
    /// Its key at the top.
    pub(super) key: String,
}

/// No settings are longer.
const LONGEST: u64 = 1024 * 1024;

/// Reads it; none when it is not there. What came with a repository may not be a link: it would lead where its author likes.
pub(super) fn read(path: &Path, layer: Layer) -> Result<Option<File>, ConfigError> {
    let found = if layer.is_trusted() { std::fs::metadata(path) } else { std::fs::symlink_metadata(path) };
    if found.is_ok_and(|found| !found.is_file() || found.len() > LONGEST) {
        return Err(ConfigError::NoFile { path: path.to_owned() });
    }
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(source) => return Err(ConfigError::Unreadable { path: path.to_owned(), source }),
    };
    toml::from_str(&text).map(Some).map_err(|error| malformed(path, &text, &error))
}

fn malformed(path: &Path, text: &str, error: &toml::de::Error) -> ConfigError {
    let at = error.span().map_or(0, |span| span.start).min(text.len());
    let before = &text.as_bytes()[..at];
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
    ConfigError::Malformed { path: path.to_owned(), line, column, what: what(error.message()) }
}

/// What is wrong, without what stands there: serde quotes a value of the wrong type, and that may be an address.
fn what(message: &str) -> String {
    match message.split_once("invalid type: ").or(message.split_once("invalid value: ")) {
        Some((_, rest)) => {
            let expected = rest.rsplit_once(", expected ").map_or("another type", |(_, expected)| expected);
            format!("a value of the wrong type, expected {expected}")
        }
        None => message.lines().next().unwrap_or("it is no TOML").to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        let place = tempfile::tempdir().expect("place");
        let path = place.path().join("f.toml");
        std::fs::write(&path, text).expect("file");
        read(&path, Layer::User)
            .expect_err("malformed")
            .to_string()
            .rsplit_once("f.toml\", ")
            .expect("the file")
            .1
            .to_owned()
    }

    #[test]
    fn a_mistake_is_told_with_its_place_and_without_its_value() {
        let table = [
            ("store = {", "line 1, column 10: "),
            ("\nstor = 1\n", "line 2, column 1: unknown field `stor`, expected `store` or `session`"),
            ("store = { uri = \"postgres://u:hunter2@h\" }", "line 1, column 11: unknown field `uri`, expected one of"),
            ("store = \"postgres://u:hunter2@h\"", "line 1, column 9: a value of the wrong type, expected"),
            ("store = { url = 1 }", "line 1, column 17: a value of the wrong type, expected a string"),
            ("store = { advisory = \"hunter2\" }", "line 1, column 22: a value of the wrong type, expected a boolean"),
        ];
        for (text, expected) in table {
            let said = said(text);
            assert!(said.starts_with(expected), "{text}: {said}");
            assert!(!said.contains("hunter2"), "{said}");
        }
    }

    #[test]
    fn a_file_that_is_not_there_sets_nothing() {
        for path in ["/no/such/file.toml", "/dev/null/file.toml"] {
            assert!(read(Path::new(path), Layer::Repository).expect("nothing").is_none());
        }
    }

    #[test]
    fn what_is_no_file_is_not_read_and_a_repository_s_link_is_not_followed() {
        let place = tempfile::tempdir().expect("place");
        let (file, link) = (place.path().join("f.toml"), place.path().join("l.toml"));
        std::fs::write(&file, "").expect("file");
        std::os::unix::fs::symlink(&file, &link).expect("link");
        assert!(read(&link, Layer::User).expect("followed").is_some());
        let refused = |path: &Path, layer| matches!(read(path, layer), Err(ConfigError::NoFile { .. }));
        assert!(refused(&link, Layer::Repository));
        assert!(refused(Path::new("/dev/zero"), Layer::User) && refused(place.path(), Layer::User));
    }
}
