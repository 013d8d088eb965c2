//! `host=db user=ana password='a b'`: the older form of a connection string.
//! Source: libpq `conninfo_parse` and the PostgreSQL manual, "Keyword/Value Connection Strings".
#![forbid(unsafe_code)]

use super::error::AddressError;
use super::parameters::Parameters;

/// Reads key=value pairs exactly as libpq does: blanks may stand around `=`, a value ends at a blank unless it is between
/// single quotes, and a backslash takes the next character as it is.
pub(super) fn parse(text: &str) -> Result<Parameters, AddressError> {
    let mut found = Parameters::default();
    let mut rest = blanks(text);
    let mut last = None;
    while !rest.is_empty() {
        let end = rest.find(|c: char| c == '=' || is_blank(c)).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        let Some(value) = blanks(after).strip_prefix('=') else {
            // The word may be the rest of a password with a blank in it, so it is not repeated.
            return Err(AddressError::Form { what: "there is a word without `=`", after: last });
        };
        let (value, after) = value_of(blanks(value), last)?;
        last = Some(found.put_word(name, value, last != Some("password") && last != Some("sslpassword"))?);
        rest = blanks(after);
    }
    Ok(found)
}

/// One value and what follows it.
fn value_of<'a>(text: &'a str, last: Option<&'static str>) -> Result<(String, &'a str), AddressError> {
    let quoted = text.starts_with('\'');
    let mut value = String::new();
    let mut letters = text.char_indices().skip(usize::from(quoted));
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => value.extend(letters.next().map(|(_, letter)| letter)),
            '\'' if quoted => return Ok((value, &text[at + 1..])),
            blank if !quoted && is_blank(blank) => return Ok((value, &text[at + 1..])),
            other => value.push(other),
        }
    }
    match quoted {
        true => Err(AddressError::Form { what: "a quoted value has no closing quote", after: last }),
        false => Ok((value, "")),
    }
}

fn blanks(text: &str) -> &str {
    text.trim_start_matches(is_blank)
}

/// C's `isspace`.
fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}
