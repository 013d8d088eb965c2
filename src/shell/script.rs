//! What is found: commands in the order in which a shell would come to them, with what is known of each.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::environment::Environment;
use super::word::{Part, Word};

/// Every simple command of a script.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    /// In the order of execution, each arm of a branch once. What a command substitutes stands before the command. The
    /// redirections of a compound command (`while …; done <F`) are a command without words, before what it encloses.
    pub commands: Vec<Simple>,
    /// Whether the whole script was understood. If not (a syntax error, nesting too deep, too long, or a text that
    /// shells read differently), `commands` holds what was found, and something may be missing.
    pub complete: bool,
    /// Whether it reads a file in (`. FILE`) of which nobody here knows what stands in it. It is presumed to stay in the
    /// directory, and of variables that the script has set nothing is known behind it.
    pub unread: bool,
}

/// What stands in a file that a script reads in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sourced {
    /// This.
    Text(Vec<u8>),
    /// There is no such file.
    Missing,
    /// Nobody here can say.
    Unseen,
}

/// Who says what stands in a file that a script reads in: in which directory, and how the file is called there.
pub type Reads<'a> = &'a dyn Fn(&Directory, &Word) -> Sourced;

/// Who says which files a word with a pattern in it stands for, in this directory, in their order; none where nobody can
/// say.
pub type Names<'a> = &'a dyn Fn(&Directory, &Word) -> Option<Vec<Vec<u8>>>;

/// One simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simple {
    /// `NAME=VALUE` before the words.
    pub assignments: Vec<Assignment>,
    /// The program and its arguments. Launchers such as `exec` and `command` are words like any other. Empty when there
    /// are only assignments or redirections.
    pub words: Vec<Word>,
    /// In the order in which they are done.
    pub redirections: Vec<Redirection>,
    /// Where it runs.
    pub directory: Directory,
    /// What its standard input is.
    pub input: Input,
    /// What the script did to its variables until here; what stands before the words comes on top.
    pub environment: Environment,
    /// It calls a function of the script; what that runs is found as well.
    pub is_call: bool,
}

/// `NAME=VALUE` or `NAME+=VALUE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The variable.
    pub name: Vec<u8>,
    /// What it gets (or, with `+=`, what is added).
    pub value: Word,
    /// Whether it is `+=`.
    pub appends: bool,
}

/// One redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// What is redirected.
    pub descriptor: Descriptor,
    /// How.
    pub kind: Kind,
    /// The file; for a duplicate the number or `-`; for a here-document or here-string the text.
    pub target: Word,
}

/// What a redirection names on its left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Descriptor {
    /// Nothing: standard input or output, as the operator says.
    Ready,
    /// A number.
    Number(u32),
    /// Both standard output and standard error: `&>F`, `>&F`.
    Both,
    /// `{NAME}`: a free one, whose number goes to the variable.
    Named(Vec<u8>),
}

/// What a redirection does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `<`
    Read,
    /// `>`
    Write,
    /// `>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `>|`
    Clobber,
    /// `<&N`, `>&N`, `>&-`
    Duplicate,
    /// `<<`, `<<-`
    HereDoc,
    /// `<<<`
    HereString,
}

impl Kind {
    /// Whether the target is a file that is created or may change.
    #[must_use]
    pub fn writes(self) -> bool {
        matches!(self, Self::Write | Self::Append | Self::ReadWrite | Self::Clobber)
    }
}

/// Where a command runs, by the `cd`s that lead to it in its own shell or subshell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Directory {
    /// Where the script was started.
    Start,
    /// There: an absolute path, one relative to where the script was started, or one below the home directory (then the
    /// word begins with the variable `HOME`). `.` and `..` are resolved as `cd` does, by their text.
    Moved(Arc<Word>),
    /// One of these, each of the kinds above: a `cd` on the way may or may not have been made.
    Either(Arc<[Self]>),
    /// Only run time knows.
    Unknown,
}

/// What standard input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// What the script was started with.
    Inherited,
    /// A pipe from what stands before the bar, if that is known: from these commands, all or some of them.
    Pipe(Option<Span>),
    /// A redirection, of this command or of a compound one around it: the index of the command that has it, and its
    /// place among that command's redirections.
    Redirection(usize, usize),
    /// Something else.
    Unknown,
}

/// Commands of a script that stand one behind the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The index of the first.
    pub from: usize,
    /// The index behind the last.
    pub to: usize,
}

impl Script {
    /// The here-document or here-string that a command reads, without the newline that a here-string gets.
    #[must_use]
    pub fn text_for(&self, command: &Simple) -> Option<&Word> {
        let Input::Redirection(command, place) = command.input else { return None };
        let redirection = self.commands.get(command)?.redirections.get(place)?;
        matches!(redirection.kind, Kind::HereDoc | Kind::HereString).then_some(&redirection.target)
    }
}

/// What is known before the script starts.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// Variables of the environment. One that is not here is not taken for unset: start-up files may set it.
    pub variables: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Variables that are known not to be set: `${X:-word}` is the word.
    pub unset: BTreeSet<Vec<u8>>,
    /// `$0`, `$1`, …, if they are known.
    pub parameters: Option<Vec<Vec<u8>>>,
    /// A byte that stands in parameters, and in the script itself, for what is not known of them.
    pub unknown: Option<u8>,
}

impl Surroundings {
    /// Whether nothing stands in a text for what is not known.
    pub(super) fn knows(&self, text: &[u8]) -> bool {
        self.unknown.is_none_or(|unknown| !text.contains(&unknown))
    }

    /// A text as far as it is known: a parameter, or what somebody has put a word into.
    pub(super) fn word(&self, text: &[u8]) -> Word {
        let mut word = Word::default();
        for (at, known) in text.split(|byte| Some(*byte) == self.unknown).enumerate() {
            if at > 0 {
                word.push(Part::Unknown { splits: false });
            }
            word.push(Part::Known(known.to_vec()));
        }
        word
    }

    /// A variable's value as far as it is known.
    pub(super) fn variable(&self, name: &[u8]) -> Part {
        match self.variables.get(name) {
            Some(value) => Part::Known(value.clone()),
            None => Part::Variable { name: name.to_vec(), splits: false },
        }
    }
}
