//! Sandboxes of agents: what in their settings lets `locked` reach its state directory and its store. Without such a word the
//! next step of a refusal would be one that the sandbox forbids as well.
//!
//! Claude Code's sandbox says `SANDBOX_RUNTIME=1` to what runs in it, lets it write below the project and what
//! `sandbox.filesystem.allowWrite` names, and lets HTTP out alone; `sandbox.excludedCommands` run outside of it
//! ("Sandboxing", code.claude.com/docs/en/sandboxing). Codex' says `CODEX_SANDBOX` or `CODEX_SANDBOX_NETWORK_DISABLED=1`, and
//! has `writable_roots` and `network_access` in `[sandbox_workspace_write]` of its `config.toml` (developers.openai.com/codex,
//! "Sandboxing"). Both as of November 2026.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::Path;
use std::sync::OnceLock;

use crate::store::StoreError;

/// Whose sandbox we are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sandbox {
    /// Claude Code's.
    Claude,
    /// Codex'.
    Codex,
}

/// Set once at the door.
static AROUND_US: OnceLock<Sandbox> = OnceLock::new();

/// From here on refusals name what of this sandbox's settings helps.
pub fn in_sandbox(sandbox: Sandbox) {
    let _the_first_counts = AROUND_US.set(sandbox);
}

impl Sandbox {
    /// The sandbox that the environment tells of.
    #[must_use]
    pub fn of(env: &dyn Fn(&str) -> Option<OsString>) -> Option<Self> {
        let set = |name: &str| env(name).is_some_and(|value| !value.is_empty() && value != "0");
        match () {
            () if set("CODEX_SANDBOX") || set("CODEX_SANDBOX_NETWORK_DISABLED") => Some(Self::Codex),
            () if set("SANDBOX_RUNTIME") => Some(Self::Claude),
            () => None,
        }
    }

    fn for_place(self, path: &Path) -> String {
        let path = path.display();
        match self {
            Self::Claude => {
                format!("in Claude Code's settings: \"sandbox\": {{\"filesystem\": {{\"allowWrite\": [\"{path}\"]}}}}")
            }
            Self::Codex => format!("in Codex' config.toml: [sandbox_workspace_write] writable_roots = [\"{path}\"]"),
        }
    }

    fn for_network(self) -> &'static str {
        match self {
            Self::Claude => {
                "in Claude Code's settings: \"sandbox\": {\"excludedCommands\": [\"locked *\", \"sops *\"]}; its network lets HTTP alone out"
            }
            Self::Codex => "in Codex' config.toml: [sandbox_workspace_write] network_access = true",
        }
    }
}

/// The next step after this error: the setting of the sandbox around us, if it is in the way.
pub(super) fn remedy(error: &StoreError) -> String {
    let within = AROUND_US.get().copied();
    within.and_then(|sandbox| of(sandbox, error)).unwrap_or_else(|| error.remedy())
}

fn of(sandbox: Sandbox, error: &StoreError) -> Option<String> {
    match error {
        StoreError::Place { path, .. } => Some(format!("{}; or {}", sandbox.for_place(path), error.remedy())),
        StoreError::Unreachable(_) | StoreError::NoWay { .. } => {
            Some(format!("{}; or {}", sandbox.for_network(), error.remedy()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_tells_of_the_sandbox() {
        for (variables, expected) in [
            (&[][..], None),
            (&[("SANDBOX_RUNTIME", "1")], Some(Sandbox::Claude)),
            (&[("SANDBOX_RUNTIME", "")], None),
            (&[("CODEX_SANDBOX", "seatbelt")], Some(Sandbox::Codex)),
            (&[("CODEX_SANDBOX_NETWORK_DISABLED", "1"), ("SANDBOX_RUNTIME", "1")], Some(Sandbox::Codex)),
            (&[("CODEX_SANDBOX_NETWORK_DISABLED", "0")], None),
        ] {
            let env = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
            assert_eq!(Sandbox::of(&env), expected, "{variables:?}");
        }
    }

    #[test]
    fn only_what_a_sandbox_may_be_the_reason_of_is_put_to_it() {
        let place =
            StoreError::Place { path: "/h/state".into(), why: "it cannot be made".into(), remedy: "set X".into() };
        let said = of(Sandbox::Claude, &place).expect("a setting");
        assert!(said.contains("allowWrite\": [\"/h/state\"]") && said.ends_with("; or set X"), "{said}");
        let said = of(Sandbox::Codex, &StoreError::Unreachable("refused".into())).expect("a setting");
        assert!(said.contains("network_access = true"), "{said}");
        assert_eq!(of(Sandbox::Codex, &StoreError::Failed("x".into())), None);
    }
}
