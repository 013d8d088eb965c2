//! What part a program plays between an agent and us.
#![forbid(unsafe_code)]

use super::Process;
use super::programs::{HOSTS, INTERPRETERS, LAUNCHERS, SHELLS};

/// The part that a process plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Runs command lines for somebody else; an identity only when a person sits at it.
    Shell,
    /// Starts another program for somebody else.
    Launcher,
    /// Many sessions hang below it, so it can be nobody's identity, nor can anything above it.
    Host,
    /// Anything else: whoever decided to run us.
    Actor,
}

/// The role of a process, by its program; an interpreter that runs a launcher (`node npm-cli.js`) is a launcher.
pub(super) fn role(process: &Process) -> Role {
    if is_shell(&process.program) {
        return Role::Shell;
    }
    let is_in = |list| names(process).any(|name| is_one_of(list, name));
    if is_in(HOSTS) {
        Role::Host
    } else if is_in(LAUNCHERS) {
        Role::Launcher
    } else {
        Role::Actor
    }
}

/// The program's name. What an interpreter runs shows itself by the script's name too, or by the name that it gave
/// itself (npm calls itself `npm run build`); other programs may call themselves what they like.
fn names(process: &Process) -> impl Iterator<Item = &str> {
    let shown = process.comm.split(' ').next();
    let script = process.script.as_deref().map(|script| {
        let stem = script.rsplit_once('.').map_or(script, |(stem, _)| stem);
        stem.strip_suffix("-cli").unwrap_or(stem)
    });
    let chosen = is_interpreter(&process.program).then(|| shown.into_iter().chain(script));
    std::iter::once(process.program.as_str()).chain(chosen.into_iter().flatten())
}

/// Whether the program runs scripts of a language that is no shell's.
pub(super) fn is_interpreter(program: &str) -> bool {
    is_one_of(INTERPRETERS, program)
}

/// Whether the program is a shell.
pub(super) fn is_shell(program: &str) -> bool {
    is_one_of(SHELLS, program)
}

/// By name, by a name cut to the kernel's 15 bytes, or without a version (`zsh-5.9`, `python3.13`, `gmake-4.4`).
fn is_one_of(list: &[&str], name: &str) -> bool {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    let mut entries = list.iter().flat_map(|group| group.split_ascii_whitespace());
    entries.any(|entry| entry == name || entry == bare || (name.len() == 15 && entry.starts_with(name)))
}

#[cfg(test)]
mod tests {
    use super::super::process::fake::Machine;
    use super::*;

    fn role_of(text: &str) -> Role {
        let machine = Machine::chain(&[text]);
        role(&machine.processes[&1])
    }

    #[test]
    fn programs_have_their_roles() {
        let cases: [(Role, &[&str]); 4] = [
            (Role::Shell, &["bash", "dash", "zsh-5.9", "ksh93", "fish"]),
            (
                Role::Launcher,
                &["sudo", "env", "make", "make-4.3", "node npm-cli.js", "perl parallel", "python3.13 tox"],
            ),
            (
                Role::Host,
                &["cron", "sshd-session", "tmux", "systemd", "gnome-terminal-server", "containerd-shim-runc-v2"],
            ),
            (Role::Actor, &["python3.13", "node", "node cli.js", "claude", "codex", "vim", "perl", "java", "npmx", ""]),
        ];
        for (role, texts) in cases {
            for text in texts {
                assert_eq!(role_of(text), role, "{text}");
            }
        }
    }

    #[test]
    fn a_name_cut_by_the_kernel_is_known() {
        assert_eq!(role_of("gnome-terminal-"), Role::Host);
        assert_eq!(role_of("containerd-shim"), Role::Host);
    }

    #[test]
    fn what_a_process_calls_itself_counts_for_interpreters_only() {
        let mut machine = Machine::chain(&["node"]);
        let process = machine.processes.get_mut(&1).expect("one");
        process.comm = "npm run build".to_owned();
        assert_eq!(role(process), Role::Launcher);
        process.program = "agent".to_owned();
        assert_eq!(role(process), Role::Actor);
    }
}
