//! Paths and words so that a person can paste them into a shell.
#![forbid(unsafe_code)]

use std::fmt::Write as _;

/// Quotes bytes for POSIX shells: plain words stay plain, others come in single quotes, and what does not print comes
/// as `"$(printf '\033')"`, so that no control character ever reaches a terminal and every `sh` reads it. Only what ends in a
/// line end, which that would drop, comes as `$'\x0a'`, as `bash` and `zsh` have it.
#[must_use]
pub fn shell_quote(bytes: &[u8]) -> String {
    // zsh makes the path of a program of `=ls`.
    if !bytes.is_empty() && !bytes.starts_with(b"=") && bytes.iter().all(|&byte| is_plain(byte)) {
        return bytes.iter().map(|&byte| char::from(byte)).collect();
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if text.chars().all(prints) => format!("'{}'", text.replace('\'', r"'\''")),
        _ if bytes.ends_with(b"\n") => ansi(bytes),
        _ => printed(bytes),
    }
}

/// A path as a word of a line that can be pasted: no shell makes anything of it, and no program takes it for an option.
#[must_use]
pub fn shell_path(path: &std::path::Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    if bytes.starts_with(b"-") { shell_quote(&[b"./", bytes].concat()) } else { shell_quote(bytes) }
}

/// Every shell takes it as it is, wherever in a word it stands; but for zsh, which looks for a program behind a `=` at its start.
pub(super) fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"/._-+=:@,%".contains(&byte)
}

/// Would a shell take the text for one word, and do nothing about it? So does what [`shell_quote`] makes; of a text that came
/// from elsewhere nobody knows before it is asked here.
#[must_use]
pub fn is_one_word(text: &str) -> bool {
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = match (first, after) {
            (b'"', [b'$', b'(', b'p', b'r', b'i', b'n', b't', b'f', b' ', b'\'', inside @ ..]) => {
                match inside.iter().position(|&byte| byte == b'\'').map(|end| &inside[end + 1..]) {
                    Some([b')', b'"', after @ ..]) => after,
                    _ => return false,
                }
            }
            (b'\'', inside) => match inside.iter().position(|&byte| byte == b'\'') {
                Some(end) => &inside[end + 1..],
                None => return false,
            },
            (b'$', [b'\'', inside @ ..]) => match end_of_ansi(inside) {
                Some(end) => &inside[end + 1..],
                None => return false,
            },
            (b'\\', [b'\'', after @ ..]) => after,
            (byte, after) if is_plain(*byte) => after,
            _ => return false,
        };
    }
    !text.is_empty() && !text.starts_with('=')
}

/// Where the quote stands that ends `$'…`.
fn end_of_ansi(inside: &[u8]) -> Option<usize> {
    let mut at = 0;
    while *inside.get(at)? != b'\'' {
        at += if inside[at] == b'\\' { 2 } else { 1 };
    }
    Some(at)
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn each_form_can_be_pasted() {
        for (bytes, shown) in [
            (&b"secrets/x.env.sops"[..], "secrets/x.env.sops"),
            (b"", "''"),
            (b"a b", "'a b'"),
            (b"a=b", "a=b"),
            (b"=ls", "'=ls'"),
            (b"it's", r"'it'\''s'"),
            (b"a\x1b[2J", r#""$(printf 'a\033[2J')""#),
            (b"\xff", r#""$(printf '\377')""#),
            (b"100%\\'\n-", r#""$(printf '100%%\\\047\012-')""#),
            (b"a\n", r"$'a\x0a'"),
            (b"it's \\ \x7f\n", r"$'it\'s \\ \x7f\x0a'"),
            ("\u{202e}x".as_bytes(), r#""$(printf '\342\200\256x')""#),
        ] {
            assert_eq!(shell_quote(bytes), shown);
            assert!(is_one_word(shown), "{shown}");
        }
        for odd in ["", "a b", "$(x)", "`x`", "'a", "$'a\\'", "a'b'$(x)", "'a'\\", "a;b", "~", "=ls", "\u{e9}"] {
            assert!(!is_one_word(odd), "{odd}");
        }
        for whole in [r"$'a\'b'", r"$'a\\'", r"'a'\''b'c", "'a''b'", r#"x"$(printf 'a')"$'b'y"#] {
            assert!(is_one_word(whole), "{whole}");
        }
        for odd in [r"$'a\\' b'", r#""$(printf 'a')"#, r#""$(printf 'a'x""#, r#""$(printf 'a"#, r#""a""#, "$x", r"\x"] {
            assert!(!is_one_word(odd), "{odd}");
        }
        // Any shell reads it as it was.
        for bytes in [&b"a\x1b[2J"[..], b"\xff x", b"100%\\'\n-", b"it's"] {
            let line = format!("printf %s {}", shell_quote(bytes));
            let told = std::process::Command::new("sh").args(["-c", &line]).output().expect("sh");
            assert_eq!(told.stdout, bytes, "{line}");
        }
    }

    #[test]
    fn a_path_is_no_option() {
        for (path, shown) in [("-x", "./-x"), ("-x y", "'./-x y'"), ("a b", "'a b'"), ("a-x", "a-x"), ("/-x", "/-x")] {
            assert_eq!(shell_path(std::path::Path::new(path)), shown);
        }
    }
}
