//! Names of variables.
#![forbid(unsafe_code)]

/// What a name must be, for who wrote something else.
pub(super) const EXPECTED: &str = "the name of a variable: letters, digits and _ alone, no digit first";

/// Is it the name of a variable? It comes into our messages, for pasting.
pub(super) fn is_name(text: &str) -> bool {
    let starts = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    text.bytes().all(|byte| starts(byte) || byte.is_ascii_digit()) && text.bytes().next().is_some_and(starts)
}
