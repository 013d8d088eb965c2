//! The console's events. Each of its processes gets them; we outlive them, and the child decides what they mean.
#![allow(unsafe_code, reason = "calls of the system; each block says why it is sound")]

use std::os::windows::io::{AsRawHandle as _, RawHandle};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::time::Duration;

use windows_sys::Win32::Foundation::WAIT_OBJECT_0;
use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, CTRL_C_EVENT, SetConsoleCtrlHandler};
use windows_sys::Win32::System::Threading::{
    CreateEventW, INFINITE, ResetEvent, SetEvent, Sleep, WaitForMultipleObjects,
};
use windows_sys::core::BOOL;

use super::job::milliseconds;

static LISTENS: AtomicBool = AtomicBool::new(false);
/// Set when somebody wants us to end. Made once and never closed.
static WANTED: AtomicPtr<std::ffi::c_void> = AtomicPtr::new(std::ptr::null_mut());

/// From here on no event of the console ends us, but what cannot be outlived.
pub(super) fn outlive() {
    if LISTENS.swap(true, Ordering::Relaxed) {
        return;
    }
    // SAFETY: no name and no rights; a null answer is only never set.
    WANTED.store(unsafe { CreateEventW(std::ptr::null(), 1, 0, std::ptr::null()) }, Ordering::Relaxed);
    // SAFETY: the handler is a function of the type that is asked for, and there for as long as the process.
    unsafe { SetConsoleCtrlHandler(Some(handler), 1) };
}

/// Called by the system on a thread of its own.
unsafe extern "system" fn handler(event: u32) -> BOOL {
    let wanted = WANTED.load(Ordering::Relaxed);
    if !wanted.is_null() {
        // SAFETY: it was made once and is never closed.
        unsafe { SetEvent(wanted) };
    }
    if !matches!(event, CTRL_C_EVENT | CTRL_BREAK_EVENT) {
        // The console closes, or its user leaves: the child is told as well. When this returns we are ended at once, so
        // it does not; the system gives a few seconds, in which the child ends and its lease is settled.
        // SAFETY: the call takes no pointer.
        unsafe { Sleep(INFINITE) };
    }
    1
}

/// What was waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum First {
    /// The process ended.
    Ended,
    /// Somebody wants us to end.
    Wanted,
    /// The time was up.
    TimeUp,
}

/// Nobody wants us to end any more: what came before is forgotten.
pub(super) fn forget() {
    let wanted = WANTED.load(Ordering::Relaxed);
    if !wanted.is_null() {
        // SAFETY: it was made once and is never closed.
        unsafe { ResetEvent(wanted) };
    }
}

/// Waits for the end of a process, or for the time to be up; where `heeds`, also for somebody who wants us to end.
pub(super) fn first(process: Option<&std::process::Child>, heeds: bool, limit: Duration) -> First {
    let wanted = Some(WANTED.load(Ordering::Relaxed)).filter(|wanted| heeds && !wanted.is_null());
    let process = process.map(|child| child.as_raw_handle());
    let handles: Vec<RawHandle> = process.into_iter().chain(wanted).collect();
    if handles.is_empty() {
        // SAFETY: the call takes no pointer.
        unsafe { Sleep(milliseconds(limit)) };
        return First::TimeUp;
    }
    let count = u32::try_from(handles.len()).unwrap_or_default();
    // SAFETY: every handle is open, and there are as many as is said.
    let which = unsafe { WaitForMultipleObjects(count, handles.as_ptr(), 0, milliseconds(limit)) };
    match which.checked_sub(WAIT_OBJECT_0) {
        Some(0) if process.is_some() => First::Ended,
        Some(index) if index < count => First::Wanted,
        _ => First::TimeUp,
    }
}
