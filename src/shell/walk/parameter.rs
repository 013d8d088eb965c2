//! What `$x` and `${x…}` are.
#![forbid(unsafe_code)]

use super::Walker;
use super::fields::{Fields, length};
use super::state::{Standing, State};
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
            Operation::Otherwise { sign, colon, word } => {
                let otherwise = self.single(word, state);
                let value = self.value(name, state);
                let known = value.known().map(|text| !text.is_empty() || !colon);
                // A value that is not empty is set; one that is empty and set is told from an unset one by nobody here.
                match (sign, known) {
                    (b'+', Some(true)) => into.value(&otherwise, splits),
                    (b'-' | b'=' | b'?', Some(true)) => into.value(&value, splits),
                    (b'-' | b'=', Some(false)) => into.value(&otherwise, splits),
                    _ => into.push(Part::Unknown { splits }),
                }
                if *sign == b'=' && known != Some(true) {
                    state.forget(name);
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
        let given = self.surroundings.parameters.as_ref().filter(|_| state.parameters_as_given);
        let separate = quoted && name == b"@" && !into.single;
        let (Some(given), false) = (given, state.is_assigned(b"IFS")) else {
            let splits = separate || (!quoted && !into.single);
            return into.push(match state.parameters_as_given {
                true => Part::Variable { name: name.to_vec(), splits },
                false => Part::Unknown { splits },
            });
        };
        let given: Vec<Word> = given.iter().skip(1).map(|text| Word::literal(text)).collect();
        if !self.charge(given.iter().flat_map(Word::parts).map(length).sum()) {
            return into.push(Part::Unknown { splits: true });
        }
        for (at, value) in given.iter().enumerate() {
            if at > 0 {
                if separate || !quoted && !into.single {
                    into.next_word()
                } else {
                    into.push(Part::Known(b" ".to_vec()))
                }
            }
            into.value(value, !quoted && !into.single);
        }
    }

    /// What is known of a variable or of one parameter.
    pub(super) fn value(&mut self, name: &[u8], state: &State) -> Word {
        let value = match name {
            [] | [b'#' | b'?' | b'$' | b'!' | b'-'] | b"@" | b"*" => Word::unknown(),
            [digit, ..] if digit.is_ascii_digit() => self.positional(name, state),
            b"PWD" if state.directory != Directory::Start => Word::unknown(),
            _ => match state.variable(name) {
                Standing::Assigned(value) => Word::clone(&value),
                Standing::Unknown => Word::unknown(),
                Standing::Untouched if VOLATILE.contains(&name) => Word::unknown(),
                Standing::Untouched => Word { parts: vec![self.surroundings.variable(name)] }.tidy(),
            },
        };
        let fits = self.charge(value.parts().iter().map(length).sum());
        if fits { value } else { Word::unknown() }
    }

    fn positional(&self, name: &[u8], state: &State) -> Word {
        if !state.parameters_as_given && name != b"0" {
            return Word::unknown();
        }
        let Some(given) = &self.surroundings.parameters else {
            return Word { parts: vec![Part::Variable { name: name.to_vec(), splits: false }] };
        };
        let place = std::str::from_utf8(name).ok().and_then(|digits| digits.parse::<usize>().ok());
        place.map_or_else(Word::unknown, |place| Word::literal(given.get(place).map_or(b"", Vec::as_slice)))
    }
}
