//! Commits, and how they hang together.
#![forbid(unsafe_code)]

use std::collections::{BTreeSet, HashMap};

use crate::audit::change::Commit;

/// The commits that were looked at, and how they hang together.
pub(super) struct Line<'a> {
    pub(super) commits: HashMap<&'a str, &'a Commit>,
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

    /// The last commits that have come of this one.
    pub(super) fn tips_of(&self, commit: &'a str) -> Vec<&'a str> {
        let (mut open, mut seen, mut tips) = (vec![commit], BTreeSet::new(), Vec::new());
        while let Some(commit) = open.pop() {
            if !seen.insert(commit) {
                continue;
            }
            match self.children.get(commit) {
                Some(children) => open.extend(children),
                None => tips.push(commit),
            }
        }
        tips
    }
}
