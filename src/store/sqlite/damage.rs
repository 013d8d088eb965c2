//! A damaged file: a copy is put aside, the file itself is left as it is.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::state::{Account, open_existing};
use crate::store::StoreError;

/// So many different damages keep a copy each.
const MOST_COPIES: u32 = 100;

/// Puts a copy of the damaged file beside it as `<name>.corrupt-<n>` (0600), once per distinct content, and says so.
pub(super) fn put_aside(file: &Path, why: String, account: Account) -> StoreError {
    let _as_owner = account.act();
    match copy_once(file, account) {
        Ok(copy) => StoreError::Corrupt { path: file.to_owned(), why, copy },
        Err(error) if error.kind() == io::ErrorKind::StorageFull => StoreError::Full { path: file.to_owned() },
        Err(error) => StoreError::Failed(format!("it is damaged ({why}), and no copy could be put aside: {error}")),
    }
}

/// The copy with this content: an earlier one, or a new one under the first free number. A name is only ever linked to
/// a whole copy, so that parallel processes agree on one.
fn copy_once(file: &Path, account: Account) -> io::Result<PathBuf> {
    let directory = file.parent().unwrap_or(Path::new("/"));
    let mut whole = tempfile::Builder::new().prefix(".copy-").tempfile_in(directory)?;
    io::copy(&mut open(file, account)?, &mut whole)?;
    whole.as_file().sync_all()?;
    for number in 1..=MOST_COPIES {
        let mut name = file.as_os_str().to_owned();
        name.push(format!(".corrupt-{number}"));
        let copy = PathBuf::from(name);
        match std::fs::hard_link(whole.path(), &copy) {
            Ok(()) => return Ok(copy),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if same_content(open(&copy, account)?, File::open(whole.path())?)? {
                    return Ok(copy);
                }
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other(format!("there are {MOST_COPIES} copies already")))
}

/// In another's directory no link is followed: the copy must not show what only root may read.
fn open(file: &Path, account: Account) -> io::Result<File> {
    if account.is_foreign() { open_existing(file) } else { File::open(file) }
}

fn same_content(mut one: File, mut other: File) -> io::Result<bool> {
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let (mut left, mut right) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    loop {
        let read = one.read(&mut left)?;
        if read == 0 {
            return Ok(true);
        }
        other.read_exact(&mut right[..read])?;
        if left[..read] != right[..read] {
            return Ok(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_copy_per_distinct_damage_and_none_is_overwritten() {
        let directory = tempfile::tempdir().expect("directory");
        let file = directory.path().join("locked.db");
        let put = |content: &str| {
            std::fs::write(&file, content).expect("damage");
            copy_once(&file, Account::ours()).expect("copy")
        };
        let first = put("one");
        assert_eq!(put("one"), first, "the same damage twice");
        let second = put("two");
        assert_ne!(second, first);
        assert_eq!(std::fs::read_to_string(&first).expect("first"), "one");
        assert_eq!(std::fs::read_to_string(&second).expect("second"), "two");
        assert_eq!(std::fs::read_to_string(&file).expect("original"), "two", "the file itself is left alone");
        assert_eq!(std::fs::read_dir(directory.path()).expect("list").count(), 3, "no leftovers");
    }
}
