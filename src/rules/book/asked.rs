//! Whom the rules ask what no line and no settings say. They know nothing of how it is found out.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::Path;

use crate::shell::Sourced;

/// Answers which host a name means, under these options of the ssh client.
pub type HostAsker = Box<dyn Fn(&[OsString], &str) -> Option<String>>;

/// Who says which host a name means, where the settings do not.
#[derive(Default)]
pub(super) struct Ask(pub(super) Option<HostAsker>);

impl std::fmt::Debug for Ask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Ask({})", self.0.is_some())
    }
}

/// Answers what the workflows are called in the repository around this directory, or in the one that is named, if that is
/// it: each by its file and, behind that, its display name. Where a name is given, the one that is called so, if just one is.
/// Nothing where the files at hand do not say it.
pub type WorkflowAsker = Box<dyn Fn(&Path, Option<&str>, Option<&str>) -> Vec<Vec<String>>>;

/// Who says what a workflow is called.
#[derive(Default)]
pub(super) struct Workflows(pub(super) Option<WorkflowAsker>);

impl std::fmt::Debug for Workflows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Workflows({})", self.0.is_some())
    }
}

/// Answers which files in this directory a pattern of a shell stands for, in their order; none where there are too many.
pub type NameAsker = Box<dyn Fn(&Path, &[u8]) -> Option<Vec<Vec<u8>>>>;

/// Who says which files there are.
#[derive(Default)]
pub(super) struct Names(pub(super) Option<NameAsker>);

impl std::fmt::Debug for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Names({})", self.0.is_some())
    }
}

/// Answers what stands in a file that a script reads in.
pub type SourceAsker = Box<dyn Fn(&Path) -> Sourced>;

/// Who says what stands in files.
#[derive(Default)]
pub(super) struct Sources(pub(super) Option<SourceAsker>);

impl std::fmt::Debug for Sources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sources({})", self.0.is_some())
    }
}
