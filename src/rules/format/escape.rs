//! What escapes stand for, in the format of `printf`, for `%b` and for `echo`.
#![forbid(unsafe_code)]

use crate::rules::step::UNKNOWN;

/// A text with its escapes read, as `echo -e` and `%b` do.
pub(in crate::rules) fn unescaped(bytes: &[u8]) -> Vec<u8> {
    let (mut text, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        if bytes[at] == b'\\' {
            at += escape(&bytes[at..], true, &mut text);
        } else {
            text.push(bytes[at]);
            at += 1;
        }
    }
    text
}

/// One escape. Octal numbers begin with a zero for `echo` and `%b`, which may be no digit of theirs. Answers its length.
pub(super) fn escape(bytes: &[u8], of_echo: bool, text: &mut Vec<u8>) -> usize {
    let digits = |from: usize, most: usize, is_one: fn(&u8) -> bool| {
        bytes.get(from..).unwrap_or_default().iter().take(most).take_while(|byte| is_one(byte)).count()
    };
    let is_octal = |byte: &u8| (b'0'..=b'7').contains(byte);
    let byte = |from: usize, count: usize, radix: u32| {
        let text = std::str::from_utf8(&bytes[from..from + count]).unwrap_or_default();
        u32::from_str_radix(text, radix).map_or(UNKNOWN, |value| u8::try_from(value & 0xff).unwrap_or(UNKNOWN))
    };
    let simple = match bytes.get(1) {
        // A line break parts words, whichever it is.
        Some(b'n' | b'r') => b'\n',
        Some(b't') => b'\t',
        Some(b'\\') => b'\\',
        Some(b'a') => 7,
        Some(b'b') => 8,
        Some(b'f') => 12,
        Some(b'v') => 11,
        Some(b'"') if !of_echo => b'"',
        Some(b'0') if of_echo => {
            let count = digits(2, 3, is_octal);
            text.push(if count == 0 { 0 } else { byte(2, count, 8) });
            return 2 + count;
        }
        Some(b'0'..=b'7') if !of_echo => {
            let count = digits(1, 3, is_octal);
            text.push(byte(1, count, 8));
            return 1 + count;
        }
        Some(b'x') if digits(2, 2, u8::is_ascii_hexdigit) > 0 => {
            let count = digits(2, 2, u8::is_ascii_hexdigit);
            text.push(byte(2, count, 16));
            return 2 + count;
        }
        // Shells differ.
        Some(b'c' | b'u' | b'U' | b'e' | b'E') if !of_echo => UNKNOWN,
        _ => {
            text.push(b'\\');
            return 1;
        }
    };
    text.push(simple);
    2
}
