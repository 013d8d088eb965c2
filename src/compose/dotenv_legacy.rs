//! The grammar of `.env` files as version 1 reads them: python-dotenv's (0.21, `parser.py`, `variables.py`), whose lines end
//! with `\n`. A line that fits no pattern is skipped, not refused.
#![forbid(unsafe_code)]

#[cfg(test)]
mod tests;

/// The names and values, in order. `own` is the environment; unlike in version 2, what stands in the file goes before it
/// when a value names a variable. A name without `=` has no value.
pub(super) fn read(text: &str, own: &dyn Fn(&str) -> Option<String>) -> Vec<(String, Option<String>)> {
    let mut found: Vec<(String, Option<String>)> = Vec::new();
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text).trim_start();
    while !rest.is_empty() {
        let (binding, after) = binding(rest);
        if let Some((key, value)) = binding {
            let within = |name: &str| found.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.clone());
            let lookup = |name: &str| within(name).unwrap_or_else(|| own(name));
            let known = |name: &str| within(name).is_some() || own(name).is_some();
            let value = value.map(|value| filled(&value, &lookup, &known));
            found.push((key.to_owned(), value));
        }
        rest = after.trim_start();
    }
    found
}

/// A blank that ends no line.
fn blank(character: char) -> bool {
    character.is_whitespace() && character != '\n'
}

/// One name with its value, and what follows the line.
fn binding(text: &str) -> (Option<(&str, Option<String>)>, &str) {
    let exported = text.strip_prefix("export").filter(|named| named.starts_with(blank));
    let text = exported.map_or(text, |named| named.trim_start_matches(blank));
    if text.starts_with('#') {
        return (None, after_line(text));
    }
    let Some((key, after)) = key(text) else { return (None, after_line(text)) };
    let after = after.trim_start_matches(blank);
    let (value, after) = match after.strip_prefix('=') {
        Some(after) => match value(after.trim_start_matches(blank)) {
            Some((value, after)) => (Some(value), after),
            None => return (None, after_line(after)),
        },
        None => (None, after),
    };
    let end = after.trim_start_matches(blank);
    if end.is_empty() || end.starts_with(['#', '\n']) {
        (Some((key, value)), after_line(end))
    } else {
        (None, after_line(end))
    }
}

fn after_line(text: &str) -> &str {
    text.find('\n').map_or("", |end| &text[end..])
}

fn key(text: &str) -> Option<(&str, &str)> {
    if let Some(quoted) = text.strip_prefix('\'') {
        return quoted.split_once('\'').filter(|(key, _)| !key.is_empty());
    }
    let end = text.find(|character: char| matches!(character, '=' | '#') || character.is_whitespace());
    Some(text.split_at(end.unwrap_or(text.len()))).filter(|(key, _)| !key.is_empty())
}

/// The value at the beginning of the text and what follows it; none when a quote is not closed.
fn value(text: &str) -> Option<(String, &str)> {
    let Some(quote) = text.chars().next().filter(|first| matches!(first, '"' | '\'')) else {
        let line = text.split('\n').next().unwrap_or_default();
        let commented =
            line.char_indices().find(|(at, character)| *character == '#' && line[..*at].ends_with(char::is_whitespace));
        let value = commented.map_or(line, |(at, _)| &line[..at]);
        return Some((value.trim_end().to_owned(), &text[line.len()..]));
    };
    let inside = &text[1..];
    let end = closing(inside, quote)?;
    Some((unescaped(&inside[..end], quote), &inside[end + 1..]))
}

/// Where the quote ends: at the first that no `\` stands before; where there is none, at the last of the others.
fn closing(inside: &str, quote: char) -> Option<usize> {
    let escaped = |at: usize| inside[..at].ends_with('\\');
    let quotes = || inside.match_indices(quote).map(|(at, _)| at);
    quotes().find(|&at| !escaped(at)).or_else(|| quotes().next_back())
}

fn unescaped(text: &str, quote: char) -> String {
    let (mut value, mut characters) = (String::with_capacity(text.len()), text.chars().peekable());
    while let Some(character) = characters.next() {
        let plain = match (character, characters.peek()) {
            ('\\', Some('\\')) => '\\',
            ('\\', Some('\'')) => '\'',
            ('\\', Some('"')) if quote == '"' => '"',
            ('\\', Some('a')) if quote == '"' => '\u{7}',
            ('\\', Some('b')) if quote == '"' => '\u{8}',
            ('\\', Some('f')) if quote == '"' => '\u{c}',
            ('\\', Some('n')) if quote == '"' => '\n',
            ('\\', Some('r')) if quote == '"' => '\r',
            ('\\', Some('t')) if quote == '"' => '\t',
            ('\\', Some('v')) if quote == '"' => '\u{b}',
            _ => {
                value.push(character);
                continue;
            }
        };
        characters.next();
        value.push(plain);
    }
    value
}

/// `${X}` and `${X:-default}` filled in; nothing else is a variable here, and quotes of either kind hold none back.
fn filled(text: &str, lookup: &dyn Fn(&str) -> Option<String>, known: &dyn Fn(&str) -> bool) -> String {
    let (mut value, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find("${") {
        value.push_str(&rest[..at]);
        let inside = &rest[at + 2..];
        let Some(end) = inside.find('}') else {
            rest = &rest[at..];
            break;
        };
        let (name, default) = inside[..end]
            .split_once(':')
            .map_or((&inside[..end], Some("")), |(name, default)| (name, default.strip_prefix('-')));
        match default {
            Some(default) if !known(name) => value.push_str(default),
            Some(_) => value.push_str(&lookup(name).unwrap_or_default()),
            // `:` without `-`: no variable.
            None => {
                value.push_str("${");
                rest = inside;
                continue;
            }
        }
        rest = &inside[end + 1..];
    }
    value.push_str(rest);
    value
}
