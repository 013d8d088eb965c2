//! Linux: `CLOCK_BOOTTIME` and the kernel's name for this boot.
#![allow(unsafe_code)]

use std::time::Duration;

/// Where the kernel tells the boot's random name (`random(4)`).
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// Time since boot, suspend included (`clock_gettime(2)`).
pub(super) fn since_boot() -> Duration {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid timespec that outlives the call. CLOCK_BOOTTIME is there since Linux 2.6.39, so that
    // the call cannot fail.
    let answer = unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut now) };
    debug_assert_eq!(answer, 0);
    Duration::new(u64::try_from(now.tv_sec).unwrap_or(0), u32::try_from(now.tv_nsec).unwrap_or(0))
}

/// The boot's name; [`super::NO_BOOT`] without `/proc`.
pub(super) fn boot_id() -> String {
    std::fs::read_to_string(BOOT_ID).map_or_else(|_| super::NO_BOOT.to_owned(), |text| text.trim().to_owned())
}
