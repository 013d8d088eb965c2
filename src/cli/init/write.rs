//! Writes the file of settings where there is none.
#![forbid(unsafe_code)]

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use crate::report::Refusal;
use crate::shims;

use super::found::shown;
use super::text;

/// Why there is no file of settings afterwards.
#[derive(Debug)]
pub(super) enum Wrong {
    /// It cannot be written.
    Failed(io::Error),
    /// Something is there that nobody can read settings from: what.
    InTheWay(&'static str),
}

/// Writes the file unless there is one: never over it, not even through a link that leads nowhere. The answer is whether
/// it was written.
pub(super) fn write(file: &Path) -> Result<bool, Wrong> {
    match File::options().write(true).create_new(true).open(file) {
        Ok(mut there) => there.write_all(text::commented().as_bytes()).map(|()| true).map_err(|error| {
            // Half of it would be taken for somebody's own by the next try.
            let _it_may_stay = fs::remove_file(file);
            Wrong::Failed(error)
        }),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => match there(file) {
            None => Ok(false),
            Some(what) => Err(Wrong::InTheWay(what)),
        },
        Err(error) => Err(Wrong::Failed(error)),
    }
}

/// What stands there, if it is no file that settings can be in.
fn there(file: &Path) -> Option<&'static str> {
    match fs::metadata(file) {
        Ok(there) if there.is_file() => None,
        Ok(there) if there.is_dir() => Some("a directory"),
        Ok(_) => Some("no file"),
        Err(error) if error.kind() == ErrorKind::NotFound => Some("a link that leads nowhere"),
        Err(_) => Some("a link that cannot be followed"),
    }
}

impl Wrong {
    pub(super) fn refusal(&self, file: &Path) -> Refusal {
        let (what, why, next) = match self {
            Self::Failed(error) => {
                let directory = file.parent().map(shown).unwrap_or_default();
                let next = format!("ls -ld {directory}");
                (format!("{} cannot be written: {error}", shown(file)), "nothing else was done", next)
            }
            Self::InTheWay(what) => (
                format!("{} is {what}", shown(file)),
                "settings are read from a file of that name, so there would be none; nothing was done",
                format!("{} && locked init", shims::moved_aside(&[file.to_owned()])),
            ),
        };
        Refusal { word: "REFUSED", what, why: why.to_owned(), retry: "yes, after the next step".to_owned(), next }
    }
}
