//! What a table says and nothing could ever mean: a rule that fits no line, or names what is no resource, looks as if
//! something were locked.
#![forbid(unsafe_code)]

mod program;
mod rule;

use super::glob::unclosed;
use super::{Rotation, Safe, Several, Tables, Zone};
use crate::terms::Times;

/// What is wrong with a table, and at which of its keys. No value is repeated: it may be a secret in the wrong place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The key; where the table does not have it, the table's name is what is wrong.
    pub key: &'static str,
    /// What is wrong, and what was expected.
    pub what: String,
}

/// A table that can be looked at as a whole.
pub trait Sound {
    /// What is wrong with it, if something is.
    fn fault(&self) -> Option<Fault>;
}

impl Sound for Tables {
    fn fault(&self) -> Option<Fault> {
        fn first<T: Sound>(tables: &[T]) -> Option<Fault> {
            tables.iter().find_map(Sound::fault)
        }
        let of_programs = first(&self.program).or_else(|| first(&self.launcher)).or_else(|| first(&self.writer));
        let of_rules = || first(&self.sql).or_else(|| first(&self.rule)).or_else(|| first(&self.zone));
        of_programs.or_else(of_rules).or_else(|| first(&self.safe)).or_else(|| first(&self.rotation))
    }
}

fn at(key: &'static str, what: impl Into<String>) -> Option<Fault> {
    Some(Fault { key, what: what.into() })
}

impl Sound for Zone {
    fn fault(&self) -> Option<Fault> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        if self.name.is_empty() || !self.name.bytes().all(plain) {
            return at("name", "the name of a zone has letters, digits, '_', '-' and '.'");
        }
        if self.paths.is_empty() && self.commands.is_empty() && self.sql.is_empty() {
            return at("paths", "nothing enters this zone: it needs paths, commands or sql");
        }
        if self.paths.is_empty() && (self.reads || !self.content.is_empty()) {
            let key = if self.reads { "reads" } else { "content" };
            return at(key, "content and reads are about files: this zone needs paths as well");
        }
        whole("commands", self.commands.iter().map(|glob| glob.as_str()))
            .or_else(|| whole("paths", self.paths.iter().map(|glob| glob.as_str())))
            .or_else(|| ttl(self.policy.ttl))
    }
}

impl Sound for Safe {
    fn fault(&self) -> Option<Fault> {
        if self.paths.is_empty() {
            return at("paths", "a safe place needs paths");
        }
        // Taken for "everybody", it would open what was to be closed.
        let nobody = self.sessions.as_ref().is_some_and(|sessions| sessions.iter().all(str::is_empty));
        at("sessions", "sessions names nobody; leave it out to mean everybody")
            .filter(|_| nobody)
            .or_else(|| whole("paths", self.paths.iter().map(|glob| glob.as_str())))
    }
}

impl Sound for Rotation {
    fn fault(&self) -> Option<Fault> {
        // A text with a '=' is more likely NAME=VALUE, and a name is shown everywhere.
        if self.secret.is_empty() || self.secret.contains('=') || self.secret.contains(char::is_whitespace) {
            return at("secret", "secret is the name of a secret, without its value");
        }
        if self.files.is_empty() && self.workflows.is_empty() {
            return at("files", "nothing holds this secret: a rotation needs files or workflows");
        }
        for (key, kind, list) in [("files", "file", &self.files), ("workflows", "workflow", &self.workflows)] {
            if list.iter().any(String::is_empty) {
                return at(key, format!("a {kind} of this secret has no name"));
            }
            if list.iter().enumerate().any(|(place, name)| list[..place].contains(name)) {
                return at(key, format!("a {kind} of this secret is named twice"));
            }
        }
        None
    }
}

/// A program is known by the last part of its path.
fn programs(key: &'static str, names: Option<&Several>) -> Option<Fault> {
    let wrong =
        names.is_some_and(|names| names.is_empty() || names.iter().any(|name| name.is_empty() || name.contains('/')));
    at(key, "no program has this name, expected the last part of its path, for example \"psql\"").filter(|_| wrong)
}

fn subcommands(several: Option<&Several>) -> Option<Fault> {
    let wrong = several
        .is_some_and(|several| several.is_empty() || several.iter().any(|words| words.split(' ').any(str::is_empty)));
    at("subcommand", "no sub-command has this name, expected its words with one space between them").filter(|_| wrong)
}

/// Options are written as they are typed: `"-f|--file"`, and with a glob for the value where a rule asks for one.
fn option_names<'a>(key: &'static str, options: impl Iterator<Item = &'a str>) -> Option<Fault> {
    let mut options = options;
    options.find_map(|option| {
        let (names, glob) = option.split_once('=').map_or((option, None), |(names, glob)| (names, Some(glob)));
        let is_option = names.split('|').all(|name| name.len() > 1 && name.starts_with(['-', '+']));
        at(key, "no option, expected it as it is typed, for example \"-f|--file\"")
            .filter(|_| !is_option)
            .or_else(|| whole(key, glob.into_iter()))
    })
}

fn variables(wanted: &Several) -> Option<Fault> {
    wanted.iter().find_map(|wanted| {
        let (name, glob) = wanted.split_once('=').map_or((wanted, None), |(name, glob)| (name, Some(glob)));
        at("env", "no name of a variable, expected NAME or NAME=GLOB")
            .filter(|_| !is_variable(name))
            .or_else(|| whole("env", glob.into_iter()))
    })
}

fn is_variable(name: &str) -> bool {
    let starts = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    name.bytes().next().is_some_and(starts) && name.bytes().all(|byte| starts(byte) || byte.is_ascii_digit())
}

fn whole<'a>(key: &'static str, globs: impl Iterator<Item = &'a str>) -> Option<Fault> {
    let mut globs = globs;
    globs.find_map(unclosed).and_then(|sign| at(key, format!("no glob: a {sign}")))
}

fn ttl(asked: Option<std::time::Duration>) -> Option<Fault> {
    let wrong = asked.is_some_and(|ttl| Times::new(Some(ttl), None, None, None).is_err());
    at("ttl", "no time to live, expected a duration from \"1s\" to \"24h\"").filter(|_| wrong)
}

#[cfg(test)]
mod tests;
