//! zip: the directory at its end.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use super::{LONGEST_NAME, Looked, path};

/// The directory is no longer (bytes: 16 MiB).
const LONGEST_DIRECTORY: u64 = 16 << 20;

/// Looks at the members.
pub(super) fn zip(mut file: File, is_late: &dyn Fn() -> bool, found: &mut dyn FnMut(&Path) -> bool) -> Option<Looked> {
    let length = file.metadata().ok()?.len();
    let begin = length.saturating_sub(LONGEST_NAME + 22);
    file.seek(SeekFrom::Start(begin)).ok()?;
    let mut end = Vec::new();
    (&file).take(LONGEST_NAME + 22).read_to_end(&mut end).ok()?;
    let at = end.windows(4).rposition(|four| four == b"PK\x05\x06")?;
    let little = |at: usize, bytes: usize, of: &[u8]| -> Option<u64> {
        let field = of.get(at..at + bytes)?;
        Some(field.iter().rev().fold(0, |sum, &byte| sum * 256 + u64::from(byte)))
    };
    let (size, from) = (little(at + 12, 4, &end)?, little(at + 16, 4, &end)?);
    if size > LONGEST_DIRECTORY || from.checked_add(size)? > length {
        return None;
    }
    file.seek(SeekFrom::Start(from)).ok()?;
    let mut directory = Vec::new();
    file.take(size).read_to_end(&mut directory).ok()?;
    let mut rest = directory.as_slice();
    while rest.starts_with(b"PK\x01\x02") {
        if is_late() {
            return None;
        }
        let field = |at: usize| little(at, 2, rest).and_then(|length| usize::try_from(length).ok());
        let (named, extra, said) = (field(28)?, field(30)?, field(32)?);
        let name = rest.get(46..46 + named)?;
        if !name.ends_with(b"/") && found(&path(name)) {
            return Some(Looked::Found);
        }
        rest = rest.get(46 + named + extra + said..)?;
    }
    Some(Looked::Nothing)
}
