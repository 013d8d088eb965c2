//! Paths and words so that a person can paste them into a shell.
#![forbid(unsafe_code)]

use std::fmt::Write as _;

/// Quotes bytes for POSIX shells: plain words stay plain, others come in single quotes, and what does not print comes
/// as `"$(printf '\033')"`, so that no control character ever reaches a terminal and every `sh` reads it. Only what ends in a
/// line end, which that would drop, comes as `$'\x0a'`, as `bash` and `zsh` have it.
#[must_use]
pub fn shell_quote(bytes: &[u8]) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+=:@,%".contains(byte);
    if !bytes.is_empty() && bytes.iter().all(plain) {
        return bytes.iter().map(|&byte| char::from(byte)).collect();
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if text.chars().all(prints) => format!("'{}'", text.replace('\'', r"'\''")),
        _ if bytes.ends_with(b"\n") => ansi(bytes),
        _ => printed(bytes),
    }
}

fn prints(character: char) -> bool {
    super::resource::shows_as_itself(character) || character == ' '
}

fn printed(bytes: &[u8]) -> String {
    let mut text = String::from("\"$(printf '");
    for &byte in bytes {
        let _infallible = match byte {
            b'%' => write!(text, "%%"),
            b'\\' => write!(text, "\\\\"),
            b' '..=b'~' if byte != b'\'' => write!(text, "{}", char::from(byte)),
            _ => write!(text, "\\{byte:03o}"),
        };
    }
    text.push_str("')\"");
    text
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
            (b"a\x1b[2J", r#""$(printf 'a\033[2J')""#),
            (b"\xff", r#""$(printf '\377')""#),
            (b"100%\\'\n-", r#""$(printf '100%%\\\047\012-')""#),
            (b"a\n", r"$'a\x0a'"),
            ("\u{202e}x".as_bytes(), r#""$(printf '\342\200\256x')""#),
        ] {
            assert_eq!(shell_quote(bytes), shown);
        }
        // Any shell reads it as it was.
        for bytes in [&b"a\x1b[2J"[..], b"\xff x", b"100%\\'\n-", b"it's"] {
            let line = format!("printf %s {}", shell_quote(bytes));
            let told = std::process::Command::new("sh").args(["-c", &line]).output().expect("sh");
            assert_eq!(told.stdout, bytes, "{line}");
        }
    }
}
