//! What an installer of ours says of each thing that it puts somewhere, or takes away.
#![forbid(unsafe_code)]

/// What was done about one thing that is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    /// It was put there.
    Installed,
    /// It was there already.
    Kept,
    /// It was brought up to date.
    Renewed,
    /// It was taken away.
    Removed,
    /// There was nothing of ours.
    Absent,
}

impl Done {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Installed => "installed",
            Self::Kept => "kept",
            Self::Renewed => "renewed",
            Self::Removed => "removed",
            Self::Absent => "absent",
        }
    }
}
