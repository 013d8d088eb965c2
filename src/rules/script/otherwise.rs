//! Variables for which a script has a word to put in their place (`${X:-word}`): whether they are set decides which it is.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};

use super::Env;
use crate::rules::step::Step;
use crate::shell;

/// So many of them are looked up.
const MOST: usize = 256;

/// No variable that somebody sets has a longer name.
const LONGEST: usize = 128;

/// Variables with their values.
type Set = BTreeMap<Vec<u8>, Vec<u8>>;

/// Those that are set where the script starts, and those that are not. The rest of the variables is looked up where it
/// stands.
pub(super) fn variables(text: &[u8], around: &Step<'_>, env: Env<'_>) -> (Set, BTreeSet<Vec<u8>>) {
    let (mut set, mut unset) = (Set::new(), BTreeSet::new());
    if text.len() > shell::LONGEST {
        return (set, unset);
    }
    for name in names(text) {
        if set.len() + unset.len() >= MOST {
            break;
        }
        // The shell itself sets these.
        let Some(known) = std::str::from_utf8(name).ok().filter(|name| !["PWD", "HOME", "IFS"].contains(name)) else {
            continue;
        };
        match around.variable(known, env) {
            Some(value) => drop(set.insert(name.to_vec(), value.as_encoded_bytes().to_vec())),
            None => drop(unset.insert(name.to_vec())),
        }
    }
    // What only run time knows is neither.
    set.retain(|_, value| !value.contains(&crate::rules::step::UNKNOWN));
    (set, unset)
}

/// The names behind `${`, where one of `-`, `=`, `?` and `+` stands behind them.
fn names(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let begins = text.windows(2).enumerate().filter(|(_, two)| *two == b"${").map(|(at, _)| at + 2);
    begins.filter_map(|at| {
        let rest = &text[at..];
        let length = rest.iter().take(LONGEST).position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'))?;
        let behind = rest[length..].strip_prefix(b":").unwrap_or(&rest[length..]);
        let is_one =
            length > 0 && !rest[0].is_ascii_digit() && matches!(behind.first(), Some(b'-' | b'=' | b'?' | b'+'));
        is_one.then_some(&rest[..length])
    })
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn names_are_found_where_a_word_stands_in_for_them() {
        for (text, expected) in [
            ("${SOPS:-sops} set", &["SOPS"][..]),
            ("a ${A-1} ${B:=2} ${C:?x} ${D+y}", &["A", "B", "C", "D"]),
            ("${A} ${A#x} $A ${1:-x} ${:-x} ${A", &[]),
            ("${A:-${B:-c}}", &["A", "B"]),
        ] {
            let found: Vec<_> = names(text.as_bytes()).map(|name| std::str::from_utf8(name).expect("text")).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
