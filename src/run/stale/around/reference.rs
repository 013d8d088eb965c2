//! The names of refs.
#![forbid(unsafe_code)]

/// A ref as people type it.
pub(in crate::run::stale) fn short(reference: &str) -> &str {
    ["refs/heads/", "refs/remotes/", "refs/"].iter().find_map(|head| reference.strip_prefix(head)).unwrap_or(reference)
}

/// The branch that a ref is, here or at a remote.
pub(in crate::run::stale) fn branch_in(reference: &str) -> &str {
    match reference.strip_prefix("refs/remotes/") {
        Some(of_remote) => of_remote.split_once('/').map_or(of_remote, |(_, branch)| branch),
        None => short(reference),
    }
}

/// The remote of a ref that is one's.
pub(super) fn remote_in(reference: &str) -> Option<&str> {
    Some(reference.strip_prefix("refs/remotes/")?.split_once('/')?.0)
}
