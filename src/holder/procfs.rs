//! The processes of Linux, as `/proc` shows them. What cannot be read (hidepid, gone since) is not there.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::script::{self, base_name};
use super::stat::Stat;
use super::{Process, Processes, role, shell};
use crate::program::FileId;

/// The live `/proc`. Three small reads per process.
#[derive(Debug)]
pub struct ProcFs {
    ourselves: Option<FileId>,
}

impl ProcFs {
    /// The processes of this machine.
    #[must_use]
    pub fn new() -> Self {
        Self { ourselves: FileId::ourselves().ok() }
    }

    /// The name of this machine (of its UTS namespace); empty when the system does not say.
    #[must_use]
    pub fn host() -> String {
        read_some(Path::new("/proc/sys/kernel/hostname"))
            .map(|name| String::from_utf8_lossy(&name).trim().to_owned())
            .unwrap_or_default()
    }

    /// Whether this very process has ended, all of its threads: a pid that was taken again is another one. One that nobody
    /// has waited for yet has ended too.
    #[must_use]
    pub fn has_ended(&self, pid: u32, started: u64) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        use rustix::process::{Pid, PidfdFlags, pidfd_open};
        let handle = i32::try_from(pid).ok().and_then(Pid::from_raw).map(|pid| pidfd_open(pid, PidfdFlags::empty()));
        // Order: looked at when we have a handle on it.
        match (handle, self.process(pid)) {
            (Some(Ok(handle)), Some(process)) if process.started == started => {
                let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
                poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&at_once)).is_ok_and(|ready| ready > 0)
            }
            // Without a handle on it: there it is.
            (Some(Err(rustix::io::Errno::SRCH)), _) | (_, None) => true,
            (_, Some(process)) => process.started != started,
        }
    }

    /// The program's name: of the executed file where we may see it, else the one it was called by, else its short
    /// name. A multi-call binary is its applet.
    fn program(&self, directory: &Path, args: &[&[u8]], comm: &str) -> String {
        let link = directory.join("exe");
        if self.ourselves.is_some() && FileId::of(&link).ok() == self.ourselves {
            return "locked".to_owned();
        }
        // A program that runs from memory has a file name that says nothing to anybody.
        let in_memory = |path: &Path| path.as_os_str().as_encoded_bytes().starts_with(b"/memfd:");
        let executed = std::fs::read_link(&link).ok().filter(|path| !in_memory(path)).and_then(|path| {
            let name = path.file_name()?.to_string_lossy().into_owned();
            Some(name.strip_suffix(" (deleted)").map(str::to_owned).unwrap_or(name))
        });
        let called = args.first().map(|arg0| base_name(arg0.strip_prefix(b"-").unwrap_or(arg0)));
        let applet = called.clone().filter(|name| !is_multicall(name));
        match executed {
            Some(name) if is_multicall(&name) => {
                applet.or_else(|| args.get(1).map(|arg| base_name(arg))).unwrap_or(name)
            }
            Some(name) => name,
            None => called.filter(|name| !name.is_empty()).unwrap_or_else(|| comm.to_owned()),
        }
    }
}

impl Default for ProcFs {
    fn default() -> Self {
        Self::new()
    }
}

impl Processes for ProcFs {
    fn ourselves(&self) -> u32 {
        std::process::id()
    }

    fn process(&self, pid: u32) -> Option<Process> {
        let directory = PathBuf::from(format!("/proc/{pid}"));
        let stat = Stat::parse(&read_some(&directory.join("stat"))?)?;
        let cmdline = read_some(&directory.join("cmdline")).unwrap_or_default();
        let args: Vec<&[u8]> = cmdline.strip_suffix(b"\0").unwrap_or(&cmdline).split(|&byte| byte == 0).collect();
        let program = self.program(&directory, &args, &stat.comm);
        let operands = || args.iter().skip(1).copied();
        Some(Process {
            pid,
            parent: stat.parent,
            script: role::is_interpreter(&program).then(|| script::of(operands())).flatten(),
            interactive: role::is_shell(&program) && shell::is_interactive(operands()),
            program,
            comm: stat.comm,
            started: stat.started,
            session: stat.session,
            group: stat.group,
            terminal: stat.terminal,
        })
    }

    fn namespace(&self) -> u64 {
        std::fs::metadata("/proc/self/ns/pid").map_or(0, |namespace| namespace.ino())
    }

    fn service(&self) -> Option<String> {
        service_of(&String::from_utf8_lossy(&read_some(Path::new("/proc/self/cgroup"))?))
    }
}

/// The last part of the control group's path (cgroups(7)), if it is a service: of version 2 (`0::`) or systemd's own
/// hierarchy of version 1. Desktops run applications as services too, all of their windows in one (`app-…`).
fn service_of(cgroup: &str) -> Option<String> {
    let path = cgroup.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        matches!(controllers, "" | "name=systemd").then_some(path)
    })?;
    let unit = path.rsplit('/').next()?;
    (unit.ends_with(".service") && !unit.starts_with("app-")).then(|| unit.to_owned())
}

fn is_multicall(name: &str) -> bool {
    matches!(name, "busybox" | "toybox" | "coreutils")
}

/// The processes that have this entry in their environment; so many are looked at.
pub(super) fn carriers(entry: &[u8], most: usize) -> Vec<u32> {
    let carries = |pid: &u32| {
        std::fs::read(format!("/proc/{pid}/environ"))
            .is_ok_and(|block| block.split(|&byte| byte == 0).any(|other| other == entry))
    };
    let listed = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = listed.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.take(most).filter(carries).collect()
}

/// No command line is looked at behind this (bytes); Linux takes no longer ones than 2 MiB, as it comes.
const LONGEST: u64 = 1 << 21;

/// The words of this process; none when it is gone or we may not see it.
pub(super) fn words_of(pid: u32) -> Option<Vec<Vec<u8>>> {
    let mut line = Vec::new();
    File::open(format!("/proc/{pid}/cmdline")).ok()?.take(LONGEST).read_to_end(&mut line).ok()?;
    Some(line.strip_suffix(b"\0")?.split(|&byte| byte == 0).map(<[u8]>::to_vec).collect())
}

/// At most a page: longer command lines tell nothing more.
fn read_some(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(4096);
    File::open(path).ok()?.take(4096).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_known_by_its_own_control_group() {
        let cases = [
            ("0::/system.slice/backup.service\n", Some("backup.service")),
            ("12:pids:/x\n1:name=systemd:/system.slice/cron.service\n", Some("cron.service")),
            ("0::/user.slice/user-1000.slice/session-3.scope\n", None),
            ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/vte-spawn-1.scope\n", None),
            ("0::/user.slice/user@1000.service/app.slice/app-org.kde.konsole@1.service\n", None),
            ("0::/\n", None),
            ("", None),
        ];
        for (cgroup, expected) in cases {
            assert_eq!(service_of(cgroup).as_deref(), expected, "{cgroup}");
        }
    }

    #[test]
    fn who_has_ended_has_although_nobody_has_waited_for_it() {
        let processes = ProcFs::new();
        let mut child = std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().expect("cat");
        let started = processes.process(child.id()).expect("it is there").started;
        assert!(!processes.has_ended(child.id(), started));
        assert!(processes.has_ended(child.id(), started + 1), "the number is another process's");
        drop(child.stdin.take());
        let began = std::time::Instant::now();
        while !processes.has_ended(child.id(), started) {
            assert!(began.elapsed().as_secs() < 60, "it has ended, and is a zombie");
            std::thread::yield_now();
        }
        child.wait().expect("waited");
        assert!(processes.has_ended(child.id(), started));
    }

    #[test]
    fn we_see_ourselves_and_our_parent() {
        let processes = ProcFs::new();
        let ourselves = processes.process(processes.ourselves()).expect("we are there");
        assert_eq!(ourselves.program, "locked", "this build is locked under another name");
        assert_eq!(ourselves.parent, std::os::unix::process::parent_id());
        assert!(processes.namespace() != 0);
        assert_eq!(processes.process(u32::MAX), None);
    }
}
