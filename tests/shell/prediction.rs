//! Whether what was run was predicted.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use locked::shell::{Directory, Exported, Part, Script, Simple, Value, Variable, Word};

use super::yard::{Call, WATCHED};

/// How well a call was predicted.
pub(super) enum Fit {
    /// All words were known.
    Exact,
    /// Some were left to run time, and the call is one that they could become.
    Partly,
    None,
}

pub(super) fn ran(script: &Script, call: &Call, a_cd_may_have_failed: bool) -> Fit {
    let here = |simple: &&Simple| {
        (a_cd_may_have_failed || fits(&simple.directory, &call.directory)) && sees(simple, &call.variables)
    };
    let commands = || script.commands.iter().filter(here);
    let exactly = |simple: &Simple| {
        program(simple).len() == call.words.len()
            && program(simple).iter().zip(&call.words).all(|(word, text)| word.known() == Some(text.as_slice()))
    };
    if commands().any(exactly) {
        return Fit::Exact;
    }
    let partly = commands().any(|simple| {
        simple.words.iter().any(|word| word.known().is_none()) && could_become(program(simple), &call.words)
    });
    if partly { Fit::Partly } else { Fit::None }
}

/// Whether the command may see these values of the variables that are watched.
fn sees(simple: &Simple, values: &[Option<Vec<u8>>]) -> bool {
    WATCHED.iter().zip(values).all(|((name, given), seen)| {
        let (name, given, seen) = (name.as_bytes(), given.map(str::as_bytes), seen.as_deref());
        if let Some(own) = simple.assignments.iter().rfind(|own| own.name == name) {
            return own.appends || seen.is_some_and(|seen| own.value.could_be(seen));
        }
        let untouched = Variable::default();
        let variable = simple.environment.get(name).unwrap_or(&untouched);
        match (variable.exported, &variable.value) {
            (Exported::Unsure, _) | (_, Value::List(_)) => true,
            (Exported::No, _) => seen.is_none(),
            (Exported::AsFound, _) if given.is_none() => seen.is_none(),
            (_, Value::Unset) => seen.is_none(),
            (_, Value::AsFound) => seen == given,
            // Of what nothing is known, it is not known either that it is set.
            (_, Value::Text(word)) => match seen {
                Some(seen) => word.could_be(seen),
                None => matches!(word.parts(), [Part::Unknown { .. }]),
            },
        }
    })
}

/// The words without `command`, which is the shell's own.
fn program(simple: &Simple) -> &[Word] {
    let launched = simple.words.first().is_some_and(|word| word.known() == Some(b"command"));
    &simple.words[usize::from(launched)..]
}

fn fits(predicted: &Directory, real: &Path) -> bool {
    match predicted {
        Directory::Start => real == Path::new(""),
        Directory::Moved(word) => {
            let text = String::from_utf8(word.known().expect("HOME is known here").to_vec()).expect("UTF-8");
            real == Path::new(&text)
        }
        Directory::Either(places) => places.iter().any(|place| fits(place, real)),
        Directory::Unknown => true,
    }
}

/// Whether these words can become these arguments. Words that may split may become any number.
fn could_become(words: &[Word], arguments: &[Vec<u8>]) -> bool {
    let Some((word, rest)) = words.split_first() else { return arguments.is_empty() };
    if word.may_split() {
        return (0..=arguments.len()).any(|taken| could_become(rest, &arguments[taken..]));
    }
    arguments.split_first().is_some_and(|(argument, after)| word.could_be(argument) && could_become(rest, after))
}

/// Whether a redirection was predicted that creates this file.
pub(super) fn created(script: &Script, file: &Path, a_cd_may_have_failed: bool) -> bool {
    let (directory, name) = (file.parent().expect("in a directory"), file);
    script.commands.iter().any(|simple| {
        let writes = simple.redirections.iter().filter(|redirection| redirection.kind.writes());
        writes.map(|redirection| &redirection.target).any(|target| match target.known() {
            // A target may lead into a directory itself.
            Some(text) => {
                let text = PathBuf::from(String::from_utf8(text.to_vec()).expect("UTF-8"));
                let below = text.parent().map_or(0, |parent| parent.components().count());
                let from = directory.ancestors().nth(below);
                name.ends_with(&text)
                    && (a_cd_may_have_failed || from.is_some_and(|from| fits(&simple.directory, from)))
            }
            None => target.could_end_with(file.file_name().expect("a name").as_encoded_bytes()),
        })
    })
}
