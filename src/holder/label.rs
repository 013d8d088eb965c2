//! What people read beside a session's short name: `claude@ws-1`.
#![forbid(unsafe_code)]

use super::Process;
use super::role::{Role, role};

/// The longest label, in characters.
const LONGEST: usize = 40;

/// `who@host`, printable and short: the host without its domain, every character that is not a letter, digit or one of
/// `-_.+` replaced.
pub(super) fn label(who: &str, host: &str) -> String {
    let host = host.split('.').next().unwrap_or_default();
    let text = format!("{}@{}", plain(who, 20), plain(host, LONGEST));
    text.chars().take(LONGEST).collect()
}

/// What to call an anchor: the name that it gives itself, unless that is a thread's; none for a shell, where a person
/// sits.
pub(super) fn name_of(anchor: &Process) -> Option<&str> {
    let chosen = anchor.comm.split(' ').next().unwrap_or_default();
    let nameless = chosen.is_empty() || chosen.contains("MainThread") || anchor.program.starts_with(chosen);
    match role(anchor) {
        Role::Shell => None,
        _ if nameless => Some(&anchor.program),
        _ => Some(chosen),
    }
}

fn plain(text: &str, longest: usize) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "-_.+".contains(c) { c } else { '-' };
    let text: String = text.chars().take(longest).map(plain).collect();
    if text.is_empty() { NAMELESS.to_owned() } else { text }
}

/// Whether a label names nobody: whoever it was had no name then.
#[must_use]
pub fn is_nameless(label: &str) -> bool {
    label.split('@').next() == Some(NAMELESS)
}

/// What stands where there is no name.
const NAMELESS: &str = "unknown";

#[cfg(test)]
mod tests {
    use super::super::process::fake::Machine;
    use super::*;

    #[test]
    fn a_label_is_printable_and_short() {
        assert_eq!(label("claude", "ws-1.example.org"), "claude@ws-1");
        assert_eq!(label("a\u{202e}b\n", ""), "a-b-@unknown");
        assert_eq!(label(&"x".repeat(99), &"y".repeat(99)).chars().count(), LONGEST);
    }

    #[test]
    fn an_anchor_is_called_what_it_calls_itself() {
        for (program, comm, name) in [
            ("node", "claude", Some("claude")),
            ("node", "MainThread", Some("node")),
            ("node", "node", Some("node")),
            ("some-very-long-agent", "some-very-long-", Some("some-very-long-agent")),
            ("bash", "bash", None),
        ] {
            let mut machine = Machine::chain(&[program]);
            let process = machine.processes.get_mut(&1).expect("one");
            process.comm = comm.to_owned();
            assert_eq!(name_of(process), name, "{program} {comm}");
        }
    }
}
