//! Lists and ranges in braces, as bash makes words of them before anything else (bash(1), "Brace Expansion"): `a{b,c}` is
//! `ab ac`, `{1..3}` is `1 2 3`. dash has none of it, and takes such a word as it stands.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use super::Walker;
use super::fields::Fields;
use super::state::State;
use crate::shell::syntax::tree::{Piece, Raw};
use crate::shell::word::{Part, Word};

/// A word that stands for more is left as it is written.
const MOST: usize = 256;

/// So many pieces in all of them.
const MOST_PIECES: usize = 2048;

/// Braces within braces beyond this are left as they are written.
const DEEPEST: usize = 16;

/// A piece of a word that stands behind its braces.
#[derive(Clone)]
pub(super) enum Bit<'a> {
    /// As it is written.
    Piece(&'a Piece),
    /// What a range makes.
    Text(Vec<u8>),
}

type Words<'a> = Vec<Vec<Bit<'a>>>;

/// The words that a word stands for; nothing where it has no braces, or is too much.
pub(super) fn expanded(raw: &Raw) -> Option<Words<'_>> {
    raw.iter().any(|piece| matches!(piece, Piece::Braces(_))).then(|| all(raw, 0)).flatten()
}

/// Every way through these pieces.
fn all(pieces: &[Piece], depth: usize) -> Option<Words<'_>> {
    if depth > DEEPEST || pieces.len() > MOST_PIECES {
        return None;
    }
    let mut words: Words<'_> = vec![Vec::new()];
    let mut at = 0;
    while let Some(piece) = pieces.get(at) {
        let (choices, length) = match piece {
            Piece::Braces(inner) => (group(inner.get(1..inner.len().saturating_sub(1))?, depth)?, 1),
            Piece::Special(b'{') => match end(&pieces[at..]) {
                Some(end) if is_list(&pieces[at + 1..at + end]) => (group(&pieces[at + 1..at + end], depth)?, end + 1),
                _ => (vec![vec![Bit::Piece(piece)]], 1),
            },
            piece => (vec![vec![Bit::Piece(piece)]], 1),
        };
        at += length;
        match <[Vec<Bit<'_>>; 1]>::try_from(choices) {
            Ok([only]) => words.iter_mut().for_each(|word| word.extend(only.iter().cloned())),
            Err(choices) => {
                words = words
                    .iter()
                    .take(MOST)
                    .flat_map(|word| choices.iter().map(|choice| [word.as_slice(), choice].concat()))
                    .take(MOST + 1)
                    .collect();
            }
        }
        if words.len() > MOST || words.iter().map(Vec::len).sum::<usize>() > MOST_PIECES {
            return None;
        }
    }
    Some(words)
}

/// What stands between two braces.
fn group(content: &[Piece], depth: usize) -> Option<Words<'_>> {
    if content.len() > MOST_PIECES {
        return None;
    }
    let commas = commas(content);
    if commas.is_empty() {
        return range(content);
    }
    let mut words = Words::new();
    let mut from = 0;
    for to in commas.into_iter().chain([content.len()]) {
        words.extend(all(&content[from..to], depth + 1)?);
        from = to + 1;
        if words.len() > MOST {
            return None;
        }
    }
    Some(words)
}

/// The place of the brace that closes the one at the head.
fn end(pieces: &[Piece]) -> Option<usize> {
    let mut depth = 0_usize;
    pieces.iter().position(|piece| {
        match piece {
            Piece::Special(b'{') => depth += 1,
            Piece::Special(b'}') => depth -= 1,
            _ => {}
        }
        depth == 0
    })
}

fn is_list(content: &[Piece]) -> bool {
    let is_range = matches!(content, [Piece::Text { text, quoted: false }] if text.windows(2).any(|two| two == b".."));
    is_range || !commas(content).is_empty()
}

/// The commas that part it, and not what is in other braces within.
fn commas(content: &[Piece]) -> Vec<usize> {
    let mut depth = 0_usize;
    let mut found = Vec::new();
    for (at, piece) in content.iter().enumerate() {
        match piece {
            Piece::Special(b'{') => depth += 1,
            Piece::Special(b'}') => depth = depth.saturating_sub(1),
            Piece::Special(b',') if depth == 0 => found.push(at),
            _ => {}
        }
    }
    found
}

/// `1..3`, `01..10..2`, `a..c`; what is none stands for itself. Nothing where run time has a say in it.
fn range(content: &[Piece]) -> Option<Words<'_>> {
    let [Piece::Text { text, quoted: false }] = content else { return None };
    let text = std::str::from_utf8(text).ok()?;
    let itself = || vec![vec![Bit::Text(format!("{{{text}}}").into_bytes())]];
    let parts: Vec<&str> = text.split("..").collect();
    let (from, to, step) = match parts[..] {
        [from, to] => (from, to, 1),
        [from, to, step] => match step.parse::<i64>() {
            Ok(step) => (from, to, step.checked_abs()?.max(1)),
            Err(_) => return Some(itself()),
        },
        _ => return Some(itself()),
    };
    let letter = |text: &str| match text.as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => Some(i64::from(*letter)),
        _ => None,
    };
    if let (Some(from), Some(to)) = (letter(from), letter(to)) {
        let letters = numbers(from, to, step)?.into_iter();
        return Some(letters.filter_map(|number| Some(vec![Bit::Text(vec![u8::try_from(number).ok()?])])).collect());
    }
    let (Ok(first), Ok(last)) = (from.parse::<i64>(), to.parse::<i64>()) else { return Some(itself()) };
    let is_padded =
        |text: &str| text.trim_start_matches('-').starts_with('0') && text.trim_start_matches('-').len() > 1;
    let width = if is_padded(from) || is_padded(to) { from.len().max(to.len()) } else { 0 };
    let all = numbers(first, last, step)?.into_iter();
    Some(all.map(|number| vec![Bit::Text(format!("{number:0width$}").into_bytes())]).collect())
}

fn numbers(from: i64, to: i64, step: i64) -> Option<Vec<i64>> {
    let count = from.abs_diff(to) / u64::try_from(step).ok()?;
    let most = usize::try_from(count).ok().filter(|count| *count < MOST)?;
    let step = if from > to { -step } else { step };
    Some((0..=most).filter_map(|at| from.checked_add(step.checked_mul(i64::try_from(at).ok()?)?)).collect())
}

impl Walker<'_> {
    /// Puts such words together. What they substitute is walked once, as the word is written.
    pub(super) fn each_of(&mut self, words: &Words<'_>, state: &mut State, into: &mut Fields) {
        let mut once: BTreeMap<*const Piece, Vec<Word>> = BTreeMap::new();
        for (at, word) in words.iter().enumerate() {
            if at > 0 {
                into.next_word();
            }
            for bit in word {
                match bit {
                    Bit::Text(text) => into.push(Part::Known(text.clone())),
                    Bit::Piece(Piece::Special(byte @ (b'*' | b'?'))) => into.push(Part::Pattern(vec![*byte])),
                    Bit::Piece(piece @ (Piece::Text { .. } | Piece::Special(_))) => self.piece(piece, state, into),
                    Bit::Piece(piece) => {
                        let found = once.entry(std::ptr::from_ref(*piece)).or_insert_with(|| {
                            let mut alone = Fields::default();
                            self.piece(piece, state, &mut alone);
                            alone.words()
                        });
                        into.put(found);
                    }
                }
            }
        }
    }
}
