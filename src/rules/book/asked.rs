//! Whom the rules ask what no line and no settings say. They know nothing of how it is found out.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::Path;

use crate::shell::Sourced;

/// Answers which host a name means, under these options of the ssh client.
pub type HostAsker = Box<dyn Fn(&[OsString], &str) -> Option<String>>;

/// Answers what the workflows are called in the repository around this directory, or in the one that is named, if that is
/// it: each by its file and, behind that, its display name. Where a name is given, the one that is called so, if just one is.
/// Nothing where the files at hand do not say it.
pub type WorkflowAsker = Box<dyn Fn(&Path, Option<&str>, Option<&str>) -> Vec<Vec<String>>>;

/// Answers which files in this directory a pattern of a shell stands for, in their order; none where there are too many.
pub type NameAsker = Box<dyn Fn(&Path, &[u8]) -> Option<Vec<Vec<u8>>>>;

/// Answers what stands in a file that a script reads in.
pub type SourceAsker = Box<dyn Fn(&Path) -> Sourced>;

/// Answers what stands in a file, or in the manifests of a directory (`true`: and of those below it); none where nobody can
/// say, and nothing where there is nothing.
pub type ManifestAsker = Box<dyn Fn(&Path, bool) -> Option<Vec<Vec<u8>>>>;

/// Who is asked, if there is anybody.
pub(super) struct Ask<T>(pub(super) Option<T>);

impl<T> Default for Ask<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> std::fmt::Debug for Ask<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Ask({})", self.0.is_some())
    }
}
