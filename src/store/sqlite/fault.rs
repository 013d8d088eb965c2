//! What can go wrong inside, and what it is called outside.
#![forbid(unsafe_code)]

use std::io;
use std::path::Path;

use rusqlite::ErrorCode;

use crate::state::Account;
use crate::store::StoreError;

use super::damage;

/// A fault before it has a name for people.
#[derive(Debug)]
pub(super) enum Fault {
    /// SQLite said so.
    Sqlite(rusqlite::Error),
    /// The schema is from a later program.
    Newer { found: i64, known: i64 },
    /// The file has no schema any more.
    Emptied,
    /// A row cannot be understood. No text of the row goes along.
    Unreadable(&'static str),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl Fault {
    /// Others hold the file; asking again may help.
    pub(super) fn is_busy(&self) -> bool {
        matches!(self.code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
    }

    fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Sqlite(error) => error.sqlite_error_code(),
            _ => None,
        }
    }

    /// The name for people. For a damaged file this puts a copy aside, so the connection must be idle.
    pub(super) fn named(self, file: &Path, account: Account) -> StoreError {
        let why = self.why();
        match (&self, self.code()) {
            (Self::Newer { found, known }, _) => StoreError::Newer { found: *found, known: *known },
            (Self::Sqlite(rusqlite::Error::SqliteFailure(error, Some(said))), _)
                if error.extended_code == rusqlite::ffi::SQLITE_CONSTRAINT_TRIGGER =>
            {
                // The one trigger is ours, and so is its sentence.
                StoreError::Refused { why: said.clone(), remedy: "set LOCKED_STORE to that store".to_owned() }
            }
            (_, Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)) => StoreError::Contended(why),
            (_, Some(ErrorCode::DiskFull)) => StoreError::Full { path: file.to_owned() },
            (Self::Emptied, _) | (_, Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt)) => {
                damage::put_aside(file, why, account)
            }
            (_, Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied)) => place(file, why),
            (_, Some(ErrorCode::SystemIoFailure)) if no_room(file, account) => {
                StoreError::Full { path: file.to_owned() }
            }
            _ => StoreError::Failed(why),
        }
    }

    /// SQLite's sentence about its result code; never its message, which can quote a statement.
    fn why(&self) -> String {
        match self {
            Self::Sqlite(rusqlite::Error::SqliteFailure(error, _)) => {
                format!("{} (SQLite {})", rusqlite::ffi::code_to_str(error.extended_code), error.extended_code)
            }
            Self::Sqlite(rusqlite::Error::FromSqlConversionFailure(..) | rusqlite::Error::InvalidColumnType(..)) => {
                "a row cannot be read".to_owned()
            }
            Self::Sqlite(error) => format!("an unexpected answer ({})", kind(error)),
            Self::Newer { .. } => "newer schema".to_owned(),
            Self::Emptied => "it was emptied".to_owned(),
            Self::Unreadable(what) => (*what).to_owned(),
        }
    }
}

/// The name of the error's variant, without what it carries.
fn kind(error: &rusqlite::Error) -> String {
    let text = format!("{error:?}");
    text.chars().take_while(char::is_ascii_alphanumeric).collect()
}

fn place(file: &Path, why: String) -> StoreError {
    StoreError::Place {
        path: file.to_owned(),
        why,
        remedy: "make its directory writable for this user, or set LOCKED_STATE_DIR to a directory of your own on a \
                 local, writable disk"
            .to_owned(),
    }
}

/// Why did a write fail? SQLite names a full disk but not a quota or a limit on sizes. A file of the store's size plus a
/// little, sparse but for the end, meets them all.
fn no_room(file: &Path, account: Account) -> bool {
    let Some(directory) = file.parent() else { return false };
    let _as_owner = account.act();
    let size = std::fs::metadata(file).map_or(0, |metadata| metadata.len());
    let tried = tempfile::NamedTempFile::new_in(directory).and_then(|mut probe| {
        io::Seek::seek(&mut probe, io::SeekFrom::Start(size))?;
        io::Write::write_all(&mut probe, &[0; 64 * 1024])
    });
    tried.is_err_and(|error| {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
    })
}
