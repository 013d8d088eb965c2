//! A file of somebody else's: read, and written in one step. A link stays a link, and the mode stays.
#![forbid(unsafe_code)]

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use super::AgentsError;
use crate::platform;

/// A file, as it was read.
pub(super) struct Kept {
    /// As it was named.
    pub(super) path: PathBuf,
    /// Where it is, over its links.
    real: PathBuf,
    /// What is in it; none where there is no file.
    pub(super) text: Option<String>,
}

impl Kept {
    /// Reads it.
    pub(super) fn read(path: &Path) -> Result<Self, AgentsError> {
        let real = match fs::canonicalize(path) {
            Ok(real) => real,
            Err(_) if fs::symlink_metadata(path).is_ok() => {
                return Err(AgentsError::Dangling { path: path.to_owned() });
            }
            Err(error) if error.kind() == ErrorKind::NotFound => path.to_owned(),
            Err(error) => return Err(AgentsError::io(path)(error)),
        };
        let text = content(&real)?
            .map(|content| String::from_utf8(content).map_err(|_| AgentsError::NotText { path: path.to_owned() }));
        Ok(Self { path: path.to_owned(), real, text: text.transpose()? })
    }

    /// Writes this in its place; none takes it away. What somebody else has written meanwhile is left alone.
    pub(super) fn write(&self, text: Option<&str>) -> Result<(), AgentsError> {
        let directory = self.real.parent().unwrap_or(Path::new("/"));
        let io = || AgentsError::io(&self.path);
        if text.is_some() {
            fs::create_dir_all(directory).map_err(io())?;
        }
        // Two at once would each write without the other's.
        let _alone = platform::alone_in(directory).map_err(io())?;
        if content(&self.real)?.as_deref() != self.text.as_ref().map(String::as_bytes) {
            return Err(AgentsError::Changed { path: self.path.clone() });
        }
        let Some(text) = text else { return fs::remove_file(&self.real).map_err(io()) };
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let mut draft = builder.prefix(".locked-").tempfile_in(directory).map_err(io())?;
        if let Ok(found) = fs::metadata(&self.real) {
            draft.as_file().set_permissions(found.permissions()).map_err(io())?;
        }
        draft.write_all(text.as_bytes()).and_then(|()| draft.as_file().sync_all()).map_err(io())?;
        draft.persist(&self.real).map(drop).map_err(|error| io()(error.error))
    }
}

fn content(path: &Path) -> Result<Option<Vec<u8>>, AgentsError> {
    match fs::read(path) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(AgentsError::io(path)(error)),
    }
}
