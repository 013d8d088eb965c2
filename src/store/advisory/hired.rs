//! A steward from outside: starting one, speaking with it, parting.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::state::StateDir;
use crate::store::StoreError;
use crate::terms::GrantId;

use super::Outside;
use super::server::Reach;
use super::speak::ask;
use super::steward::Steward;
use super::unix;
use super::words::{Answer, Ask, Facts};

/// A steward that this process made.
#[derive(Debug)]
pub(super) struct Hired {
    pid: i32,
    stream: UnixStream,
    /// Our process when we made it: whoever was forked from us since is not its maker.
    maker: u32,
    /// Whose locks it has or tries for; none yet.
    pub(super) grant: Option<GrantId>,
    parted: bool,
}

/// What came of a question.
#[derive(Debug)]
pub(super) enum Reached {
    Answered(Answer),
    /// It did not answer in time.
    Silent,
    /// It ended with its locks.
    Dead,
    /// There is no such name: it gave its locks back, or never had any.
    Unnamed,
}

impl Hired {
    pub(super) fn start(
        reach: &Reach,
        state: &StateDir,
        directory: PathBuf,
        local: bool,
        outside: &Outside,
        grant: Option<GrantId>,
    ) -> Result<Self, StoreError> {
        let failed = |error: io::Error| StoreError::Failed(format!("no process for its session: {error}"));
        sweep(state, &directory);
        let (ours, theirs) = UnixStream::pair().map_err(failed)?;
        let keep = theirs.as_raw_fd();
        let steward = Steward { reach, state, directory, local, outside };
        // Order: its end is dropped here when it has been forked, so that our own end tells of its death.
        let pid = unix::start(keep, || {
            if let Ok(maker) = theirs.try_clone() {
                steward.serve(maker);
            }
        });
        Ok(Self { pid: pid.map_err(failed)?, stream: ours, maker: std::process::id(), grant, parted: false })
    }

    pub(super) fn is_ours(&self) -> bool {
        self.maker == std::process::id()
    }

    pub(super) fn ask(&self, question: &Ask, limit: Duration) -> Reached {
        reached(ask(&self.stream, question, limit))
    }

    /// Ends it with whatever it may have locked meanwhile: the server frees what a dead client had.
    pub(super) fn dismiss(mut self) {
        self.parted = true;
        unix::kill(self.pid);
        unix::reap(self.pid, true);
    }

    /// It has given its locks back and ends by itself; not before a while if something of them lingers.
    pub(super) fn part(mut self, ends_now: bool) {
        self.parted = true;
        unix::reap(self.pid, ends_now);
    }
}

impl Drop for Hired {
    fn drop(&mut self) {
        if !self.parted && self.is_ours() {
            // One without a keeper ends when our end of the socket falls; one with a keeper stays.
            let _it_may_be_dead = self.stream.shutdown(std::net::Shutdown::Both);
            unix::reap(self.pid, false);
        }
    }
}

fn reached(answer: io::Result<Answer>) -> Reached {
    match answer {
        Ok(answer) => Reached::Answered(answer),
        Err(error) => match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Reached::Silent,
            io::ErrorKind::NotFound => Reached::Unnamed,
            _ => Reached::Dead,
        },
    }
}

/// Asks the steward of a grant by its name in the state directory.
pub(super) fn ask_by_name(
    state: &StateDir,
    directory: &Path,
    grant: GrantId,
    question: &Ask,
    limit: Duration,
) -> Reached {
    let connected = {
        let _as_owner = state.as_owner();
        // The path of a socket has 107 bytes at most; through the descriptor any directory will do.
        File::open(directory)
            .and_then(|opened| UnixStream::connect(format!("/proc/self/fd/{}/{grant}", opened.as_raw_fd())))
    };
    reached(connected.and_then(|stream| ask(&stream, question, limit)))
}

/// Everything that stewards of this machine hold.
pub(super) fn seen(state: &StateDir, directory: &Path, limit: Duration) -> Vec<(GrantId, Facts)> {
    let facts = |grant: GrantId| match ask_by_name(state, directory, grant, &Ask::Facts, limit) {
        Reached::Answered(Answer::Facts(facts)) => Some((grant, *facts)),
        _ => None,
    };
    grants(state, directory).into_iter().filter_map(facts).collect()
}

/// Removes the names of stewards that were killed with their whole command: its live file is gone.
fn sweep(state: &StateDir, directory: &Path) {
    for grant in grants(state, directory) {
        let _as_owner = state.as_owner();
        let lives = state.live(grant).exists();
        if !lives && matches!(ask_by_name(state, directory, grant, &Ask::Facts, SWEEP), Reached::Dead) {
            // What stays is litter.
            let _litter = std::fs::remove_file(directory.join(grant.to_string()));
        }
    }
}

/// A living one answers at once.
const SWEEP: Duration = Duration::from_millis(100);

fn grants(state: &StateDir, directory: &Path) -> Vec<GrantId> {
    let _as_owner = state.as_owner();
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok().map(GrantId)).collect()
}
