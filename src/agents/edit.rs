//! Puts a child into an object or a list of a text, at its end, and takes one out again. All that stands around it stays.
#![forbid(unsafe_code)]

use std::ops::Range;

use super::document::{Node, behind_trivia};

/// How a text is laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Style {
    newline: &'static str,
    unit: String,
    /// All of it stands on one line.
    flat: bool,
}

impl Style {
    /// That of a text, by its first member; the usual one where there is none to learn from.
    pub(super) fn of(text: &str, root: &Node) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let first = root.children().first().map(|child| child.start);
        let unit = first.and_then(|first| indentation(text, first));
        let flat = first.is_some() && unit.is_none();
        let unit = unit.filter(|unit| !unit.is_empty()).unwrap_or("  ").to_owned();
        Self { newline, unit, flat }
    }

    /// A value so many levels deep; its first line goes on where it is put.
    fn rendered(&self, value: &serde_json::Value, indent: &str, flat: bool) -> String {
        if flat {
            return value.to_string();
        }
        let mut out = Vec::new();
        let form = serde_json::ser::PrettyFormatter::with_indent(self.unit.as_bytes());
        let mut writer = serde_json::Serializer::with_formatter(&mut out, form);
        // Writing into memory fails only on values that are none.
        let _infallible = serde::Serialize::serialize(value, &mut writer);
        String::from_utf8_lossy(&out).replace('\n', &format!("{}{indent}", self.newline))
    }
}

/// The white space before a place, if nothing else stands before it on its line.
fn indentation(text: &str, at: usize) -> Option<&str> {
    let line = text[..at].rfind('\n')? + 1;
    let before = &text[line..at];
    before.bytes().all(|byte| b" \t".contains(&byte)).then_some(before)
}

/// Puts a child at the end: `key` for an object, none for a list. `depth` is that of the container.
pub(super) fn put(
    text: &str,
    style: &Style,
    container: &Node,
    depth: usize,
    key: Option<&str>,
    value: &serde_json::Value,
) -> String {
    let children = container.children();
    let key = key.map_or_else(String::new, |key| format!("{}: ", serde_json::Value::from(key)));
    let outer = style.unit.repeat(depth);
    let Some(last) = children.last() else {
        let close = container.span.end - 1;
        let open = container.span.start + 1;
        // Comments that stand in an empty one stay.
        let kept = text[open..close].trim_end();
        if style.flat {
            let value = style.rendered(value, "", true);
            return format!("{}{kept}{key}{value}{}", &text[..open], &text[close..]);
        }
        let inner = format!("{outer}{}", style.unit);
        let value = style.rendered(value, &inner, false);
        let newline = style.newline;
        return format!("{}{kept}{newline}{inner}{key}{value}{newline}{outer}{}", &text[..open], &text[close..]);
    };
    let indent = indentation(text, last.start).map(str::to_owned);
    let flat = indent.is_none();
    let before = match &indent {
        Some(indent) => format!("{}{indent}", style.newline),
        None => " ".to_owned(),
    };
    let value = style.rendered(value, indent.as_deref().unwrap_or_default(), flat);
    // A comment at the end of the last line belongs to what stands before it.
    let at = if flat { last.end } else { end_of_line(text, last.end) };
    format!("{},{}{before}{key}{value}{}", &text[..last.end], &text[last.end..at], &text[at..])
}

/// The end of a comment that goes on behind a value on its line; else the place itself.
fn end_of_line(text: &str, at: usize) -> usize {
    let line = text[at..].find('\n').map_or(text.len(), |end| at + end);
    let rest = text[at..line].trim_end();
    let comment = rest.trim_start();
    let whole = comment.starts_with("//") || (comment.starts_with("/*") && comment.ends_with("*/"));
    if whole { at + rest.len() } else { at }
}

/// Takes the child out that stands at this number, with one of the commas beside it.
pub(super) fn take(text: &str, container: &Node, number: usize) -> String {
    let children = container.children();
    let Some(child) = children.get(number) else { return text.to_owned() };
    let before = number.checked_sub(1).and_then(|before| children.get(before));
    if children.get(number + 1).is_some() {
        let comma = behind_trivia(text, child.end);
        let from = before.map_or(container.span.start + 1, |before| before.end);
        let start = start(text, from, child.start, comma + 1);
        return without(text, [start..child.end, comma..comma + 1]);
    }
    if let Some(before) = before {
        let comma = behind_trivia(text, before.end);
        let start = start(text, comma + 1, child.start, child.end);
        return without(text, [comma..comma + 1, start..child.end]);
    }
    // The only one: its brackets close again, unless a comment stands between them.
    let (open, close) = (container.span.start + 1, container.span.end - 1);
    if text[open..child.start].trim().is_empty() && text[child.end..close].trim().is_empty() {
        return format!("{}{}", &text[..open], &text[close..]);
    }
    let start = start(text, open, child.start, child.end);
    format!("{}{}", &text[..start], &text[child.end..])
}

/// Where the white space before a child begins that goes away with it. The end of a line stays where a comment needs it.
fn start(text: &str, from: usize, child: usize, end: usize) -> usize {
    let start = from + text[from..child].trim_end().len();
    let line = text[from..start].rsplit('\n').next().unwrap_or_default();
    let ends_line = text[end..].trim_start_matches([' ', '\t', '\r']).starts_with('\n');
    match text[start..child].find('\n') {
        Some(newline) if line.contains("//") && !ends_line => start + newline + 1,
        _ => start,
    }
}

/// The text without these two, which do not overlap and stand in order.
fn without(text: &str, [first, second]: [Range<usize>; 2]) -> String {
    format!("{}{}{}", &text[..first.start], &text[first.end..second.start], &text[second.end..])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::document::parse;
    use super::*;

    #[test]
    fn what_is_put_in_looks_like_what_is_there_and_comes_out_byte_for_byte() {
        for (text, expected) in [
            ("{}", "{\n  \"k\": {\n    \"x\": [\n      1\n    ]\n  }\n}"),
            ("{\"a\": 1}", "{\"a\": 1, \"k\": {\"x\":[1]}}"),
            ("{\n\t\"a\": 1\n}\n", "{\n\t\"a\": 1,\n\t\"k\": {\n\t\t\"x\": [\n\t\t\t1\n\t\t]\n\t}\n}\n"),
            (
                "{\r\n    \"a\": 1\r\n}",
                "{\r\n    \"a\": 1,\r\n    \"k\": {\r\n        \"x\": [\r\n            1\r\n        ]\r\n    }\r\n}",
            ),
            ("{\n  \"a\": 1 // one\n}", "{\n  \"a\": 1, // one\n  \"k\": {\n    \"x\": [\n      1\n    ]\n  }\n}"),
            (
                "{\n  \"a\": [] /* , */ // two\n  // three\n}",
                "{\n  \"a\": [],\n  \"k\": {\n    \"x\": [\n      1\n    ]\n  } /* , */ // two\n  // three\n}",
            ),
        ] {
            let root = parse(text).expect(text);
            let put = put(text, &Style::of(text, &root), &root, 0, Some("k"), &json!({"x": [1]}));
            assert_eq!(put, expected);
            let root = parse(&put).unwrap_or_else(|flaw| panic!("{put}: {}", flaw.what));
            let last = root.children().len() - 1;
            assert_eq!(take(&put, &root, last), text);
        }
    }

    #[test]
    fn any_child_can_be_taken_out_and_comments_stay() {
        let text = "[\n  1, // one\n  2, /* two */\n  3\n]";
        let root = parse(text).expect("JSON");
        assert_eq!(take(text, &root, 0), "[ // one\n  2, /* two */\n  3\n]");
        assert_eq!(take(text, &root, 1), "[\n  1, // one\n /* two */\n  3\n]");
        assert_eq!(take(text, &root, 2), "[\n  1, // one\n  2 /* two */\n]");
        let text = "[\n  1, // one\n  2]";
        assert_eq!(take(text, &parse(text).expect("JSON"), 1), "[\n  1 // one\n]");
        let text = "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}";
        let root = parse(text).expect("JSON");
        assert_eq!(take(text, &root, 0), "{\n  \"b\": 2,\n  \"c\": 3\n}");
        assert_eq!(take(text, &root, 1), "{\n  \"a\": 1,\n  \"c\": 3\n}");
        let text = "[ /* x */ 1 ]";
        assert_eq!(take(text, &parse(text).expect("JSON"), 0), "[ /* x */ ]");
    }
}
