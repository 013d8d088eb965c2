//! Windows: the tick count, which runs on while the machine sleeps, and the start of a process that lives as long as the boot.
#![allow(unsafe_code)]

use std::time::Duration;

use windows_sys::Win32::System::SystemInformation::GetTickCount64;

/// The program that the system starts once in each boot and that ends with it.
const WITH_THE_BOOT: &str = "services.exe";

/// Time since boot, suspend included (`GetTickCount64`; it goes in steps of 10 to 16 milliseconds).
pub(super) fn since_boot() -> Duration {
    // SAFETY: the call takes nothing and cannot fail.
    Duration::from_millis(unsafe { GetTickCount64() })
}

/// The boot's name: when the process began that begins with it. Whoever calls a program of his own so begins later.
/// [`super::NO_BOOT`] where the processes cannot be listed.
pub(super) fn boot_id() -> String {
    let listed = crate::platform::processes().unwrap_or_default();
    let first =
        listed.iter().filter(|process| process.name.eq_ignore_ascii_case(WITH_THE_BOOT)).min_by_key(|it| it.created);
    first.map_or_else(|| super::NO_BOOT.to_owned(), |process| format!("windows-{:x}", process.created))
}
