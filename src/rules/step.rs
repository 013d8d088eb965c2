//! One command of a line, once the launchers and shells around it are taken off.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::archive::Packed;
use super::argument::{as_typed, over_there};
use super::printed::Printed;
use super::sent::Sent;
use super::set::{Said, Set};
use super::words::Words;
use super::{Command, Stdin};
use crate::terms::{may_hold_a_secret, percent_encode};

/// Stands in a word for what only run time knows (`$x`, `$(…)`): SUBSTITUTE, which nobody types.
pub(super) const UNKNOWN: u8 = 0x1a;

/// The longest path that a system takes (Linux: `PATH_MAX`; others take less).
pub(super) const LONGEST_PATH: usize = 4096;

/// What stands for the standard input of the line that was typed.
pub const STDIN: &str = "/dev/stdin";

/// Whether the whole of a word is known before it runs.
#[must_use]
pub fn is_known(word: &OsStr) -> bool {
    !word.as_encoded_bytes().contains(&UNKNOWN)
}

/// A directory that only run time knows.
pub(super) fn nowhere() -> PathBuf {
    PathBuf::from(format!("/{}", char::from(UNKNOWN)))
}

/// What is known of a path in a directory that only run time knows (`cd "$(…)" && sops set x.yaml`): the path from there.
#[must_use]
pub fn below_nowhere(path: &Path) -> Option<&Path> {
    path.strip_prefix(nowhere()).ok().filter(|below| is_known(below.as_os_str()))
}

/// A simple command: a program with its arguments, and where it runs.
#[derive(Clone)]
pub(super) struct Step<'a> {
    /// The program's own name.
    pub(super) name: OsString,
    /// The word that it is called by: a name for PATH, or a path.
    pub(super) called: OsString,
    /// What starts it, the outermost first.
    pub(super) under: Rc<[Caller]>,
    /// Its arguments.
    pub(super) args: Words<'a>,
    /// Its directory; [`nowhere`] where only run time knows.
    pub(super) cwd: PathBuf,
    /// What is set for it besides the environment.
    pub(super) env: Set,
    /// The host on which it runs, if that is another one.
    pub(super) host: Option<String>,
    /// Files that the shell opens for it.
    pub(super) redirected: Vec<Redirected>,
    /// What it reads from standard input, where the line says it.
    pub(super) input: Option<Rc<[u8]>>,
    /// Files of this machine that come in by standard input, where the line names them.
    pub(super) input_from: Vec<PathBuf>,
    /// More comes in by standard input than these two say.
    pub(super) input_hidden: bool,
    /// Files of this machine that come in by standard input as an archive which the line makes.
    pub(super) packed: Rc<[Packed]>,
    /// What its words hold, or lead to, that other commands of the line print.
    pub(super) within: Rc<Printed>,
    /// Files that the line itself makes.
    pub(super) made: Made,
    /// Its words name files that run time finds (`find -exec`, `xargs`).
    pub(super) found: bool,
    /// Files of this machine by which more is written where it runs than the line says.
    pub(super) sent: Vec<Sent>,
    /// It runs in a container: its files are none of this machine's.
    pub(super) inside: bool,
    /// It is started inside of a script, so that its redirections are still to come.
    pub(super) in_script: bool,
    /// What it starts cannot be stopped from here.
    pub(super) escapes: bool,
    /// What it starts only reads; looked at only where a rule or a zone is heard that nobody has vouched for.
    pub(super) starts_reads: bool,
    /// It was looked for behind a word that may be the value of an option that nobody knows.
    pub(super) is_guessed: bool,
}

/// Files that a line makes, each with what it puts there.
pub(super) type Made = Rc<Vec<(PathBuf, Rc<Printed>)>>;

/// A command as it is called, for who asks which program that is.
#[derive(Clone, PartialEq, Eq)]
pub struct Caller {
    /// The word: a name for PATH, or a path.
    pub word: OsString,
    /// PATH as the line sets it, if it does.
    pub path: Option<OsString>,
    /// It is looked for by somebody else (`sudo`, another host, a container), who has a PATH of his own.
    pub elsewhere: bool,
}

/// A word may be a value that stands in the wrong place.
impl std::fmt::Debug for Caller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Caller").field("elsewhere", &self.elsewhere).finish_non_exhaustive()
    }
}

/// A file that the shell opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Redirected {
    /// As typed.
    pub(super) path: OsString,
    /// It becomes the standard output.
    pub(super) is_stdout: bool,
    /// What stands in it stays.
    pub(super) append: bool,
}

impl<'a> Step<'a> {
    /// The command that was typed.
    pub(super) fn typed(command: &Command<'a>) -> Self {
        Self {
            name: command.name.to_owned(),
            called: called(command.name),
            under: Rc::new([]),
            args: Words::Typed(command.args),
            cwd: command.cwd.to_owned(),
            env: Set::default(),
            host: None,
            redirected: Vec::new(),
            input: None,
            input_from: match command.stdin {
                Some(Stdin::File(path)) => vec![path.clone()],
                Some(Stdin::Pipe) => Vec::new(),
                None => vec![STDIN.into()],
            },
            input_hidden: command.stdin == Some(&Stdin::Pipe),
            packed: Rc::new([]),
            within: Rc::default(),
            made: Rc::default(),
            found: false,
            sent: Vec::new(),
            inside: false,
            in_script: false,
            escapes: false,
            starts_reads: false,
            is_guessed: false,
        }
    }

    /// Its name as text; none where that is no text, which no rule can be about.
    pub(super) fn name(&self) -> &str {
        self.name.to_str().unwrap_or_default()
    }

    /// Its name for messages; what may be a value in the place of a program is not repeated.
    pub(super) fn shown(&self) -> String {
        shown(&self.name)
    }

    /// Which program it is only run time knows (`"$CMD"`).
    pub(super) fn is_open(&self) -> bool {
        !self.inside && self.name.as_encoded_bytes().contains(&UNKNOWN)
    }

    /// As it is called.
    pub(super) fn caller(&self) -> Caller {
        Caller {
            word: self.called.clone(),
            path: match self.env.get("PATH") {
                Said::Value(path) => Some(path.to_owned()),
                Said::Unset | Said::Nothing => None,
            },
            elsewhere: self.escapes || self.host.is_some() || self.inside,
        }
    }

    /// A variable of its environment.
    pub(super) fn variable(&self, name: &str, around: &dyn Fn(&str) -> Option<OsString>) -> Option<OsString> {
        match self.env.get(name) {
            Said::Value(value) => Some(value.to_owned()),
            Said::Unset => None,
            // Another host has an environment of its own.
            Said::Nothing => self.host.is_none().then(|| around(name)).flatten(),
        }
    }

    /// A path of its, absolute.
    pub(super) fn path(&self, typed: &OsStr) -> PathBuf {
        if self.host.is_some() || self.inside { over_there(&self.cwd, typed) } else { as_typed(&self.cwd, typed) }
    }

    /// The whole line, its words joined by spaces; so much of it.
    pub(super) fn words(&self, most: usize) -> Vec<u8> {
        let mut words = self.name.as_encoded_bytes().to_vec();
        for argument in self.args.iter() {
            if words.len() >= most {
                break;
            }
            words.push(b' ');
            words.extend(argument.as_encoded_bytes().iter().take(most - words.len().min(most)));
        }
        words.truncate(most);
        words
    }
}

/// The name of a program as it is called: the last part of its path. A path that no system takes ([`LONGEST_PATH`]) is
/// nobody's.
pub(super) fn name_of(program: &OsStr) -> OsString {
    let within = Some(program).filter(|program| program.len() <= LONGEST_PATH);
    within.map(|program| Path::new(program).file_name().unwrap_or(program).to_owned()).unwrap_or_default()
}

/// The word that a program is called by; what no system takes is not copied.
pub(super) fn called(program: &OsStr) -> OsString {
    Some(program).filter(|program| program.len() <= LONGEST_PATH).map(OsStr::to_owned).unwrap_or_default()
}

/// A program's name for messages; what may be a value in its place is not repeated.
pub(super) fn shown(name: &OsStr) -> String {
    match name.as_encoded_bytes() {
        name if may_hold_a_secret(name) => "…".to_owned(),
        name => percent_encode(name),
    }
}
