//! Windows: names are sixteen-bit units, rights are lists, and a handle on the file tells what it is.
#![allow(unsafe_code, reason = "calls of the system; each block says why it is sound")]

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::windows::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::windows::fs::OpenOptionsExt as _;
use std::os::windows::io::{AsHandle as _, AsRawHandle as _, BorrowedHandle, FromRawHandle as _, OwnedHandle};
use std::os::windows::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use windows_sys::Wdk::System::SystemInformation::{NtQuerySystemInformation, SystemProcessInformation};
use windows_sys::Win32::Foundation::{
    HANDLE, HANDLE_FLAG_INHERIT, INVALID_HANDLE_VALUE, SetHandleInformation, WAIT_OBJECT_0,
};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT, GetFileInformationByHandle,
};

use windows_sys::Win32::System::Console::{GetStdHandle, STD_ERROR_HANDLE, STD_INPUT_HANDLE, STD_OUTPUT_HANDLE};
use windows_sys::Win32::System::Registry::{HKEY, HKEY_CURRENT_USER, HKEY_LOCAL_MACHINE, RRF_RT_REG_SZ, RegGetValueW};
use windows_sys::Win32::System::Threading::WaitForSingleObject;

use super::{About, wtf8};

/// The longest text of the registry that is read, in sixteen-bit units: no environment has a longer one.
const LONGEST_VALUE: usize = 32_768;

/// A handle that is closed when it is dropped.
#[derive(Debug)]
pub(crate) struct Handle(OwnedHandle);

impl Handle {
    /// Takes a fresh handle, or the error that the call left behind.
    ///
    /// # Safety
    /// `handle` is null, invalid, or open and nobody else's.
    pub(crate) unsafe fn own(handle: HANDLE) -> io::Result<Self> {
        if handle.is_null() || handle == INVALID_HANDLE_VALUE {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: it is open and nobody else's, by this function's contract.
        Ok(Self(unsafe { OwnedHandle::from_raw_handle(handle) }))
    }

    /// For calls that take one; open for as long as this lives.
    pub(crate) fn raw(&self) -> HANDLE {
        self.0.as_raw_handle()
    }
}

/// Names as bytes, as std's trait of that name has them on Unix: here those of std's own encoding.
pub(crate) trait OsStrExt {
    /// The name's bytes.
    fn as_bytes(&self) -> &[u8];
    /// The name of these bytes. What can be no name here becomes one that names nothing.
    fn from_bytes(bytes: &[u8]) -> &Self;
}

impl OsStrExt for OsStr {
    fn as_bytes(&self) -> &[u8] {
        self.as_encoded_bytes()
    }

    fn from_bytes(bytes: &[u8]) -> &Self {
        if wtf8::is_name(bytes) {
            // SAFETY: they are of the encoding that std documents for this system (WTF-8), just checked.
            return unsafe { Self::from_encoded_bytes_unchecked(bytes) };
        }
        // No file can be called so: the character is forbidden in names.
        Self::new("\u{0}")
    }
}

/// The same for names that are owned.
pub(crate) trait OsStringExt {
    /// The name of these bytes. What can be no name here loses what cannot be said.
    fn from_vec(bytes: Vec<u8>) -> Self;
    /// The name's bytes.
    #[allow(dead_code, reason = "the same trait as Unix's")]
    fn into_vec(self) -> Vec<u8>;
}

impl OsStringExt for OsString {
    fn from_vec(bytes: Vec<u8>) -> Self {
        if wtf8::is_name(&bytes) {
            // SAFETY: as in `OsStrExt::from_bytes`.
            return unsafe { Self::from_encoded_bytes_unchecked(bytes) };
        }
        String::from_utf8_lossy(&bytes).into_owned().into()
    }

    fn into_vec(self) -> Vec<u8> {
        self.into_encoded_bytes()
    }
}

/// A name as the system wants it: sixteen-bit units and a zero.
pub(crate) fn wide(name: &OsStr) -> Vec<u16> {
    name.encode_wide().chain([0]).collect()
}

/// What is open and must stay open in a process that closes all else: nothing here, where no process is a copy of another.
pub(crate) type Held = ();

/// Nothing to note of an open file.
pub(crate) fn tied(_file: &File) -> Held {}

/// What tells the file at `path` from another. The link at its end is followed unless `metadata` is the link's own.
pub(crate) fn about(path: &Path, metadata: &Metadata) -> io::Result<About> {
    let link = if metadata.is_symlink() { FILE_FLAG_OPEN_REPARSE_POINT } else { 0 };
    // No right is asked for but to look, and directories are opened too.
    about_open(&OpenOptions::new().access_mode(0).custom_flags(FILE_FLAG_BACKUP_SEMANTICS | link).open(path)?)
}

/// The same of an open file.
pub(crate) fn about_open(file: &File) -> io::Result<About> {
    // SAFETY: all-zero is a valid value of this struct of numbers.
    let mut found: BY_HANDLE_FILE_INFORMATION = unsafe { std::mem::zeroed() };
    // SAFETY: the handle is open, and `found` is valid for the call.
    if unsafe { GetFileInformationByHandle(file.as_raw_handle(), &raw mut found) } == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(About {
        device: found.dwVolumeSerialNumber.into(),
        inode: u64::from(found.nFileIndexHigh) << 32 | u64::from(found.nFileIndexLow),
        links: found.nNumberOfLinks.into(),
    })
}

/// A link at the end is opened itself, and is then no regular file.
pub(crate) fn not_followed(options: &mut OpenOptions) -> &mut OpenOptions {
    options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT)
}

/// Nothing to say here: no name of a directory leads to what waits for another end.
pub(crate) fn not_waited_for(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Nothing to say here: what is made has the rights of its directory, and the state directory is for its owner alone.
pub(crate) fn owners_alone(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// There are no permission bits: what can be looked at can be read and, by its name, executed.
pub(crate) fn mode(_metadata: &Metadata) -> u32 {
    0o700
}

/// There are none to set.
pub(crate) fn set_mode(_file: &File, _mode: u32) -> io::Result<()> {
    Ok(())
}

/// Whether it can be executed is said by its name.
pub(crate) fn executable(_place: &Path) -> bool {
    true
}

/// Our standard output, past what others have said there and is not written yet.
pub(crate) fn standard_output() -> io::Result<File> {
    // SAFETY: the call takes no pointer.
    let handle = unsafe { GetStdHandle(STD_OUTPUT_HANDLE) };
    if handle.is_null() || handle == INVALID_HANDLE_VALUE {
        return Err(io::ErrorKind::NotFound.into());
    }
    // SAFETY: it is open for as long as the process, and only borrowed until it is cloned.
    unsafe { BorrowedHandle::borrow_raw(handle) }.try_clone_to_owned().map(File::from)
}

/// What is started from here on gets our standard input, output and error only where it is given them.
pub(crate) fn keep_standard_handles() {
    for which in [STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE] {
        // SAFETY: neither call takes a pointer; a handle that is none is only refused.
        unsafe { SetHandleInformation(GetStdHandle(which), HANDLE_FLAG_INHERIT, 0) };
    }
}

/// A process of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) pid: u32,
    /// Its maker's number; that process may be gone, and the number another's.
    pub(crate) parent: u32,
    /// When it was made, in units of 100 nanoseconds since 1601: with the pid, what tells it from a later one of that pid.
    pub(crate) created: u64,
    /// The session of the desktop that it belongs to.
    pub(crate) session: u32,
    /// The file's name, without its directory.
    pub(crate) name: String,
}

/// Where the parts of an entry stand (`SYSTEM_PROCESS_INFORMATION` of 64-bit systems; winternl.h, and for the parts that it
/// calls reserved the layout that every debugger relies on).
const CREATED_AT: usize = 32;
const NAME_LENGTH_AT: usize = 56;
const NAME_AT: usize = 64;
const PID_AT: usize = 80;
const PARENT_AT: usize = 88;
const SESSION_AT: usize = 100;
const ENTRY_SIZE: usize = 104;

/// Every process of this machine, whoever's it is. None: the system does not say, and who is not listed then may live.
pub(crate) fn processes() -> Option<Vec<Listed>> {
    const TOO_SHORT: i32 = 0xC000_0004_u32.cast_signed();
    let mut words = vec![0u64; 1 << 16];
    loop {
        let size = u32::try_from(words.len() * 8).unwrap_or(u32::MAX);
        let mut needed = 0;
        // SAFETY: the buffer has the size that is said, is aligned as the entries want it, and lives through the call.
        let status = unsafe {
            NtQuerySystemInformation(SystemProcessInformation, words.as_mut_ptr().cast(), size, &raw mut needed)
        };
        match status {
            0 => break,
            // More may begin meanwhile.
            TOO_SHORT if words.len() < 1 << 23 => words.resize(words.len() * 2, 0),
            _ => return None,
        }
    }
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    Some(entries(&bytes, words.as_ptr() as usize))
}

/// Reads the list; names are told by where they lay in the buffer that began at `base`.
fn entries(bytes: &[u8], base: usize) -> Vec<Listed> {
    let long = |at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let word = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let short = |at: usize| Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    let mut found = Vec::new();
    let mut at = 0;
    while at + ENTRY_SIZE <= bytes.len() {
        let entry = || {
            let length = usize::from(short(at + NAME_LENGTH_AT)?);
            let from = usize::try_from(long(at + NAME_AT)?).ok()?.checked_sub(base).filter(|_| length > 0);
            let units = from.and_then(|from| bytes.get(from..from + length)).unwrap_or_default();
            let units: Vec<u16> = units.chunks_exact(2).map(|unit| u16::from_ne_bytes([unit[0], unit[1]])).collect();
            Some(Listed {
                pid: u32::try_from(long(at + PID_AT)?).ok()?,
                parent: u32::try_from(long(at + PARENT_AT)?).ok()?,
                created: long(at + CREATED_AT)?,
                session: word(at + SESSION_AT)?,
                name: String::from_utf16_lossy(&units),
            })
        };
        found.extend(entry());
        match word(at) {
            Some(next) if next > 0 => at += next as usize,
            _ => break,
        }
    }
    found
}

/// Whether a child ends within this time.
pub(crate) fn ends_within(child: &std::process::Child, limit: std::time::Duration) -> bool {
    let milliseconds = u32::try_from(limit.as_millis()).unwrap_or(u32::MAX - 1);
    // SAFETY: the handle is open for as long as the child is.
    unsafe { WaitForSingleObject(child.as_raw_handle(), milliseconds) == WAIT_OBJECT_0 }
}

/// There are no signals to die by.
pub(crate) fn signal(_status: ExitStatus) -> Option<i32> {
    None
}

/// The command processor, which runs a person's line as it stands.
pub(crate) fn shell(line: &OsStr) -> Command {
    // By its whole path: a name alone is looked for in the directory of this program first.
    let system = std::env::var_os("SystemRoot").map_or_else(|| PathBuf::from(r"C:\Windows"), PathBuf::from);
    let mut command = Command::new(system.join("System32").join("cmd.exe"));
    // Between quotes it is taken as it stands (`cmd /?`, `/s`).
    command.args(["/d", "/s", "/c"]).raw_arg("\"").raw_arg(line).raw_arg("\"");
    command
}

/// Our standard error once more, for a child's other output.
pub(crate) fn standard_error() -> io::Result<OwnedHandle> {
    io::stderr().as_handle().try_clone_to_owned()
}

/// There are no permission bits to set.
pub(crate) fn set_mode_at(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}

/// A path without the prefix that turns off all reading of it (`\\\\?\\`), where it means the same without.
pub(crate) fn plain(path: PathBuf) -> PathBuf {
    let Some(text) = path.to_str() else { return path };
    match text.strip_prefix(r"\\?\UNC\") {
        Some(share) => PathBuf::from(format!(r"\\{share}")),
        None => match text.strip_prefix(r"\\?\") {
            Some(rest) if rest.as_bytes().get(1) == Some(&b':') => PathBuf::from(rest),
            _ => path,
        },
    }
}

/// The path with every link followed, as people write it; what is not there is an error.
pub(crate) fn canonical(path: &Path) -> io::Result<PathBuf> {
    std::fs::canonicalize(path).map(plain)
}

/// What is there of a path is spelled as the file system keeps it: short names (`PROGRA~1`), mapped drives and the letters'
/// cases of what was typed are gone. What is not there yet keeps its name.
pub(crate) fn settled(path: PathBuf) -> PathBuf {
    for above in path.ancestors() {
        if let Ok(there) = canonical(above) {
            return match path.strip_prefix(above) {
                // Nothing that is joined to a path ends it with a separator, and no file can be opened by that.
                Ok(rest) if rest.as_os_str().is_empty() => there,
                Ok(rest) => there.join(rest),
                Err(_) => path,
            };
        }
    }
    path
}

/// What may tell this machine from others, the best first: the id that the system gave itself, else its name.
pub(crate) fn machine_ids() -> impl Iterator<Item = Vec<u8>> {
    let id = registered(HKEY_LOCAL_MACHINE, "SOFTWARE\\Microsoft\\Cryptography", "MachineGuid");
    let id = id.map(|id| id.to_string_lossy().into_owned().into_bytes());
    id.into_iter().chain(std::env::var_os("COMPUTERNAME").map(OsString::into_encoded_bytes))
}

/// The PATH of every new console: the machine's and the user's, in this order.
pub(crate) fn search_paths() -> (Option<OsString>, Option<OsString>) {
    let machine = "SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Environment";
    (registered(HKEY_LOCAL_MACHINE, machine, "Path"), registered(HKEY_CURRENT_USER, "Environment", "Path"))
}

/// A text of the registry, with the variables in it replaced.
fn registered(root: HKEY, key: &str, value: &str) -> Option<OsString> {
    let (key, value) = (wide(key.as_ref()), wide(value.as_ref()));
    let mut units = vec![0u16; LONGEST_VALUE];
    let mut size = u32::try_from(units.len() * size_of::<u16>()).unwrap_or_default();
    // SAFETY: both names end with a zero; the buffer has the size that is said, and lives through the call.
    let status = unsafe {
        RegGetValueW(
            root,
            key.as_ptr(),
            value.as_ptr(),
            RRF_RT_REG_SZ,
            std::ptr::null_mut(),
            units.as_mut_ptr().cast(),
            &raw mut size,
        )
    };
    let length = units.iter().position(|&unit| unit == 0)?;
    (status == 0).then(|| OsString::from_wide(&units[..length]))
}

/// Waits until nobody else changes what is in this directory, and keeps others out while the answer lives. A directory cannot
/// be locked here, so a small file of its name is, among the user's temporary ones.
pub(crate) fn alone_in(directory: &Path) -> io::Result<File> {
    let mut hash = std::hash::DefaultHasher::new();
    std::hash::Hash::hash(&canonical(directory)?.as_os_str().to_ascii_lowercase(), &mut hash);
    let name = format!("locked-{:016x}.lock", std::hash::Hasher::finish(&hash));
    let alone = OpenOptions::new().write(true).create(true).truncate(false).open(std::env::temp_dir().join(name))?;
    alone.lock().map(|()| alone)
}
