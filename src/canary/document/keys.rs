//! The keys of a file as a tree. Flat memory: a place knows its parent, so that
//! deep or broad files cost no more than their bytes.
#![forbid(unsafe_code)]

mod alike;
mod loss;
mod values;

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;

pub use loss::Lost;
pub use values::Values;

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

/// What a value looks like. The first number tells whether two are the same text, which itself is not kept; the second is
/// how long it is (bytes).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaf {
    /// Ciphertext. The length is that of what is encrypted.
    Encrypted(u64, usize),
    /// In the open.
    Plain(u64, usize),
    /// An empty string, a null, an alias: sops never encrypts it.
    Empty,
}

impl Leaf {
    pub(super) fn of(value: Option<&str>) -> Self {
        let Some(text) = value.filter(|text| !text.is_empty()) else { return Self::Empty };
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        match text.strip_prefix("ENC[AES256_GCM,data:").filter(|rest| rest.ends_with(']')) {
            Some(rest) => Self::Encrypted(hasher.finish(), length_of(rest)),
            None => Self::Plain(hasher.finish(), text.len()),
        }
    }
}

/// How much is encrypted: AES-GCM makes nothing longer, and Base64 has four letters for three bytes (RFC 4648).
fn length_of(data: &str) -> usize {
    let data = data.split(',').next().unwrap_or_default();
    (data.trim_end_matches('=').len() * 3) / 4
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

    /// The names at the top: those that lie below no other name.
    pub fn first_names(&self) -> impl Iterator<Item = &str> {
        let is_top = |parent: u32| !self.nodes[parent as usize].is_key();
        self.nodes.iter().filter(move |node| is_top(node.parent)).filter_map(|node| match &node.segment {
            Segment::Key(name) => Some(&**name),
            Segment::Document(_) | Segment::Item(_) => None,
        })
    }

    /// The one key at the top is this, and nothing else is there.
    #[must_use]
    pub fn is_only(&self, name: &str) -> bool {
        self.len() == 1 && self.index.contains_key(&(0, Segment::Key(name.into())))
    }

    /// Is there a key of this name, at any depth?
    #[must_use]
    pub fn has_name(&self, name: &str) -> bool {
        self.nodes.iter().any(|node| matches!(&node.segment, Segment::Key(key) if &**key == name) && node.is_key())
    }

    /// Every value in the open stands below a key with this ending, which tells sops to leave it alone.
    #[must_use]
    pub fn plain_only_below(&self, suffix: &str) -> bool {
        let below = self.below(|name| name.ends_with(suffix));
        self.plain_at().all(|at| below[at])
    }

    /// Whether both hold the same values under the same names, in the same order, but for what no code of sops covers:
    /// empty values, and with `only_encrypted` those in the open.
    #[must_use]
    pub fn holds_what(&self, other: &Self, only_encrypted: bool) -> bool {
        let covered = |leaf: &Leaf| match leaf {
            Leaf::Encrypted(..) => true,
            Leaf::Plain(..) => !only_encrypted,
            Leaf::Empty => false,
        };
        let values = |keys: &Self| -> Vec<(String, Leaf)> {
            let value = |at: usize| Some((keys.path(at), keys.nodes[at].leaf.filter(covered)?));
            (0..keys.nodes.len()).filter_map(value).collect()
        };
        values(self) == values(other)
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

    /// A key that stands twice is in the open if either is.
    pub(super) fn set_leaf(&mut self, node: NodeId, leaf: Leaf) {
        let there = &mut self.nodes[node.0 as usize].leaf;
        if !matches!((&*there, leaf), (Some(Leaf::Plain(..)), Leaf::Encrypted(..) | Leaf::Empty)) {
            *there = Some(leaf);
        }
    }

    /// For each place: whether it is a key that fits, or lies below one.
    pub(super) fn below(&self, fits: impl Fn(&str) -> bool) -> Vec<bool> {
        let mut below = vec![false; self.nodes.len()];
        for at in 1..self.nodes.len() {
            let node = &self.nodes[at];
            let named = matches!(&node.segment, Segment::Key(name) if fits(name));
            below[at] = named || below[node.parent as usize];
        }
        below
    }

    /// The places of values in the open.
    pub(super) fn plain_at(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.nodes.len()).filter(|at| matches!(self.nodes[*at].leaf, Some(Leaf::Plain(..))))
    }

    pub(super) fn path(&self, at: usize) -> String {
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
