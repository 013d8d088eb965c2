//! `$X`, `${X:-default}` and their like, as compose fills them in (compose-go `template/template.go`).
#![forbid(unsafe_code)]

/// Defaults inside defaults deeper than this are refused: nobody writes them, and each costs stack.
const DEPTH_CAP: u32 = 64;

/// Why a text cannot be filled in. What stands in it stays out of the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    /// `${` and something that is no variable.
    #[error("a `${{` begins no variable")]
    Invalid,
    /// `${X:?…}` and X is not set.
    #[error("a variable that must be set is not")]
    Required,
    /// See [`DEPTH_CAP`].
    #[error("defaults stand too deep inside defaults")]
    TooDeep,
}

/// The text with its variables filled in; one that is not set is empty.
pub(super) fn substitute(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Result<String, Fault> {
    fill(text, lookup, 0)
}

fn fill(text: &str, lookup: &dyn Fn(&str) -> Option<String>, depth: u32) -> Result<String, Fault> {
    if depth > DEPTH_CAP {
        return Err(Fault::TooDeep);
    }
    let (mut filled, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find('$') {
        filled.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let named = variable(after);
        if let Some(escaped) = after.strip_prefix('$') {
            filled.push('$');
            rest = escaped;
        } else if let Some(braced) = after.strip_prefix('{') {
            let length = braces(braced)?;
            filled.push_str(&inside(&braced[..length], lookup, depth)?);
            rest = &braced[length + 1..];
        } else if named > 0 {
            filled.push_str(&lookup(&after[..named]).unwrap_or_default());
            rest = &after[named..];
        } else {
            // A lone `$` is one.
            filled.push('$');
            rest = after;
        }
    }
    filled.push_str(rest);
    Ok(filled)
}

/// How many bytes of the text are a variable's name.
fn variable(text: &str) -> usize {
    let part = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric();
    if text.as_bytes().first().is_none_or(u8::is_ascii_digit) {
        return 0;
    }
    text.bytes().position(|byte| !part(byte)).unwrap_or(text.len())
}

/// How many bytes stand between `${` and its `}`. Braces are counted, on one line only; where the count does not come
/// out, the last `}` of the line is it, as for a pattern that takes all it can.
fn braces(text: &str) -> Result<usize, Fault> {
    let line = text.split('\n').next().unwrap_or_default();
    let named = variable(line);
    let next = line[named..].strip_prefix(':').unwrap_or(&line[named..]);
    match line.as_bytes().get(named) {
        _ if named == 0 => return Err(Fault::Invalid),
        Some(b'}') => return Ok(named),
        _ if !next.starts_with(['-', '+', '?']) => return Err(Fault::Invalid),
        _ => {}
    }
    let (mut open, mut at) = (1_u32, 1);
    while let Some(byte) = line.as_bytes().get(at) {
        match byte {
            b'}' if open == 1 => return Ok(at),
            b'}' => open -= 1,
            b'{' => {
                open += 1;
                // What follows an opening brace is not looked at, there as here.
                at += 1;
            }
            _ => {}
        }
        at += 1;
    }
    line.rfind('}').filter(|&at| at > named).ok_or(Fault::Invalid)
}

/// What stands between the braces, filled in.
fn inside(text: &str, lookup: &dyn Fn(&str) -> Option<String>, depth: u32) -> Result<String, Fault> {
    let (name, operation) = text.split_at(variable(text));
    let value = lookup(name);
    if operation.is_empty() {
        return Ok(value.unwrap_or_default());
    }
    let (unless_empty, operation) = match operation.strip_prefix(':') {
        Some(operation) => (true, operation),
        None => (false, operation),
    };
    let there = value.as_ref().is_some_and(|value| !(unless_empty && value.is_empty()));
    let value = value.unwrap_or_default();
    match (operation.as_bytes()[0], there) {
        // Only where it is needed does a fault in it count.
        (b'-', false) | (b'+', true) => fill(&operation[1..], lookup, depth + 1),
        (b'?', false) => Err(Fault::Required),
        _ => Ok(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str) -> Result<String, Fault> {
        substitute(text, &|name| match name {
            "A" => Some("a".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        })
    }

    #[test]
    fn variables_are_filled_in_as_compose_does() {
        for (text, expected) in [
            ("plain", "plain"),
            ("$A-${A}", "a-a"),
            ("$NONE|${NONE}", "|"),
            ("$$A", "$A"),
            ("a$", "a$"),
            ("$1", "$1"),
            ("${NONE:-d}${EMPTY:-d}${A:-d}", "dda"),
            ("${NONE-d}${EMPTY-d}${A-d}", "da"),
            ("${NONE:+d}${EMPTY:+d}${A:+d}", "d"),
            ("${NONE+d}${EMPTY+d}${A+d}", "dd"),
            ("${A:?no}${A?no}${EMPTY?no}", "aa"),
            ("${NONE:-${ALSO:-${A}}}", "a"),
            ("${A:-${NONE:?not asked}}", "a"),
            ("${NONE:-{x}y}", "{x}y"),
            ("${NONE:-x}}", "x}"),
            ("${NONE:-a-b?c}", "a-b?c"),
        ] {
            assert_eq!(filled(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_compose_refuses_is_refused() {
        let deep = "${N:-".repeat(100) + &"}".repeat(100);
        for (text, expected) in [
            ("${A", Fault::Invalid),
            ("${}", Fault::Invalid),
            ("${1}", Fault::Invalid),
            ("${A!x}", Fault::Invalid),
            ("${A:-\n}", Fault::Invalid),
            ("${NONE?it}", Fault::Required),
            ("${EMPTY:?it}", Fault::Required),
            ("${NONE:-${B}", Fault::Invalid),
            (&deep, Fault::TooDeep),
        ] {
            assert_eq!(filled(text), Err(expected), "{text}");
        }
    }
}
