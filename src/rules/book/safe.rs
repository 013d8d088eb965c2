//! Safe paths: files that lock nothing.
#![forbid(unsafe_code)]

use serde::Deserialize;

use super::{Paths, Several};

/// Files on this machine whose writing wants nothing: neither their own lease nor a zone.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Safe {
    /// Which.
    pub paths: Paths,
    /// Only for the sessions of these names; none: for everybody.
    pub sessions: Option<Several>,
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
    use super::super::Sound as _;
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
            assert!(toml::from_str::<Safe>(text).map_or(true, |safe| safe.fault().is_some()), "{text}");
        }
    }
}
