//! Commits, and how they hang together.
#![forbid(unsafe_code)]

use std::collections::{BTreeSet, HashMap};

use crate::audit::change::{Commit, Kind};

/// The commits that were looked at, and how they hang together.
pub(super) struct Line<'a> {
    commits: HashMap<&'a str, &'a Commit>,
    children: HashMap<&'a str, Vec<&'a str>>,
}

impl<'a> Line<'a> {
    pub(super) fn of(history: &'a [Commit]) -> Self {
        let mut children: HashMap<&str, Vec<&str>> = HashMap::new();
        for commit in history {
            for parent in &commit.parents {
                children.entry(parent).or_default().push(&commit.id);
            }
        }
        Self { commits: history.iter().map(|commit| (&*commit.id, commit)).collect(), children }
    }

    /// What this path has had from a commit on to one that has come of it, in some order that ends with what the latter has.
    pub(super) fn since(&self, commit: &str, tip: &str, path: &[u8]) -> Vec<String> {
        let (mut open, mut seen, mut blobs) = (vec![tip], BTreeSet::new(), Vec::new());
        let after = self.after(commit);
        while let Some(at) = open.pop() {
            let Some((&at, found)) = self.commits.get_key_value(at).filter(|(at, _)| after.contains(*at)) else {
                continue;
            };
            if !seen.insert(at) {
                continue;
            }
            let here = found.changes.iter().filter(|change| change.path == path && change.kind == Kind::File);
            blobs.extend(here.map(|change| change.blob.clone()));
            open.extend(found.parents.iter().map(String::as_str));
        }
        blobs.reverse();
        blobs
    }

    /// A commit and all that have come of it.
    fn after<'b>(&'b self, commit: &'b str) -> BTreeSet<&'b str> {
        let (mut open, mut seen) = (vec![commit], BTreeSet::new());
        while let Some(commit) = open.pop() {
            if seen.insert(commit) {
                open.extend(self.children.get(commit).into_iter().flatten());
            }
        }
        seen
    }

    /// The last commits that have come of this one.
    pub(super) fn tips_of<'b>(&'b self, commit: &'b str) -> Vec<&'b str> {
        self.after(commit).into_iter().filter(|commit| !self.children.contains_key(*commit)).collect()
    }
}
