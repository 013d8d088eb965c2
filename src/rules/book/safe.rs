//! Safe paths: files that lock nothing.
#![forbid(unsafe_code)]

use serde::Deserialize;

use super::{Paths, Several};

/// Files on this machine whose writing wants nothing: neither their own lease nor a zone.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Written")]
pub struct Safe {
    /// Which.
    pub paths: Paths,
    /// Only for the sessions of these names; none: for everybody.
    pub sessions: Option<Several>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    paths: Paths,
    sessions: Option<Several>,
}

impl TryFrom<Written> for Safe {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        if written.paths.is_empty() {
            return Err("a safe place needs paths");
        }
        // Taken for "everybody", it would open what was to be closed.
        if written.sessions.as_ref().is_some_and(|sessions| sessions.iter().all(str::is_empty)) {
            return Err("sessions names nobody; leave it out to mean everybody");
        }
        Ok(Self { paths: written.paths, sessions: written.sessions })
    }
}

impl Safe {
    /// Whether it counts for a session that is called so.
    #[must_use]
    pub fn is_for(&self, names: &[String]) -> bool {
        self.sessions.as_ref().is_none_or(|sessions| names.iter().any(|name| !name.is_empty() && sessions.has(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_safe_path_of_named_sessions_is_safe_for_nobody_else() {
        let safe: Safe = toml::from_str("paths = [\"/opt/x/**\"]\nsessions = [\"OC\", \"\"]").expect("a safe path");
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        assert!(safe.is_for(&names(&["3f2a91c0", "OC"])));
        assert!(!safe.is_for(&names(&["PWA"])) && !safe.is_for(&names(&[])) && !safe.is_for(&names(&[""])));
        let safe: Safe = toml::from_str("paths = [\"/opt/x/**\"]").expect("a safe path");
        assert!(safe.is_for(&[]));
    }

    #[test]
    fn a_list_that_names_nobody_is_refused() {
        for text in
            ["paths = []", "paths = [\"/x\"]\nsessions = []", "paths = [\"/x\"]\nsessions = \"\"", "sessions = \"A\""]
        {
            assert!(toml::from_str::<Safe>(text).is_err(), "{text}");
        }
    }
}
