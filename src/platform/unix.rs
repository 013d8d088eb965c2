//! Unix: bytes are bytes, modes are modes, and a pseudo file system or a call of the C library tells the rest.
#![allow(unsafe_code, reason = "one libc call; it says why it is sound")]

use std::ffi::{CString, OsStr};
use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use super::About;

pub(crate) use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// What is open and must stay open in a process that closes all else: a descriptor.
pub(crate) type Held = std::os::fd::RawFd;

/// The descriptor of an open file.
pub(crate) fn tied(file: &File) -> Held {
    std::os::fd::AsRawFd::as_raw_fd(file)
}

/// What tells the file at `path` from another; `metadata` was read there just now.
pub(crate) fn about(_path: &Path, metadata: &Metadata) -> io::Result<About> {
    Ok(About { device: metadata.dev(), inode: metadata.ino(), links: metadata.nlink() })
}

/// A link at the end is not followed, and nothing (a pipe without a writer) is waited for.
pub(crate) fn not_followed(options: &mut OpenOptions) -> &mut OpenOptions {
    options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
}

/// Nothing is waited for: a pipe without a writer would hold an opener up.
pub(crate) fn not_waited_for(options: &mut OpenOptions) -> &mut OpenOptions {
    options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
}

/// What is made is for its owner alone, whatever the umask is.
pub(crate) fn owners_alone(options: &mut OpenOptions) -> &mut OpenOptions {
    options.mode(0o600)
}

/// The permission bits.
pub(crate) fn mode(metadata: &Metadata) -> u32 {
    metadata.permissions().mode()
}

/// Gives the open file these bits.
pub(crate) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(mode))
}

/// Whether the effective user may execute the file: permission bits, ACLs and `noexec` mounts, as the kernel judges.
pub(crate) fn executable(place: &Path) -> bool {
    let Ok(place) = CString::new(place.as_os_str().as_bytes()) else { return false };
    // SAFETY: `place` is a C string that outlives the call.
    unsafe { libc::faccessat(libc::AT_FDCWD, place.as_ptr(), libc::X_OK, libc::AT_EACCESS) == 0 }
}

/// The signal that a process died by.
pub(crate) fn signal(status: ExitStatus) -> Option<i32> {
    status.signal()
}

/// The shell that runs a person's line.
pub(crate) fn shell(line: &OsStr) -> Command {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(line);
    command
}

/// Our standard error once more, for a child's other output.
pub(crate) fn standard_error() -> io::Result<OwnedFd> {
    io::stderr().as_fd().try_clone_to_owned()
}

/// Gives what this path leads to these permission bits.
pub(crate) fn set_mode_at(path: &Path, mode: u32) -> io::Result<()> {
    std::fs::set_permissions(path, Permissions::from_mode(mode))
}

/// The path with every link followed; what is not there is an error.
pub(crate) fn canonical(path: &Path) -> io::Result<PathBuf> {
    std::fs::canonicalize(path)
}

/// The last of a path whose links are followed: nothing is left to do.
pub(crate) fn settled(path: PathBuf) -> PathBuf {
    path
}

/// Where the machine keeps an id of its own, the best first (machine-id(5)); the host name where there is none.
const IDENTITIES: &[&str] =
    &["/etc/machine-id", "/var/lib/dbus/machine-id", "/proc/sys/kernel/hostname", "/etc/hostname"];

/// What may tell this machine from others, the best first.
pub(crate) fn machine_ids() -> impl Iterator<Item = Vec<u8>> {
    IDENTITIES.iter().filter_map(|path| std::fs::read(path).ok())
}

/// Waits until nobody else changes what is in this directory, and keeps others out while the answer lives.
pub(crate) fn alone_in(directory: &Path) -> io::Result<File> {
    File::open(directory).and_then(|alone| alone.lock().map(|()| alone))
}
