//! The `name:` at the top of a compose file, read from YAML's events: the file is never built, aliases are never
//! unfolded, so that neither its size nor its anchors cost anything.
#![forbid(unsafe_code)]

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle};

/// Maps inside maps deeper than this are not followed.
const DEPTH_CAP: usize = 256;

/// What of a node can matter to the name.
#[derive(Debug, Clone, Default)]
struct Node {
    /// Its text, if it is a text.
    text: Option<String>,
    /// What it says under `name`, if it is a map.
    name: Option<String>,
    /// What the first of its maps that does says under `name`, if it is a list: one of maps to be merged.
    first: Option<String>,
}

/// An open map or list.
struct Frame {
    anchor: usize,
    node: Node,
    /// `<<`: what it takes over, which its own keys go before.
    merged: Option<String>,
    /// In a map: the key whose value comes next.
    key: Option<String>,
    is_map: bool,
}

/// The name that the documents of a file give: the last that is not empty. Not filled in yet.
///
/// # Errors
/// The line in which it is no YAML, or nested too deeply.
pub(super) fn name(text: &str) -> Result<Option<String>, usize> {
    let (mut frames, mut anchors, mut last) = (Vec::<Frame>::new(), HashMap::<usize, Node>::new(), None);
    for event in Parser::new_from_str(text.trim_start_matches('\u{feff}')) {
        let (event, span) = event.map_err(|error| error.marker().line())?;
        let (anchor, node) = match event {
            Event::MappingStart(anchor, ..) | Event::SequenceStart(anchor, ..) => {
                if frames.len() >= DEPTH_CAP {
                    return Err(span.start.line());
                }
                let is_map = matches!(event, Event::MappingStart(..));
                frames.push(Frame { anchor, node: Node::default(), merged: None, key: None, is_map });
                continue;
            }
            Event::MappingEnd | Event::SequenceEnd => {
                let Some(frame) = frames.pop() else { continue };
                (frame.anchor, Node { name: frame.node.name.or(frame.merged), ..frame.node })
            }
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain && tag.is_none();
                let null = plain && matches!(&*text, "" | "~" | "null" | "Null" | "NULL");
                (anchor, Node { text: (!null).then(|| text.into_owned()), ..Node::default() })
            }
            Event::Alias(anchor) => (0, anchors.get(&anchor).cloned().unwrap_or_default()),
            Event::DocumentStart(_) => {
                frames.clear();
                anchors.clear();
                continue;
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => continue,
        };
        if anchor > 0 {
            anchors.insert(anchor, node.clone());
        }
        match frames.last_mut() {
            Some(frame) => frame.take(node),
            None => last = node.name.filter(|name| !name.is_empty()).or(last),
        }
    }
    Ok(last)
}

impl Frame {
    /// A node that this one holds.
    fn take(&mut self, node: Node) {
        if !self.is_map {
            self.node.first = self.node.first.take().or(node.name).or(node.first);
            return;
        }
        match self.key.take().as_deref() {
            None => self.key = Some(node.text.unwrap_or_default()),
            Some("name") => self.node.name = node.text,
            Some("<<") => self.merged = node.name.or(node.first),
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_at_the_top_is_found_however_it_is_written() {
        for (text, expected) in [
            ("name: red\nservices: {a: {image: x}}\n", Some("red")),
            ("\u{feff}{\"services\": {}, \"name\": \"js\"}", Some("js")),
            ("? name\n: asked\n", Some("asked")),
            ("name: >-\n  two\n  lines\n", Some("two lines")),
            ("name: !!str 12\n", Some("12")),
            ("name: !override x\n", Some("x")),
            ("x-n: &n deep\nname: *n\n", Some("deep")),
            ("x-b: &b {name: merged}\n<<: *b\n", Some("merged")),
            ("x-b: &b {name: merged}\nname: own\n<<: *b\n", Some("own")),
            ("x-a: &a {v: 1}\nx-b: &b {name: b}\nx-c: &c {name: c}\n<<: [*a, *b, *c]\n", Some("b")),
            ("services: {}\n---\nname: second\n", Some("second")),
            ("name: first\n---\nname: second\n", Some("second")),
            ("name: first\n---\nservices: {}\n", Some("first")),
            ("services: {name: {image: x}}\nnetworks:\n  n:\n    name: other\n", None),
            ("- name: in a list\n", None),
            ("services:\n- {name: in a list}\n", None),
            ("name:\n", None),
            ("name: ~\n", None),
            ("name: ''\n", None),
            ("name: [a]\n", None),
            ("name: {name: x}\n", None),
            ("Name: other\n", None),
            ("[name]: x\n", None),
            ("# name: no\n", None),
            ("", None),
        ] {
            assert_eq!(name(text).expect("YAML").as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn what_is_no_yaml_names_its_line() {
        assert_eq!(name("name: a\nservices: {a\n---\n").expect_err("broken"), 3);
        assert!(name(&"[".repeat(10_000)).is_err(), "too deep");
    }

    #[test]
    fn aliases_cost_nothing() {
        let mut text = "x0: &x0 {name: bomb}\n".to_owned();
        for level in 1..60 {
            let below = level - 1;
            text.push_str(&format!("x{level}: &x{level} [*x{below}, *x{below}, *x{below}, *x{below}]\n"));
        }
        assert_eq!(name(&(text + "<<: *x59\n")), Ok(Some("bomb".to_owned())));
    }
}
