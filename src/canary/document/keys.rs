//! The keys of a file as a tree, and what one tree lost against another. Flat memory: a place knows its parent, so that
//! deep or broad files cost no more than their bytes.
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Segment {
    /// A YAML document, counted from zero; the other formats have one and leave this out.
    Document(u32),
    /// A key of a map.
    Key(Arc<str>),
    /// An item of a list, counted from zero.
    Item(u32),
}

/// Which place of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct NodeId(u32);

impl NodeId {
    /// The file itself.
    pub(super) const ROOT: Self = Self(0);
}

/// What a value looks like. The number tells whether two are the same text; the text itself is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaf {
    /// Ciphertext.
    Encrypted(u64),
    /// In the open.
    Plain(u64),
    /// An empty string, a null, an alias: sops never encrypts it.
    Empty,
}

impl Leaf {
    pub(super) fn of(value: Option<&str>) -> Self {
        let Some(text) = value.filter(|text| !text.is_empty()) else { return Self::Empty };
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        if text.starts_with("ENC[AES256_GCM,data:") && text.ends_with(']') {
            Self::Encrypted(hasher.finish())
        } else {
            Self::Plain(hasher.finish())
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Node {
    parent: u32,
    segment: Segment,
    leaf: Option<Leaf>,
}

/// Every key and list item of a file, in its order.
#[derive(Clone, PartialEq, Eq)]
pub struct Keys {
    nodes: Vec<Node>,
    index: HashMap<(u32, Segment), u32>,
}

/// Names can be long and many; a tree shows its size alone.
impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Keys({})", self.len())
    }
}

impl Default for Keys {
    fn default() -> Self {
        let root = Node { parent: 0, segment: Segment::Document(0), leaf: None };
        Self { nodes: vec![root], index: HashMap::new() }
    }
}

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
    /// How many keys and list items there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.iter().filter(|node| node.is_key()).count()
    }

    /// There is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.nodes.iter().any(Node::is_key)
    }

    /// Every path as people write it (`app.hosts[2].name`), in the order of the file.
    pub fn paths(&self) -> impl Iterator<Item = String> + '_ {
        (0..self.nodes.len()).filter(|at| self.nodes[*at].is_key()).map(|at| self.path(at))
    }

    /// The one key at the top is this, and nothing else is there.
    #[must_use]
    pub fn is_only(&self, name: &str) -> bool {
        self.len() == 1 && self.index.contains_key(&(0, Segment::Key(name.into())))
    }

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
            matches!((node.leaf, now), (Some(Leaf::Encrypted(_)), Some(Leaf::Plain(_))))
        })
    }

    /// Every value in the open stands below a key with this ending, which tells sops to leave it alone.
    #[must_use]
    pub fn plain_only_below(&self, suffix: &str) -> bool {
        let mut covered = vec![false; self.nodes.len()];
        for at in 1..self.nodes.len() {
            let node = &self.nodes[at];
            let named = matches!(&node.segment, Segment::Key(name) if name.ends_with(suffix));
            covered[at] = named || covered[node.parent as usize];
            if matches!(node.leaf, Some(Leaf::Plain(_))) && !covered[at] {
                return false;
            }
        }
        true
    }

    /// The place below `parent`; made when it is new.
    pub(super) fn child(&mut self, parent: NodeId, segment: Segment) -> NodeId {
        let next = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        let at = *self.index.entry((parent.0, segment.clone())).or_insert(next);
        if at == next {
            self.nodes.push(Node { parent: parent.0, segment, leaf: None });
        }
        NodeId(at)
    }

    pub(super) fn set_leaf(&mut self, node: NodeId, leaf: Leaf) {
        self.nodes[node.0 as usize].leaf = Some(leaf);
    }

    /// For each place of ours the same place of the other tree. Parents come before their children.
    fn mapped_onto(&self, other: &Self) -> Vec<Option<u32>> {
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

    fn path(&self, at: usize) -> String {
        let mut steps = Vec::new();
        let mut at = at;
        while at != 0 {
            steps.push(&self.nodes[at].segment);
            at = self.nodes[at].parent as usize;
        }
        steps.iter().rev().fold(String::new(), |mut path, step| {
            match step {
                Segment::Document(0) => {}
                Segment::Document(number) => path.push_str(&format!("document {}: ", number + 1)),
                Segment::Item(number) => path.push_str(&format!("[{number}]")),
                Segment::Key(name) => {
                    if !path.is_empty() && !path.ends_with(": ") {
                        path.push('.');
                    }
                    path.push_str(name);
                }
            }
            path
        })
    }
}

impl Node {
    fn is_key(&self) -> bool {
        !matches!(self.segment, Segment::Document(_))
    }
}
