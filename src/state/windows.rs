//! Windows: rights are lists, and a lock is on a byte far behind the end of the file, so that the file can still be read.
#![allow(unsafe_code, reason = "calls of the system; each block says why it is sound")]

mod rights;

use std::ffi::OsString;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::io::AsRawHandle as _;
use std::path::{Component, Path, PathBuf, Prefix};
use std::time::{Duration, Instant, SystemTime};

use windows_sys::Win32::Foundation::{ERROR_IO_PENDING, ERROR_LOCK_VIOLATION};
use windows_sys::Win32::Storage::FileSystem::{
    GetDriveTypeW, GetVolumeInformationW, LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY, LockFileEx,
};
use windows_sys::Win32::System::IO::OVERLAPPED;

use crate::platform::{self, not_followed, wide};

/// `DRIVE_REMOTE` (fileapi.h).
const REMOTE: u32 = 4;
/// So long somebody may take to see that a file of his is gone, and close it.
const LETS_GO_WITHIN: Duration = Duration::from_secs(5);
/// `FILE_READ_ONLY_VOLUME` (winnt.h).
const READ_ONLY: u32 = 0x0008_0000;

/// Where the state directory is below the directory of a user's own data of this machine.
pub(super) const IN_HOME: &str = "locked";

/// What to do about a directory that others may write in.
pub(super) const CLOSE: &str = "take that away in its security settings (icacls shows them)";

/// The user as whom we run: the system has no other way to work for somebody else than to be him.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Account;

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this user")
    }
}

impl Account {
    pub(crate) fn ours() -> Self {
        Self
    }

    pub(crate) fn served(_env: &dyn Fn(&str) -> Option<OsString>) -> Self {
        Self
    }

    /// Whether others may write is looked at by [`look`]; who has made it does not matter then.
    pub(crate) fn owner(_metadata: &std::fs::Metadata) -> Self {
        Self
    }

    pub(super) fn is_root(self) -> bool {
        false
    }

    pub(super) fn same_user(self, _other: Self) -> bool {
        true
    }

    /// There is no user database to ask.
    pub(crate) fn name(self) -> Option<String> {
        None
    }

    pub(crate) fn home(self) -> Option<PathBuf> {
        std::env::home_dir()
    }

    /// Where data of this user lies that stays on this machine.
    pub(crate) fn data_home(self, env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let named = env("LOCALAPPDATA").map(PathBuf::from).filter(|path| path.is_absolute());
        named.or_else(|| Some(self.home()?.join("AppData").join("Local")))
    }

    pub(crate) fn is_foreign(self) -> bool {
        false
    }

    pub(crate) fn act(self) -> Acting {
        Acting
    }
}

/// Nothing to undo.
#[must_use]
pub(crate) struct Acting;

impl Drop for Acting {
    /// It is a guard, as on Unix: who drops it early means it.
    fn drop(&mut self) {}
}

/// What a directory says of itself.
pub(super) struct Seen {
    pub(super) metadata: std::fs::Metadata,
    pub(super) writable_by_others: bool,
    pub(super) network: Option<&'static str>,
    pub(super) read_only: bool,
    pub(super) made_up: bool,
}

pub(super) fn look(path: &Path) -> io::Result<Seen> {
    let metadata = std::fs::symlink_metadata(path)?;
    if metadata.is_symlink() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    let writable_by_others = rights::writable_by_others(path)?;
    let (network, read_only) = volume(path);
    Ok(Seen { metadata, writable_by_others, network, read_only, made_up: false })
}

/// Whether the volume is another machine's, and whether nothing can be written there.
fn volume(path: &Path) -> (Option<&'static str>, bool) {
    let Some(Component::Prefix(prefix)) = path.components().next() else { return (None, false) };
    if matches!(prefix.kind(), Prefix::UNC(..) | Prefix::VerbatimUNC(..)) {
        return (Some("a network share"), false);
    }
    let mut root = prefix.as_os_str().to_owned();
    root.push("\\");
    let root = wide(&root);
    let mut flags = 0;
    // SAFETY: the name ends with a zero and lives through both calls; what is not asked for is null.
    let (kind, _told) = unsafe {
        let null = std::ptr::null_mut();
        let told = GetVolumeInformationW(root.as_ptr(), null, 0, null.cast(), null.cast(), &raw mut flags, null, 0);
        (GetDriveTypeW(root.as_ptr()), told)
    };
    ((kind == REMOTE).then_some("a network share"), flags & READ_ONLY != 0)
}

/// Learnt when something is made.
pub(super) fn may_make_in(_directory: &Path) -> io::Result<()> {
    Ok(())
}

/// Makes one directory or a chain of them, each for this user alone (and for the system and its administrators, who have
/// every right anyway), and so is what is made in it.
pub(super) fn make_directories(path: &Path) -> io::Result<()> {
    let made = match (rights::make_private(path), path.parent()) {
        (Err(error), Some(parent)) if error.kind() == io::ErrorKind::NotFound => {
            make_directories(parent)?;
            rights::make_private(path)
        }
        (made, _) => made,
    };
    match made {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        made => made,
    }
}

pub(super) fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).open(path)
}

/// Opens an existing file without making it or following a link.
pub(crate) fn open_existing(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    not_followed(options.read(true)).open(path)
}

/// Volume and number.
pub(super) fn identity(file: &File) -> io::Result<(u64, u64)> {
    platform::about_open(file).map(|about| (about.device, about.inode))
}

/// The same of what has been looked at only.
pub(super) fn identity_at(path: &Path, metadata: &std::fs::Metadata) -> io::Result<(u64, u64)> {
    platform::about(path, metadata).map(|about| (about.device, about.inode))
}

/// Whether the path leads to this very file still, which has something in it: no other was put in its place, and nobody has
/// taken it away. The file itself is not asked: under Wine one that was renamed while it was open does not say any more which
/// it is.
pub(super) fn leads_to(path: &Path, _file: &File, identity: (u64, u64)) -> bool {
    let found = open_existing(path).and_then(|found| Ok((self::identity(&found)?, found.metadata()?.len())));
    found.is_ok_and(|(found, length)| found == identity && length > 0)
}

/// Takes a file away. Where the system keeps the name of one that somebody has open, he sees that it is empty.
pub(super) fn take_away(path: &Path) -> io::Result<()> {
    // It may be gone, or not ours to write: then the removal says so.
    let _emptied = not_followed(OpenOptions::new().write(true)).open(path).and_then(|file| file.set_len(0));
    std::fs::remove_file(path)
}

/// Puts a file of ours in the place of whatever is there. Where the system keeps the name of a file that somebody has open,
/// it is taken away, which he sees, and waited for.
pub(super) fn put_in_place(draft: &Path, path: &Path) -> io::Result<()> {
    let deadline = Instant::now() + LETS_GO_WITHIN;
    loop {
        match std::fs::rename(draft, path) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && Instant::now() < deadline => {
                let _it_may_be_gone = take_away(path);
                rest();
            }
            other => return other,
        }
    }
}

/// Whoever watches the file is told: it was changed now.
pub(super) fn touch(path: &Path) -> io::Result<()> {
    not_followed(OpenOptions::new().write(true)).open(path)?.set_modified(now())
}

#[expect(clippy::disallowed_methods, reason = "nobody tells that a file was closed")]
fn rest() {
    std::thread::sleep(Duration::from_millis(20));
}

#[expect(clippy::disallowed_methods, reason = "the moment is not looked at: what counts is that it is another one")]
fn now() -> SystemTime {
    SystemTime::now()
}

/// Tries for a lock on this open file. It falls when the handle is closed, and so when its process is gone.
pub(super) fn try_lock(file: &File) -> io::Result<bool> {
    // SAFETY: all-zero is a valid value of this struct.
    let mut far: OVERLAPPED = unsafe { std::mem::zeroed() };
    // Locks here keep others from reading what is locked, so it is a byte that no file has.
    far.Anonymous.Anonymous.OffsetHigh = 0x7FFF_FFFF;
    let flags = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
    // SAFETY: the handle is open, and `far` lives through the call, which does not wait.
    if unsafe { LockFileEx(file.as_raw_handle(), flags, 0, 1, 0, &raw mut far) } != 0 {
        return Ok(true);
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error().map(i32::cast_unsigned) {
        Some(ERROR_LOCK_VIOLATION | ERROR_IO_PENDING) => Ok(false),
        _ => Err(error),
    }
}

/// Every process of the machine can be listed.
pub(super) const OUTERMOST: u64 = u64::MAX;

pub(super) fn pid_namespace() -> u64 {
    OUTERMOST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locked_file_can_be_read_and_not_locked_again() {
        let place = tempfile::tempdir().expect("place");
        let path = place.path().join("live");
        std::fs::write(&path, "text").expect("file");
        let (one, other) = (open_existing(&path).expect("one"), open_existing(&path).expect("other"));
        assert!(try_lock(&one).expect("free"));
        assert!(!try_lock(&other).expect("held"));
        assert_eq!(std::fs::read_to_string(&path).expect("readable"), "text");
        drop(one);
        assert!(try_lock(&other).expect("free again"));
    }

    #[test]
    fn a_file_that_was_put_in_its_place_is_the_same_until_another_is() {
        let place = tempfile::tempdir().expect("place");
        let (draft, path) = (place.path().join("draft"), place.path().join("post"));
        let drafted = || {
            std::fs::write(&draft, "1").expect("made");
            let file = open_existing(&draft).expect("open");
            let which = identity(&file).expect("which");
            (file, which)
        };
        let (file, first) = drafted();
        assert!(try_lock(&file).expect("free"));
        put_in_place(&draft, &path).expect("put");
        assert!(leads_to(&path, &file, first));
        let (other, second) = drafted();
        std::thread::scope(|scope| {
            // Where its name stays for as long as it is open, whoever has it open lets go when he sees that it is not his.
            scope.spawn(|| {
                while leads_to(&path, &file, first) {
                    rest();
                }
                drop(file);
            });
            put_in_place(&draft, &path).expect("put");
        });
        assert!(leads_to(&path, &other, second) && first != second);
        let _its_name_may_stay = take_away(&path);
        assert!(!leads_to(&path, &other, second));
    }

    #[test]
    fn what_we_make_is_ours_alone() {
        let place = tempfile::tempdir().expect("place");
        let made = place.path().join("a").join("b");
        make_directories(&made).expect("made");
        make_directories(&made).expect("there already");
        assert!(!look(&made).expect("there").writable_by_others);
    }
}
