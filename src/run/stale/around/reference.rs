//! The names of refs.
#![forbid(unsafe_code)]

/// A ref as people type it.
pub(in crate::run::stale) fn short(reference: &str) -> &str {
    ["refs/heads/", "refs/remotes/", "refs/"].iter().find_map(|head| reference.strip_prefix(head)).unwrap_or(reference)
}

/// The branch that a ref is, here or at one of these remotes.
pub(in crate::run::stale) fn branch_in<'r>(reference: &'r str, remotes: &[String]) -> &'r str {
    match reference.strip_prefix("refs/remotes/") {
        Some(of_remote) => parts(of_remote, remotes).map_or(of_remote, |(_, branch)| branch),
        None => short(reference),
    }
}

/// The remote of a ref that is one's.
pub(super) fn remote_in<'r>(reference: &'r str, remotes: &[String]) -> Option<&'r str> {
    Some(parts(reference.strip_prefix("refs/remotes/")?, remotes)?.0)
}

/// Remote and branch. The name of either may have a slash in it, so only the remotes that there are say where one ends.
fn parts<'r>(of_remote: &'r str, remotes: &[String]) -> Option<(&'r str, &'r str)> {
    let split = |remote: &String| {
        let branch = of_remote.strip_prefix(&**remote)?.strip_prefix('/')?;
        Some((&of_remote[..remote.len()], branch))
    };
    let named = remotes.iter().filter_map(split);
    named.max_by_key(|(remote, _)| remote.len()).or_else(|| of_remote.split_once('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remote_may_have_a_slash_in_its_name() {
        let remotes = ["origin", "team", "team/alice"].map(str::to_owned);
        for (reference, remote, branch) in [
            ("refs/remotes/origin/main", Some("origin"), "main"),
            ("refs/remotes/origin/feature/x", Some("origin"), "feature/x"),
            ("refs/remotes/team/alice/main", Some("team/alice"), "main"),
            ("refs/remotes/team/main", Some("team"), "main"),
            ("refs/remotes/gone/main", Some("gone"), "main"),
            ("refs/heads/team/main", None, "team/main"),
        ] {
            assert_eq!(
                (remote_in(reference, &remotes), branch_in(reference, &remotes)),
                (remote, branch),
                "{reference}"
            );
        }
    }
}
