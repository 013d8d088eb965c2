//! Systems without a file of their own yet: the wall clock stands in for the boot clock, and every boot bears one name.
//! What this cannot do: a stepped wall clock expires leases early or late.
#![forbid(unsafe_code)]

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Time since 1970 on the wall clock.
pub(super) fn since_boot() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// One name for all boots, since the wall clock goes on over a reboot.
pub(super) fn boot_id() -> String {
    "wall-clock".to_owned()
}
