//! What fills the gaps of the names that rules have: words of the line, values of its options, variables.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};

use crate::rules::argument::tail;
use crate::rules::book::{Field, Filter, Part, Template};
use crate::rules::grammar::Line;
use crate::rules::step::{Step, is_known};
use crate::terms::{ResourceName, may_hold_a_secret};

/// What a rule's expressions caught: name and text.
pub(in crate::rules) type Caught = [(String, OsString)];

/// What fills the gaps of templates.
pub(in crate::rules) struct Filling<'a> {
    pub(in crate::rules) step: &'a Step<'a>,
    pub(in crate::rules) line: &'a Line<'a>,
    pub(in crate::rules) caught: &'a Caught,
    pub(in crate::rules) env: &'a dyn Fn(&str) -> Option<OsString>,
}

impl Filling<'_> {
    /// The names of a template, each for one operand if it asks for each; none where a gap cannot be filled, or with what
    /// only run time knows.
    pub(in crate::rules) fn names(&self, template: &Template) -> Vec<ResourceName> {
        self.texts(template).iter().filter_map(|text| ResourceName::parse(text).ok()).collect()
    }

    /// The same as texts.
    pub(in crate::rules) fn texts(&self, template: &Template) -> Vec<Vec<u8>> {
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
    pub(in crate::rules) fn words(&self, template: &Template) -> Vec<Cow<'_, OsStr>> {
        self.gap(template, &self.line.operands)
    }

    /// The same without these words.
    pub(in crate::rules) fn sure_words(&self, template: &Template) -> Vec<Cow<'_, OsStr>> {
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
    pub(in crate::rules) fn is_doubtful(&self, template: &Template) -> bool {
        let doubtful = &self.line.doubtful;
        template.parts().iter().any(|part| match part {
            Part::Gap(Field::Operand(number), _) => doubtful.iter().any(|at| at < number),
            Part::Gap(Field::Operands(_) | Field::OperandOf(..) | Field::Assigned | Field::Caught(_), _) => {
                !doubtful.is_empty()
            }
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
            Field::OperandOf(number, all) => one(operands.get(number - 1).copied().filter(|_| operands.len() == *all)),
            Field::Assigned => {
                let named = |word: &&'s OsStr| {
                    let equals = word.as_encoded_bytes().iter().position(|&byte| byte == b'=')?;
                    Some(Cow::Owned(String::from_utf8_lossy(&word.as_encoded_bytes()[..equals]).into_owned().into()))
                };
                operands.iter().map_while(named).collect()
            }
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
