//! JSON with places: what stands where in a text, so that a part of it can be changed and the rest stays byte for byte.
//! Comments (`//`, `/* */`) are passed over, as the editors of such files do; nothing else is taken that JSON does not have.
#![forbid(unsafe_code)]

mod reader;

use std::ops::Range;

use reader::Reader;

/// A value, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) value: Value,
}

/// What it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Object(Vec<Member>),
    List(Vec<Node>),
    Text(String),
    /// A number, true, false, null.
    Other,
}

/// A member of an object; it goes from its key to the end of its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) start: usize,
    pub(super) node: Node,
}

/// Where it is no JSON, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Flaw {
    /// The byte.
    pub(super) at: usize,
    pub(super) what: &'static str,
}

impl Node {
    /// The member of this key; the last, as readers of JSON have it.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        let Value::Object(members) = &self.value else { return None };
        members.iter().rev().find(|member| member.key == key).map(|member| &member.node)
    }

    /// Its items, if it is a list.
    pub(super) fn items(&self) -> Option<&[Self]> {
        if let Value::List(items) = &self.value { Some(items) } else { None }
    }

    /// Its members, if it is an object.
    pub(super) fn members(&self) -> Option<&[Member]> {
        if let Value::Object(members) = &self.value { Some(members) } else { None }
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }

    /// Where each of its children stands.
    pub(super) fn children(&self) -> Vec<Range<usize>> {
        match &self.value {
            Value::Object(members) => members.iter().map(|member| member.start..member.node.span.end).collect(),
            Value::List(items) => items.iter().map(|item| item.span.clone()).collect(),
            Value::Text(_) | Value::Other => Vec::new(),
        }
    }
}

/// Line and column of a place, from 1; columns are counted in characters.
pub(super) fn place(text: &str, at: usize) -> (usize, usize) {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let before = &text[..at];
    let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

/// Reads a text.
pub(super) fn parse(text: &str) -> Result<Node, Flaw> {
    let mut reader = Reader { text, at: if text.starts_with('\u{feff}') { 3 } else { 0 } };
    let node = reader.value(0)?;
    reader.pass()?;
    if reader.at < text.len() { Err(reader.flaw("something stands behind the end")) } else { Ok(node) }
}

/// The place behind white space and comments.
pub(super) fn behind_trivia(text: &str, at: usize) -> usize {
    let mut reader = Reader { text, at };
    // It was read before, so nothing is open.
    let _read_before = reader.pass();
    reader.at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_json_is_read_with_its_places() {
        let text = "{ // one\n \"a\": [1, /* two */ {\"b\": \"\\u0041}\"}],\n \"c\": null }";
        let root = parse(text).expect("JSON with comments");
        let a = root.get("a").expect("a").items().expect("a list");
        assert_eq!(&text[a[1].span.clone()], "{\"b\": \"\\u0041}\"}");
        assert_eq!(a[1].get("b").and_then(Node::text), Some("A}"));
        assert_eq!(root.children().into_iter().map(|span| &text[span]).collect::<Vec<_>>().len(), 2);
    }

    #[test]
    fn what_is_none_is_told_with_its_place() {
        for (text, at, what) in [
            ("", (1, 1), "ends too early"),
            ("{\"a\": 1,\n}", (2, 1), "a comma stands before"),
            ("{\"ä\": tru}", (1, 7), "no value"),
            ("{\"a\" 1}", (1, 6), "colon"),
            ("{a: 1}", (1, 2), "key in quotes"),
            ("[1 2]", (1, 4), "comma or a closing"),
            ("{\"a\": \"x}", (1, 7), "no end"),
            ("{} x", (1, 4), "behind the end"),
            ("{} /* x", (1, 4), "comment has no end"),
            ("{\"a\": [1, 2}", (1, 12), "comma or a closing"),
        ] {
            let flaw = parse(text).expect_err(text);
            assert_eq!(place(text, flaw.at), at, "{text}: {}", flaw.what);
            assert!(flaw.what.contains(what), "{text}: {}", flaw.what);
        }
        assert!(parse(&"[".repeat(100_000)).is_err());
    }
}
