//! What is to be held besides files: names, and what somebody has to look up before it is one.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use super::argument::tail;
use super::book::{Field, Filter, Part, Template};
use super::grammar::Line;
use super::sent::Sending;
use super::set::Set;
use super::step::{Step, is_known};
use crate::terms::{ResourceName, may_hold_a_secret};

/// A resource that a command wants held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Its name.
    pub name: Wanted,
    /// Which engine a container belongs to, as the command says it.
    pub engine: Engine,
    /// Where the command runs: the repository there gives some kinds their scope.
    pub cwd: PathBuf,
    /// It runs on this other host.
    pub host: Option<String>,
    /// The files by whose writing the rule came to it; none: by something else.
    pub written: Vec<PathBuf>,
    /// Files that say what is done, where the rule names some.
    pub used: Vec<PathBuf>,
    /// It counts only if something of this is what the rule is about.
    pub sending: Option<Sending>,
}

/// A name, or how to find it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// This.
    Named(ResourceName),
    /// The Compose project of the command.
    Project {
        /// What the command says of it.
        compose: Compose,
        /// What is held where nobody can know the project.
        otherwise: Option<ResourceName>,
    },
    /// The Compose project of a container, if the engine says it has one; else the container itself.
    Stack {
        /// The container's name or id.
        container: OsString,
    },
}

/// What a command line says of a Compose project.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Compose {
    /// `--project-name`.
    pub project: Option<OsString>,
    /// `--project-directory`.
    pub directory: Option<OsString>,
    /// `--file`, in order.
    pub files: Vec<OsString>,
    /// `--env-file`, in order.
    pub env_files: Vec<OsString>,
    /// What is set for it besides the environment.
    pub env: Set,
    /// The program is `docker-compose`, which may be the first generation, in Python.
    pub standalone: bool,
}

/// Which engine a docker command talks to, as it says it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Engine {
    /// `--host`.
    pub host: Option<OsString>,
    /// `--context`.
    pub context: Option<OsString>,
    /// `--config`.
    pub config: Option<OsString>,
    /// What is set for the command besides the environment.
    pub env: Set,
    /// It is podman's: it has connections where docker has contexts, and variables of its own.
    pub podman: bool,
}

/// What a rule's expressions caught: name and text.
pub(super) type Caught = [(String, OsString)];

/// What fills the gaps of templates.
pub(super) struct Filling<'a> {
    pub(super) step: &'a Step<'a>,
    pub(super) line: &'a Line<'a>,
    pub(super) caught: &'a Caught,
    pub(super) env: &'a dyn Fn(&str) -> Option<OsString>,
}

impl Filling<'_> {
    /// The names of a template, each for one operand if it asks for each; none where a gap cannot be filled, or with what
    /// only run time knows.
    pub(super) fn names(&self, template: &Template) -> Vec<ResourceName> {
        self.texts(template).iter().filter_map(|text| ResourceName::parse(text).ok()).collect()
    }

    /// The same as texts.
    pub(super) fn texts(&self, template: &Template) -> Vec<Vec<u8>> {
        let mut texts = vec![Vec::new()];
        for part in template.parts() {
            let choices = match part {
                Part::Text(text) => vec![text.clone().into_bytes()],
                Part::Gap(field, filters) => self.filled(field, filters),
            };
            texts =
                choices.iter().flat_map(|choice| texts.iter().map(|text| [text, choice.as_slice()].concat())).collect();
        }
        texts
    }

    /// What fills the gap of a template that is nothing else, whether run time has a say in it or not. Words that may be
    /// an option's value are among them: they are looked for as files, and become no names.
    pub(super) fn words(&self, template: &Template) -> Vec<Cow<'_, OsStr>> {
        self.gap(template, &self.line.operands)
    }

    /// The same without these words.
    pub(super) fn sure_words(&self, template: &Template) -> Vec<Cow<'_, OsStr>> {
        self.gap(template, &self.line.sure().collect::<Vec<_>>())
    }

    fn gap<'s>(&'s self, template: &Template, operands: &[&'s OsStr]) -> Vec<Cow<'s, OsStr>> {
        let gap = template.parts().iter().find_map(|part| match part {
            Part::Gap(field, filters) => Some((field, filters)),
            Part::Text(_) => None,
        });
        let Some((field, filters)) = gap else { return Vec::new() };
        let words = self.field(field, operands).into_iter();
        words.filter_map(|word| if filters.is_empty() { Some(word) } else { filtered(&word, filters) }).collect()
    }

    /// Whether a word that may be an option's value stands where the template looks for a name.
    pub(super) fn is_doubtful(&self, template: &Template) -> bool {
        let doubtful = &self.line.doubtful;
        template.parts().iter().any(|part| match part {
            Part::Gap(Field::Operand(number), _) => doubtful.iter().any(|at| at < number),
            Part::Gap(Field::Operands(_) | Field::Caught(_), _) => !doubtful.is_empty(),
            Part::Gap(Field::Last, _) => doubtful.last().is_some_and(|at| at + 1 == self.line.operands.len()),
            _ => false,
        })
    }

    fn filled(&self, field: &Field, filters: &[Filter]) -> Vec<Vec<u8>> {
        let sure: Vec<&OsStr> = self.line.sure().collect();
        let found = self.field(field, &sure).into_iter().filter(|word| is_known(word));
        let found = found.map(|word| word.as_encoded_bytes().to_vec());
        let done = found.filter_map(|text| filters.iter().try_fold(text, |text, filter| filter.on(&text)));
        // What looks like a value is no name: it would go to the store.
        done.filter(|text| !may_hold_a_secret(text)).collect()
    }

    fn field<'s>(&'s self, field: &Field, operands: &[&'s OsStr]) -> Vec<Cow<'s, OsStr>> {
        match field {
            Field::Operand(number) => one(operands.get(number - 1).copied()),
            Field::Operands(from) => operands.iter().skip(from - 1).map(|&word| Cow::Borrowed(word)).collect(),
            Field::Last => one(operands.last().copied()),
            Field::Option(name) => self.line.values(name).map(Cow::Borrowed).collect(),
            Field::Variable(name) => self.step.variable(name, self.env).map(Cow::Owned).into_iter().collect(),
            Field::Prefixed(prefix) => {
                let begins = |word: &&&OsStr| word.as_encoded_bytes().starts_with(prefix.as_bytes());
                operands.iter().filter(begins).map(|word| tail(word, prefix.len())).collect()
            }
            Field::Host => self.step.host.iter().map(|host| Cow::Borrowed(OsStr::new(host))).collect(),
            // The plan fills it.
            Field::Project => Vec::new(),
            Field::Caught(name) => self
                .caught
                .iter()
                .filter(|(own, _)| own == name)
                .map(|(_, text)| Cow::Borrowed(text.as_os_str()))
                .collect(),
        }
    }
}

/// A word after these filters; as text, which is what files with such names are called.
fn filtered<'a>(word: &OsStr, filters: &[Filter]) -> Option<Cow<'a, OsStr>> {
    let whole = word.as_encoded_bytes().to_vec();
    let done = filters.iter().try_fold(whole, |text, filter| filter.on(&text))?;
    Some(Cow::Owned(String::from_utf8_lossy(&done).into_owned().into()))
}

fn one(word: Option<&OsStr>) -> Vec<Cow<'_, OsStr>> {
    word.map(Cow::Borrowed).into_iter().collect()
}

/// What the options of Compose say.
pub(super) fn compose(step: &Step<'_>, line: &Line<'_>) -> Compose {
    let all = |names: &'static str| line.values(names).map(OsStr::to_owned).collect();
    Compose {
        project: line.value("-p|--project-name").map(OsStr::to_owned),
        directory: line.value("--project-directory|--workdir").map(OsStr::to_owned),
        files: all("-f|--file"),
        env_files: all("--env-file"),
        env: step.env.clone(),
        standalone: step.name == "docker-compose",
    }
}

/// What the options of docker say. Asked for by their long names: `-c` and `-H` are others behind some sub-commands. podman
/// has docker's names besides its own (podman(1): `--connection`, `--url`).
pub(super) fn engine(step: &Step<'_>, line: &Line<'_>) -> Engine {
    let value = |names: &'static str| line.value(names).map(OsStr::to_owned);
    Engine {
        host: value("--host|--url"),
        context: value("--context|--connection"),
        config: value("--config"),
        env: step.env.clone(),
        podman: step.name().starts_with("podman"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Book, Command, classify};
    use super::*;

    #[test]
    fn an_option_of_a_sub_command_is_not_taken_for_one_of_the_engine() {
        for (line, context, host) in [
            ("stack deploy -c x.yml web", None, None),
            ("update -c 512 web", None, None),
            ("-c prod stack deploy -c x.yml web", Some("prod"), None),
            ("--context=prod -H ssh://h restart web", Some("prod"), Some("ssh://h")),
            ("-cprod restart -s KILL web", Some("prod"), None),
        ] {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let [name, cwd] = ["docker".as_ref(), "/".as_ref()];
            let command = Command { name, args: &args, cwd: std::path::Path::new(cwd), env: &|_| None, stdout: None };
            let engine = classify(&command, &Book::new()).claims.remove(0).engine;
            assert_eq!(engine.context.as_deref(), context.map(OsStr::new), "{line}");
            assert_eq!(engine.host.as_deref(), host.map(OsStr::new), "{line}");
        }
    }
}
