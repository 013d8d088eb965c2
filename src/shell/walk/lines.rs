//! `while read NAME; do …; done <F`, `for NAME in $(cat F)`: where the text is known that a loop goes through, the loop is
//! walked once for each of its lines or words.
#![forbid(unsafe_code)]

use super::Walker;
use super::asked::asked;
use super::fields::unquoted;
use super::state::{Standing, State};
use crate::shell::script::Input;
use crate::shell::syntax::tree::{Body, Command, List, literal};
use crate::shell::syntax::{Node, visit};
use crate::shell::word::{Part, Word};

/// A text of more lines is not read line by line.
const MOST: usize = 512;

/// After these, what a round was given decides what the round changes.
const DECIDED: [&[u8]; 6] = [b"eval", b".", b"source", b"cd", b"chdir", b"pushd"];

/// Shells, which run a word that they are given behind `-c`.
const SHELLS: [&[u8]; 5] = [b"sh", b"bash", b"zsh", b"dash", b"ksh"];

/// What a round of a loop is given: variables with their values.
pub(super) type Round = Vec<(Vec<u8>, Word)>;

impl State {
    /// The same where a round begins.
    pub(super) fn given(mut self, round: &Round) -> Self {
        round.iter().for_each(|(name, value)| self.set(name, value.clone()));
        self
    }
}

impl Walker<'_> {
    /// The rounds of a loop with this condition and standard input; none where the lines are not known.
    pub(super) fn rounds(&mut self, condition: &List, body: &List, input: Input) -> Option<Vec<Round>> {
        let asked = asked(condition).filter(|_| !self.quiet)?;
        let text = self.text_of(input)?;
        let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect();
        let may = (asked.raw || !text.contains(&b'\\')) && lines.len() <= MOST && self.pays(lines.len(), body);
        if lines.is_empty() || !may || !self.charge(text.len()) {
            return None;
        }
        let round = |line: &&[u8]| {
            let mut rest = if asked.whole { line } else { line.trim_ascii() };
            let each = asked.names.iter().enumerate().map(|(at, name)| {
                let is_last = at + 1 == asked.names.len();
                let end = rest.iter().position(u8::is_ascii_whitespace).filter(|_| !is_last && !asked.whole);
                let (value, behind) = rest.split_at(end.unwrap_or(rest.len()));
                rest = behind.trim_ascii_start();
                (name.clone(), Word::literal(value))
            });
            each.collect()
        };
        Some(lines.iter().map(round).collect())
    }

    /// The words of `for`, with what `$(cat F)` stands for among them where that is known.
    pub(super) fn told(&mut self, words: Vec<Word>, state: &State) -> Vec<Word> {
        let is_told = |word: &Word| matches!(word.parts(), [Part::Output { splits: true, .. }]);
        if self.quiet || !words.iter().any(is_told) {
            return words;
        }
        let apart = match state.variable(b"IFS") {
            Standing::Assigned(word) => word.known().map(<[u8]>::to_vec),
            Standing::Untouched => Some(b" \t\n".to_vec()),
            _ => None,
        };
        let Some(apart) = apart.filter(|apart| apart.iter().all(u8::is_ascii_whitespace)) else { return words };
        let mut all = Vec::with_capacity(words.len());
        for word in words {
            let text = match word.parts() {
                [Part::Output { commands, splits: true }] => self.printed(*commands),
                _ => None,
            };
            match text.filter(|text| self.charge(text.len())) {
                Some(text) => {
                    let words = text.split(|byte| apart.contains(byte)).filter(|word| !word.is_empty());
                    let words = words.map(|word| Word { parts: vec![unquoted(word)] }).collect();
                    all.extend(self.named(words, state));
                }
                None => all.push(word),
            }
        }
        all
    }

    /// Whether a body may be walked so often.
    pub(super) fn pays(&mut self, rounds: usize, body: &List) -> bool {
        let cost = super::effect::size(body).saturating_mul(rounds.saturating_sub(1));
        let fits = self.repeated.saturating_add(cost) <= super::REPEATED;
        self.repeated += if fits { cost } else { 0 };
        fits
    }

    /// Walks the body of a loop of whose lines nobody knows what stands in them. What it runs of these is missing.
    pub(super) fn unknown_lines(&mut self, body: &List, enters: State) -> super::state::Flow {
        self.unknown_lines += 1;
        let flow = self.list(body, enters);
        self.unknown_lines -= 1;
        flow
    }

    /// Takes note of a command that runs such a line: `eval "$line"`, `sh -c "$line"`, `$line`.
    pub(super) fn runs_unknown_line(&mut self, words: &[Word]) {
        let is_unknown = |word: &Word| matches!(word.parts(), [Part::Unknown { .. } | Part::Output { .. }]);
        let runs = match words {
            [line] => is_unknown(line),
            [name, line] if name.known() == Some(b"eval") => is_unknown(line),
            [name, options @ .., line] if name.known().is_some_and(|name| SHELLS.contains(&name)) => {
                let script = |word: &Word| word.head().starts_with(b"-") && word.head().contains(&b'c');
                options.iter().any(script) && is_unknown(line)
            }
            _ => false,
        };
        self.complete &= !(runs && self.unknown_lines > 0 && !self.quiet);
    }
}

/// Whether what a body changes may depend on what a round of it was given.
pub(super) fn is_decided(body: &List) -> bool {
    calls(body, &|name| name.is_none_or(|name| DECIDED.contains(&name)))
}

/// Whether a round of it may end before its end.
pub(super) fn ends_early(body: &List) -> bool {
    calls(body, &|name| matches!(name, Some(b"break" | b"continue" | b"return" | b"exit")))
}

/// Whether a loop with this condition reads, and from something else than what the script was started with.
pub(super) fn reads_lines(condition: &List, input: Input) -> bool {
    matches!(input, Input::Redirection(..) | Input::Pipe(_)) && calls(condition, &|name| name == Some(b"read"))
}

/// Whether there is such a command; none is the name of one that the script does not say.
fn calls(list: &List, is_it: &dyn Fn(Option<&[u8]>) -> bool) -> bool {
    let mut found = false;
    visit(list, &mut |node| {
        if let Node::Command(Command { body: Body::Simple { words, .. }, .. }) = node {
            found |= words.first().is_some_and(|word| is_it(literal(word).as_deref()));
        }
    });
    found
}
