//! Shells and their scripts.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::rc::Rc;

use super::{Inner, Text};
use crate::rules::printed::Printed;
use crate::rules::step::{STDIN, Step, UNKNOWN};
use crate::rules::words::Words;

/// What a shell calls its standard input.
const INPUTS: [&str; 3] = [STDIN, "/dev/fd/0", "/proc/self/fd/0"];

/// `sh -c SCRIPT`, `bash -lc SCRIPT`, `bash -s <<EOF`.
pub(super) fn shell<'a>(step: &Step<'a>) -> Inner<'a> {
    let mut wants_script = false;
    let mut at = 0;
    while let Some(word) = step.args.get(at) {
        let bytes = word.as_encoded_bytes();
        if bytes == b"-" {
            // As `--` (POSIX, `sh`).
            at += 1;
            break;
        }
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
    let is_input = |word: &OsString| INPUTS.iter().any(|input| word == input);
    let reads_input =
        step.args.get(at).is_none_or(is_input) || step.args[..at].iter().any(|word| is_letter(word, b's'));
    match (step.args.get(at), &step.input) {
        // What files hold, or others print, of which the line says which they are: `bash -c "$(cat x.sh)"`.
        (Some(text), _) if wants_script && is_told(text, step) => Inner::Fed(Box::new(fed(&step.within, step))),
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
        (_, None) if reads_input && is_fed(step) => Inner::Fed(Box::new(step.clone())),
        (Some(file), _) if !reads_input => in_file(file, step, step.args.from(at)),
        _ => Inner::Nothing,
    }
}

/// A script that is called by its own name (`./x.sh`), where the line has made it.
pub(super) fn called<'a>(step: &Step<'a>) -> Inner<'a> {
    let is_path = !step.made.is_empty() && step.called.as_encoded_bytes().contains(&b'/');
    if !is_path {
        return Inner::Nothing;
    }
    // What another interpreter reads is no script of a shell.
    let is_other = |text: &Rc<[u8]>| {
        let first = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
        first.starts_with(b"#!") && !first.trim_ascii_end().ends_with(b"sh")
    };
    let path = step.path(&step.called);
    let made = step.made.iter().find(|(made, _)| *made == path);
    if made.and_then(|(_, printed)| printed.text.as_ref()).is_some_and(is_other) {
        return Inner::Nothing;
    }
    let parameters = [step.called.clone()].into_iter().chain(step.args.iter().cloned()).collect();
    in_file(&step.called, step, parameters)
}

/// A script in a file that the line itself makes, or out of a pipe of its own (`bash <(…)`). What stands in other files
/// nobody looks at: they run programs of their own, each of which is asked by itself.
pub(super) fn in_file<'a>(file: &OsString, step: &Step<'a>, parameters: Words<'a>) -> Inner<'a> {
    let printed = if file.as_encoded_bytes() == [UNKNOWN] {
        Some(&step.within)
    } else {
        let path = step.path(file);
        step.made.iter().find(|(made, _)| *made == path).map(|(_, printed)| printed)
    };
    let Some(printed) = printed else { return Inner::Nothing };
    if printed.text.is_none() && !printed.hidden && !printed.files.is_empty() {
        return Inner::Fed(Box::new(fed(printed, step)));
    }
    match &printed.text {
        Some(text) => {
            // What it reads in files as well nobody has read.
            let mut around = step.clone();
            around.input_hidden |= printed.hidden || !printed.files.is_empty();
            // It cannot make itself again.
            around.made = Rc::new(step.made.iter().filter(|(_, other)| !Rc::ptr_eq(other, printed)).cloned().collect());
            Inner::Script(Text::Made(text.to_vec()), parameters, Box::new(around))
        }
        None if printed.hidden => Inner::Unread,
        None => Inner::Nothing,
    }
}

/// Whether a word is all that files hold which the line names.
fn is_told(word: &OsString, step: &Step<'_>) -> bool {
    let within = &step.within;
    word.as_encoded_bytes() == [UNKNOWN] && within.text.is_none() && !within.hidden && !within.files.is_empty()
}

/// The same with this on its standard input.
fn fed<'a>(printed: &Printed, step: &Step<'a>) -> Step<'a> {
    let (input, input_from) = (printed.text.clone(), printed.files.clone());
    Step { input, input_from, input_hidden: printed.hidden, within: Rc::default(), ..step.clone() }
}

/// `. /dev/stdin`: what comes in, as a script.
pub(super) fn taken_in<'a>(step: &Step<'a>) -> Option<Inner<'a>> {
    let takes = step.called == "." || step.called == "source";
    let from_input = step.args.first().is_some_and(|file| INPUTS.iter().any(|input| file == input));
    (takes && from_input).then(|| super::launched::read(step.clone()))
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
