//! What `$x` and `${x…}` are.
#![forbid(unsafe_code)]

use super::Walker;
use super::fields::{Fields, length};
use super::state::{Parameters, Standing, State};
use crate::shell::environment::Value;
use crate::shell::script::Directory;
use crate::shell::syntax::tree::{Operation, Parameter, Piece, Raw, literal};
use crate::shell::word::{Part, Word};

/// Variables that shells set by themselves.
const VOLATILE: [&[u8]; 22] = [
    b"BASHPID",
    b"BASH_COMMAND",
    b"BASH_SOURCE",
    b"COLUMNS",
    b"DIRSTACK",
    b"EPOCHREALTIME",
    b"EPOCHSECONDS",
    b"FUNCNAME",
    b"HISTCMD",
    b"LINENO",
    b"LINES",
    b"OLDPWD",
    b"OPTARG",
    b"OPTIND",
    b"PIPESTATUS",
    b"PPID",
    b"RANDOM",
    b"REPLY",
    b"SECONDS",
    b"SHLVL",
    b"SRANDOM",
    b"_",
];

impl Walker<'_> {
    pub(super) fn parameter(&mut self, parameter: &Parameter, state: &mut State, into: &mut Fields) {
        let Parameter { name, quoted, operation } = parameter;
        let splits = !quoted && !into.single;
        match operation {
            Operation::Plain => self.variable(name, *quoted, state, into),
            Operation::All { star } => match state.variable(name) {
                Standing::List(words) if !state.is_assigned(b"IFS") => self.several(&words, *star, *quoted, into),
                _ => into.push(Part::Unknown { splits: splits || (!star && !into.single) }),
            },
            Operation::Otherwise { sign, colon, word } => {
                let otherwise = self.single(word, state);
                let value = self.value(name, state);
                let known = if self.is_unset(name, state) {
                    Some(false)
                } else {
                    value.known().map(|text| !text.is_empty() || !colon)
                };
                // A value that is not empty is set; one that is empty and set is told from an unset one by nobody here.
                match (sign, known) {
                    (b'+', Some(true)) => into.value(&otherwise, splits),
                    (b'-' | b'=' | b'?', Some(true)) => into.value(&value, splits),
                    (b'-' | b'=', Some(false)) => into.value(&otherwise, splits),
                    (b'+', Some(false)) => into.value(&Word::default(), splits),
                    _ => into.push(Part::Unknown { splits }),
                }
                match (sign, known) {
                    (b'=', Some(false)) => state.set(name, otherwise),
                    (b'=', None) => state.forget(name),
                    _ => {}
                }
            }
            Operation::Strip { suffix, word } => {
                let unwanted = literal(word);
                self.single(word, state);
                let value = self.value(name, state);
                match (value.known(), unwanted) {
                    (Some(text), Some(unwanted)) => {
                        let rest = if *suffix { text.strip_suffix(&*unwanted) } else { text.strip_prefix(&*unwanted) };
                        into.value(&Word::literal(rest.unwrap_or(text)), splits);
                    }
                    _ => into.push(Part::Unknown { splits }),
                }
            }
            Operation::Other(word) => {
                self.other(word, state);
                into.push(Part::Unknown { splits });
            }
        }
    }

    /// Whether nobody has set it, or it was taken away.
    fn is_unset(&self, name: &[u8], state: &State) -> bool {
        match state.variables.get(name).map(|variable| &variable.value) {
            Some(Value::Unset) => true,
            Some(Value::Text(_) | Value::List(_)) => false,
            None | Some(Value::AsFound) => !state.others_unknown && self.surroundings.unset.contains(name),
        }
    }

    /// Whatever stands in the braces runs; `${x:=…}` in an unknown shape is not known to be one.
    fn other(&mut self, word: &Raw, state: &mut State) {
        for piece in word {
            if !matches!(piece, Piece::Text { .. }) {
                self.pieces(std::slice::from_ref(piece), state, &mut Fields::single());
            }
        }
    }

    /// A plain variable or parameter in a word.
    pub(super) fn variable(&mut self, name: &[u8], quoted: bool, state: &State, into: &mut Fields) {
        let splits = !quoted && !into.single;
        if matches!(name, b"@" | b"*") {
            return self.all_parameters(name, quoted, state, into);
        }
        let value = self.value(name, state);
        // A changed IFS splits elsewhere.
        let elsewhere = splits && state.is_assigned(b"IFS") && value.known().is_none_or(|text| !text.is_empty());
        if elsewhere { into.push(Part::Unknown { splits }) } else { into.value(&value, splits) }
    }

    fn all_parameters(&mut self, name: &[u8], quoted: bool, state: &State, into: &mut Fields) {
        let splits = !into.single && (name == b"@" || !quoted);
        let given = self.surroundings.parameters.as_ref();
        match (&state.parameters, given) {
            _ if state.is_assigned(b"IFS") => into.push(Part::Unknown { splits }),
            (Parameters::AsGiven, Some(given)) => {
                let given: Vec<Word> = given.iter().skip(1).map(|text| self.surroundings.word(text)).collect();
                self.several(&given, name == b"*", quoted, into);
            }
            (Parameters::AsGiven, None) => into.push(Part::Variable { name: name.to_vec(), splits }),
            (Parameters::These(words), _) => self.several(words, name == b"*", quoted, into),
            (Parameters::Unknown, _) => into.push(Part::Unknown { splits }),
        }
    }

    /// `"$@"`, `"${A[@]}"`, and the same with a star.
    fn several(&mut self, words: &[Word], star: bool, quoted: bool, into: &mut Fields) {
        let separate = quoted && !star && !into.single;
        if !self.charge(words.iter().flat_map(Word::parts).map(length).sum()) {
            return into.push(Part::Unknown { splits: true });
        }
        if words.is_empty() && separate {
            into.no_word();
        }
        for (at, value) in words.iter().enumerate() {
            if at > 0 {
                if separate || !quoted && !into.single {
                    into.next_word()
                } else {
                    into.push(Part::Known(b" ".to_vec()))
                }
            }
            match quoted && !into.single {
                // Such a word may be several already.
                true => into.word_as_it_is(value),
                false => into.value(value, !quoted && !into.single),
            }
        }
    }

    /// What is known of a variable or of one parameter.
    pub(super) fn value(&mut self, name: &[u8], state: &State) -> Word {
        let value = match name {
            [] | [b'#' | b'?' | b'$' | b'!' | b'-'] | b"@" | b"*" => Word::unknown(),
            [digit, ..] if digit.is_ascii_digit() => self.positional(name, state),
            b"PWD" if !state.is_assigned(b"PWD") => self.path_of(&state.directory),
            b"OLDPWD" if !state.is_assigned(b"OLDPWD") => {
                state.previous.as_ref().map_or_else(Word::unknown, |before| self.path_of(before))
            }
            _ => match state.variable(name) {
                Standing::Assigned(value) => Word::clone(&value),
                Standing::List(words) => {
                    words.first().filter(|first| !first.may_split()).cloned().unwrap_or_else(Word::unknown)
                }
                Standing::Unknown => Word::unknown(),
                Standing::Untouched if VOLATILE.contains(&name) => Word::unknown(),
                Standing::Untouched => Word { parts: vec![self.surroundings.variable(name)] }.tidy(),
            },
        };
        let fits = self.charge(value.parts().iter().map(length).sum());
        if fits { value } else { Word::unknown() }
    }

    /// `$PWD`: where the script was started, and the way from there.
    fn path_of(&self, directory: &Directory) -> Word {
        let start = || Word { parts: vec![self.surroundings.variable(b"PWD")] }.tidy();
        match directory {
            Directory::Start => start(),
            Directory::Unknown | Directory::Either(_) => Word::unknown(),
            Directory::Moved(to) if to.head().starts_with(b"/") || to.head().is_empty() => Word::clone(to),
            Directory::Moved(to) => {
                let mut word = start();
                word.push(Part::Known(b"/".to_vec()));
                word.append(to);
                word
            }
        }
    }

    fn positional(&self, name: &[u8], state: &State) -> Word {
        let place = std::str::from_utf8(name).ok().and_then(|digits| digits.parse::<usize>().ok());
        match (&state.parameters, place.and_then(|place| place.checked_sub(1))) {
            (Parameters::Unknown, Some(_)) => return Word::unknown(),
            (Parameters::These(words), Some(place)) => {
                let counted = words.len().min(place + 1);
                let counts = !words[..counted].iter().any(Word::may_be_several);
                return if counts { words.get(place).cloned().unwrap_or_default() } else { Word::unknown() };
            }
            (Parameters::AsGiven, _) | (_, None) => {}
        }
        let Some(given) = &self.surroundings.parameters else {
            return Word { parts: vec![Part::Variable { name: name.to_vec(), splits: false }] };
        };
        place.map_or_else(Word::unknown, |place| self.surroundings.word(given.get(place).map_or(b"", Vec::as_slice)))
    }
}
