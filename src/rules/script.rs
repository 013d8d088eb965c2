//! From a script to its commands, each as if it had been typed by itself.
#![forbid(unsafe_code)]

mod exported;
mod made;
mod otherwise;
mod printed;
mod sourced;

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::rc::Rc;

use self::exported::Place;
use self::printed::Known;
use super::book::Book;
use super::printed::Printed;
use super::step::{Made, Redirected, STDIN, Step, UNKNOWN, is_known, name_of, nowhere};
use super::words::Words;
use crate::shell::{Descriptor, Directory, Kind, Part, Script, Simple, Surroundings, Word};

/// What a script comes to.
pub(super) struct Read<'s> {
    pub(super) steps: Vec<Step<'s>>,
    /// The whole of it could be read.
    pub(super) complete: bool,
    /// It reads a file in of which nobody here knows what stands in it.
    pub(super) unread: bool,
}

type Env<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// The commands of a script that runs as `around`, with its `$0`, `$1`… if there are any.
pub(super) fn steps<'s>(
    text: &[u8],
    parameters: &[OsString],
    around: &Step<'s>,
    (book, env): (&Book, Env<'_>),
) -> Read<'s> {
    let given = !parameters.is_empty();
    let parameters = given.then(|| parameters.iter().map(|word| word.as_encoded_bytes().to_vec()).collect());
    let (variables, unset) = otherwise::variables(text, around, env);
    let surroundings = Surroundings { variables, unset, parameters, unknown: Some(UNKNOWN) };
    let script = sourced::parsed(text, &surroundings, around, (book, env));
    let mut reader = Reader::new(&script, around, env);
    reader.made = reader.files_made();
    let placed = script.commands.iter().flat_map(in_each_place);
    let steps = placed.flat_map(|simple| {
        let simple = simple.as_ref();
        let Printed { text: input, files: input_from, hidden: input_hidden, packed, .. } = reader.input(simple);
        let step = Step { input, input_from, input_hidden, packed, ..reader.step(simple, Unset::Unknown) };
        let without = reader.may_lack_words(simple).then(|| {
            let words = reader.step(simple, Unset::Nothing);
            Step { name: words.name, called: words.called, args: words.args, ..step.clone() }
        });
        let evaluated = reader.evaluated(simple, &step);
        [Some(step), without, evaluated].into_iter().flatten()
    });
    Read { steps: steps.collect(), complete: script.complete, unread: script.unread }
}

/// A command once for every directory in which it may run.
fn in_each_place(simple: &Simple) -> Vec<Cow<'_, Simple>> {
    match &simple.directory {
        Directory::Either(places) => {
            let there = |place: &Directory| Cow::Owned(Simple { directory: place.clone(), ..simple.clone() });
            places.iter().map(there).collect()
        }
        _ => vec![Cow::Borrowed(simple)],
    }
}

/// What stands for a word that is an unquoted variable and nothing else, where nobody has set it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unset {
    /// A word that only run time knows: a start-up file may set it.
    Unknown,
    /// No word at all, as the shell has it.
    Nothing,
}

struct Reader<'a, 's> {
    script: &'a Script,
    around: &'a Step<'s>,
    env: Env<'a>,
    /// Files that are made by this line.
    made: Made,
    known: Known,
    place: Place,
}

impl<'a, 's> Reader<'a, 's> {
    fn new(script: &'a Script, around: &'a Step<'s>, env: Env<'a>) -> Self {
        let made = Rc::clone(&around.made);
        Self { script, around, env, made, known: Known::default(), place: Place::default() }
    }

    fn step(&self, simple: &Simple, unset: Unset) -> Step<'s> {
        let mut words = simple.words.iter().flat_map(|word| self.fields(word, unset));
        let program = words.next().unwrap_or_default();
        let name = name_of(&program);
        let set = simple.assignments.iter().filter_map(|assignment| {
            let name = std::str::from_utf8(&assignment.name).ok()?;
            let mut value = if assignment.appends { self.before(simple, &assignment.name) } else { OsString::new() };
            value.push(self.word(&assignment.value));
            Some((name.into(), value))
        });
        let redirected = simple.redirections.iter().filter(|redirection| redirection.kind.writes());
        let args: Words<'s> = words.collect();
        // Without a program nobody sees it.
        let environment = if simple.words.is_empty() { self.around.env.clone() } else { self.set(&simple.environment) };
        Step {
            name,
            called: program,
            cwd: self.directory(&simple.directory),
            env: environment.and(set.collect()),
            redirected: redirected
                .map(|redirection| Redirected {
                    path: self.word(&redirection.target),
                    is_stdout: is_stdout(&redirection.descriptor),
                    append: redirection.kind == Kind::Append,
                })
                .collect(),
            in_script: true,
            within: self.within(simple),
            made: Rc::clone(&self.made),
            args,
            ..self.around.clone()
        }
    }

    /// What `eval` runs where the shell's own reader does not see it, and other commands of the line say it
    /// (`eval "$(echo …)"`): as a script.
    fn evaluated(&self, simple: &Simple, step: &Step<'s>) -> Option<Step<'s>> {
        let is_seen = simple.words.iter().all(|word| word.known().is_some());
        let text = step.args.join(OsStr::new(" "));
        if is_seen || step.name() != "eval" || text.is_empty() {
            return None;
        }
        if text.as_encoded_bytes() == [UNKNOWN] {
            return self.handed(simple, step);
        }
        if text.as_encoded_bytes()[0] == UNKNOWN {
            return None;
        }
        let args = [OsString::from("-c"), text].into_iter().collect();
        Some(Step { name: "sh".into(), called: "sh".into(), args, redirected: Vec::new(), ..step.clone() })
    }

    /// The same where files say it (`eval "$(cat FILE)"`): a shell that reads them.
    fn handed(&self, simple: &Simple, step: &Step<'s>) -> Option<Step<'s>> {
        let from = match simple.words.get(1).map(Word::parts) {
            Some([Part::Output { commands, .. }]) => Printed::clone(&self.printed(*commands)),
            _ => return None,
        };
        let is_told = from.text.is_some() || from.files.iter().any(|file| file.as_os_str() != STDIN);
        let (input, input_from, input_hidden) = (from.text, from.files, from.hidden);
        let shell = Step { name: "sh".into(), called: "sh".into(), args: Words::default(), ..step.clone() };
        is_told.then_some(Step { input, input_from, input_hidden, redirected: Vec::new(), ..shell })
    }

    fn directory(&self, directory: &Directory) -> PathBuf {
        match directory {
            Directory::Start => self.around.cwd.clone(),
            Directory::Moved(word) => self.around.path(&self.word(word)),
            Directory::Either(_) | Directory::Unknown => nowhere(),
        }
    }

    /// Each that it may be.
    fn directories(&self, directory: &Directory) -> Vec<PathBuf> {
        match directory {
            Directory::Either(places) => places.iter().map(|place| self.directory(place)).collect(),
            directory => vec![self.directory(directory)],
        }
    }

    /// The words that a word becomes: `$OPTIONS` may hold several, or none, and so may what a command prints.
    fn fields(&self, word: &Word, unset: Unset) -> Vec<OsString> {
        if let [Part::Output { commands, splits: true }] = word.parts() {
            return match self.to_the_letter(*commands) {
                Some(text) => split(&text).map(os).collect(),
                None => vec![self.word(word)],
            };
        }
        match (lone_variable(word).map(|name| self.value(name)), unset) {
            (Some(Some(value)), _) => split(&value).map(os).collect(),
            (Some(None), Unset::Nothing) => Vec::new(),
            _ => vec![self.word(word)],
        }
    }

    /// Whether a word of it is a variable that nobody set.
    fn may_lack_words(&self, simple: &Simple) -> bool {
        simple.words.iter().filter_map(lone_variable).any(|name| self.value(name).is_none())
    }

    fn word(&self, word: &Word) -> OsString {
        os(self.bytes(word))
    }

    /// The text, with a mark for what only run time knows.
    fn bytes(&self, word: &Word) -> Vec<u8> {
        let mut bytes = Vec::new();
        for part in word.parts() {
            match part {
                Part::Known(text) => bytes.extend_from_slice(text),
                Part::Variable { name, splits } => match self.value(name) {
                    Some(value) if !splits || is_one_word(&value) => bytes.extend(value),
                    _ => bytes.push(UNKNOWN),
                },
                // Its text is of use all the same: `*.env` are files that end so.
                Part::Pattern(text) => {
                    bytes.push(UNKNOWN);
                    bytes.extend_from_slice(text);
                }
                Part::Output { commands, splits } => match self.to_the_letter(*commands) {
                    Some(text) if !splits || is_one_word(&text) => bytes.extend(text),
                    _ => bytes.push(UNKNOWN),
                },
                Part::Unknown { .. } | Part::Stream(_) => bytes.push(UNKNOWN),
            }
        }
        bytes
    }

    fn value(&self, name: &[u8]) -> Option<Vec<u8>> {
        let name = std::str::from_utf8(name).ok()?;
        if name == "PWD" {
            // The shell itself sets it.
            let is_known = self.around.host.is_none() && is_known(self.around.cwd.as_os_str());
            return is_known.then(|| self.around.cwd.as_os_str().as_encoded_bytes().to_vec());
        }
        let value = self.around.variable(name, self.env)?;
        Some(value.as_encoded_bytes().to_vec())
    }
}

/// The variable that is the whole of a word and is split into words.
fn lone_variable(word: &Word) -> Option<&[u8]> {
    match word.parts() {
        [Part::Variable { name, splits: true }] => Some(name),
        _ => None,
    }
}

/// A value's words, as a shell with its own `IFS` splits them; what stands for file names is marked so.
fn split(value: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
    let words = value.split(|byte| b" \t\n".contains(byte)).filter(|word| !word.is_empty());
    words.map(|word| if is_one_word(word) { word.to_vec() } else { [&[UNKNOWN], word].concat() })
}

/// It stays one word, and stands for itself.
fn is_one_word(value: &[u8]) -> bool {
    !value.is_empty() && !value.iter().any(|byte| b" \t\n*?[".contains(byte))
}

fn is_stdout(descriptor: &Descriptor) -> bool {
    matches!(descriptor, Descriptor::Ready | Descriptor::Number(1) | Descriptor::Both)
}

#[cfg(unix)]
fn os(bytes: Vec<u8>) -> OsString {
    use std::os::unix::ffi::OsStringExt as _;
    OsString::from_vec(bytes)
}

#[cfg(not(unix))]
fn os(bytes: Vec<u8>) -> OsString {
    String::from_utf8_lossy(&bytes).into_owned().into()
}
