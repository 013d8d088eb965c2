//! Unix: who we work for, and what a directory says of itself.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, OsString};
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// An account of this machine, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Account {
    uid: u32,
    gid: u32,
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "user {}", self.uid)
    }
}

impl Account {
    /// The account that this process acts as.
    pub(crate) fn ours() -> Self {
        // SAFETY: these calls have no arguments and cannot fail.
        unsafe { Self { uid: libc::geteuid(), gid: libc::getegid() } }
    }

    /// Whom we work for: under sudo the invoking user (who is only believed when we are root), else ourselves.
    pub(crate) fn served(env: &dyn Fn(&str) -> Option<OsString>) -> Self {
        let ours = Self::ours();
        let number = |name: &str| env(name)?.to_str()?.parse().ok();
        match (ours.uid, number("SUDO_UID"), number("SUDO_GID")) {
            (0, Some(uid), Some(gid)) => Self { uid, gid },
            _ => ours,
        }
    }

    /// The user and the group.
    pub(crate) fn numbers(self) -> (u32, u32) {
        (self.uid, self.gid)
    }

    /// The shell in the user database.
    pub(crate) fn shell(self) -> Option<PathBuf> {
        self.entry(|entry| entry.pw_shell).map(|shell| PathBuf::from(OsString::from_vec(shell)))
    }

    /// Who owns this file or directory.
    pub(crate) fn owner(metadata: &std::fs::Metadata) -> Self {
        Self { uid: metadata.uid(), gid: metadata.gid() }
    }

    /// Root, who may own what we use.
    pub(super) fn is_root(self) -> bool {
        self.uid == 0
    }

    /// Same user, whatever the group.
    pub(super) fn same_user(self, other: Self) -> bool {
        self.uid == other.uid
    }

    /// The home in the user database (`getpwuid_r(3)`).
    pub(crate) fn home(self) -> Option<PathBuf> {
        self.entry(|entry| entry.pw_dir).map(|home| PathBuf::from(OsString::from_vec(home)))
    }

    /// Below which the state directory is.
    pub(crate) fn data_home(self, _env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        self.home()
    }

    /// The name in the user database.
    pub(crate) fn name(self) -> Option<String> {
        self.entry(|entry| entry.pw_name).and_then(|name| String::from_utf8(name).ok())
    }

    /// One text of the account's entry in the user database.
    fn entry(self, text: impl Fn(&libc::passwd) -> *mut libc::c_char) -> Option<Vec<u8>> {
        let mut buffer = vec![0; 4096];
        loop {
            // SAFETY: all-zero is a valid passwd: numbers and null pointers.
            let mut entry: libc::passwd = unsafe { std::mem::zeroed() };
            let mut found = std::ptr::null_mut();
            // SAFETY: every pointer is valid for the call, and the length is that of the buffer.
            let answer = unsafe {
                libc::getpwuid_r(self.uid, &raw mut entry, buffer.as_mut_ptr(), buffer.len(), &raw mut found)
            };
            if answer == libc::ERANGE && buffer.len() < 1 << 20 {
                buffer.resize(buffer.len() * 2, 0);
                continue;
            }
            if answer != 0 || found.is_null() || text(&entry).is_null() {
                return None;
            }
            // SAFETY: after success the entry's texts are C strings inside `buffer`, which is still alive.
            return Some(unsafe { CStr::from_ptr(text(&entry)) }.to_bytes().to_vec());
        }
    }

    /// We are root and this account is not: what lies in its directories may be a trap.
    pub(crate) fn is_foreign(self) -> bool {
        Self::ours().is_root() && !self.is_root()
    }

    /// Until the guard falls, this thread touches files as this account: what root makes in a user's directory belongs
    /// to the user, and a link laid there leads root hardly further than the user could go (root's supplementary groups stay,
    /// so whoever reads there does not follow links either). Nothing happens unless we are
    /// root and the account is not.
    pub(crate) fn act(self) -> Acting {
        Acting {
            before: self.is_foreign().then(|| set_file_account(self)),
            _this_thread_only: std::marker::PhantomData,
        }
    }
}

/// See [`Account::act`]. Guards nest.
#[must_use]
pub(crate) struct Acting {
    before: Option<Account>,
    _this_thread_only: std::marker::PhantomData<*const ()>,
}

impl Drop for Acting {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            set_file_account(before);
        }
    }
}

/// Sets group and user for file access, of this thread alone (`setfsuid(2)`), and says what they were.
#[cfg(target_os = "linux")]
fn set_file_account(account: Account) -> Account {
    // SAFETY: plain numbers. A process whose effective user is root may always set both; the answer is the former id.
    let (gid, uid) = unsafe { (libc::setfsgid(account.gid), libc::setfsuid(account.uid)) };
    Account { uid: uid.cast_unsigned(), gid: gid.cast_unsigned() }
}

/// Other systems have no such call per thread; there root's files stay root's.
#[cfg(not(target_os = "linux"))]
fn set_file_account(_account: Account) -> Account {
    Account::ours()
}

/// Where the state directory is below the account's home.
pub(super) const IN_HOME: &str = ".local/state/locked";

/// What to do about a directory that others may write in.
pub(super) const CLOSE: &str = "take that away with chmod go-w";

/// What an opened directory says of itself.
pub(super) struct Seen {
    pub(super) metadata: std::fs::Metadata,
    /// Group or others may write in it.
    pub(super) writable_by_others: bool,
    /// The network file system that it lies on, if it does.
    pub(super) network: Option<&'static str>,
    /// Mounted read-only.
    pub(super) read_only: bool,
    /// It is one that the kernel makes up, as `/proc` is.
    pub(super) made_up: bool,
}

/// Opens a directory without following a link at its end, and looks at it.
pub(super) fn look(path: &Path) -> io::Result<Seen> {
    let flags = libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    let directory = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let metadata = directory.metadata()?;
    let writable_by_others = metadata.mode() & 0o022 != 0;
    let (network, read_only, made_up) = file_system(&directory)?;
    Ok(Seen { metadata, writable_by_others, network, read_only, made_up })
}

#[cfg(target_os = "linux")]
fn file_system(directory: &File) -> io::Result<(Option<&'static str>, bool, bool)> {
    // SAFETY: all-zero is a valid statfs, a struct of numbers.
    let mut about: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: the descriptor is open and `about` is valid for the call.
    if unsafe { libc::fstatfs(directory.as_raw_fd(), &raw mut about) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // `f_type` differs in width between targets; the numbers that we compare have 32 bits at most.
    #[allow(clippy::unnecessary_cast, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let magic = about.f_type as u32;
    // SAFETY: all-zero is a valid statvfs, a struct of numbers.
    let mut flags: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the descriptor is open and `flags` is valid for the call.
    if unsafe { libc::fstatvfs(directory.as_raw_fd(), &raw mut flags) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok((network_name(magic), flags.f_flag & libc::ST_RDONLY != 0, is_made_up(magic)))
}

#[cfg(not(target_os = "linux"))]
fn file_system(_directory: &File) -> io::Result<(Option<&'static str>, bool, bool)> {
    Ok((None, false, false))
}

/// Whether this thread may make something in this directory, as the kernel judges: permission bits, ACLs, read-only mounts.
pub(super) fn may_make_in(directory: &Path) -> io::Result<()> {
    let Ok(path) = CString::new(directory.as_os_str().as_bytes()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    // SAFETY: `path` is a C string that outlives the call.
    match unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), libc::W_OK | libc::X_OK, libc::AT_EACCESS) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// What the kernel shows as files without keeping any, by `statfs(2)` magic (`linux/magic.h`): nobody can make a directory
/// there, whatever its permission bits say.
pub(super) fn is_made_up(magic: u32) -> bool {
    [0x9FA0, 0x6265_6572, 0x0027_E0EB, 0x6367_7270, 0x6462_6720, 0x7472_6163, 0x7363_6673].contains(&magic)
}

/// File systems on which kernel locks or SQLite's locks do not hold between machines, by `statfs(2)` magic
/// (`linux/magic.h` and the file systems' own headers).
pub(super) fn network_name(magic: u32) -> Option<&'static str> {
    Some(match magic {
        0x6969 => "NFS",
        0x517B | 0xFF53_4D42 | 0xFE53_4D42 => "SMB",
        0x0102_1997 => "9p",
        0x5346_414F | 0x6B41_4653 => "AFS",
        0x00C3_6400 => "Ceph",
        0x6573_5546 => "FUSE",
        0x7375_7245 => "Coda",
        0x564C => "NCP",
        0x0BD0_0BD0 => "Lustre",
        0x4750_4653 => "GPFS",
        0x1983_0326 => "BeeGFS",
        0x0116_1970 => "GFS2",
        0x7461_636F => "OCFS2",
        0x786F_4256 => "a VirtualBox share",
        0xBACB_ACBC => "a VMware share",
        _ => return None,
    })
}

/// Makes one directory or a chain of them, each 0700, whatever the umask: `umask 177` is how careful people write
/// secrets, and takes from directories what lets us into them.
pub(super) fn make_directories(path: &Path) -> io::Result<()> {
    let make = || std::fs::DirBuilder::new().mode(0o700).create(path);
    let made = match (make(), path.parent()) {
        (Err(error), Some(parent)) if error.kind() == io::ErrorKind::NotFound => {
            make_directories(parent)?;
            make()
        }
        (made, _) => made,
    };
    match made {
        Ok(()) => std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

/// Makes a file that must not exist, 0600, closed at exec, numbered 10 or above: a program that was started with
/// descriptors 0 to 2 closed must not find our file there, and shells keep 3 to 9 for scripts.
pub(super) fn create_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create_new(true).mode(0o600).custom_flags(libc::O_CLOEXEC).open(path)?;
    // SAFETY: the descriptor is open; the answer is a new one or an error.
    let high = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, 10) };
    if high < 0 {
        let error = io::Error::last_os_error();
        // So it calls a number that this process may not have: it has too few of them.
        let too_few = error.raw_os_error() == Some(libc::EINVAL);
        return Err(if too_few { io::Error::from_raw_os_error(libc::EMFILE) } else { error });
    }
    // SAFETY: `high` was just made and nobody else owns it.
    Ok(File::from(unsafe { OwnedFd::from_raw_fd(high) }))
}

/// Opens an existing file without making it, following a link, or waiting for anything.
pub(crate) fn open_existing(path: &Path) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK;
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// The pid namespace that has all others in it: `PROC_PID_INIT_INO` of `linux/proc_ns.h`.
pub(super) const OUTERMOST: u64 = 0xEFFF_FFFC;

/// Our pid namespace, as `/proc/self/ns/pid` (namespaces(7)) names it; 0 where that cannot be had.
pub(super) fn pid_namespace() -> u64 {
    std::fs::metadata("/proc/self/ns/pid").map_or(0, |metadata| metadata.ino())
}

/// Device and inode.
pub(super) fn identity(file: &File) -> io::Result<(u64, u64)> {
    identity_at(Path::new(""), &file.metadata()?)
}

/// The same of what has been looked at.
pub(super) fn identity_at(_path: &Path, metadata: &std::fs::Metadata) -> io::Result<(u64, u64)> {
    Ok((metadata.dev(), metadata.ino()))
}

/// Whether the path leads to this very file still: no other was put in its place, and nobody has removed it.
pub(super) fn leads_to(_path: &Path, file: &File, _identity: (u64, u64)) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.nlink() > 0)
}

/// Puts a file of ours in the place of whatever is there, which somebody may have open.
pub(super) fn put_in_place(draft: &Path, path: &Path) -> io::Result<()> {
    std::fs::rename(draft, path)
}

/// Takes a file away, which somebody may have open.
pub(super) fn take_away(path: &Path) -> io::Result<()> {
    std::fs::remove_file(path)
}

/// Whoever watches the file is told: the same rights are set once more.
pub(super) fn touch(path: &Path) -> io::Result<()> {
    let file = open_existing(path)?;
    file.set_permissions(file.metadata()?.permissions())
}

/// Tries for the kernel lock on this open file description (`flock(2)`), which forked processes share: it falls when the
/// last of them is gone.
pub(super) fn try_lock(file: &File) -> io::Result<bool> {
    loop {
        // SAFETY: the descriptor is open.
        if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0 {
            return Ok(true);
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EWOULDBLOCK) => return Ok(false),
            Some(libc::EINTR) => {}
            _ => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_network_file_systems_are_told_from_local_ones() {
        for magic in [0x6969, 0x6573_5546, 0xFF53_4D42, 0x0102_1997, 0x00C3_6400, 0x5346_414F] {
            assert!(network_name(magic).is_some(), "{magic:#x}");
        }
        for (name, magic) in [("ext", 0xEF53), ("xfs", 0x5846_5342), ("btrfs", 0x9123_683E), ("tmpfs", 0x0102_1994)] {
            assert_eq!(network_name(magic), None, "{name}");
        }
    }

    #[test]
    fn sudo_variables_are_believed_from_root_alone() {
        let env = |name: &str| match name {
            "SUDO_UID" => Some(OsString::from("4242")),
            "SUDO_GID" => Some(OsString::from("4243")),
            _ => None,
        };
        let served = Account::served(&env);
        if Account::ours().is_root() {
            assert_eq!(served, Account { uid: 4242, gid: 4243 });
        } else {
            assert_eq!(served, Account::ours());
        }
        assert_eq!(Account::served(&|_| None), Account::ours());
    }

    #[test]
    fn the_home_comes_from_the_user_database() {
        assert!(Account::ours().home().is_some_and(|home| home.is_absolute()));
        assert_eq!(Account { uid: 0xFFFF_FF00, gid: 0 }.home(), None, "nobody has this number");
    }
}
