//! The tables of one file.
#![forbid(unsafe_code)]

use serde::Deserialize;

use super::{Launcher, Program, Rotation, Rule, Safe, SqlTeller, Writer, Zone};

/// Everything that a file says of programs.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tables {
    /// How the options of programs are read.
    #[serde(default)]
    pub program: Vec<Program>,
    /// What starts other programs.
    #[serde(default)]
    pub launcher: Vec<Launcher>,
    /// What writes files.
    #[serde(default)]
    pub writer: Vec<Writer>,
    /// What is told SQL.
    #[serde(default)]
    pub sql: Vec<SqlTeller>,
    /// What is locked.
    #[serde(default)]
    pub rule: Vec<Rule>,
    /// Places that one at a time may change.
    #[serde(default)]
    pub zone: Vec<Zone>,
    /// Files that lock nothing.
    #[serde(default)]
    pub safe: Vec<Safe>,
    /// Secrets and what holds them.
    #[serde(default)]
    pub rotation: Vec<Rotation>,
}

impl Tables {
    /// They say nothing.
    pub(super) fn is_empty(&self) -> bool {
        let Self { program, launcher, writer, sql, rule, zone, safe, rotation } = self;
        let of_programs = program.is_empty() && launcher.is_empty() && writer.is_empty() && sql.is_empty();
        of_programs && rule.is_empty() && zone.is_empty() && safe.is_empty() && rotation.is_empty()
    }

    /// Reads them.
    ///
    /// # Errors
    /// It is no TOML, or has what no table has; with the place.
    pub fn read(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }
}

/// One text, or a list of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(from = "OneOrMore")]
pub struct Several(pub Vec<String>);

#[derive(Deserialize)]
#[serde(untagged, expecting = "a value of the wrong type, expected a text or a list of texts")]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl From<OneOrMore> for Several {
    fn from(given: OneOrMore) -> Self {
        match given {
            OneOrMore::One(one) => Self(vec![one]),
            OneOrMore::More(more) => Self(more),
        }
    }
}

impl Several {
    /// Whether it is among them.
    #[must_use]
    pub fn has(&self, text: &str) -> bool {
        self.0.iter().any(|own| own == text)
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// There is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
