//! From a script to its commands, each as if it had been typed by itself.
#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::rc::Rc;

use super::piped::{self, Said};
use super::step::{Redirected, Step, UNKNOWN, is_known, name_of, nowhere};
use crate::shell::{self, Descriptor, Directory, Input, Kind, Part, Script, Simple, Surroundings, Word};

/// What a script comes to.
pub(super) struct Read<'s> {
    pub(super) steps: Vec<Step<'s>>,
    /// The whole of it could be read.
    pub(super) complete: bool,
}

type Env<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// The commands of a script that runs as `around`, with its `$0`, `$1`… if there are any that are known.
pub(super) fn steps<'s>(text: &[u8], parameters: &[OsString], around: &Step<'s>, env: Env<'_>) -> Read<'s> {
    let known = !parameters.is_empty() && parameters.iter().all(|word| is_known(word));
    let parameters = known.then(|| parameters.iter().map(|word| word.as_encoded_bytes().to_vec()).collect());
    let script = shell::parse_in(text, &Surroundings { parameters, ..Surroundings::default() });
    let reader = Reader { around, env, texts: RefCell::default() };
    let steps = script.commands.iter().flat_map(|simple| {
        let (input, input_from) = reader.input(&script, simple);
        let step = Step { input, input_from, ..reader.step(simple, Unset::Unknown) };
        let without = reader.may_lack_words(simple).then(|| {
            let words = reader.step(simple, Unset::Nothing);
            Step { name: words.name, args: words.args, ..step.clone() }
        });
        [Some(step), without].into_iter().flatten()
    });
    Read { steps: steps.collect(), complete: script.complete }
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
    around: &'a Step<'s>,
    env: Env<'a>,
    /// Texts on standard input, by where they stand: several commands may read one (`{ a; b; } <<E`).
    texts: RefCell<BTreeMap<Origin, Rc<[u8]>>>,
}

/// A command, and the place among its redirections.
type Origin = (usize, usize);

/// In place of a redirection: a text that comes out of a pipe.
const PIPED: usize = usize::MAX;

impl<'s> Reader<'_, 's> {
    fn step(&self, simple: &Simple, unset: Unset) -> Step<'s> {
        let mut words = simple.words.iter().flat_map(|word| self.fields(word, unset));
        let program = words.next().unwrap_or_default();
        let name = name_of(&program);
        let set = simple.assignments.iter().filter_map(|assignment| {
            let name = std::str::from_utf8(&assignment.name).ok()?;
            Some((name.into(), self.word(&assignment.value)))
        });
        let redirected = simple.redirections.iter().filter(|redirection| redirection.kind.writes());
        Step {
            name,
            called: program,
            args: words.collect(),
            cwd: self.directory(&simple.directory),
            env: self.around.env.and(set.collect()),
            redirected: redirected
                .map(|redirection| Redirected {
                    path: self.word(&redirection.target),
                    is_stdout: is_stdout(&redirection.descriptor),
                    append: redirection.kind == Kind::Append,
                })
                .collect(),
            in_script: true,
            ..self.around.clone()
        }
    }

    /// What comes in by standard input: a text, or files of this machine.
    fn input(&self, script: &Script, simple: &Simple) -> (Option<Rc<[u8]>>, Vec<PathBuf>) {
        let mut simple = simple;
        // A pipe goes forwards, so this ends; the bound is for who reads it.
        for _ in 0..script.commands.len() {
            if let (Some(text), Input::Redirection(command, place)) = (script.text_for(simple), simple.input) {
                return (Some(self.text((command, place), || self.bytes(text))), Vec::new());
            }
            match simple.input {
                Input::Inherited => return (self.around.input.clone(), self.around.input_from.clone()),
                Input::Redirection(command, place) => {
                    let from = script.commands.get(command).and_then(|command| command.redirections.get(place));
                    let file = from.filter(|from| from.kind == Kind::Read).map(|from| self.word(&from.target));
                    return (None, self.files(script.commands.get(command), file));
                }
                Input::Pipe(Some(at)) => {
                    let Some(before) = script.commands.get(at) else { break };
                    if let Some(text) = self.texts.borrow().get(&(at, PIPED)) {
                        return (Some(Rc::clone(text)), Vec::new());
                    }
                    let step = self.step(before, Unset::Unknown);
                    match piped::said(step.name(), &step.args) {
                        Said::Text(text) => return (Some(self.text((at, PIPED), || text)), Vec::new()),
                        Said::Files(files) => return (None, self.files(Some(before), files)),
                        Said::Input => simple = before,
                        Said::Unknown => break,
                    }
                }
                Input::Pipe(None) | Input::Unknown => break,
            }
        }
        (None, Vec::new())
    }

    fn text(&self, of: Origin, read: impl FnOnce() -> Vec<u8>) -> Rc<[u8]> {
        Rc::clone(self.texts.borrow_mut().entry(of).or_insert_with(|| read().into()))
    }

    /// Files as the command that opens them names them; on another host and in a container there are none of ours.
    fn files(&self, opened: Option<&Simple>, files: impl IntoIterator<Item = OsString>) -> Vec<PathBuf> {
        let Some(opened) = opened.filter(|_| self.around.host.is_none() && !self.around.inside) else {
            return Vec::new();
        };
        let directory = self.directory(&opened.directory);
        files.into_iter().map(|file| directory.join(file)).collect()
    }

    fn directory(&self, directory: &Directory) -> PathBuf {
        match directory {
            Directory::Start => self.around.cwd.clone(),
            Directory::Moved(word) => self.around.path(&self.word(word)),
            Directory::Unknown => nowhere(),
        }
    }

    /// The words that a word becomes: `$OPTIONS` may hold several, or none.
    fn fields(&self, word: &Word, unset: Unset) -> Vec<OsString> {
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
                Part::Unknown { .. } => bytes.push(UNKNOWN),
            }
        }
        bytes
    }

    fn value(&self, name: &[u8]) -> Option<Vec<u8>> {
        let name = std::str::from_utf8(name).ok()?;
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
