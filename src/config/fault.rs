//! What is wrong with a file of settings, in our words: what the TOML reader says repeats values, and a value may be an
//! address with a password.
#![forbid(unsafe_code)]

use super::nearest::nearest;

/// What the reader's message means, without what stands there.
pub(super) fn fault(message: &str) -> String {
    if let Some(rest) = message.strip_prefix("unknown field ") {
        return unknown_key(rest);
    }
    if let Some(rest) = message.strip_prefix("missing field ") {
        return missing(rest.trim_matches('`'));
    }
    for (opening, what) in [
        ("invalid type: ", "a value of the wrong type"),
        ("invalid value: ", "a value of the wrong form"),
        ("invalid length ", "a value of the wrong length"),
        ("unknown variant ", "an unknown word"),
    ] {
        if let Some(rest) = message.strip_prefix(opening) {
            let expected = rest.rsplit_once(", expected ").map_or("another", |(_, expected)| expected);
            return format!("{what}, expected {}", ours(expected));
        }
    }
    message.lines().next().filter(|line| !line.is_empty()).unwrap_or("it is no TOML").to_owned()
}

/// Keys without which a table says nothing, with what is expected there.
const NEEDED: [(&str, &str); 8] = [
    ("name", "a text, for example name = \"deploy\""),
    ("program", "a text or a list of texts, for example program = \"deployctl\""),
    ("paths", "a list of globs, for example paths = [\"docs/**\"]"),
    ("files", "a text with one gap, for example files = \"{last}\""),
    ("path", "a text or a list of texts, for example path = \"compose up\""),
    ("secret", "a text, for example secret = \"API_KEY\""),
    ("file", "the path of a SOPS file, for example file = \"secrets/store.yaml\""),
    ("key", "the name of a value in that file, for example key = \"url\""),
];

/// A key that is not there. Its name is the reader's own.
fn missing(key: &str) -> String {
    let needed = NEEDED.iter().find(|(name, _)| *name == key);
    let expected = needed.map(|(_, expected)| format!(", expected {expected}")).unwrap_or_default();
    format!("the key \"{key}\" is missing{expected}")
}

/// What the reader expects, in words of TOML.
fn ours(expected: &str) -> String {
    match expected {
        "a sequence" => "a list".to_owned(),
        "a map" => "a table".to_owned(),
        "usize" | "u64" => "a whole number, not less than 0".to_owned(),
        "a nonzero usize" => "a whole number, not less than 1".to_owned(),
        of_rust if of_rust.starts_with("struct ") => "a table".to_owned(),
        words => words.replace('`', "\""),
    }
}

/// "`stor`, expected one of `scope`, `store`": a key that nobody knows, the nearest that is known, else all of them. The
/// list of known keys is the reader's and ours; the unknown one is whatever somebody wrote.
fn unknown_key(rest: &str) -> String {
    let (key, known) = rest.rsplit_once(", expected ").unwrap_or((rest, ""));
    let key = key.trim_matches('`');
    let known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    let shown = if !key.is_empty() && key.len() <= 40 && key.bytes().all(plain) {
        format!("unknown key `{key}`")
    } else {
        "an unknown key".to_owned()
    };
    match nearest(key, known.iter().copied()) {
        Some(near) => format!("{shown}; did you mean `{near}`?"),
        None => format!("{shown}; known here: {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_told_without_values() {
        for (message, told) in [
            ("unknown field `stor`, expected one of `scope`, `store`", "unknown key `stor`; did you mean `store`?"),
            ("unknown field `x`, expected `ask`", "unknown key `x`; known here: ask"),
            ("unknown field `a\u{1b}[2J`, expected `ask`", "an unknown key; known here: ask"),
            ("unknown field `a`, expected b`, expected `ask`", "an unknown key; known here: ask"),
            (
                "invalid type: string \"hunter2, expected x\", expected a boolean",
                "a value of the wrong type, expected a boolean",
            ),
            ("invalid value: integer `5`, expected a thing", "a value of the wrong form, expected a thing"),
            (
                "unknown variant `hunter2`, expected `deny` or `local`",
                "an unknown word, expected \"deny\" or \"local\"",
            ),
            ("invalid type: string \"hunter2\", expected struct Store", "a value of the wrong type, expected a table"),
            ("missing field `name`", "the key \"name\" is missing, expected a text, for example name = \"deploy\""),
            ("missing field `other`", "the key \"other\" is missing"),
            ("", "it is no TOML"),
        ] {
            assert_eq!(fault(message), told);
        }
    }
}
