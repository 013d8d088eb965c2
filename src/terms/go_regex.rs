//! Regular expressions as sops reads them (Go's RE2 syntax), on this crate's engine, which is nearly the same language.
//! Only what a path pattern may meet is translated: `\Q…\E`, braces that count nothing, and characters that mean
//! something inside brackets here and nothing in Go.
#![forbid(unsafe_code)]

use std::iter::Peekable;
use std::str::Chars;

use regex::Regex;

/// Compiles a Go pattern.
///
/// # Errors
/// For what neither language knows (look-around, back-references), and the odd form that only Go knows.
pub(crate) fn compile(pattern: &str) -> Result<Regex, regex::Error> {
    Regex::new(&translated(pattern))
}

fn translated(pattern: &str) -> String {
    let mut text = String::with_capacity(pattern.len());
    let mut rest = pattern.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\\' if rest.peek() == Some(&'Q') => {
                rest.next();
                text.push_str(&regex::escape(&quoted(&mut rest)));
            }
            '\\' => {
                text.push('\\');
                text.extend(rest.next());
            }
            '[' => bracket(&mut rest, &mut text),
            '{' if !counts(rest.clone()) && !text.ends_with("\\p") && !text.ends_with("\\P") => text.push_str("\\{"),
            other => text.push(other),
        }
    }
    text
}

/// Up to `\E` or the end.
fn quoted(rest: &mut Peekable<Chars<'_>>) -> String {
    let mut text = String::new();
    while let Some(character) = rest.next() {
        if character == '\\' && rest.peek() == Some(&'E') {
            rest.next();
            break;
        }
        text.push(character);
    }
    text
}

/// A class, of which `[` has been read. `[`, `&` and `~` are plain in Go's.
fn bracket(rest: &mut Peekable<Chars<'_>>, text: &mut String) {
    text.push('[');
    text.extend(rest.next_if_eq(&'^'));
    if rest.next_if_eq(&']').is_some() {
        text.push_str("\\]");
    }
    while let Some(character) = rest.next() {
        match character {
            ']' => {
                text.push(']');
                return;
            }
            '[' if rest.peek() == Some(&':') => {
                text.push('[');
                for character in rest.by_ref() {
                    text.push(character);
                    if character == ']' {
                        break;
                    }
                }
            }
            '\\' => {
                text.push('\\');
                text.extend(rest.next());
            }
            '[' | '&' | '~' => text.extend(['\\', character]),
            other => text.push(other),
        }
    }
}

/// Is what follows a `{` a repetition: `n}`, `n,}`, `n,m}`?
fn counts(mut rest: Peekable<Chars<'_>>) -> bool {
    let mut digits = 0;
    while rest.next_if(char::is_ascii_digit).is_some() {
        digits += 1;
    }
    if rest.next_if_eq(&',').is_some() {
        while rest.next_if(char::is_ascii_digit).is_some() {}
    }
    digits > 0 && rest.next() == Some('}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_found_in_the_wild_match_what_they_match_in_go() {
        for (pattern, path, expected) in [
            (r"secrets/.*\.yaml$", "secrets/a.yaml", true),
            (r"secrets/.*\.yaml$", "secrets/a.yml", false),
            (r"\.enc\.yaml$", "x.enc.yaml", true),
            (r"^(.*/)?.*(secrets|.*\.sops)\.(ya?ml|json)$", "a/b/x.sops.json", true),
            (r"secrets/[^/]+\.(?:env|json|yaml|yml|txt|conf)$", "secrets/a/b.env", false),
            (r"secrets\/prod", "secrets/prod", true),
            (r"\Qa.b\E\.env", "a.b.env", true),
            (r"\Qa.b\E\.env", "axb.env", false),
            (r"a{b}c", "a{b}c", true),
            (r"^a{2,3}$", "aaa", true),
            (r"^[[a&&b]+$", "[a&b", true),
            (r"^[]a]+$", "]a", true),
            (r"^[[:alpha:]]+$", "abc", true),
            (r"^\p{L}+$", "é", true),
            (r"^\P{L}+$", "12", true),
            (r"^a{2,}$", "aaa", true),
            (r"^a{2}$", "a{2}", false),
            (r"^a{,3}$", "a{,3}", true),
            (r"^a{2,x}$", "a{2,x}", true),
            (r"^a\{2\}$", "a{2}", true),
            (r"^\Qa\b\E$", r"a\b", true),
            (r"^\Qa|b", "a|bc", true),
            (r"^[^]a]+$", "bc", true),
            (r"^[^]a]+$", "]", false),
            (r"^[\]~~[]+$", "]~[", true),
            (r"^[[:alpha:]&&b.]+$", "a&.", true),
            (r"(?i)PROD", "prod", true),
        ] {
            assert_eq!(compile(pattern).expect(pattern).is_match(path), expected, "{pattern} on {path}");
        }
    }

    #[test]
    fn what_go_does_not_know_does_not_compile() {
        for pattern in [r"(?!x)", r"(a)\1", "("] {
            assert!(compile(pattern).is_err(), "{pattern}");
        }
    }
}
