//! What stands in an archive: tar, with or without gzip, and zip. Nothing is unpacked onto a disk, and what is longer than a
//! look is left.
//!
//! Sources: POSIX.1-2024 pax (ustar), tar(5) of libarchive (GNU's long names), RFC 1952 (gzip), PKWARE's APPNOTE (zip).
#![forbid(unsafe_code)]

mod gzip;
mod tar;
#[cfg(test)]
mod tests;
mod zip;

use std::fs::File;
use std::io::{BufReader, Read, Seek as _};
use std::path::{Path, PathBuf};

use self::gzip::Inflated;
use self::tar::tar;
use self::zip::zip;
use super::below::Looked;

/// A name in an archive, or what is said of it, is no longer (bytes: 64 KiB).
const LONGEST_NAME: u64 = 64 * 1024;

/// Looks at the members until one is what is looked for; directories are passed over.
pub(super) fn members(archive: &Path, is_late: &dyn Fn() -> bool, found: &mut dyn FnMut(&Path) -> bool) -> Looked {
    look(archive, is_late, found).unwrap_or(Looked::Unfinished)
}

fn look(archive: &Path, is_late: &dyn Fn() -> bool, found: &mut dyn FnMut(&Path) -> bool) -> Option<Looked> {
    let mut file = crate::platform::regular(archive).ok()?;
    let mut head = [0; 4];
    let length = file.read(&mut head).ok()?;
    file.rewind().ok()?;
    match head[..length] {
        [0x1f, 0x8b, ..] => tar(&mut Inflated::begin(BufReader::new(file), is_late)?, is_late, found),
        [b'P', b'K', 3 | 5, 4 | 6] => zip(file, is_late, found),
        _ => tar(&mut BufReader::new(file), is_late, found),
    }
}

/// Reads over so many bytes.
trait Skip: Read {
    fn skip(&mut self, bytes: u64) -> Option<()>;
}

impl Skip for BufReader<File> {
    fn skip(&mut self, bytes: u64) -> Option<()> {
        self.seek_relative(i64::try_from(bytes).ok()?).ok()
    }
}

/// A name as it stands there.
fn path(name: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(name).into_owned())
}
