//! Zones: named places that one at a time may change, whatever program does it.
#![forbid(unsafe_code)]

use std::path::Path;

use serde::Deserialize;

use super::rule::KeepText;
use super::{Expression, Glob, Paths, Span};
use crate::rules::policy::Policy;
use crate::terms::ResourceName;

/// A zone. What fits one of its ways in holds `zone:<name>`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(from = "Written")]
pub struct Zone {
    /// Its name, as written.
    pub name: String,
    /// The files of it.
    pub paths: Paths,
    /// Only those whose content fits one of these.
    pub content: Vec<Expression>,
    /// Whole command lines, their words joined by spaces.
    pub commands: Vec<Glob>,
    /// SQL, without its comments and the texts in quotes.
    pub sql: Vec<Expression>,
    /// Reading one of its files enters it as well.
    pub reads: bool,
    /// What becomes of a lease on it that nobody renews.
    pub stale: Stale,
    /// On what terms it is held.
    pub policy: Policy,
    /// It came with a repository that nobody has vouched for: it takes no read away.
    pub adds_only: bool,
}

/// What becomes of a lease that nobody renews.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stale {
    /// The next one takes it.
    #[default]
    Reclaim,
    /// It stays until a person says that its holder is gone.
    Ask,
}

/// As it stands in a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    #[serde(default)]
    paths: Paths,
    #[serde(default)]
    content: Vec<Expression>,
    #[serde(default)]
    commands: Vec<Glob>,
    #[serde(default)]
    sql: Vec<Expression>,
    #[serde(default)]
    reads: bool,
    #[serde(default)]
    stale: Stale,
    ttl: Option<Span>,
    wait: Option<Span>,
    keep: Option<KeepText>,
    keep_for: Option<Span>,
}

impl From<Written> for Zone {
    fn from(written: Written) -> Self {
        let span = |given: Option<Span>| given.map(|span| span.0);
        let policy = Policy {
            ttl: span(written.ttl),
            wait: span(written.wait),
            keep: written.keep.map(KeepText::keep),
            keep_for: span(written.keep_for),
            ..Policy::default()
        };
        Self {
            name: written.name,
            paths: written.paths,
            content: written.content,
            commands: written.commands,
            sql: written.sql,
            reads: written.reads,
            stale: written.stale,
            policy,
            adds_only: false,
        }
    }
}

impl Zone {
    /// What is held for it.
    #[must_use]
    pub fn resource(&self) -> ResourceName {
        ResourceName::of("zone", self.name.as_bytes())
    }

    /// Whether a command line is one of its.
    #[must_use]
    pub fn has_command(&self, line: &[u8]) -> bool {
        self.commands.iter().any(|glob| glob.fits_line(line))
    }

    /// Whether SQL is about it. `bare` is what [`crate::rules::bare_sql`] leaves.
    #[must_use]
    pub fn has_sql(&self, bare: &[u8]) -> bool {
        self.sql.iter().any(|expression| expression.fits(bare))
    }

    /// Whether a file is one of its, but for its content. `inside` is its path below the root of its repository.
    #[must_use]
    pub fn has_path(&self, absolute: &Path, inside: Option<&Path>) -> bool {
        self.paths.has(absolute, inside)
    }

    /// Whether a file with this content is one of its. Once `is_late` says that nobody waits any longer, it is.
    #[must_use]
    pub fn has_content(&self, content: &[u8], is_late: &dyn Fn() -> bool) -> bool {
        self.content.is_empty() || self.content.iter().any(|expression| is_late() || expression.fits(content))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Sound as _;
    use super::*;

    fn read(text: &str) -> Result<Zone, String> {
        let zone: Zone = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        zone.fault().map_or(Ok(zone), |fault| Err(fault.what))
    }

    #[test]
    fn a_zone_that_nothing_could_enter_is_refused() {
        let table = [
            ("name = \"Z\"", "needs paths, commands or sql"),
            ("name = \"Z\"\ncommands = [\"x\"]\nreads = true", "needs paths as well"),
            ("name = \"Z\"\nsql = [\"x\"]\ncontent = [\"x\"]", "needs paths as well"),
            ("name = \"\"\ncommands = [\"x\"]", "the name of a zone"),
            ("name = \"A B\"\ncommands = [\"x\"]", "the name of a zone"),
            ("name = \"Z\"\nsql = [\"(\"]", "no regular expression"),
            ("name = \"Z\"\npaths = [\"~/x\"]", "no shell reads"),
            ("name = \"Z\"\npaths = [\"x\"]\nstale = \"later\"", "unknown variant"),
            ("name = \"Z\"\npath = [\"x\"]", "unknown field"),
        ];
        for (text, said) in table {
            let error = read(text).expect_err(text);
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn what_there_is_no_time_to_look_at_is_one_of_its() {
        let zone = read("name = \"Z\"\npaths = [\"x\"]\ncontent = [\"a\", \"b\"]").expect("a zone");
        assert!(!zone.has_content(b"x", &|| false) && zone.has_content(b"xb", &|| false));
        let asked = std::cell::Cell::new(0);
        let is_late = || asked.replace(asked.get() + 1) > 0;
        assert!(zone.has_content(b"x", &is_late), "the second of them is not looked at any more");
    }

    #[test]
    fn what_is_not_said_is_ready() {
        let zone = read("name = \"DB\"\nsql = [\"x\"]\nkeep = \"never\"\nttl = \"5m\"").expect("a zone");
        assert_eq!(zone.resource().as_str(), "zone:DB");
        assert_eq!(zone.stale, Stale::Reclaim);
        assert_eq!(zone.policy.ttl, Some(std::time::Duration::from_secs(300)));
        assert_eq!(zone.policy.keep, Some(crate::rules::Keep::Never));
    }
}
