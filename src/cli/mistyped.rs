//! What clap says of a mistake repeats what was typed, and that may be meant to be read as something else: what controls a
//! terminal, or reorders and hides its neighbours, is spelled out.
#![forbid(unsafe_code)]

use std::ffi::OsStr;

use clap::CommandFactory as _;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue};

use crate::config::nearest;
use crate::terms::shows;

use super::verbs::Line;

/// The same error, each letter of which shows.
pub(super) fn shown(mut error: clap::Error) -> clap::Error {
    let clean: Vec<_> = error.context().filter_map(|(kind, value)| Some((kind, spelled(value)?))).collect();
    for (kind, value) in clean {
        error.insert(kind, value);
    }
    error
}

/// The verb that may be meant by what is no program.
pub(super) fn meant(word: &OsStr) -> Option<String> {
    let definition = Line::command();
    let verbs = definition.get_subcommands().map(clap::Command::get_name);
    nearest(word.to_str().filter(|word| word.len() > 2)?, verbs).map(str::to_owned)
}

/// The twin in the environment of the option that this error is about.
pub(super) fn twin(error: &clap::Error) -> Option<String> {
    let ContextValue::String(arg) = error.get(ContextKind::InvalidArg)? else { return None };
    let name = arg.strip_prefix("--")?.split(' ').next()?;
    Some(format!("LOCKED_{}", name.to_uppercase().replace('-', "_")))
}

fn spelled(value: &ContextValue) -> Option<ContextValue> {
    match value {
        ContextValue::String(text) => Some(ContextValue::String(letters(text))),
        ContextValue::Strings(texts) => Some(ContextValue::Strings(texts.iter().map(|text| letters(text)).collect())),
        ContextValue::StyledStr(text) if !is_clean(text) => Some(ContextValue::StyledStr(plain(text))),
        ContextValue::StyledStrs(texts) if !texts.iter().all(is_clean) => {
            Some(ContextValue::StyledStrs(texts.iter().map(plain).collect()))
        }
        _ => None,
    }
}

fn is_clean(text: &StyledStr) -> bool {
    text.to_string().chars().all(shows)
}

fn plain(text: &StyledStr) -> StyledStr {
    letters(&text.to_string()).into()
}

fn letters(text: &str) -> String {
    let spell = |letter: char| match shows(letter) {
        true => letter.to_string(),
        false => letter.escape_default().to_string(),
    };
    text.chars().map(spell).collect()
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind;

    use super::*;

    #[test]
    fn what_was_typed_is_shown_letter_by_letter() {
        let mut error = clap::Error::new(ErrorKind::InvalidValue);
        let typed = "a\u{202e}b\nREFUSED: c\u{1b}[2Jd é";
        error.insert(ContextKind::InvalidValue, ContextValue::String(typed.to_owned()));
        error.insert(ContextKind::ValidValue, ContextValue::Strings(vec![typed.to_owned()]));
        let error = shown(error);
        let clean = "a\\u{202e}b\\nREFUSED: c\\u{1b}[2Jd é".to_owned();
        assert_eq!(error.get(ContextKind::InvalidValue), Some(&ContextValue::String(clean.clone())));
        assert_eq!(error.get(ContextKind::ValidValue), Some(&ContextValue::Strings(vec![clean])));
    }
}
