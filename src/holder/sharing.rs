//! Who else carries the value that names our session: agents that must be told apart by a variable, and are not.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use super::anchor::{self, Found};
use super::{Process, Processes};

/// Environments are looked at of so many processes at most.
const MOST: usize = 4_000;

/// One that acts under the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sharer {
    /// Its process.
    pub pid: u32,
    /// Its program.
    pub program: String,
}

/// The processes that stand for a session each and whose commands carry `NAME=value` in their environment. One that
/// stands above another of them is left out: it handed the value down, and that is what a value is for. Whose environment
/// may not be read is not seen.
#[must_use]
pub fn sharers(processes: &dyn Processes, entry: &[u8]) -> Vec<Sharer> {
    lowest(processes, &super::carriers(entry, MOST))
}

/// The anchors of these processes, without those that stand above another anchor.
fn lowest(processes: &dyn Processes, carriers: &[u32]) -> Vec<Sharer> {
    let mut anchors: BTreeMap<u32, Process> = BTreeMap::new();
    for pid in carriers {
        if let Found::Anchor(anchor) = anchor::find_above(processes, *pid) {
            anchors.insert(anchor.pid, anchor);
        }
    }
    let above: Vec<u32> = anchors
        .keys()
        .flat_map(|pid| anchor::line_from(processes, *pid).skip(1).map(|it| it.pid).collect::<Vec<_>>())
        .collect();
    let lowest = anchors.into_values().filter(|anchor| !above.contains(&anchor.pid));
    lowest.map(|anchor| Sharer { pid: anchor.pid, program: anchor.program }).collect()
}

/// The nearest shell above us that reads from a person.
#[must_use]
pub fn shell_above(processes: &dyn Processes) -> Option<Process> {
    anchor::line_of(processes).skip(1).find(|process| process.interactive)
}

#[cfg(test)]
mod tests {
    use super::super::process::fake::Machine;
    use super::*;

    #[test]
    fn two_agents_share_a_value_and_what_handed_it_down_does_not() {
        let mut machine = Machine::chain(&["systemd", "i:bash*", "claude", "sh"]);
        machine.add(10, 50, "codex");
        machine.add(50, 60, "sh");
        machine.add(10, 70, "sleep");
        let found = |pids: &[u32]| lowest(&machine, pids).into_iter().map(|it| it.program).collect::<Vec<_>>();
        assert_eq!(found(&[30, 60, 70]), ["claude", "codex"], "the shell above them only handed it down");
        assert_eq!(found(&[30, 20, 70]), ["claude"]);
        assert_eq!(found(&[70]), ["bash"]);
        assert_eq!(found(&[]), Vec::<String>::new());
    }
}
