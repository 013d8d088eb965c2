//! The grammar of `.env` files as version 2 reads them (compose-go `dotenv/parser.go`).
#![forbid(unsafe_code)]

#[cfg(test)]
mod tests;

use super::template;

/// Why a file is not read to its end, and the line. What stands there stays out of the message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    /// The name before `=` has a character that no name has, or a space.
    #[error("line {0} has something else than NAME=value")]
    Name(usize),
    /// A quote is never closed.
    #[error("the quote in line {0} is not closed")]
    Quote(usize),
    /// A variable in a value.
    #[error("line {0}: {1}")]
    Template(usize, template::Fault),
}

/// What a name stands for outside of a file.
pub(super) type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The names and values, in order; of a name that stands twice the last counts. When a value names a variable, what is
/// `set` goes before what stands in the file, and that before what `earlier` files say.
pub(super) fn read(text: &str, set: Lookup<'_>, earlier: Lookup<'_>) -> Result<Vec<(String, String)>, Fault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut found: Vec<(String, String)> = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if let Some(comment) = rest.strip_prefix('#') {
            rest = comment.find('\n').map_or("", |end| &comment[end..]);
            continue;
        }
        if rest.is_empty() {
            return Ok(found);
        }
        let here = rest;
        let line = || text[..text.len() - here.len()].matches('\n').count() + 1;
        let (key, end, after) = key(rest).ok_or_else(|| Fault::Name(line()))?;
        if end == Some('\n') {
            // A name alone takes its value from what is set.
            found.extend(set(key).map(|value| (key.to_owned(), value)));
            rest = after;
            continue;
        }
        let (value, expand, after) = value(after).ok_or_else(|| Fault::Quote(line()))?;
        let value = match expand {
            true => {
                let within =
                    |name: &str| found.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.clone());
                template::substitute(&value, &|name| set(name).or_else(|| within(name)).or_else(|| earlier(name)))
                    .map_err(|fault| Fault::Template(line(), fault))?
            }
            false => value,
        };
        found.push((key.to_owned(), value));
        rest = after;
    }
}

/// A blank that ends no line.
fn blank(character: char) -> bool {
    matches!(character, '\t' | '\u{b}' | '\u{c}' | '\r' | ' ' | '\u{85}' | '\u{a0}')
}

/// The name at the beginning of a statement, what ended it, and what follows. At the end of the file nothing ends it:
/// then it has no name, and the rest is its value.
fn key(text: &str) -> Option<(&str, Option<char>, &str)> {
    let text = match text.strip_prefix("export") {
        Some(named) if named.starts_with(char::is_whitespace) => named.trim_start_matches(blank),
        _ => text,
    };
    let part = |character: char| matches!(character, '_' | '.' | '-' | '[' | ']') || character.is_alphanumeric();
    let ended = text.find(|character| !blank(character) && !part(character));
    let Some(at) = ended else { return Some(("", None, text)).filter(|_| !text.is_empty()) };
    let end = text[at..].chars().next().filter(|end| matches!(end, '=' | ':' | '\n'))?;
    let key = text[..at].trim_end();
    (!key.contains(' ')).then(|| (key, Some(end), text[at + 1..].trim_start_matches(blank)))
}

/// The value at the beginning of the text, whether variables in it are filled in, and what follows.
fn value(text: &str) -> Option<(String, bool, &str)> {
    let Some(quote) = text.chars().next().filter(|first| matches!(first, '"' | '\'')) else {
        let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
        let value = line.split_once(" #").map_or(line, |(value, _)| value);
        return Some((value.trim_end().to_owned(), true, rest));
    };
    let (mut value, mut escaped) = (String::new(), false);
    for (at, character) in text.char_indices().skip(1) {
        if escaped {
            escaped = false;
            if character != quote {
                value.push('\\');
            }
            value.push(character);
        } else if character == '\\' {
            escaped = true;
        } else if character == quote {
            let double = quote == '"';
            return Some((if double { unescaped(&value) } else { value }, double, &text[at + 1..]));
        } else {
            value.push(character);
        }
    }
    None
}

/// `\n` and its like inside double quotes. `\$` becomes `$$`, which is then filled in as `$`.
fn unescaped(text: &str) -> String {
    let (mut value, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find('\\') {
        value.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let taken = match after.as_bytes().first() {
            Some(b'0') => 1 + after.bytes().skip(1).take(3).take_while(u8::is_ascii_digit).count(),
            Some(b'a' | b'b' | b'c' | b'f' | b'n' | b'r' | b't' | b'v' | b'$' | b'"' | b'\\') => 1,
            _ => 0,
        };
        let plain = match &after[..taken] {
            "a" => '\u{7}',
            "b" => '\u{8}',
            "f" => '\u{c}',
            "n" => '\n',
            "r" => '\r',
            "t" => '\t',
            "v" => '\u{b}',
            "\"" => '"',
            "\\" => '\\',
            "$" => {
                value.push('$');
                '$'
            }
            octal if octal.len() == 4 && u8::from_str_radix(&octal[1..], 8).is_ok() => {
                u8::from_str_radix(&octal[1..], 8).map_or('\\', char::from)
            }
            other => {
                // No escape that Go knows: it stays, an octal one without its 0.
                value.push('\\');
                value.push_str(other.strip_prefix('0').unwrap_or(other));
                rest = &after[taken..];
                continue;
            }
        };
        value.push(plain);
        rest = &after[taken..];
    }
    value.push_str(rest);
    value
}
