//! What a line was read as, and what is asked of it.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::ffi::OsStr;

use super::name::Named;
use crate::rules::book::Several;

/// What Go's `strconv.ParseBool` takes for no.
const FALSE: [&str; 6] = ["0", "f", "F", "false", "FALSE", "False"];

/// A line that was read.
#[derive(Debug, Clone, Default)]
pub(in crate::rules) struct Line<'a> {
    /// The sub-command's words, joined by a space.
    pub(in crate::rules) path: String,
    /// Options in their order, each with its value if it has one.
    pub(super) options: Vec<(Named<'a>, Option<Cow<'a, OsStr>>)>,
    /// What is neither.
    pub(in crate::rules) operands: Vec<&'a OsStr>,
    /// Which of the operands may be the value of an option that nobody knows, by their numbers from 0.
    pub(in crate::rules) doubtful: Vec<usize>,
    /// Where in the arguments each operand behind the sub-command stands.
    pub(in crate::rules) places: Vec<usize>,
    /// A word that only run time knows stands where the sub-command is looked for; it is passed over.
    pub(in crate::rules) is_unsure: bool,
    /// A word that may be the value of an option that nobody knows stands there; it is passed over.
    pub(in crate::rules) is_guessed: bool,
    /// The line ends where a sub-command is still looked for.
    pub(in crate::rules) is_cut: bool,
}

impl<'a> Line<'a> {
    /// How often an option is given, and with what; `"-p|--project-name"` asks for either.
    pub(in crate::rules) fn given<'s>(&'s self, names: &str) -> impl DoubleEndedIterator<Item = Option<&'s OsStr>> {
        let given = self.options.iter().filter(move |(own, _)| own.is(names));
        given.map(|(_, value)| value.as_deref())
    }

    /// The values of an option.
    pub(in crate::rules) fn values<'s>(&'s self, names: &str) -> impl DoubleEndedIterator<Item = &'s OsStr> {
        self.given(names).flatten()
    }

    /// The last value of an option.
    pub(in crate::rules) fn value<'s>(&'s self, names: &str) -> Option<&'s OsStr> {
        self.values(names).next_back()
    }

    /// The line behind one of these sub-commands, if it has one. Of a program without a grammar for them the first operands
    /// are taken for it.
    pub(in crate::rules) fn behind(&self, wanted: &Several) -> Option<Cow<'_, Self>> {
        if !self.path.is_empty() {
            return wanted.has(&self.path).then_some(Cow::Borrowed(self));
        }
        let begin = |line: &Self| wanted.iter().find_map(|words| line.beginning_with(words));
        // A word in front may be a value: without those in doubt the line may begin so as well.
        begin(self)
            .or_else(|| (!self.doubtful.is_empty()).then(|| begin(&self.without_doubtful())).flatten())
            .map(Cow::Owned)
    }

    /// The line behind these words, if its operands begin with them.
    fn beginning_with(&self, words: &str) -> Option<Self> {
        let count = words.split(' ').count();
        let begins = self.operands.len() >= count && words.split(' ').eq(self.operands[..count].iter().copied());
        begins.then(|| Self {
            path: words.to_owned(),
            operands: self.operands[count..].to_vec(),
            places: self.places[count..].to_vec(),
            doubtful: self.doubtful.iter().filter_map(|at| at.checked_sub(count)).collect(),
            ..self.clone()
        })
    }

    fn without_doubtful(&self) -> Self {
        let sure = |at: &usize| !self.doubtful.contains(at);
        Self {
            operands: (0..self.operands.len()).filter(sure).map(|at| self.operands[at]).collect(),
            places: (0..self.places.len()).filter(sure).map(|at| self.places[at]).collect(),
            doubtful: Vec::new(),
            is_guessed: true,
            ..self.clone()
        }
    }

    /// The operands that are no option's value, whatever an option is that nobody knows.
    pub(in crate::rules) fn sure<'s>(&'s self) -> impl DoubleEndedIterator<Item = &'a OsStr> + use<'s, 'a> {
        let all = self.operands.iter().enumerate();
        all.filter(|(at, _)| !self.doubtful.contains(at)).map(|(_, word)| *word)
    }

    /// The line has options.
    pub(in crate::rules) fn has_options(&self) -> bool {
        !self.options.is_empty()
    }

    /// The values of all options.
    pub(in crate::rules) fn all_values(&self) -> impl Iterator<Item = &OsStr> {
        self.options.iter().filter_map(|(_, value)| value.as_deref())
    }

    /// Whether an option is given, and not as `--name=false`.
    pub(in crate::rules) fn is_on(&self, names: &str) -> bool {
        let last = self.options.iter().rfind(|(own, _)| own.is(names));
        last.is_some_and(|(_, value)| value.as_deref().is_none_or(|value| !FALSE.iter().any(|no| value == *no)))
    }

    /// Whether an option is given, with whatever value.
    pub(in crate::rules) fn is_given(&self, names: &str) -> bool {
        self.options.iter().any(|(own, _)| own.is(names))
    }

    /// Whether one of these is on.
    pub(in crate::rules) fn is_any_on(&self, names: &Several) -> bool {
        names.iter().any(|names| self.is_on(names))
    }
}
