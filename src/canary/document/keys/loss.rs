//! What one tree of keys lost against a later one, and whether one command can have done that.
#![forbid(unsafe_code)]

use super::{Keys, Leaf, Segment};

/// What is gone: the topmost lost places of the earlier tree, and how much of it they take along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    tops: Vec<u32>,
    count: usize,
    all: bool,
}

impl Lost {
    /// Nothing is gone.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tops.is_empty()
    }

    /// How many keys and items are gone, those inside others included.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Every key that there was is gone.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.all
    }

    /// How many places are gone whose parent is still there.
    #[must_use]
    pub fn tops(&self) -> usize {
        self.tops.len()
    }
}

impl Keys {
    /// What `self` has and `after` has not.
    #[must_use]
    pub fn lost_in(&self, after: &Self) -> Lost {
        let there = self.mapped_onto(after);
        let gone = |at: &usize| there[*at].is_none() && self.nodes[*at].is_key();
        let count = (0..self.nodes.len()).filter(gone).count();
        let tops = (1..self.nodes.len())
            .filter(|at| there[*at].is_none() && there[self.nodes[*at].parent as usize].is_some())
            .filter_map(|at| u32::try_from(at).ok())
            .collect();
        Lost { tops, count, all: count > 0 && count == self.len() }
    }

    /// The names of what is gone, as people write paths.
    pub fn names<'a>(&'a self, lost: &'a Lost) -> impl Iterator<Item = String> + 'a {
        lost.tops.iter().map(|at| self.path(*at as usize))
    }

    /// All that is gone lay inside one list, whose later items may have moved up.
    #[must_use]
    pub fn within_one_list(&self, lost: &Lost) -> bool {
        let home = self.common_parent(lost);
        std::iter::successors(Some(home), |at| (*at != 0).then(|| self.nodes[*at as usize].parent))
            .any(|at| self.index.contains_key(&(at, Segment::Item(0))))
    }

    /// All that is gone lay below one key, of which `after` has no old value left: that key was given a whole new
    /// value. (sops keeps the ciphertext of values that a command does not touch.)
    #[must_use]
    pub fn within_one_replaced(&self, lost: &Lost, after: &Self) -> bool {
        let home = self.common_parent(lost);
        if !self.nodes[home as usize].is_key() {
            return false;
        }
        let there = self.mapped_onto(after);
        let mut inside = vec![false; self.nodes.len()];
        inside[home as usize] = true;
        for at in home as usize + 1..self.nodes.len() {
            inside[at] = inside[self.nodes[at].parent as usize];
            let value = self.nodes[at].leaf.filter(|leaf| *leaf != Leaf::Empty);
            let kept = there[at].and_then(|it| after.nodes[it as usize].leaf);
            if inside[at] && value.is_some() && value == kept {
                return false;
            }
        }
        true
    }

    /// A value that is encrypted here and in the open in `after`.
    #[must_use]
    pub fn exposed_in(&self, after: &Self) -> bool {
        let there = self.mapped_onto(after);
        self.nodes.iter().zip(&there).any(|(node, it)| {
            let now = it.and_then(|it| after.nodes[it as usize].leaf);
            matches!((node.leaf, now), (Some(Leaf::Encrypted(..)), Some(Leaf::Plain(..))))
        })
    }

    /// For each place of ours the same place of the other tree. Parents come before their children.
    pub(super) fn mapped_onto(&self, other: &Self) -> Vec<Option<u32>> {
        let mut there = Vec::with_capacity(self.nodes.len());
        there.push(Some(0));
        for node in &self.nodes[1..] {
            let parent: Option<u32> = there[node.parent as usize];
            there.push(parent.and_then(|it| other.index.get(&(it, node.segment.clone())).copied()));
        }
        there
    }

    /// The deepest place above all that is gone.
    fn common_parent(&self, lost: &Lost) -> u32 {
        let mut tops = lost.tops.iter().map(|at| self.nodes[*at as usize].parent);
        let first = tops.next().unwrap_or(0);
        tops.fold(first, |mut one, mut other| {
            // A child's number is above its parent's, so the greater one climbs until they meet.
            while one != other {
                if one > other {
                    one = self.nodes[one as usize].parent;
                } else {
                    other = self.nodes[other as usize].parent;
                }
            }
            one
        })
    }
}
