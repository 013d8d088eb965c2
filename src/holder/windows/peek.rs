//! What the system tells of another process: its environment and its command line, from its own memory.
#![allow(unsafe_code, reason = "calls of the system; each block says why it is sound")]

use std::io;

use windows_sys::Wdk::System::Threading::{NtQueryInformationProcess, ProcessBasicInformation};
use windows_sys::Win32::Foundation::ERROR_INVALID_PARAMETER;
use windows_sys::Win32::System::Diagnostics::Debug::ReadProcessMemory;
use windows_sys::Win32::System::SystemInformation::{ComputerNamePhysicalDnsHostname, GetComputerNameExW};
use windows_sys::Win32::System::Threading::{
    OpenProcess, PROCESS_QUERY_INFORMATION, PROCESS_TERMINATE, PROCESS_VM_READ, TerminateProcess,
};

use crate::platform::Handle;

/// Where things stand in a process of 64 bits (`PEB`, `RTL_USER_PROCESS_PARAMETERS`; as every debugger has them).
const PARAMETERS_AT: usize = 0x20;
const COMMAND_LINE_AT: usize = 0x70;
const ENVIRONMENT_AT: usize = 0x80;

/// No environment is read further, in bytes.
const MOST: usize = 1 << 20;
/// So much is read at once; a page, so that no read begins in memory that is there and ends in memory that is not.
const PAGE: usize = 4096;

/// Why nothing is known of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hidden {
    /// It is gone.
    Gone,
    /// We may not look.
    Refused,
}

fn open(pid: u32, rights: u32) -> Result<Handle, Hidden> {
    // SAFETY: the call takes no pointer, and its answer is nobody else's.
    unsafe { Handle::own(OpenProcess(rights, 0, pid)) }.map_err(|error| why(&error))
}

fn why(error: &io::Error) -> Hidden {
    let gone = error.raw_os_error() == Some(ERROR_INVALID_PARAMETER.cast_signed());
    if gone { Hidden::Gone } else { Hidden::Refused }
}

/// Reads at an address of another process; less than was asked for is none.
fn read(process: &Handle, at: usize, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0u8; length];
    let mut done = 0;
    // SAFETY: the handle is open and may be read from; the buffer has the length that is said. The address is another
    // process's: one that leads nowhere there is refused.
    let answer = unsafe {
        ReadProcessMemory(
            process.raw(),
            std::ptr::without_provenance(at),
            bytes.as_mut_ptr().cast(),
            length,
            &raw mut done,
        )
    };
    (answer != 0 && done == length).then_some(bytes)
}

fn address(process: &Handle, at: usize) -> Option<usize> {
    Some(usize::from_ne_bytes(read(process, at, size_of::<usize>())?.try_into().ok()?)).filter(|&address| address != 0)
}

/// Where its parameters are. None in a process that is not there yet, or is ending.
fn parameters(process: &Handle) -> Option<usize> {
    let mut basic = [0usize; 6];
    let size = u32::try_from(size_of_val(&basic)).ok()?;
    let mut written = 0;
    // SAFETY: the buffer is as large as the struct that is asked for (six words), and lives through the call.
    let status = unsafe {
        NtQueryInformationProcess(
            process.raw(),
            ProcessBasicInformation,
            basic.as_mut_ptr().cast(),
            size,
            &raw mut written,
        )
    };
    let block = (status == 0).then_some(basic[1]).filter(|&block| block != 0)?;
    address(process, block + PARAMETERS_AT)
}

/// The line that the process was started with.
pub(super) fn command_line(pid: u32) -> Option<String> {
    let process = open(pid, PROCESS_QUERY_INFORMATION | PROCESS_VM_READ).ok()?;
    let text = parameters(&process)? + COMMAND_LINE_AT;
    let length = usize::from(u16::from_ne_bytes(read(&process, text, 2)?.try_into().ok()?));
    let bytes = read(&process, address(&process, text + 8)?, length)?;
    Some(String::from_utf16_lossy(&units(&bytes)))
}

fn units(bytes: &[u8]) -> Vec<u16> {
    bytes.chunks_exact(2).map(|unit| u16::from_ne_bytes([unit[0], unit[1]])).collect()
}

/// The entries of the process's environment.
///
/// # Errors
/// Why it cannot be read.
pub(super) fn environment(pid: u32) -> Result<Vec<String>, Hidden> {
    let process = open(pid, PROCESS_QUERY_INFORMATION | PROCESS_VM_READ)?;
    let block = parameters(&process).and_then(|parameters| address(&process, parameters + ENVIRONMENT_AT));
    let mut at = block.ok_or(Hidden::Refused)?;
    let mut all = Vec::new();
    while all.len() < MOST / 2 {
        let length = PAGE - at % PAGE;
        let Some(bytes) = read(&process, at, length) else { break };
        all.extend(units(&bytes));
        if let Some(end) = all.windows(2).position(|pair| pair == [0, 0]) {
            all.truncate(end);
            break;
        }
        at += length;
    }
    if all.is_empty() {
        return Err(Hidden::Refused);
    }
    Ok(all.split(|&unit| unit == 0).map(String::from_utf16_lossy).collect())
}

/// Ends the process at once, if it still is the one that `is_meant`, asked while we have a handle on it.
pub(super) fn end(pid: u32, is_meant: impl FnOnce() -> bool) {
    let Ok(process) = open(pid, PROCESS_TERMINATE) else { return };
    if is_meant() {
        // SAFETY: the handle is open; what it names may be ended or has ended.
        let _it_may_have_ended = unsafe { TerminateProcess(process.raw(), 1) };
    }
}

/// The machine's name in its network, without a domain.
pub(super) fn computer_name() -> Option<String> {
    let mut units = [0u16; 256];
    let mut length = u32::try_from(units.len()).ok()?;
    // SAFETY: the buffer has the length that is said.
    let answer = unsafe { GetComputerNameExW(ComputerNamePhysicalDnsHostname, units.as_mut_ptr(), &raw mut length) };
    (answer != 0).then(|| String::from_utf16_lossy(&units[..length as usize]))
}
