//! Paths and words so that a person can paste them into a shell.
#![forbid(unsafe_code)]

use std::fmt::Write as _;

/// Quotes bytes for POSIX shells: plain words stay plain, others come in single quotes, and what does not print comes
/// as `$'\x1b'`, so that no control character ever reaches a terminal.
#[must_use]
pub fn shell_quote(bytes: &[u8]) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+=:@,%".contains(byte);
    if !bytes.is_empty() && bytes.iter().all(plain) {
        return bytes.iter().map(|&byte| char::from(byte)).collect();
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if text.chars().all(prints) => format!("'{}'", text.replace('\'', r"'\''")),
        _ => ansi(bytes),
    }
}

fn prints(character: char) -> bool {
    super::resource::shows_as_itself(character) || character == ' '
}

fn ansi(bytes: &[u8]) -> String {
    let mut text = String::from("$'");
    for &byte in bytes {
        let _infallible = match byte {
            b'\'' | b'\\' => write!(text, "\\{}", char::from(byte)),
            b' '..=b'~' => write!(text, "{}", char::from(byte)),
            _ => write!(text, "\\x{byte:02x}"),
        };
    }
    text.push('\'');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_can_be_pasted() {
        for (bytes, shown) in [
            (&b"secrets/x.env.sops"[..], "secrets/x.env.sops"),
            (b"", "''"),
            (b"a b", "'a b'"),
            (b"it's", r"'it'\''s'"),
            (b"a\x1b[2J", r"$'a\x1b[2J'"),
            (b"\xff", r"$'\xff'"),
            ("\u{202e}x".as_bytes(), r"$'\xe2\x80\xaex'"),
        ] {
            assert_eq!(shell_quote(bytes), shown);
        }
    }
}
