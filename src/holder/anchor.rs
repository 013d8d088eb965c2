//! The process that stands for a session nobody named.
#![forbid(unsafe_code)]

use super::role::{Role, role};
use super::{Process, Processes};

/// What the way up from us shows.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The anchor: it was there before us and will be there for the next command.
    Anchor(Process),
    /// Only shells and launchers, up to a host or to where we cannot see. The topmost of them (ourselves, if there is
    /// none) still tells this command line from others, but may end with it.
    Top(Process),
    /// We cannot even see ourselves.
    Nothing,
}

/// More ancestors than any sane machine has; a bound, should `/proc` change while we read.
const DEEPEST: usize = 128;

/// Walks up from our parent: the first process that is not a shell, a launcher or a host is the anchor, and so is a
/// shell that leads a session with a terminal and reads from a person. (Agents, too, give their tools a terminal; a
/// shell that was given a command is a tool, and the way goes on to the agent.) Where a person's shell does not lead
/// (`docker exec -it … sh -c bash`) and nobody stands above it, it is the anchor after all.
pub(super) fn find(processes: &dyn Processes) -> Found {
    find_above(processes, processes.ourselves())
}

/// The same from another process.
pub(super) fn find_above(processes: &dyn Processes, pid: u32) -> Found {
    let mut way = line_from(processes, pid);
    let Some(mut top) = way.next() else { return Found::Nothing };
    let mut person = None;
    for process in way {
        if was_taken_in(&top, &process) {
            break;
        }
        match role(&process) {
            Role::Actor => return Found::Anchor(process),
            Role::Host => break,
            Role::Shell if process.interactive && process.terminal => {
                if process.leads_a_terminal() {
                    return Found::Anchor(process);
                }
                person = Some(process.clone());
            }
            Role::Shell | Role::Launcher => {}
        }
        top = process;
    }
    person.map_or(Found::Top(top), Found::Anchor)
}

/// Whether the parent only took the process in when its own had ended (a subreaper, prctl(2)). A process in a session that
/// it does not lead was started by one in that session; a parent in another is a stranger. It may be the agent whose tool it
/// was, or what stands over sixteen of them, and nothing that is left tells which: process group, session, terminal and
/// control group are those of all that one script starts, a pipe's other end may be a script's that reads from all of
/// them, and the agent may have ended too. So it names nobody. (Within one session the two cannot be told apart.)
/// A keeper is no stranger, though it leads a session of its own where its caller's process group has nobody who could
/// continue it: it takes in what its own command has started, and nothing else.
fn was_taken_in(process: &Process, parent: &Process) -> bool {
    process.session != parent.session && process.session != process.pid && parent.program != "locked"
}

/// Whether we or an ancestor have a terminal.
pub(super) fn below_a_terminal(processes: &dyn Processes) -> bool {
    line_of(processes).any(|process| process.terminal)
}

/// Ourselves, our parent, and so on; without pid 1, which is nobody's identity. A parent that is younger than its child
/// is a stranger: the pid was taken again while we read.
pub(super) fn line_of(processes: &dyn Processes) -> impl Iterator<Item = Process> {
    line_from(processes, processes.ourselves())
}

/// The same from another process.
pub(super) fn line_from(processes: &dyn Processes, pid: u32) -> impl Iterator<Item = Process> {
    std::iter::successors(processes.process(pid), |child| {
        let parent = processes.process(child.parent).filter(|parent| parent.started <= child.started)?;
        (parent.pid > 1).then_some(parent)
    })
    .take(DEEPEST)
}

#[cfg(test)]
mod tests {
    use super::super::process::fake::Machine;
    use super::*;

    fn found(chain: &[&str]) -> String {
        match find(&Machine::chain(chain)) {
            Found::Anchor(process) => format!("anchor {} {}", process.program, process.pid),
            Found::Top(process) => format!("top {} {}", process.program, process.pid),
            Found::Nothing => "nothing".to_owned(),
        }
    }

    #[test]
    fn the_nearest_actor_is_the_anchor() {
        let cases: [(&str, &[&str]); 15] = [
            ("anchor claude 20", &["systemd", "i:bash*", "claude", "bash", "locked"]),
            ("anchor claude 20", &["systemd", "i:zsh*", "claude", "sh", "sudo", "env", "make", "sh", "locked"]),
            ("anchor node 20", &["init", "i:zsh*", "node", "bash", "node npx-cli.js", "sh", "locked"]),
            ("anchor python3.13 20", &["systemd", "claude", "python3.13", "sh", "locked"]),
            ("anchor codex 10", &["systemd", "codex", "bash*", "locked"]),
            ("anchor bash 20", &["systemd", "sshd", "i:bash*", "make", "sh", "locked"]),
            ("anchor bash 10", &["systemd", "i:bash*", "sudo", "i:bash", "locked"]),
            ("anchor bash 20", &["systemd", "tmux", "i:bash*", "locked"]),
            ("anchor bash 30", &["systemd", "tmux", "sh*", "i:bash+", "i:zsh+", "make", "locked"]),
            ("anchor claude 10", &["systemd", "claude", "sh*", "i:bash+", "locked"]),
            ("top bash 20", &["systemd", "sshd", "bash*", "locked"]),
            ("top sh 20", &["systemd", "cron", "sh", "bash", "locked"]),
            ("top locked 10", &["systemd", "locked"]),
            ("top locked 20", &["claude", "cron", "locked"]),
            ("anchor claude 20", &["systemd", "bash", "claude", "sh", "locked", "locked", "sh", "locked"]),
        ];
        for (expected, chain) in cases {
            assert_eq!(found(chain), expected, "{chain:?}");
        }
    }

    #[test]
    fn pid_1_is_never_an_anchor() {
        assert_eq!(found(&["claude", "bash", "locked"]), "top bash 10");
        assert_eq!(found(&["i:bash*", "locked"]), "top locked 10");
    }

    #[test]
    fn a_parent_younger_than_its_child_is_a_stranger() {
        let mut machine = Machine::chain(&["systemd", "claude", "bash", "locked"]);
        machine.processes.get_mut(&10).expect("claude").started = 2500;
        assert!(matches!(find(&machine), Found::Top(process) if process.pid == 20));
        machine.processes.get_mut(&10).expect("claude").started = 2000;
        assert!(matches!(find(&machine), Found::Anchor(process) if process.pid == 10), "the same tick is fine");
    }

    #[test]
    fn who_took_in_an_orphan_is_a_stranger() {
        let with = |session: u32| {
            let mut machine = Machine::chain(&["systemd", "python3", "sh", "locked"]);
            for pid in [20, 30] {
                machine.processes.get_mut(&pid).expect("it").session = session;
            }
            find(&machine)
        };
        assert!(matches!(with(15), Found::Top(process) if process.pid == 20), "its leader has ended");
        assert!(matches!(with(20), Found::Anchor(process) if process.pid == 10), "it leads: its parent started it");
        assert!(matches!(with(1), Found::Anchor(process) if process.pid == 10), "one session");
    }

    #[test]
    fn a_keeper_in_a_session_of_its_own_is_no_stranger() {
        let mut machine = Machine::chain(&["systemd", "claude", "locked", "locked", "sh", "locked"]);
        for (pid, session) in [(10, 10), (20, 10), (30, 30), (40, 10), (50, 10)] {
            machine.processes.get_mut(&pid).expect("it").session = session;
        }
        assert!(matches!(find(&machine), Found::Anchor(process) if process.pid == 10));
    }

    #[test]
    fn what_cannot_be_seen_ends_the_way() {
        let mut machine = Machine::chain(&["systemd", "claude", "bash", "sh", "locked"]);
        machine.processes.remove(&20);
        assert!(matches!(find(&machine), Found::Top(process) if process.pid == 30));
        machine.processes.clear();
        assert_eq!(find(&machine), Found::Nothing);
    }

    #[test]
    fn a_circle_ends() {
        let mut machine = Machine::chain(&["systemd", "bash", "locked"]);
        machine.processes.get_mut(&10).expect("bash").parent = 10;
        assert!(matches!(find(&machine), Found::Top(_)));
    }
}
