//! The tree: everything below a process by parent process id. As its subreaper the root keeps every descendant,
//! whatever group or session it made for itself.
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::time::Duration;

use crate::clock::{Clock, Moment};

use super::unix;

/// How long nothing but what we may not kill must live before we give it up. It may be ending just now, since we killed
/// what it waited for; but the wrapper believes a keeper that takes much longer than the grace to be frozen.
const REFUSES: Duration = Duration::from_millis(100);

/// A living process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) pid: i32,
    pub(super) parent: i32,
    state: u8,
    started: u64,
}

/// Reads `/proc/PID/stat`; none when the process is gone. The program's name may hold anything, parentheses included,
/// so the fields are counted from the last one.
pub(super) fn member(pid: i32) -> Option<Member> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let after_name = stat.iter().rposition(|&byte| byte == b')')? + 2;
    let mut fields = stat.get(after_name..)?.split(|&byte| byte == b' ');
    let state = *fields.next()?.first()?;
    let parent = number(fields.next()?)?;
    // Field 22 of proc_pid_stat(5); two of the twenty before it were taken.
    let started = number(fields.nth(17)?)?;
    Some(Member { pid, parent: i32::try_from(parent).ok()?, state, started })
}

fn number(field: &[u8]) -> Option<u64> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

impl Member {
    /// As a test would see one.
    #[cfg(test)]
    pub(super) fn seen(pid: i32, started: u64, state: u8) -> Self {
        Self { pid, parent: 1, state, started }
    }

    pub(super) fn started(&self) -> u64 {
        self.started
    }

    fn lives(&self) -> bool {
        !matches!(self.state, b'Z' | b'X')
    }

    /// Stopped by a signal, and not by a debugger, which does that all the time.
    pub(super) fn stands_still(&self) -> bool {
        self.state == b'T'
    }

    /// Stopped by a signal (not merely sleeping).
    pub(super) fn halted(&self) -> bool {
        matches!(self.state, b'T' | b't')
    }
}

/// The living children of a process. Most kernels list them per thread of the parent; where they do not
/// (`CONFIG_PROC_CHILDREN`), every process is asked for its parent.
pub(super) fn children(parent: i32) -> Vec<Member> {
    let tasks = std::fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().filter_map(Result::ok);
    let lists: Vec<_> = tasks.map(|task| std::fs::read_to_string(task.path().join("children"))).collect();
    let listed =
        lists.iter().flatten().flat_map(|list| list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()));
    let mut found: Vec<Member> = listed.filter_map(member).collect();
    if lists.iter().all(Result::is_err) {
        found = descendants(parent, &[]);
    }
    found.retain(|member| member.parent == parent && member.lives());
    found
}

/// Everything below a process, by a look at those alone: what comes and goes meanwhile may be missed.
pub(super) fn below(root: i32) -> Vec<Member> {
    let mut found = children(root);
    let mut at = 0;
    while let Some(&Member { pid, .. }) = found.get(at) {
        found.extend(children(pid));
        at += 1;
    }
    found
}

/// Every living descendant of `root`, without those in `spared` and below them.
pub(super) fn descendants(root: i32, spared: &[i32]) -> Vec<Member> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let all: Vec<Member> = pids.filter_map(member).collect();
    let mut below: HashMap<i32, Vec<&Member>> = HashMap::new();
    for member in &all {
        below.entry(member.parent).or_default().push(member);
    }
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(parent) = open.pop() {
        for member in below.get(&parent).into_iter().flatten().filter(|member| !spared.contains(&member.pid)) {
            open.push(member.pid);
            if member.lives() {
                found.push(**member);
            }
        }
    }
    found
}

/// Is `pid` the process `root` or below it?
pub(super) fn belongs(pid: i32, root: i32) -> bool {
    let mut at = pid;
    // Bounded: a chain of parents that changes while we climb must not hold us.
    for _ in 0..256 {
        if at == root {
            return true;
        }
        match member(at) {
            Some(member) if member.parent > 0 => at = member.parent,
            _ => return false,
        }
    }
    false
}

/// Stops the whole tree below `root`: TERM (and CONT, so that a stopped process can heed it), `grace`, then KILL,
/// rescanned until nothing lives. Without grace there is no TERM either: what is frozen must not run once more. The
/// answer are those that live on and could not be killed.
pub(super) fn stop(root: i32, spared: &[i32], grace: Duration, clock: &dyn Clock, reap: &dyn Fn()) -> Vec<i32> {
    if !grace.is_zero() && ask_to_end(root, spared, clock.now().after(grace), clock, reap) {
        return Vec::new();
    }
    let limit = clock.now().after(Duration::from_secs(2));
    let mut scan = Scan::new(root, spared);
    let mut refusing: Option<Moment> = None;
    ended_by(limit, clock, reap, || {
        let living = scan.look();
        let refused = living.iter().filter(|member| !signal(member, libc::SIGKILL)).count();
        if refused == 0 || refused < living.len() {
            refusing = None;
            return scan.nothing_lives;
        }
        let now = clock.now();
        now >= refusing.get_or_insert(now).after(REFUSES)
    });
    if scan.nothing_lives { Vec::new() } else { descendants(root, spared).iter().map(|member| member.pid).collect() }
}

/// True when nothing lived any more before the moment.
fn ask_to_end(root: i32, spared: &[i32], until: Moment, clock: &dyn Clock, reap: &dyn Fn()) -> bool {
    let mut told: Vec<(i32, u64)> = Vec::new();
    let mut scan = Scan::new(root, spared);
    ended_by(until, clock, reap, || {
        let living = scan.look();
        for member in living.iter().filter(|member| !told.contains(&(member.pid, member.started))).collect::<Vec<_>>() {
            let _refused_is_seen_at_the_kill = signal(member, libc::SIGTERM) && signal(member, libc::SIGCONT);
            told.push((member.pid, member.started));
        }
        scan.nothing_lives
    })
}

/// Looks at the tree until nothing lives in it. One look is not enough to say so: a process that forks and ends while
/// `/proc` is read can leave a child with a lower number behind the reader's back.
struct Scan<'a> {
    root: i32,
    spared: &'a [i32],
    nothing_lives: bool,
}

impl<'a> Scan<'a> {
    fn new(root: i32, spared: &'a [i32]) -> Self {
        Self { root, spared, nothing_lives: false }
    }

    fn look(&mut self) -> Vec<Member> {
        let mut living = descendants(self.root, self.spared);
        if living.is_empty() {
            living = descendants(self.root, self.spared);
            self.nothing_lives = living.is_empty();
        }
        living
    }
}

/// Freezes the tree below `root`, rescanned until everything in it stands still (or a bound). The answer are those that
/// ran before, to be thawed again: what somebody else had stopped stays so.
pub(super) fn freeze(root: i32, clock: &dyn Clock) -> Vec<Member> {
    let mut frozen: Vec<Member> = Vec::new();
    let known =
        |frozen: &[Member], it: &Member| frozen.iter().any(|one| (one.pid, one.started) == (it.pid, it.started));
    ended_by(clock.now().after(Duration::from_millis(500)), clock, &|| {}, || {
        let running: Vec<Member> = descendants(root, &[]).into_iter().filter(|member| !member.halted()).collect();
        for member in running.iter().filter(|member| !known(&frozen, member)).copied().collect::<Vec<_>>() {
            let _what_refuses_is_not_frozen = signal(&member, libc::SIGSTOP);
            frozen.push(member);
        }
        running.is_empty()
    });
    frozen
}

/// Thaws what [`freeze`] froze.
pub(super) fn thaw(frozen: &[Member]) {
    for member in frozen {
        let _it_may_be_gone = signal(member, libc::SIGCONT);
    }
}

/// Calls `done` until it says so or the moment has come. A descendant that is not a child of ours tells nobody of its
/// end, so this looks again every few milliseconds.
fn ended_by(moment: Moment, clock: &dyn Clock, reap: &dyn Fn(), mut done: impl FnMut() -> bool) -> bool {
    loop {
        reap();
        if done() {
            return true;
        }
        if clock.now() >= moment {
            return false;
        }
        let _nothing_to_read = unix::wait_readable(&[], Some(Duration::from_millis(5)));
    }
}

/// Signals exactly this process: the handle is taken first, then its start time is compared, so that a process id that
/// was used again meanwhile is never hit. False when the process is another user's, and we may not.
fn signal(target: &Member, number: i32) -> bool {
    let Ok(process) = unix::Process::open(target.pid) else { return true };
    let same = member(target.pid).is_some_and(|now| now.started == target.started);
    !same || !process.signal(number).is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied)
}

/// The signals that wait for this process: bit n−1 is signal n.
pub(super) fn pending(pid: i32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("ShdPnd:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

/// How often the kernel has taken the processor from this process, or it gave it up: the same number twice means that
/// it has not run in between. None when it is gone.
pub(super) fn switches(pid: i32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status
        .lines()
        .filter_map(|line| line.split_once("ctxt_switches:")?.1.trim().parse::<u64>().ok())
        .reduce(|a, b| a + b)
}

/// The children this process has now, by `/proc/self/task/*/children`; none where the kernel does not tell.
pub(super) fn children_of_ours() -> Vec<i32> {
    let path = format!("/proc/self/task/{}/children", unix::own_pid());
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}
