//! Processes, looked at from outside.
#![forbid(unsafe_code)]

use std::fs;
use std::process::Command;

/// Processes whose parent this is.
pub(crate) fn children_of(parent: u32) -> Vec<u32> {
    let is_child = |pid: &u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let after = stat.rsplit(')').next().unwrap_or_default();
        after.split_whitespace().nth(1) == Some(&parent.to_string())
    };
    processes().filter(is_child).collect()
}

/// Every process below this one.
pub(crate) fn tree_below(pid: u32) -> Vec<u32> {
    let children = children_of(pid);
    children.iter().copied().chain(children.iter().flat_map(|child| tree_below(*child))).collect()
}

/// Ended; one that waits to be reaped has ended too.
pub(crate) fn is_gone(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next()).is_none_or(|state| state == "Z")
}

/// Every process.
pub(crate) fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").expect("/proc");
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// Sends a signal with the real `kill`.
pub(crate) fn kill(signal: &str, pid: u32) {
    let sent = Command::new("sh").args(["-c", "kill -s \"$1\" \"$2\"", "kill", signal, &pid.to_string()]).status();
    assert!(sent.expect("sh runs").success(), "kill -{signal} {pid}");
}
