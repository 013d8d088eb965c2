//! What the project is called.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};

use super::environment::said;
use super::layout::{Layout, Source};
use super::{Asked, Name, Project, document, layout, layout_legacy, name, path, template};

/// The variable that names the project.
const VARIABLE: &str = "COMPOSE_PROJECT_NAME";
/// How one who is told that a name is unknown makes it known.
const REMEDY: &str = "name the project with -p or COMPOSE_PROJECT_NAME";

/// The project that a line means.
#[must_use]
pub fn project(asked: &Asked<'_>) -> Project {
    let mut layout = found(asked);
    let word = by_word(asked, &layout);
    let certain = word.as_ref().is_some_and(|word| word.certain);
    let name = match (word, &layout.env.trouble) {
        // An environment file that could not be read may have said another.
        (_, Some(trouble)) if !certain => unknown(trouble),
        (word, _) if asked.legacy => of_legacy(word, &layout),
        (Some(word), _) => of_word(word),
        (None, _) => of_files(asked, &mut layout),
    };
    let files = layout.sources.into_iter().filter_map(|source| match source {
        Source::File(file) => Some(file),
        Source::Stdin | Source::Network => None,
    });
    Project { name, files: files.collect() }
}

/// A variable as compose sees it: of its own environment, or else of the project's environment files.
///
/// Version 1 finds its engine by it: it takes `DOCKER_HOST` from its environment file too, and has never heard of
/// `DOCKER_CONTEXT` (docker-py `context/config.py`).
#[must_use]
pub fn variable(asked: &Asked<'_>, name: &str) -> Option<OsString> {
    if asked.legacy && name == "DOCKER_CONTEXT" {
        return None;
    }
    found(asked).env.get(name)
}

fn found<'a>(asked: &Asked<'a>) -> Layout<'a> {
    if asked.legacy { layout_legacy::layout(asked) } else { layout::layout(asked) }
}

/// A name that was said.
struct Word {
    text: String,
    /// Where.
    from: String,
    /// It goes before all that an environment file could say.
    certain: bool,
}

/// The name that the line or a variable says. Both go before `name:` and the directory.
fn by_word(asked: &Asked<'_>, layout: &Layout<'_>) -> Option<Word> {
    if let Some(option) = said(asked.project) {
        return Some(Word { text: lossy(option), from: "-p names it".to_owned(), certain: true });
    }
    let text = lossy(&layout.env.filled(VARIABLE)?);
    Some(match layout.env.file_of(VARIABLE) {
        Some(file) => Word { text, from: format!("{VARIABLE} in {} names it", path::shown(file)), certain: false },
        None => Word { text, from: format!("{VARIABLE} names it"), certain: true },
    })
}

/// Version 2 refuses a word that is no name, but for capital letters: `down` and its like make them small.
fn of_word(Word { text, from, .. }: Word) -> Name {
    match text.to_lowercase() {
        name if name::is_name(&name) => Name::Known { name, from },
        _ => Name::Unknown { why: format!("{from}, but only the letters a to z, digits, '-' and '_' make a name") },
    }
}

fn of_legacy(word: Option<Word>, layout: &Layout<'_>) -> Name {
    let (text, from) = word.map_or_else(|| directory(layout), |word| (word.text, word.from));
    match name::legacy(&text) {
        // Only the root has no name.
        _ if text.is_empty() => Name::Known { name: "default".to_owned(), from },
        name if name.is_empty() => nameless(&from),
        name => Name::Known { name, from },
    }
}

fn of_files(asked: &Asked<'_>, layout: &mut Layout<'_>) -> Name {
    let mut named = None;
    for source in layout.sources.clone() {
        let file = match source {
            Source::File(file) => file,
            Source::Stdin => return unknown("the compose file comes from standard input, which only compose may read"),
            Source::Network => {
                return unknown("a compose file comes from the network, from where only compose fetches it");
            }
        };
        let Some(text) = layout.env.text_of(&file) else { continue };
        match document::name(&text) {
            Ok(name) => named = name.map(|name| (name, file)).or(named),
            Err(line) => return unknown(&format!("{} is no YAML in line {line}", path::shown(&file))),
        }
    }
    if let Some(trouble) = &layout.env.trouble {
        return unknown(trouble);
    }
    let (text, from) = match named {
        Some((text, file)) => {
            let cwd = || asked.cwd.to_string_lossy().into_owned();
            let lookup = |name: &str| layout.env.text(name).or_else(|| (name == "PWD").then(cwd));
            match template::substitute(&text, &lookup) {
                Ok(text) => (text, format!("name: in {} names it", path::shown(&file))),
                Err(fault) => return unknown(&format!("name: in {}: {fault}", path::shown(&file))),
            }
        }
        None => directory(layout),
    };
    match name::normalised(&text) {
        name if name.is_empty() => nameless(&from),
        name => Name::Known { name, from },
    }
}

fn lossy(text: &OsStr) -> String {
    text.to_string_lossy().into_owned()
}

fn directory(layout: &Layout<'_>) -> (String, String) {
    let directory = path::base(&layout.directory).to_string_lossy().into_owned();
    (directory, format!("the directory {} names it", path::shown(&layout.directory)))
}

fn unknown(why: &str) -> Name {
    Name::Unknown { why: format!("{why}; {REMEDY}") }
}

fn nameless(from: &str) -> Name {
    unknown(&format!("{from}, but no letter of it can stand in a name"))
}
