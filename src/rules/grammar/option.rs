//! One option of a line: attached to its value, before it, or in a bundle.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::ffi::OsString;

use super::LONGEST_NAME;
use super::level::Level;
use super::line::Line;
use super::name::has;
use crate::rules::argument::tail;

/// Nobody bundles more options than there are letters; what is longer is something else.
const LONGEST_BUNDLE: usize = 128;

/// Reads the option that stands before `at`, with its value. Answers what comes next, and whether nobody here knows if
/// that is its value.
pub(super) fn read_option<'a>(level: Level<'a>, args: &'a [OsString], at: usize, line: &mut Line<'a>) -> (usize, bool) {
    let word = args[at - 1].as_os_str();
    let bytes = word.as_encoded_bytes();
    let next = || args.get(at).map(|value| Cow::Borrowed(value.as_os_str()));
    if bytes.starts_with(b"--") || level.single_dash {
        // No option has a longer name, so that what stands behind is not looked at.
        let equals = bytes.iter().take(LONGEST_NAME).position(|&byte| byte == b'=');
        let typed = &bytes[..equals.unwrap_or(bytes.len())];
        let name = level.named(Cow::Borrowed(typed));
        if let Some(equals) = equals {
            line.options.push((name, Some(tail(word, equals + 1))));
            return (at, false);
        }
        let takes = level.takes_value(typed);
        line.options.push((name, next().filter(|_| takes)));
        return (at + usize::from(takes), !level.knows(typed));
    }
    let mut next_place = 1;
    while next_place < bytes.len().min(LONGEST_BUNDLE) {
        let place = next_place;
        next_place += 1;
        // A name of one letter that is no letter (a byte of some other text) ends the bundle: nothing is cut in two.
        if !bytes[place].is_ascii() {
            break;
        }
        let short = [b'-', bytes[place]];
        let name = level.named(Cow::Owned(short.to_vec()));
        let rest = (place + 1 < bytes.len()).then(|| tail(word, place + 1));
        if level.equals && bytes.get(place + 1) == Some(&b'=') {
            line.options.push((name, Some(tail(word, place + 2))));
            return (at, false);
        }
        if level.takes_value(&short) {
            let attached = rest.is_some();
            line.options.push((name, rest.or_else(next)));
            return (at + usize::from(!attached), false);
        }
        if has(level.attached, &short) {
            line.options.push((name, rest));
            return (at, false);
        }
        if has(level.digits, &short) {
            next_place += digits(&bytes[next_place..]);
        }
        line.options.push((name, None));
    }
    // A number is a value that is attached, whatever the option (`-t5`).
    let last = bytes.last().filter(|last| last.is_ascii_alphabetic());
    (at, last.is_some_and(|&last| !level.knows(&[b'-', last])))
}

/// How many digits there are, hexadecimal ones behind an `x`.
fn digits(rest: &[u8]) -> usize {
    match rest {
        [b'x' | b'X', hexadecimal @ ..] => 1 + hexadecimal.iter().take_while(|byte| byte.is_ascii_hexdigit()).count(),
        decimal => decimal.iter().take_while(|byte| byte.is_ascii_digit()).count(),
    }
}
