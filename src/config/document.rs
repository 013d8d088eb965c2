//! One file of settings as text, opened so that nothing about it can hold us up or lead us elsewhere.
#![forbid(unsafe_code)]

use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::terms::Digest;

use super::{ConfigError, Layer};

/// No settings are longer (1 MiB).
const LONGEST: u64 = 1024 * 1024;

/// Nor those that came with a repository (128 KiB): whoever checked it out pays for its reading.
const LONGEST_OF_REPOSITORY: u64 = 128 * 1024;

/// How long a file of this layer may be, in bytes.
pub(super) fn longest(layer: Layer) -> u64 {
    if layer == Layer::Repository { LONGEST_OF_REPOSITORY } else { LONGEST }
}

/// The text of a file.
#[derive(Clone)]
pub struct Document {
    /// Where it is.
    pub path: PathBuf,
    /// Whose it is.
    pub layer: Layer,
    /// What stands in it. An address in it can have a password: never shown.
    pub(super) text: String,
}

impl std::fmt::Debug for Document {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Document").field("path", &self.path).field("layer", &self.layer).finish_non_exhaustive()
    }
}

impl Document {
    /// Reads it; none when it is not there. What came with a repository may not be a link: it would lead where its author
    /// likes. A FIFO is opened without waiting for who writes into it, and then refused.
    pub(super) fn read(path: &Path, layer: Layer) -> Result<Option<Self>, ConfigError> {
        let longest = longest(layer);
        let no_file = || ConfigError::NoFile { path: path.to_owned(), longest };
        let unreadable = |source| ConfigError::Unreadable { path: path.to_owned(), source };
        // What is no file is not even opened: somebody may wait for that.
        if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            return Err(no_file());
        }
        let file = match open(path, layer) {
            Ok(file) => file,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(if path.is_symlink() { no_file() } else { unreadable(error) }),
        };
        let found = file.metadata().map_err(unreadable)?;
        if !found.is_file() || found.len() > longest {
            return Err(no_file());
        }
        let mut bytes = Vec::new();
        // One that grows while it is read is no settings either.
        file.take(longest + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 > longest {
            return Err(no_file());
        }
        Self::of(path, layer, bytes).map(Some)
    }

    /// The document of these bytes.
    pub(super) fn of(path: &Path, layer: Layer, bytes: Vec<u8>) -> Result<Self, ConfigError> {
        let document = |text| Self { path: path.to_owned(), layer, text };
        String::from_utf8(bytes).map(document).map_err(|error| {
            let good = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(&error.as_bytes()[..good]).into_owned();
            document(text).wrong(good..good, "it is not UTF-8")
        })
    }

    /// What `locked config trust` vouches for: the content, with the line ends of LF.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(self.text.as_bytes())
    }

    /// Something is wrong there.
    pub(super) fn wrong(&self, at: Range<usize>, what: impl Into<String>) -> ConfigError {
        let (line, column) = self.place(at.start);
        ConfigError::Malformed { path: self.path.clone(), line, column, what: what.into() }
    }

    /// Line and column of a byte, both counted from one, the column in characters.
    fn place(&self, at: usize) -> (usize, usize) {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        (self.lines().of(at), String::from_utf8_lossy(&before[start..]).chars().count() + 1)
    }

    /// Where its lines begin, for who asks for many.
    pub(super) fn lines(&self) -> Lines {
        Lines(self.text.match_indices('\n').map(|(at, _)| at).collect())
    }
}

/// Where the lines of a document end.
pub(super) struct Lines(Vec<usize>);

impl Lines {
    /// The line of a byte, counted from one.
    pub(super) fn of(&self, at: usize) -> usize {
        self.0.partition_point(|&end| end < at) + 1
    }
}

fn open(path: &Path, layer: Layer) -> io::Result<std::fs::File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let no_links = if layer == Layer::Repository { libc::O_NOFOLLOW } else { 0 };
        options.custom_flags(libc::O_NONBLOCK | no_links);
    }
    #[cfg(not(unix))]
    if layer == Layer::Repository && path.is_symlink() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_there_sets_nothing() {
        for path in ["/no/such/file.toml", "/dev/null/file.toml"] {
            assert!(Document::read(Path::new(path), Layer::Repository).expect("nothing").is_none());
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_not_read_and_a_repository_s_link_is_not_followed() {
        let place = tempfile::tempdir().expect("place");
        let at = |name: &str| place.path().join(name);
        std::fs::write(at("f.toml"), "").expect("file");
        for (to, name) in [("f.toml", "link"), ("nowhere", "dangling"), ("circle", "circle")] {
            std::os::unix::fs::symlink(at(to), at(name)).expect("link");
        }
        let fifo = std::process::Command::new("mkfifo").arg(at("fifo")).status().expect("mkfifo");
        assert!(fifo.success());
        std::fs::File::create(at("huge")).expect("file").set_len(LONGEST + 1).expect("long");
        let refused = |path: &Path, layer| matches!(Document::read(path, layer), Err(ConfigError::NoFile { .. }));
        assert!(Document::read(&at("link"), Layer::User).expect("followed").is_some());
        for name in ["link", "dangling", "circle", "fifo", "huge", ""] {
            assert!(refused(&at(name), Layer::Repository), "{name}");
        }
        for path in [Path::new("/dev/zero"), place.path(), &at("fifo"), &at("huge")] {
            assert!(refused(path, Layer::User), "{path:?}");
        }
    }

    #[test]
    fn a_place_is_told_in_characters() {
        let document = |bytes: &[u8]| Document::of(Path::new("f"), Layer::User, bytes.to_vec());
        let one = document("a\n\u{e9}\u{e9}x".as_bytes()).expect("text");
        assert_eq!(one.place(one.text.find('x').expect("x")), (2, 3));
        assert_eq!(one.place(1000), (2, 4));
        let error = document(b"a = 1\nb = \"\xff\"").expect_err("not UTF-8").to_string();
        assert_eq!(error, "\"f\", line 2, column 6: it is not UTF-8");
    }
}
