//! What can go wrong, by name.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use super::arena::Arena;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    KillWrapper,
    KillKeeper,
    KillBoth,
    KillChild,
    FreezeWrapper,
    FreezeKeeper,
    FreezeChild,
    StoreFrozen,
    StoreRestart,
    BackendsEnded,
    PacketsLost,
    PacketsLate,
    WireCut,
    DiskFull,
    CorruptedOutside,
    ClockMoved,
    HalfWrite,
    BytesCorrupted,
    RecipientRevoked,
    KeyTaken,
}

/// The library that moves a program's wall clock.
pub(crate) fn moving_clock() -> Option<&'static Path> {
    static MADE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let make = || {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let (library, draft) = (place.join("clock.so"), tempfile::NamedTempFile::new_in(place).ok()?.into_temp_path());
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/faults/campaign/clock.c");
        let made = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&draft).arg(source).status();
        (made.is_ok_and(|made| made.success()) && draft.persist(&library).is_ok()).then_some(library)
    };
    MADE.get_or_init(make).as_deref()
}

impl Fault {
    pub(crate) const ALL: [Self; 20] = [
        Self::KillWrapper,
        Self::KillKeeper,
        Self::KillBoth,
        Self::KillChild,
        Self::FreezeWrapper,
        Self::FreezeKeeper,
        Self::FreezeChild,
        Self::StoreFrozen,
        Self::StoreRestart,
        Self::BackendsEnded,
        Self::PacketsLost,
        Self::PacketsLate,
        Self::WireCut,
        Self::DiskFull,
        Self::CorruptedOutside,
        Self::ClockMoved,
        Self::HalfWrite,
        Self::BytesCorrupted,
        Self::RecipientRevoked,
        Self::KeyTaken,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::KillWrapper => "kill -9 of the wrapper",
            Self::KillKeeper => "kill -9 of the keeper",
            Self::KillBoth => "kill -9 of wrapper and keeper",
            Self::KillChild => "kill -9 of the child",
            Self::FreezeWrapper => "wrapper stopped and continued",
            Self::FreezeKeeper => "keeper stopped and continued",
            Self::FreezeChild => "child stopped and continued",
            Self::StoreFrozen => "the store's file held by another",
            Self::StoreRestart => "server stopped and started",
            Self::BackendsEnded => "pg_terminate_backend",
            Self::PacketsLost => "three of ten packets lost",
            Self::PacketsLate => "packets late",
            Self::WireCut => "wire cut",
            Self::DiskFull => "disk full",
            Self::CorruptedOutside => "bytes corrupted by somebody else",
            Self::ClockMoved => "clock moved",
            Self::HalfWrite => "killed half-way through a write",
            Self::BytesCorrupted => "bytes corrupted by the write",
            Self::RecipientRevoked => "recipient removed",
            Self::KeyTaken => "key taken away",
        }
    }

    /// A run is born with it; the others are dealt by the hand.
    pub(crate) fn is_inborn(self) -> bool {
        matches!(self, Self::ClockMoved | Self::KeyTaken) || self.is_in_sops()
    }

    /// It is in how sops writes.
    pub(crate) fn is_in_sops(self) -> bool {
        matches!(self, Self::HalfWrite | Self::BytesCorrupted | Self::RecipientRevoked | Self::KeyTaken)
    }

    /// How sops is told to do it, and says that it has.
    pub(crate) fn spoil(self) -> Option<&'static str> {
        match self {
            Self::HalfWrite => Some("half"),
            Self::BytesCorrupted => Some("corrupt"),
            Self::RecipientRevoked => Some("revoke"),
            _ => None,
        }
    }

    /// What nobody can do to this arena at all, and what cannot be done on this machine, with the reason.
    pub(crate) fn is_for(self, arena: &Arena) -> Result<bool, &'static str> {
        let is_server = arena.server.is_some();
        match self {
            Self::StoreFrozen => Ok(!is_server),
            Self::StoreRestart | Self::BackendsEnded => Ok(is_server),
            Self::DiskFull if !is_server && arena.disk.is_none() => Err("a file system may not be mounted here"),
            Self::DiskFull => Ok(!is_server),
            Self::WireCut | Self::PacketsLost | Self::PacketsLate if is_server => match &arena.wire {
                None => Err("a network namespace may not be made here"),
                Some(wire) => {
                    let is_possible = match self {
                        Self::PacketsLost => wire.lose_some(),
                        Self::PacketsLate => wire.delay(),
                        _ => true,
                    };
                    wire.mend();
                    if is_possible { Ok(true) } else { Err("this kernel has no such queue for packets") }
                }
            },
            Self::WireCut | Self::PacketsLost | Self::PacketsLate => Ok(false),
            Self::ClockMoved if moving_clock().is_none() => Err("there is no C compiler here"),
            _ => Ok(true),
        }
    }
}
