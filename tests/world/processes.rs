//! Processes, looked at and signalled from outside.
#![forbid(unsafe_code)]

use rustix::process::{Pid, Signal, kill_process};

use super::ends::so;

/// State letter and parent of a process, from `/proc/PID/stat`.
fn stat(pid: u32) -> Option<(char, u32)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

/// Every process.
pub(crate) fn all() -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").expect("proc");
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// It lives: it is there and no zombie.
pub(crate) fn lives(pid: u32) -> bool {
    stat(pid).is_some_and(|(state, _)| !matches!(state, 'Z' | 'X'))
}

/// It is stopped by a signal.
pub(crate) fn is_halted(pid: u32) -> bool {
    stat(pid).is_some_and(|(state, _)| state == 'T')
}

/// Its living children.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    all()
        .into_iter()
        .filter(|&child| stat(child).is_some_and(|(state, parent)| parent == pid && state != 'Z'))
        .collect()
}

/// Everything that lives below it.
pub(crate) fn tree_below(pid: u32) -> Vec<u32> {
    let children = children(pid);
    children.iter().copied().chain(children.iter().flat_map(|&child| tree_below(child))).collect()
}

/// Its first child, which must be there.
#[track_caller]
pub(crate) fn child_of(parent: u32) -> u32 {
    *children(parent).first().expect("a child")
}

/// Everything that lives and has this text in its environment.
pub(crate) fn carriers(text: &str) -> Vec<u32> {
    let carries = |pid: &u32| {
        std::fs::read(format!("/proc/{pid}/environ"))
            .is_ok_and(|block| block.split(|&byte| byte == 0).any(|entry| entry == text.as_bytes()))
    };
    all().into_iter().filter(carries).filter(|&pid| lives(pid)).collect()
}

/// Signals exactly this process; one that is gone is fine.
pub(crate) fn signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).expect("pid")).expect("pid");
    let _it_may_be_gone = kill_process(pid, signal);
}

/// Stops it and waits until it stands.
pub(crate) fn freeze(pid: u32) {
    signal(pid, Signal::STOP);
    so("it is frozen", || is_halted(pid) || !lives(pid));
}

pub(crate) fn thaw(pid: u32) {
    signal(pid, Signal::CONT);
}

pub(crate) fn kill(pid: u32) {
    signal(pid, Signal::KILL);
}

/// Kills what `inhabitants` finds, until that is nothing: a test that failed half-way must not leave its processes to the
/// others.
pub(crate) fn kill_all(inhabitants: impl Fn() -> Vec<u32>) {
    for _ in 0..50 {
        let left = inhabitants();
        if left.is_empty() {
            return;
        }
        left.into_iter().for_each(kill);
        std::thread::yield_now();
    }
}
