//! `set` and `shift`: options, and what `$1`… are.
#![forbid(unsafe_code)]

use std::sync::Arc;

use super::Walker;
use super::assign::assign;
use super::state::{Parameters, State};
use crate::shell::environment::Exported;
use crate::shell::syntax::is_name;
use crate::shell::word::{Part, Word};

impl Walker<'_> {
    /// `set -a`, `set -o allexport`, `set -- WORD…`.
    pub(super) fn set(&mut self, arguments: &[Word], state: &mut State) {
        set_as_fish_does(arguments, state);
        let mut rest = arguments;
        while let Some((first, behind)) = rest.split_first() {
            let Some(text) = first.known() else { return state.set_parameters(Parameters::Unknown) };
            rest = behind;
            match text {
                b"--" | b"-" => return these(rest, state),
                [sign @ (b'-' | b'+'), letters @ ..] => {
                    let mut exports = letters.contains(&b'a');
                    if letters.ends_with(b"o") {
                        exports |= rest.first().is_some_and(|name| name.known() == Some(b"allexport"));
                        rest = rest.get(1..).unwrap_or_default();
                    }
                    if exports {
                        state.export_all(if *sign == b'-' { Exported::Yes } else { Exported::No });
                    }
                }
                _ => return these(&arguments[arguments.len() - behind.len() - 1..], state),
            }
        }
    }

    /// `shift [N]`.
    pub(super) fn shift(&mut self, arguments: &[Word], state: &mut State) {
        let count = match arguments {
            [] => Some(1),
            [count] => count.known().and_then(|count| std::str::from_utf8(count).ok()?.parse::<usize>().ok()),
            _ => None,
        };
        let before = match &state.parameters {
            Parameters::These(words) => Some(words.to_vec()),
            Parameters::AsGiven => self
                .surroundings
                .parameters
                .as_ref()
                .map(|given| given.iter().skip(1).map(|text| self.surroundings.word(text)).collect::<Vec<_>>()),
            Parameters::Unknown => None,
        };
        let after = before.zip(count).and_then(|(words, count)| {
            let gone = words.get(..count)?;
            (!gone.iter().any(Word::may_split)).then(|| words[count..].to_vec())
        });
        let bytes = after.iter().flatten().flat_map(Word::parts).map(super::fields::length).sum();
        let fits = self.charge(bytes);
        match after.filter(|_| fits) {
            Some(words) => state.set_parameters(Parameters::These(Arc::new(words))),
            None => state.set_parameters(Parameters::Unknown),
        }
    }
}

fn these(words: &[Word], state: &mut State) {
    state.set_parameters(Parameters::These(Arc::new(words.to_vec())));
}

/// fish: `set -gx NAME VALUE`. In another shell these are options that it does not have, or `-x` with two words that
/// nobody gives it.
fn set_as_fish_does(arguments: &[Word], state: &mut State) {
    let [option, name, values @ ..] = arguments else { return };
    let Some(text) = option.known() else { return };
    let exports = text == b"--export"
        || text
            .strip_prefix(b"-")
            .is_some_and(|letters| letters.contains(&b'x') && letters.iter().all(|letter| b"gUlfux".contains(letter)));
    if let (true, Some(name)) = (exports, name.known().filter(|name| is_name(name))) {
        let mut value = Word::default();
        for (at, word) in values.iter().enumerate() {
            if at > 0 {
                value.push(Part::Known(b" ".to_vec()));
            }
            value.append(word);
        }
        assign(state, name, &value, false);
        state.export(name, Exported::Yes);
    }
}
