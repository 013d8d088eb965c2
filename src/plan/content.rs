//! What stands in files that zones ask about. Never longer than a megabyte of each, and never what is no regular file.
#![forbid(unsafe_code)]

use std::collections::VecDeque;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use super::World;
use crate::rules::{Deed, STDIN, bare_sql, included};

/// So much is read of a file.
const LONGEST: u64 = 1 << 20;
/// So many files with SQL are read for one line.
const MOST_FILES: usize = 64;

/// What stands in a file.
pub(super) enum Content {
    /// There is none, or it is empty by its kind (a pipe, a directory).
    Missing,
    /// There is something, and it cannot be read.
    Unseen,
    /// This.
    Text {
        /// The beginning.
        text: Vec<u8>,
        /// All of it.
        whole: bool,
    },
}

/// Reads a file.
pub(super) fn of(path: &Path) -> Content {
    match std::fs::metadata(path) {
        Ok(found) if !found.is_file() => return Content::Missing,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Content::Missing;
        }
        _ => {}
    }
    let mut text = Vec::new();
    match crate::platform::regular(path).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut text)) {
        Ok(length) => Content::Text { whole: length as u64 <= LONGEST, text },
        Err(_) => Content::Unseen,
    }
}

/// The SQL in the files of a line.
#[derive(Default)]
pub(super) struct Told {
    /// Without what only looks like SQL.
    pub(super) texts: Vec<Vec<u8>>,
    /// There is more than was read.
    pub(super) cut_short: bool,
}

/// Reads the SQL that commands are handed in files of this machine, and what these include. Standard input crosses to
/// other hosts and into containers, the name of a file does not.
pub(super) fn told(deeds: &[Deed], world: &World<'_>) -> Told {
    let mut told = Told::default();
    let mut seen: Vec<PathBuf> = Vec::new();
    for deed in deeds {
        let here = deed.host.is_none() && !deed.inside;
        let input = deed.sql.input.iter().filter_map(|file| as_it_is(file, world));
        let own = deed.sql.files.iter().filter(|_| here).filter_map(|file| as_it_is(file, world));
        let mut ahead: VecDeque<PathBuf> = input.chain(own).collect();
        while let Some(file) = ahead.pop_front().filter(|_| !told.cut_short) {
            if seen.contains(&file) {
                continue;
            }
            told.cut_short |= seen.len() >= MOST_FILES;
            if let Content::Text { text, whole } = of(&file) {
                told.cut_short |= !whole;
                let more = included(&text).into_iter().filter(|_| here);
                ahead.extend(more.map(|(name, relative)| {
                    let around = file.parent().filter(|_| relative).unwrap_or(&deed.cwd);
                    around.join(String::from_utf8_lossy(&name).as_ref())
                }));
                told.texts.push(bare_sql(&text));
            }
            seen.push(file);
        }
    }
    told
}

fn as_it_is(file: &Path, world: &World<'_>) -> Option<PathBuf> {
    if file.as_os_str() == STDIN { world.stdin.clone() } else { Some(file.to_owned()) }
}
