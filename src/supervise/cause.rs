//! The words for why a tree was stopped.
#![forbid(unsafe_code)]

use super::Cause;

/// Says in one word why a tree was stopped.
impl Cause {
    /// One word for programs: `LOCKED_LOST_CAUSE`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Deadline => "deadline",
            Self::Gone => "gone",
            Self::Revoked => "revoked",
            Self::StoppedJob => "stopped-job",
            Self::WrapperDied => "wrapper-died",
            Self::KeeperDied => "keeper-died",
            Self::EditorLoop => "editor-loop",
            Self::IssueClosed => "issue-closed",
            Self::IssueUnknown => "issue-unknown",
            Self::Killed(_) => "killed",
        }
    }

    /// A clause for messages: "the lease …".
    #[must_use]
    pub fn clause(self) -> &'static str {
        match self {
            Self::Deadline => "could not be renewed before its deadline",
            Self::Gone => "is not ours any more",
            Self::Revoked => "was revoked: somebody steals it",
            Self::StoppedJob => "belonged to a job that was stopped (Ctrl-Z) for longer than its TTL",
            Self::WrapperDied => "lost its wrapper",
            Self::KeeperDied => "lost its keeper",
            Self::EditorLoop => "was for an edit whose editor was started again and again",
            Self::IssueClosed => "was for an issue that was closed meanwhile",
            Self::IssueUnknown => "was for an issue of which nobody could say whether it is open",
            Self::Killed(_) => "was for a program that was killed",
        }
    }
}
