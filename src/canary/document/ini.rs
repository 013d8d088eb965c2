//! The INI store, as the library go-ini reads it: `;` and `#` comments, keys up to the first `=` or `:`, quoted keys,
//! values over several lines in `"""` or back-ticks, `\` at the end of a line. The metadata are the section `[sops]`.
//! Lines that are none of this are left to the real sops.
#![forbid(unsafe_code)]

use super::keys::{NodeId, Segment};
use super::{Draft, Flawed};

/// The section of keys that stand before any header.
const DEFAULT: &str = "DEFAULT";

pub(super) fn read(text: &str, draft: &mut Draft) -> Result<(), Flawed> {
    let mut section = Section::Data(DEFAULT);
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    while let Some(line) = lines.next() {
        let line = line.trim();
        if line.is_empty() || line.starts_with([';', '#']) {
            continue;
        }
        if let Some(name) = header(line) {
            section = Section::named(name);
            match section {
                Section::Sops => draft.metadata.begin(),
                Section::Data(name) => {
                    draft.node(NodeId::ROOT, Segment::Key(name.into()));
                }
            }
            continue;
        }
        let Some((key, rest)) = key_of(line) else { continue };
        let value = value_of(rest.trim(), &mut lines);
        match section {
            Section::Sops => draft.metadata.put(key, &value.replace("\\n", "\n")),
            Section::Data(name) => {
                let parent = draft.node(NodeId::ROOT, Segment::Key(name.into()));
                let node = draft.node(parent, Segment::Key(key.into()));
                draft.value(node, Some(&value));
            }
        }
    }
    Ok(())
}

enum Section<'a> {
    Data(&'a str),
    Sops,
}

impl<'a> Section<'a> {
    fn named(name: &'a str) -> Self {
        if name == "sops" { Self::Sops } else { Self::Data(name) }
    }
}

fn header(line: &str) -> Option<&str> {
    let inside = line.strip_prefix('[')?;
    inside.rfind(']').map(|end| &inside[..end])
}

/// The key and what follows its delimiter.
fn key_of(line: &str) -> Option<(&str, &str)> {
    for quote in ["\"\"\"", "\"", "`"] {
        if let Some(inside) = line.strip_prefix(quote)
            && let Some((key, rest)) = inside.split_once(quote)
        {
            return rest.trim_start().strip_prefix(['=', ':']).map(|value| (key, value));
        }
    }
    line.split_once(['=', ':']).map(|(key, value)| (key.trim(), value))
}

fn value_of(first: &str, lines: &mut std::str::Lines<'_>) -> String {
    for quote in ["\"\"\"", "`"] {
        if let Some(inside) = first.strip_prefix(quote) {
            return quoted(inside, quote, lines);
        }
    }
    let mut value = first.to_owned();
    while value.ends_with('\\') {
        value.pop();
        let Some(next) = lines.next() else { break };
        value.push_str(next.trim());
    }
    value
}

/// A value up to its closing quote, over as many lines as that takes.
fn quoted(first: &str, quote: &str, lines: &mut std::str::Lines<'_>) -> String {
    let mut value = String::new();
    let mut line = first;
    loop {
        if let Some((end, _)) = line.split_once(quote) {
            value.push_str(end);
            return value;
        }
        value.push_str(line);
        value.push('\n');
        let Some(next) = lines.next() else { return value };
        line = next;
    }
}
