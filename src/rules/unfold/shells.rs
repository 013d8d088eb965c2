//! Shells and their scripts.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::rc::Rc;

use super::{Inner, Text};
use crate::rules::step::{STDIN, Step};
use crate::rules::words::Words;

/// `sh -c SCRIPT`, `bash -lc SCRIPT`, `bash -s <<EOF`.
pub(super) fn shell<'a>(step: &Step<'a>) -> Inner<'a> {
    let mut wants_script = false;
    let mut at = 0;
    while let Some(word) = step.args.get(at) {
        let bytes = word.as_encoded_bytes();
        if bytes.len() < 2 || !(bytes[0] == b'-' || bytes[0] == b'+') {
            break;
        }
        at += 1;
        if bytes == b"--" {
            break;
        }
        if bytes.starts_with(b"--") {
            at += usize::from(bytes == b"--rcfile" || bytes == b"--init-file");
            continue;
        }
        // `-n`: it reads the script and runs nothing of it.
        let reads_only = bytes[0] == b'-' && !bytes.starts_with(b"-o") && bytes.contains(&b'n');
        if reads_only || (bytes.ends_with(b"o") && step.args.get(at).is_some_and(|name| name == "noexec")) {
            return Inner::Nothing;
        }
        wants_script |= bytes[0] == b'-' && bytes.contains(&b'c');
        // `-o pipefail`: the name of an option comes behind.
        at += usize::from(bytes.ends_with(b"o") || bytes.ends_with(b"O"));
    }
    let reads_input = step.args.get(at).is_none() || step.args[..at].iter().any(|word| is_letter(word, b's'));
    match (step.args.get(at), &step.input) {
        (Some(_), _) if wants_script => {
            // Which shell's name stands for `$0` where none is given makes no difference.
            let given = step.args.from(at + 1);
            let parameters = if given.is_empty() { [step.name.clone()].into_iter().collect() } else { given };
            let text = Text::Word(step.args.from(at));
            let exports_all = step.args[..at].iter().any(|word| is_letter(word, b'a'));
            let text = if exports_all { Text::Made([b"set -a\n", text.bytes()].concat()) } else { text };
            Inner::Script(text, parameters, Box::new(step.clone()))
        }
        (_, Some(input)) if reads_input => {
            Inner::Script(Text::Read(Rc::clone(input)), Words::default(), Box::new(step.clone()))
        }
        (_, None) if reads_input && is_fed(step) => Inner::Unread,
        _ => Inner::Nothing,
    }
}

/// `-s` and its like, also in a bundle.
fn is_letter(word: &OsString, letter: u8) -> bool {
    let bytes = word.as_encoded_bytes();
    bytes.starts_with(b"-") && !bytes.starts_with(b"--") && bytes.contains(&letter)
}

/// Whether the line itself sends something to its standard input, and not somebody at a terminal.
pub(super) fn is_fed(step: &Step<'_>) -> bool {
    step.input_from.iter().all(|file| file.as_os_str() != STDIN)
}
