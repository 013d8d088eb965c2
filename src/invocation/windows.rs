//! What Windows tells of how we were started. It has no signals and no closed descriptors to hand on.
#![expect(unsafe_code, reason = "calls of the system; each block says why it is sound")]

use std::ffi::OsString;
use std::os::windows::ffi::OsStringExt as _;
use std::path::PathBuf;

use windows_sys::Win32::Foundation::{HANDLE, INVALID_HANDLE_VALUE};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_NAME_NORMALIZED, FILE_TYPE_DISK, FILE_TYPE_PIPE, GetFileType, GetFinalPathNameByHandleW,
};
use windows_sys::Win32::System::Console::{GetStdHandle, STD_INPUT_HANDLE, STD_OUTPUT_HANDLE};
use windows_sys::Win32::System::Environment::GetCommandLineW;

use super::SignalSet;
use crate::rules::{Stdin, Stdout};

/// The longest path that the system can say, in sixteen-bit units.
const LONGEST: u32 = 32_768;

/// How it was at the start.
pub(super) struct AtStart {
    pub(super) closed: [bool; 3],
    pub(super) ignored: SignalSet,
    pub(super) mask: SignalSet,
}

pub(super) fn at_start() -> AtStart {
    AtStart { closed: [false; 3], ignored: SignalSet::default(), mask: SignalSet::default() }
}

/// Where we run. A directory that cannot be named has no other name here.
pub(super) fn unnamed_directory() -> PathBuf {
    PathBuf::new()
}

/// The environment, entry by entry. Names mean the same in large and small letters, and stay as they are.
pub(super) fn environment() -> Vec<OsString> {
    let entry = |(mut name, value): (OsString, OsString)| {
        name.push("=");
        name.push(value);
        name
    };
    std::env::vars_os().map(entry).collect()
}

/// Whether an entry's name is this one: letters are alike, large or small.
pub(super) fn is_named(name: &[u8], wanted: &[u8]) -> bool {
    name.eq_ignore_ascii_case(wanted)
}

/// The file that runs: a shim's own path.
pub(super) fn executed() -> Option<PathBuf> {
    std::env::current_exe().ok()
}

/// The regular file behind standard output (1) or input (0). Whether it is appended to the system does not say.
pub(super) fn regular_file(descriptor: u8) -> Option<Stdout> {
    let which = if descriptor == 0 { STD_INPUT_HANDLE } else { STD_OUTPUT_HANDLE };
    // SAFETY: the call takes no pointer; the answer is ours to look at, not to close.
    let handle: HANDLE = unsafe { GetStdHandle(which) };
    // SAFETY: a handle that is none is only refused.
    if handle.is_null() || handle == INVALID_HANDLE_VALUE || unsafe { GetFileType(handle) } != FILE_TYPE_DISK {
        return None;
    }
    let mut path = vec![0u16; LONGEST as usize];
    // SAFETY: the buffer has the length that is said, and lives through the call.
    let length = unsafe { GetFinalPathNameByHandleW(handle, path.as_mut_ptr(), LONGEST, FILE_NAME_NORMALIZED) };
    path.truncate(usize::try_from(length).ok().filter(|&length| (1..LONGEST as usize).contains(&length))?);
    let path = PathBuf::from(OsString::from_wide(&path));
    path.is_file().then(|| Stdout { path: crate::platform::plain(path), append: false })
}

/// What stands at standard input.
pub(super) fn input() -> Option<Stdin> {
    // SAFETY: the call takes no pointer; the answer is ours to look at, not to close.
    let handle: HANDLE = unsafe { GetStdHandle(STD_INPUT_HANDLE) };
    // SAFETY: a handle that is none is only refused.
    if !handle.is_null() && handle != INVALID_HANDLE_VALUE && unsafe { GetFileType(handle) } == FILE_TYPE_PIPE {
        return Some(Stdin::Pipe);
    }
    regular_file(0).map(|file| Stdin::File(file.path))
}

/// Overwrites what the system shows of our command line to whoever may look into this process. The words stay apart, so
/// that what is made of it afterwards has as many.
pub(super) fn wipe_arguments() {
    // SAFETY: the system keeps the line in this process's own writable memory for as long as it lives, ended by a zero;
    // nobody of ours reads it meanwhile: no other thread exists yet.
    unsafe {
        let mut unit = GetCommandLineW().cast_mut();
        let quoted = *unit == u16::from(b'"');
        if quoted {
            unit = unit.add(1);
        }
        // The name that we were called by stays.
        while *unit != 0 && *unit != u16::from(if quoted { b'"' } else { b' ' }) {
            unit = unit.add(1);
        }
        if quoted && *unit != 0 {
            unit = unit.add(1);
        }
        while *unit != 0 {
            unit.write_volatile(u16::from(b' '));
            unit = unit.add(1);
        }
    }
}

/// Takes the variable out of this process's environment. Only while no other thread exists.
pub(super) fn wipe_variable(name: &[u8]) {
    let Ok(name) = std::str::from_utf8(name) else { return };
    // SAFETY: no other thread exists.
    unsafe { std::env::remove_var(name) };
}

/// Nobody's children are lost here.
pub(super) fn heed_children() {}
