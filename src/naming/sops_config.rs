//! `.sops.yaml` as a tree: just enough YAML to read creation rules, with anchors, aliases and merge keys, which such files
//! use to name people once.
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::rc::Rc;

use saphyr_parser::{Event, Parser, ScalarStyle};

/// Merge keys inside merge keys: deeper is no configuration.
const DEEPEST: usize = 16;
/// Collections inside collections: deeper would exhaust the stack when the tree is dropped.
const DEEPEST_NESTING: usize = 200;

/// A value of a YAML document.
#[derive(Debug)]
pub(super) enum Node {
    /// Nothing: empty, `~` or `null`.
    Null,
    /// Any other scalar, as text.
    Text(String),
    /// A sequence.
    List(Vec<Rc<Self>>),
    /// A mapping, in order.
    Map(Vec<(Rc<Self>, Rc<Self>)>),
}

impl Node {
    /// The value of a key, own or merged.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.get_within(key, DEEPEST)
    }

    fn get_within(&self, key: &str, depth: usize) -> Option<&Self> {
        let Self::Map(pairs) = self else { return None };
        let find = |key: &str| pairs.iter().find(|(name, _)| name.text() == Some(key)).map(|(_, value)| &**value);
        let merged = || {
            let depth = depth.checked_sub(1)?;
            match find("<<")? {
                Self::List(maps) => maps.iter().find_map(|map| map.get_within(key, depth)),
                map => map.get_within(key, depth),
            }
        };
        find(key).or_else(merged).filter(|value| !matches!(value, Self::Null))
    }

    /// The text of a scalar.
    pub(super) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The items of a sequence; of anything else none.
    pub(super) fn items(&self) -> &[Rc<Self>] {
        if let Self::List(items) = self { items } else { &[] }
    }

    /// Has it any content: not null, not an empty text, sequence or mapping?
    pub(super) fn says_something(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Text(text) => !text.is_empty(),
            Self::List(items) => !items.is_empty(),
            Self::Map(pairs) => !pairs.is_empty(),
        }
    }
}

/// The line (from 1) that is not YAML.
#[derive(Debug)]
pub(super) struct BadLine(pub(super) usize);

/// The first document; sops reads no other.
pub(super) fn parse(text: &str) -> Result<Node, BadLine> {
    let mut open: Vec<(usize, Vec<Rc<Node>>)> = vec![(0, Vec::new())];
    let mut anchors: HashMap<usize, Rc<Node>> = HashMap::new();
    for event in Parser::new_from_str(text) {
        let (event, at) = event.map_err(|error| BadLine(error.marker().line()))?;
        let (node, anchor) = match event {
            Event::SequenceStart(..) | Event::MappingStart(..) if open.len() > DEEPEST_NESTING => {
                return Err(BadLine(at.start.line()));
            }
            Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _) => {
                open.push((anchor, Vec::new()));
                continue;
            }
            Event::Scalar(text, style, anchor, _) => (Rc::new(scalar(&text, style)), anchor),
            Event::Alias(anchor) => (anchors.get(&anchor).cloned().unwrap_or_else(|| Rc::new(Node::Null)), 0),
            Event::SequenceEnd => closed(&mut open, Node::List),
            Event::MappingEnd => closed(&mut open, |nodes| Node::Map(pairs(nodes))),
            Event::DocumentEnd => break,
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) => continue,
        };
        if anchor > 0 {
            anchors.insert(anchor, Rc::clone(&node));
        }
        if let Some((_, nodes)) = open.last_mut() {
            nodes.push(node);
        }
    }
    drop(anchors);
    let root = open.pop().and_then(|(_, mut nodes)| nodes.pop());
    Ok(root.and_then(Rc::into_inner).unwrap_or(Node::Null))
}

fn closed(open: &mut Vec<(usize, Vec<Rc<Node>>)>, make: impl Fn(Vec<Rc<Node>>) -> Node) -> (Rc<Node>, usize) {
    let (anchor, nodes) = open.pop().unwrap_or_default();
    (Rc::new(make(nodes)), anchor)
}

fn pairs(nodes: Vec<Rc<Node>>) -> Vec<(Rc<Node>, Rc<Node>)> {
    let mut nodes = nodes.into_iter();
    let mut pairs = Vec::new();
    while let (Some(key), Some(value)) = (nodes.next(), nodes.next()) {
        pairs.push((key, value));
    }
    pairs
}

fn scalar(text: &str, style: ScalarStyle) -> Node {
    if style == ScalarStyle::Plain && matches!(text, "" | "~" | "null" | "Null" | "NULL") {
        Node::Null
    } else {
        Node::Text(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_and_merge_keys_read_as_what_they_stand_for() {
        let text = "keys:\n  - &ana age1ana\nbase: &base\n  age: [*ana]\n  pgp:\nrules:\n  - <<: *base\n    path: x\n---\nother: 1\n";
        let root = parse(text).expect("parses");
        let rule = &root.get("rules").expect("rules").items()[0];
        assert_eq!(rule.get("path").and_then(Node::text), Some("x"));
        assert_eq!(rule.get("age").expect("merged").items()[0].text(), Some("age1ana"));
        assert!(rule.get("pgp").is_none() && root.get("other").is_none());
    }

    #[test]
    fn an_empty_file_is_nothing_and_a_broken_one_an_error() {
        assert!(matches!(parse("# nothing\n"), Ok(Node::Null)));
        assert!(parse("a: [1\nb: }").is_err());
        assert!(parse(&"[".repeat(100_000)).is_err());
    }
}
