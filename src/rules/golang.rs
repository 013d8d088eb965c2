//! The few readings of text that Go's `flag` and `strconv` do, as exact as a decision needs them.
#![forbid(unsafe_code)]

/// Go's `strconv.ParseBool`: these twelve words and no other.
pub(crate) fn parse_bool(text: &[u8]) -> Option<bool> {
    match text {
        b"1" | b"t" | b"T" | b"true" | b"TRUE" | b"True" => Some(true),
        b"0" | b"f" | b"F" | b"false" | b"FALSE" | b"False" => Some(false),
        _ => None,
    }
}

/// Whether Go's `strconv.ParseInt(text, 0, 64)` accepts it: a sign, a base prefix (`0x`, `0o`, `0b`, or `0` for octal),
/// and underscores between digits when the base comes from the prefix.
pub(crate) fn is_integer(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let lower = digits.to_ascii_lowercase();
    let (base, body) = match lower.as_bytes() {
        [b'0', b'x', ..] => (16, &lower[2..]),
        [b'0', b'o', ..] => (8, &lower[2..]),
        [b'0', b'b', ..] => (2, &lower[2..]),
        [b'0', _, ..] => (8, &lower[1..]),
        _ => (10, lower.as_str()),
    };
    // An underscore may follow a prefix or a digit and must precede a digit; decimal numbers have no prefix.
    let prefixed = body.len() < lower.len();
    if body.ends_with('_') || body.contains("__") || (!prefixed && body.starts_with('_')) {
        return false;
    }
    let body = body.replace('_', "");
    // `from_str_radix` would read a second sign.
    if !body.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return false;
    }
    u64::from_str_radix(&body, base).is_ok_and(|number| number <= i64::MAX as u64 + u64::from(negative))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_boolean_is_one_of_twelve_words() {
        for (text, expected) in
            [("1", Some(true)), ("True", Some(true)), ("f", Some(false)), ("tRUE", None), ("yes", None), ("", None)]
        {
            assert_eq!(parse_bool(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn an_integer_may_have_a_sign_a_base_and_underscores() {
        for text in
            ["0", "2", "-3", "+4", "0x1F", "0b10", "0o17", "017", "1_000", "0x_1f", "0_7", "-9223372036854775808"]
        {
            assert!(is_integer(text.as_bytes()), "{text}");
        }
        for text in ["", "-", "x", "08", "0x", "1.5", "_1", "1_", "1__0", "--1", "+-1", "9223372036854775808", "2 "] {
            assert!(!is_integer(text.as_bytes()), "{text}");
        }
    }
}
