//! `exit`: every exit status of our own, and how the program's own status goes out.
#![forbid(unsafe_code)]

/// Our own options or verbs were wrong; nothing was run.
pub const USAGE: i32 = 64;
/// The store cannot be reached; nothing was run.
pub const UNREACHABLE: i32 = 69;
/// A fault of `locked` itself.
pub const INTERNAL: i32 = 70;
/// The file is quarantined, or the canary found it bad.
pub const QUARANTINED: i32 = 72;
/// An unlocked write was refused (git hook).
pub const UNLOCKED: i32 = 73;
/// A stale base was refused.
pub const STALE: i32 = 74;
/// Somebody else holds it (`--conflict-exit-code` changes this one).
pub const BUSY: i32 = 75;
/// The lease was lost and the child stopped; for `check`: no longer ours.
pub const LOST: i32 = 77;
/// Configuration or trust.
pub const CONFIG: i32 = 78;
/// The issue is closed.
pub const ISSUE_CLOSED: i32 = 79;
/// The state of the issue cannot be learnt.
pub const ISSUE_UNKNOWN: i32 = 80;
/// The program was found but cannot be executed.
pub const NOT_EXECUTABLE: i32 = 126;
/// The program was not found.
pub const NOT_FOUND: i32 = 127;

/// How this process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Exit {
    /// With this status.
    Code(i32),
    /// By this signal, as the program did.
    Signal(i32),
}

impl Exit {
    /// All went well.
    pub const OK: Self = Self::Code(0);
}
