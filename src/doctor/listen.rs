//! A foreign program is listened to, and ended with all of its session.
#![forbid(unsafe_code)]

use std::io::Read as _;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open};

use crate::holder::{ProcFs, Processes as _};

use super::probe::MOST;

/// Kills the child and what is left of its session: an interactive shell gives each of its jobs a group of its own.
pub(super) fn end_session(child: &mut Child) {
    let _it_may_have_ended = kill_process_group(Pid::from_child(child), Signal::KILL);
    let processes = ProcFs::new();
    let listed = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    for pid in listed.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()) {
        let is_of_it = pid != child.id() && processes.process(pid).is_some_and(|it| it.session == child.id());
        if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw).filter(|_| is_of_it) {
            let _it_may_have_ended = kill_process(pid, Signal::KILL);
        }
    }
}

/// Reads until the child has ended, or has said enough. Others that hold its pipe are not waited for.
pub(super) fn listen(child: &mut Child, said: &mut Vec<u8>, limit: Duration, enough: impl Fn(&[u8]) -> bool) -> bool {
    let deadline = Instant::now() + limit;
    let (Some(mut out), Ok(handle)) = (child.stdout.take(), pidfd_open(Pid::from_child(child), PidfdFlags::empty()))
    else {
        return false;
    };
    let mut open = true;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        let mut fds = vec![PollFd::new(&handle, PollFlags::IN)];
        if open {
            fds.push(PollFd::new(&out, PollFlags::IN));
        }
        let span = Timespec { tv_sec: left.as_secs().try_into().unwrap_or(1), tv_nsec: left.subsec_nanos().into() };
        // Interrupted is as good as woken: the loop looks at the time again.
        let _woken = poll(&mut fds, Some(&span));
        let [ended, heard] = [fds.first(), fds.get(1)].map(|fd| fd.is_some_and(|fd| !fd.revents().is_empty()));
        if heard {
            let mut part = [0; 8192];
            match out.read(&mut part) {
                Ok(0) | Err(_) => open = false,
                Ok(length) if said.len() < MOST => said.extend_from_slice(&part[..length]),
                Ok(_) => {}
            }
            if enough(said) {
                return true;
            }
        } else if ended {
            return true;
        }
    }
}
