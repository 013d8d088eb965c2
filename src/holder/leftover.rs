//! What a dead holder left running.
#![forbid(unsafe_code)]

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::stat::Stat;
use super::{ProcFs, Processes as _, Search, anchor};
use crate::clock::Moment;
use crate::terms::GrantId;

/// The variable that every process of a leased tree inherits.
const VARIABLE: &str = "LOCKED_LEASE";

/// Looks through the processes of this pid namespace for those that carry `LOCKED_LEASE=<grant>`.
///
/// `since` is a moment, on this boot's clock, before which the grant did not exist: processes forked earlier cannot
/// descend from its holder, so that other users' daemons do not make us blind. Looks twice, since a process may fork
/// and end behind the reader's back. A process that cleared or overwrote its environment is not found.
#[must_use]
pub fn processes_of(grant: GrantId, since: Option<Moment>) -> Search {
    let marker = format!("{VARIABLE}={grant}");
    let mut blind = false;
    for _ in 0..2 {
        let Ok(pids) = pids() else { return Search::Blind };
        let (mut carriers, mut unknown) = (Vec::new(), false);
        for pid in pids {
            match look_at(pid, marker.as_bytes(), since) {
                Sight::Carries => carriers.push(pid),
                Sight::Other => {}
                Sight::Unknown => unknown = true,
            }
        }
        if !carriers.is_empty() {
            carriers.sort_unstable();
            return Search::Found(carriers);
        }
        blind |= unknown;
    }
    if blind || some_are_hidden() { Search::Blind } else { Search::None }
}

/// Ends what a dead holder left running: TERM, half a second, KILL, as its keeper would have done. True when none is left
/// that we can see. Ourselves, those above us and those below us are spared: we may stand in that very tree.
#[must_use]
pub fn end_processes_of(grant: GrantId, since: Option<Moment>) -> bool {
    let spared = family();
    for (signal, looks) in [(Signal::TERM, 100), (Signal::KILL, 400)] {
        for _ in 0..looks {
            let Search::Found(carriers) = processes_of(grant, since) else { return true };
            let carriers: Vec<u32> = carriers.into_iter().filter(|pid| !spared(*pid)).collect();
            if carriers.is_empty() {
                return true;
            }
            carriers.into_iter().for_each(|pid| end(pid, grant, signal));
            pause();
        }
    }
    false
}

/// Who stands above us, we ourselves, and our children.
fn family() -> impl Fn(u32) -> bool {
    let processes = ProcFs::new();
    let above: Vec<u32> = anchor::line_of(&processes).map(|process| process.pid).collect();
    move |pid| above.contains(&pid) || processes.process(pid).is_some_and(|it| it.parent == std::process::id())
}

/// The handle is taken before the last look, so that a process id that is used again is never hit.
fn end(pid: u32, grant: GrantId, signal: Signal) {
    let Some(pid_now) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
    let Ok(handle) = pidfd_open(pid_now, PidfdFlags::empty()) else { return };
    if matches!(look_at(pid, format!("{VARIABLE}={grant}").as_bytes(), None), Sight::Carries) {
        let _it_may_be_gone_or_not_ours = pidfd_send_signal(&handle, signal);
        if signal == Signal::TERM {
            let _so_that_it_can_heed_it = pidfd_send_signal(&handle, Signal::CONT);
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a process that is not our child tells us nothing of its end")]
fn pause() {
    std::thread::sleep(Duration::from_millis(5));
}

enum Sight {
    Carries,
    Other,
    Unknown,
}

fn look_at(pid: u32, marker: &[u8], since: Option<Moment>) -> Sight {
    match fs::read(format!("/proc/{pid}/environ")) {
        Ok(block) if block.split(|&byte| byte == 0).any(|entry| entry == marker) => Sight::Carries,
        Ok(_) => Sight::Other,
        Err(error) if is_gone(&error) => Sight::Other,
        Err(_) => cannot_belong(pid, since),
    }
}

/// We may not read its environment; is it one that could not belong anyway?
fn cannot_belong(pid: u32, since: Option<Moment>) -> Sight {
    match fs::read(format!("/proc/{pid}/stat")) {
        Ok(line) => match Stat::parse(&line) {
            Some(stat) if stat.runs_nothing() || since.is_some_and(|since| is_older(&stat, since)) => Sight::Other,
            _ => Sight::Unknown,
        },
        Err(error) if is_gone(&error) => Sight::Other,
        Err(_) => Sight::Unknown,
    }
}

/// Start times are cut to whole ticks (`USER_HZ`, a hundredth of a second wherever Rust runs on Linux), so a process is
/// older only if its whole tick is.
fn is_older(stat: &Stat, since: Moment) -> bool {
    Duration::from_millis(stat.started.saturating_add(1).saturating_mul(10)) <= since.0
}

fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH)
}

fn pids() -> io::Result<Vec<u32>> {
    Ok(fs::read_dir("/proc")?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

/// Whether `/proc` leaves out processes of others (proc(5), `hidepid`). Then pid 1, which always exists, tells whether
/// we are exempt; it does not where it is our own, nor where only what we may trace is shown.
fn some_are_hidden() -> bool {
    let Ok(mounts) = fs::read_to_string("/proc/self/mountinfo") else { return true };
    match hiding(&mounts) {
        Hiding::Nothing => false,
        Hiding::Untraceable => true,
        Hiding::Strangers => {
            let owner = |path| fs::metadata(path).map(|metadata| metadata.uid()).ok();
            match (owner("/proc/1"), owner("/proc/self")) {
                (Some(first), Some(ourselves)) => ourselves != 0 && first == ourselves,
                _ => true,
            }
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Hiding {
    Nothing,
    Strangers,
    Untraceable,
}

/// The last mount on `/proc` is the one we see. Fields as in proc_pid_mountinfo(5): the fifth is the place, the last
/// the file system's own options.
fn hiding(mounts: &str) -> Hiding {
    let options = mounts.lines().rev().find_map(|line| {
        let place = line.split(' ').nth(4)?;
        let options = line.rsplit(' ').next()?;
        (place == "/proc").then_some(options)
    });
    match options.and_then(|options| options.split(',').find_map(|option| option.strip_prefix("hidepid="))) {
        Some("2" | "invisible") => Hiding::Strangers,
        Some("4" | "ptraceable") => Hiding::Untraceable,
        _ => Hiding::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hidden_proc_is_known_by_its_options() {
        let line = |options: &str| {
            format!(
                "22 28 0:21 / / rw - ext4 /dev/a rw,hidepid=2\n23 28 0:21 / /proc rw,nosuid - proc proc {options}\n\
                 24 23 0:30 / /proc/sys rw - proc proc rw"
            )
        };
        for (options, expected) in [
            ("rw", Hiding::Nothing),
            ("rw,hidepid=1", Hiding::Nothing),
            ("rw,hidepid=2,gid=4", Hiding::Strangers),
            ("rw,hidepid=invisible", Hiding::Strangers),
            ("rw,hidepid=ptraceable", Hiding::Untraceable),
        ] {
            assert_eq!(hiding(&line(options)), expected, "{options}");
        }
    }

    #[test]
    fn a_process_is_older_only_if_its_whole_tick_is() {
        let stat = Stat::parse(b"7 (x) S 5 7 7 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 100 0").expect("a stat line");
        assert!(is_older(&stat, Moment(Duration::from_millis(1010))));
        assert!(!is_older(&stat, Moment(Duration::from_millis(1009))));
    }
}
