//! Where our words end: the first word that is no option of ours, and whether a verb or a program stands there.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};

use clap::CommandFactory as _;

use super::options::OnlyOptions;

/// Every word that is a verb: none of them is ever taken for a program.
const VERBS: [&str; 20] = [
    "run",
    "status",
    "history",
    "acquire",
    "renew",
    "release",
    "check",
    "explain",
    "restore",
    "steal",
    "shims",
    "completions",
    "doctor",
    "help",
    "adopt",
    "agents",
    "init",
    "audit",
    "session",
    "hooks",
];
const MORE_VERBS: [&str; 2] = ["config", "store"];

/// Where our words end.
#[derive(Debug, PartialEq, Eq)]
pub enum Front {
    /// A program; its words begin at this index.
    Program(usize),
    /// A verb stands at this index.
    Verb,
    /// Nothing but options (`--help`, `--version`, or a mistake).
    Options,
}

/// Finds the first word that is not an option of ours. The table of options is clap's own, so that the two never
/// disagree; it is only built when the first word is an option at all.
pub(super) fn find(args: &[OsString]) -> Front {
    let at = match args.first() {
        Some(first) if first.as_encoded_bytes().starts_with(b"-") && first.len() > 1 => skip_options(args),
        Some(_) => Some((0, false)),
        None => None,
    };
    match at {
        None => Front::Options,
        Some((at, after_dashes)) if after_dashes || !is_verb(&args[at]) => Front::Program(at),
        Some(_) => Front::Verb,
    }
}

/// The verb, when one stands where our words end.
pub(super) fn verb(args: &[OsString]) -> Option<&OsStr> {
    let (at, after_dashes) = match args.first() {
        Some(first) if first.as_encoded_bytes().starts_with(b"-") && first.len() > 1 => skip_options(args)?,
        _ => (0, false),
    };
    args.get(at).map(OsString::as_os_str).filter(|word| !after_dashes && is_verb(word))
}

pub(super) fn is_verb(word: &OsStr) -> bool {
    word.to_str().is_some_and(|word| VERBS.contains(&word) || MORE_VERBS.contains(&word))
}

/// The index of the first word behind our options, and whether `--` stood before it.
pub(super) fn skip_options(args: &[OsString]) -> Option<(usize, bool)> {
    let definition = OnlyOptions::command();
    let mut at = 0;
    while let Some(word) = args.get(at) {
        let bytes = word.as_encoded_bytes();
        at += 1;
        match bytes {
            b"--" => return args.get(at).map(|_| (at, true)),
            [b'-', b'-', long @ ..] => {
                let name = long.split(|&byte| byte == b'=').next().unwrap_or_default();
                let option =
                    definition.get_arguments().find(|arg| arg.get_long().is_some_and(|long| long.as_bytes() == name));
                if option.is_some_and(takes_value) && !long.contains(&b'=') {
                    at += 1;
                }
            }
            [b'-', letters @ ..] if !letters.is_empty() => {
                if last_letter_takes_next(&definition, letters) {
                    at += 1;
                }
            }
            _ => return Some((at - 1, false)),
        }
    }
    None
}

/// In `-vr X` the value of `-r` is the next word; in `-rX` it is the rest of this one.
fn last_letter_takes_next(definition: &clap::Command, letters: &[u8]) -> bool {
    for (index, &letter) in letters.iter().enumerate() {
        let option = definition.get_arguments().find(|arg| arg.get_short() == Some(char::from(letter)));
        if option.is_some_and(takes_value) {
            return index + 1 == letters.len();
        }
    }
    false
}

fn takes_value(arg: &clap::Arg) -> bool {
    arg.get_action().takes_values()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(words: &[&str]) -> Front {
        find(&words.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn the_first_word_that_is_no_option_of_ours_decides() {
        assert_eq!(found(&["sops", "-v"]), Front::Program(0));
        assert_eq!(found(&["-v", "sops", "-v"]), Front::Program(1));
        assert_eq!(found(&["-r", "a:b", "sops"]), Front::Program(2));
        assert_eq!(found(&["-ra:b", "sops"]), Front::Program(1));
        assert_eq!(found(&["-vr", "a:b", "sops"]), Front::Program(2));
        assert_eq!(found(&["--ttl", "5s", "sops"]), Front::Program(2));
        assert_eq!(found(&["--ttl=5s", "sops"]), Front::Program(1));
        assert_eq!(found(&["-n", "status"]), Front::Verb);
        assert_eq!(found(&["status", "sops:x"]), Front::Verb);
    }

    #[test]
    fn after_two_dashes_a_verb_is_a_program() {
        assert_eq!(found(&["--", "status"]), Front::Program(1));
        assert_eq!(found(&["-n", "--", "status"]), Front::Program(2));
        assert_eq!(found(&["--ttl", "--", "sops"]), Front::Program(2), "clap refuses it afterwards");
    }

    #[test]
    fn options_alone_are_for_clap_to_answer() {
        for words in [&["--help"][..], &["-V"], &[], &["--ttl"], &["--"]] {
            assert_eq!(found(words), Front::Options, "{words:?}");
        }
    }

    #[test]
    fn a_lone_dash_is_a_program() {
        assert_eq!(found(&["-"]), Front::Program(0));
    }
}
