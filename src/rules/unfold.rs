//! From a line to its commands: launchers are taken off, scripts are read.
#![forbid(unsafe_code)]

mod each;
mod elsewhere;
mod filled;
mod hosts;
mod launched;
mod sftp;
mod shells;

use std::ffi::OsString;
use std::rc::Rc;

pub(super) use self::elsewhere::there;

use self::launched::inside;
use super::book::Book;
use super::script;
use super::step::{Caller, Step, is_known};
use super::words::Words;
use crate::shell::Sourced;

/// Nobody puts more of them one into the other.
const DEEPEST: usize = 16;

/// What is beyond so many commands is not looked at. The longest word that Linux hands to a program (128 KiB) has room for
/// no more.
const MOST: usize = 65_536;

/// What a line comes to.
#[derive(Default)]
pub(super) struct Unfolded<'a> {
    /// Its commands; launchers stand before what they start.
    pub(super) steps: Vec<Step<'a>>,
    /// Something of it could not be read.
    pub(super) incomplete: bool,
    /// It reads a file in of which nobody here knows what stands in it.
    pub(super) unread: bool,
    /// So many scripts were read out of files.
    fed: usize,
}

/// So many scripts of files are read for one line: each may hand several others to a shell, and itself.
const MOST_FED: usize = 64;

/// Takes a line apart.
pub(super) fn unfold<'a>(line: Step<'a>, book: &Book, env: &dyn Fn(&str) -> Option<OsString>) -> Unfolded<'a> {
    let mut found = Unfolded::default();
    open(line, (book, env), 0, &mut found);
    found
}

type Around<'a> = (&'a Book, &'a dyn Fn(&str) -> Option<OsString>);

fn open<'a>(step: Step<'a>, (book, env): Around<'_>, depth: usize, found: &mut Unfolded<'a>) {
    if depth > DEEPEST || found.steps.len() >= MOST {
        found.incomplete = true;
        return;
    }
    if super::sops::is_sops(&step.name) && step.host.is_some() && !step.redirected.is_empty() {
        // What it prints over there is none of its own files, and may be a `.env` all the same.
        found.steps.push(Step { name: OsString::new(), args: Words::default(), ..step.clone() });
    }
    let mut step = step;
    if step.host.is_some() && !step.inside {
        let unpacked = super::archive::sent(&step);
        step.sent.extend(unpacked);
    }
    let inner = if super::sops::is_sops(&step.name) {
        // `sops exec-env FILE 'COMMAND'`: it runs by itself, with what the file says in its environment.
        let script = super::sops::started(&step.args, env);
        script
            .map_or(Inner::Nothing, |script| Inner::Script(Text::Made(script), Words::default(), Box::new(own(&step))))
    } else if step.name() == "find" {
        Inner::Commands(super::find::started(&step))
    } else {
        let started = book.launchers(step.name()).find_map(|launcher| inside(launcher, &step, book));
        let started = started.or_else(|| self::shells::taken_in(&step));
        started.unwrap_or_else(|| self::shells::called(&step))
    };
    let (beside, inner) = match inner {
        Inner::Both(steps, inner) => (steps, *inner),
        inner => (Vec::new(), inner),
    };
    found.unread |= launched::hides_assignments(&step);
    let above: Rc<[Caller]> = step.under.iter().cloned().chain([step.caller()]).collect();
    found.steps.push(step);
    found.fed += usize::from(matches!(inner, Inner::Fed(_)));
    let is_enough = found.fed > MOST_FED;
    let mut below =
        |step: Step<'a>| open(Step { under: Rc::clone(&above), ..step }, (book, env), depth + 1, &mut *found);
    beside.into_iter().for_each(&mut below);
    match inner {
        Inner::Nothing | Inner::Both(..) => {}
        Inner::Unread => found.incomplete = true,
        Inner::Fed(around) => match handed(&around, book).filter(|_| !is_enough) {
            Some(text) => {
                let around = Step { input_from: Vec::new(), ..*around };
                let read = script::steps(&text, &[], &around, (book, env));
                read.steps.into_iter().for_each(&mut below);
                found.incomplete |= !read.complete;
                found.unread |= read.unread;
            }
            None => found.incomplete = true,
        },
        Inner::Command(step) => below(*step),
        Inner::Commands(steps) => steps.into_iter().for_each(below),
        Inner::Script(text, parameters, around) => {
            // A part of it comes from where nobody looks.
            let hidden = around.input_hidden || !around.input_from.is_empty();
            let hidden = matches!(text, Text::Read(_)) && hidden;
            let read = script::steps(text.bytes(), &parameters, &around, (book, env));
            read.steps.into_iter().for_each(&mut below);
            found.incomplete |= !read.complete || hidden;
            found.unread |= read.unread;
        }
    }
}

/// What a launcher starts.
enum Inner<'a> {
    Nothing,
    Command(Box<Step<'a>>),
    Commands(Vec<Step<'a>>),
    /// A script, its `$0`, `$1`… if they are known, and the step as which the shell itself would run.
    Script(Text<'a>, Words<'a>, Box<Step<'a>>),
    /// These commands, and what else it starts.
    Both(Vec<Step<'a>>, Box<Self>),
    /// A script that the line does not show.
    Unread,
    /// What comes in by the standard input of this, as a script.
    Fed(Box<Step<'a>>),
}

/// What files of this machine hold that are handed to a shell (`ssh HOST bash -s <deploy.sh`) or to `xargs`; none where a part of it comes
/// from somewhere else, or nobody can look.
pub(super) fn handed(step: &Step<'_>, book: &Book) -> Option<Vec<u8>> {
    let files =
        Some(&step.input_from).filter(|files| !files.is_empty() && !step.input_hidden && step.input.is_none())?;
    let mut text = Vec::new();
    for file in files {
        match Some(file).filter(|file| is_known(file.as_os_str())).map(|file| book.sourced(file))? {
            Sourced::Text(more) => text.extend([more.as_slice(), b"\n"].concat()),
            Sourced::Missing | Sourced::Unseen => return None,
        }
    }
    Some(text)
}

/// A script as it is found; nothing of it is copied.
enum Text<'a> {
    /// The first of these words.
    Word(Words<'a>),
    /// What comes in by standard input.
    Read(Rc<[u8]>),
    /// What is put together.
    Made(Vec<u8>),
}

impl Text<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Word(words) => words.first().map(|word| word.as_encoded_bytes()).unwrap_or_default(),
            Self::Read(text) => text,
            Self::Made(text) => text,
        }
    }
}

/// The same for a program that it starts, which opens no redirections again.
fn own<'a>(step: &Step<'a>) -> Step<'a> {
    Step { redirected: Vec::new(), ..step.clone() }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::super::{Command, classify};
    use super::*;

    /// A script that hands itself to two shells would be read 65,536 times.
    #[test]
    fn a_script_that_hands_itself_to_shells_is_not_read_without_end() {
        for text in [&b"bash < x.sh\nbash < x.sh\n"[..], b"ssh h bash < x.sh\nssh h bash < x.sh\nbash < x.sh\n"] {
            let read = Rc::new(Cell::new(0));
            let counted = Rc::clone(&read);
            let book = Book::new().asking_for_sources(Box::new(move |_| {
                counted.set(counted.get() + 1);
                Sourced::Text(text.to_vec())
            }));
            let args = ["-c".into(), "bash < x.sh".into()];
            let (name, cwd) = ("bash".as_ref(), "/".as_ref());
            let class = classify(&Command { name, args: &args, cwd, env: &|_| None, stdout: None, stdin: None }, &book);
            assert!((2..=2 * MOST_FED).contains(&read.get()), "{} times", read.get());
            assert!(class.notes.iter().any(|note| note.contains("could not be read")), "{:?}", class.notes);
        }
    }
}
