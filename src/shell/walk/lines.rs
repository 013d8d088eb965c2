//! `while read NAME; do …; done <<< TEXT`: where the text is known, the loop is walked once for each of its lines.
#![forbid(unsafe_code)]

use super::state::State;
use super::{REPEATED, Walker};
use crate::shell::script::{Input, Kind};
use crate::shell::syntax::tree::{Body, List, Raw, literal};
use crate::shell::word::Word;

/// A text of more lines is not read line by line.
const MOST: usize = 64;

/// `read`, as a loop asks for lines.
struct Asked {
    names: Vec<Vec<u8>>,
    /// `IFS=`: the line as it is.
    whole: bool,
}

impl Walker<'_> {
    /// The state in which each round of a loop with this condition begins; one for all of them where the lines are not known.
    pub(super) fn rounds(&mut self, condition: &List, body: &List, enters: State) -> Vec<State> {
        self.known_rounds(condition, body, &enters).unwrap_or_else(|| vec![enters])
    }

    fn known_rounds(&mut self, condition: &List, body: &List, enters: &State) -> Option<Vec<State>> {
        let asked = asked(condition).filter(|_| !self.quiet)?;
        let text = self.text_of(enters.input)?;
        let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect();
        if lines.is_empty() || lines.len() > MOST || !self.charge(text.len()) {
            return None;
        }
        let cost = super::effect::size(body).saturating_mul(lines.len() - 1);
        if self.repeated.saturating_add(cost) > REPEATED {
            return None;
        }
        self.repeated += cost;
        let round = |line: &&[u8]| {
            let mut state = enters.clone();
            let mut rest = if asked.whole { line } else { line.trim_ascii() };
            for (at, name) in asked.names.iter().enumerate() {
                let is_last = at + 1 == asked.names.len();
                let end = rest.iter().position(u8::is_ascii_whitespace).filter(|_| !is_last && !asked.whole);
                let (value, behind) = rest.split_at(end.unwrap_or(rest.len()));
                state.set(name, Word::literal(value));
                rest = behind.trim_ascii_start();
            }
            state
        };
        Some(lines.iter().map(round).collect())
    }

    /// What stands on standard input: a here-document, or the words of one `echo`.
    fn text_of(&self, input: Input) -> Option<Vec<u8>> {
        match input {
            Input::Redirection(command, place) => {
                let redirection = self.commands.get(command)?.redirections.get(place)?;
                let is_text = matches!(redirection.kind, Kind::HereDoc | Kind::HereString);
                redirection.target.known().filter(|_| is_text).map(<[u8]>::to_vec)
            }
            Input::Pipe(Some(span)) => {
                let [said] = self.commands.get(span.from..span.to)? else { return None };
                let words: Vec<&[u8]> = said.words.iter().map(Word::known).collect::<Option<_>>()?;
                let plain = said.redirections.is_empty() && !words.iter().any(|word| word.contains(&b'\\'));
                match words.as_slice() {
                    [b"echo", words @ ..] if plain && !words.first().is_some_and(|word| word.starts_with(b"-")) => {
                        Some(words.join(&b' '))
                    }
                    [b"printf", b"%s\\n", words @ ..] if said.redirections.is_empty() => Some(words.join(&b'\n')),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// What a condition asks for, if it is a `read` and nothing else.
fn asked(condition: &List) -> Option<Asked> {
    let [item] = condition.0.as_slice() else { return None };
    let ([command], []) = (item.first.commands.as_slice(), item.rest.as_slice()) else { return None };
    let Body::Simple { assignments, words } = &command.body else { return None };
    if !command.redirections.is_empty() || item.first.negated {
        return None;
    }
    let whole = match assignments.as_slice() {
        [] => false,
        [assign] if assign.name == b"IFS" && literal(&assign.value).is_some_and(|value| value.is_empty()) => true,
        _ => return None,
    };
    let words: Vec<Vec<u8>> = words.iter().map(|word: &Raw| literal(word)).collect::<Option<_>>()?;
    let (_, rest) = words.split_first().filter(|(first, _)| *first == b"read")?;
    let names = if rest.first().is_some_and(|word| word == b"-r") { &rest[1..] } else { rest };
    let are_names = !names.is_empty() && names.iter().all(|name| crate::shell::syntax::is_name(name));
    are_names.then(|| Asked { names: names.to_vec(), whole })
}
