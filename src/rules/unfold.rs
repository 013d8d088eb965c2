//! From a line to its commands: launchers are taken off, scripts are read.
#![forbid(unsafe_code)]

mod elsewhere;
mod launched;
mod shells;

use std::ffi::OsString;

pub(super) use self::elsewhere::there;

use self::launched::inside;
use super::book::Book;
use super::script;
use super::step::Step;

/// Nobody puts more of them one into the other.
const DEEPEST: usize = 16;

/// Nobody has more commands in one line; what is beyond is not looked at.
const MOST: usize = 4_096;

/// What a line comes to.
#[derive(Default)]
pub(super) struct Unfolded {
    /// Its commands; launchers stand before what they start.
    pub(super) steps: Vec<Step>,
    /// Something of it could not be read.
    pub(super) incomplete: bool,
}

/// Takes a line apart.
pub(super) fn unfold(line: Step, book: &Book, env: &dyn Fn(&str) -> Option<OsString>) -> Unfolded {
    let mut found = Unfolded::default();
    open(line, (book, env), 0, &mut found);
    found
}

type Around<'a> = (&'a Book, &'a dyn Fn(&str) -> Option<OsString>);

fn open(step: Step, (book, env): Around<'_>, depth: usize, found: &mut Unfolded) {
    if depth > DEEPEST || found.steps.len() >= MOST {
        found.incomplete = true;
        return;
    }
    if super::sops::is_sops(&step.name) && step.host.is_some() && !step.redirected.is_empty() {
        // What it prints over there is none of its own files, and may be a `.env` all the same.
        found.steps.push(Step { name: OsString::new(), args: Vec::new(), ..step.clone() });
    }
    let inner = if super::sops::is_sops(&step.name) {
        // `sops exec-env FILE 'COMMAND'`: it runs by itself, with what the file says in its environment.
        let script = super::sops::started(&step.args, env);
        script.map_or(Inner::Nothing, |script| Inner::Script(script, Vec::new(), Box::new(own(&step))))
    } else if step.name() == "find" {
        Inner::Commands(super::find::started(&step))
    } else {
        book.launchers(step.name()).find_map(|launcher| inside(launcher, &step, book)).unwrap_or(Inner::Nothing)
    };
    found.steps.push(step);
    match inner {
        Inner::Nothing => {}
        Inner::Unread => found.incomplete = true,
        Inner::Command(step) => open(*step, (book, env), depth + 1, found),
        Inner::Commands(steps) => {
            for step in steps {
                open(step, (book, env), depth + 1, found);
            }
        }
        Inner::Script(text, parameters, around) => {
            let read = script::steps(&text, &parameters, &around, env);
            found.incomplete |= !read.complete;
            for step in read.steps {
                open(step, (book, env), depth + 1, found);
            }
        }
    }
}

/// What a launcher starts.
enum Inner {
    Nothing,
    Command(Box<Step>),
    Commands(Vec<Step>),
    /// A script, its `$0`, `$1`… if they are known, and the step as which the shell itself would run.
    Script(Vec<u8>, Vec<OsString>, Box<Step>),
    /// A script that the line does not show.
    Unread,
}

/// The same for a program that it starts, which opens no redirections again.
fn own(step: &Step) -> Step {
    Step { redirected: Vec::new(), ..step.clone() }
}
