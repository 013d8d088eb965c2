//! Variables that agents and job runners set for everything they start.
#![forbid(unsafe_code)]

use std::ffi::OsString;

use uuid::Uuid;

use crate::platform::OsStrExt as _;

use super::session::NAMESPACE;

/// One source of identity: one variable, or several that only together tell a session from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// The variables that must all be set; the first gives the source its name.
    names: Vec<String>,
    /// Variables that are taken along where they are set.
    also: Vec<String>,
    /// Whose variable it is, for the label; none when the name does not say.
    tool: Option<String>,
    /// Counts only where the value is known to be this command's own and not inherited by a whole desktop.
    of_a_service: bool,
}

impl Variable {
    /// A variable of this name, as configuration gives it.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self { names: vec![name.to_owned()], also: Vec::new(), tool: None, of_a_service: false }
    }

    /// The ready list, in its order.
    ///
    /// GitHub's `GITHUB_JOB` is the same in every leg of a matrix, so the runner's name, which no two jobs share at a
    /// time, is taken along (GitHub Docs, "Variables reference"). systemd's `INVOCATION_ID` (systemd.exec(5)) is
    /// inherited by all that a service starts; see [`super::Processes::service`].
    #[must_use]
    pub fn ready() -> Vec<Self> {
        let of = |tool: &str, name: &str| Self { tool: Some(tool.to_owned()), ..Self::named(name) };
        let list = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        vec![
            Self::named("P24_ENV_LOCK_SESSION_ID"),
            of("claude", "CLAUDE_CODE_SESSION_ID"),
            of("codex", "CODEX_THREAD_ID"),
            Self {
                names: list(&["GITHUB_RUN_ID", "GITHUB_JOB", "GITHUB_RUN_ATTEMPT"]),
                also: list(&["RUNNER_NAME"]),
                ..of("github", "GITHUB_RUN_ID")
            },
            Self { of_a_service: true, ..of("systemd", "INVOCATION_ID") },
        ]
    }

    /// The name of the source: its first variable.
    #[must_use]
    pub fn name(&self) -> &str {
        self.names.first().map_or("", String::as_str)
    }

    pub(super) fn tool(&self) -> Option<&str> {
        self.tool.as_deref()
    }

    pub(super) fn of_a_service(&self) -> bool {
        self.of_a_service
    }

    /// The session that the environment names: a UUID is itself, any other text is hashed together with the variable's
    /// name. An empty variable is as good as none.
    pub(super) fn session(&self, env: &dyn Fn(&str) -> Option<OsString>) -> Option<Uuid> {
        let set = |name: &String| env(name).filter(|value| !value.is_empty());
        let required: Vec<_> = self.names.iter().map(set).collect::<Option<_>>()?;
        if let ([value], []) = (required.as_slice(), self.also.as_slice())
            && let Some(uuid) = parse_uuid(value.as_bytes())
        {
            return Some(uuid);
        }
        let also = self.also.iter().filter_map(|name| Some((name, set(name)?)));
        let mut text = Vec::new();
        for (name, value) in self.names.iter().zip(required).chain(also) {
            // A zero byte parts the pairs: no variable can hold one, so no two sets give one text.
            text.extend([name.as_bytes(), b"=", value.as_bytes(), b"\0"].concat());
        }
        Some(Uuid::new_v5(&NAMESPACE, &text))
    }
}

/// A UUID in any of its spellings; all zeros names nobody.
pub(super) fn parse_uuid(text: &[u8]) -> Option<Uuid> {
    Uuid::try_parse_ascii(text).ok().filter(|uuid| !uuid.is_nil())
}

#[cfg(test)]
mod tests {
    use super::*;

    const A_UUID: &str = "3f2a91c0-0000-4000-8000-000000000001";

    fn session(variable: &Variable, env: &[(&str, &str)]) -> Option<Uuid> {
        variable.session(&|name| env.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into()))
    }

    #[test]
    fn a_uuid_is_itself_and_other_text_is_hashed_with_its_name() {
        let (a, b) = (Variable::named("A"), Variable::named("B"));
        assert_eq!(session(&a, &[("A", A_UUID)]).map(|uuid| uuid.to_string()).as_deref(), Some(A_UUID));
        assert_eq!(session(&a, &[("A", &A_UUID.to_uppercase())]), session(&b, &[("B", A_UUID)]));
        assert_eq!(session(&a, &[("A", "x")]), session(&a, &[("A", "x")]));
        assert_ne!(session(&a, &[("A", "x")]), session(&a, &[("A", "y")]));
        assert_ne!(session(&a, &[("A", "x")]), session(&b, &[("B", "x")]));
        let nil = "00000000-0000-0000-0000-000000000000";
        assert_ne!(session(&a, &[("A", nil)]).expect("a text like any other").to_string(), nil);
    }

    #[test]
    fn an_empty_variable_is_none() {
        assert_eq!(session(&Variable::named("A"), &[("A", "")]), None);
        assert_eq!(session(&Variable::named("A"), &[]), None);
    }

    #[test]
    fn a_github_job_is_named_by_all_of_its_variables() {
        let github = &Variable::ready()[3];
        let job = |run, job, attempt, runner| {
            let env = [("GITHUB_RUN_ID", run), ("GITHUB_JOB", job), ("GITHUB_RUN_ATTEMPT", attempt)];
            session(github, &[&env[..], &[("RUNNER_NAME", runner)]].concat())
        };
        let one = job("1", "sync", "1", "r1");
        assert_eq!(one, job("1", "sync", "1", "r1"));
        for other in [job("2", "sync", "1", "r1"), job("1", "x", "1", "r1"), job("1", "sync", "2", "r1")] {
            assert!(other.is_some() && other != one);
        }
        assert_ne!(one, job("1", "sync", "1", "r2"), "two legs of a matrix");
        assert!(job("1", "sync", "1", "").is_some());
        assert_eq!(job("1", "sync", "", "r1"), None);
    }

    #[test]
    fn the_ready_list_is_that_of_the_design() {
        let names: Vec<_> = Variable::ready().iter().map(|variable| variable.name().to_owned()).collect();
        let expected =
            ["P24_ENV_LOCK_SESSION_ID", "CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "GITHUB_RUN_ID", "INVOCATION_ID"];
        assert_eq!(names, expected);
    }
}
