//! The steward's process.
//!
//! Neither wrapper nor keeper can have the session: each may be killed while the other goes on, a session cannot be shared over
//! a fork, and the lock must fall when, and only when, both are gone. So the session lives here, in a process that asks
//! the kernel for the lock of the live file, which it gets at that moment, and ends. It speaks with its maker over a
//! socket pair and with everybody else of this state directory over `advisory/<grant>`.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{PipeReader, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::state;
use crate::terms::GrantId;

use super::held::Held;
use super::server::Session;
use super::speak::{hear, say};
use super::steward::{Next, Steward};
use super::words::{Ask, Wanted};

/// Who connects speaks at once.
const WORD: Duration = Duration::from_secs(2);

/// Where others ask, and what tells that wrapper and keeper are gone.
pub(super) struct Door {
    listener: UnixListener,
    path: PathBuf,
    /// Readable when both are gone; none when the maker's own end says it.
    gone: Option<PipeReader>,
}

impl Steward<'_> {
    /// Serves until nothing is left to hold.
    pub(super) fn serve(&self, maker: UnixStream) {
        let mut maker = Some(maker);
        let mut held: Option<Held> = None;
        // A session that was made for a try goes on to the next one.
        let mut session = None;
        while let Some(ready) = wait(maker.as_ref(), held.as_ref()) {
            if held.as_ref().and_then(|held| held.until).is_some_and(|until| Instant::now() >= until) {
                break;
            }
            if ready[0]
                && let Some(stream) = &maker
            {
                match hear::<Ask>(stream, WORD) {
                    Ok(ask) => {
                        let (answer, next) = self.answer(ask, &mut held, &mut session, true);
                        if say(stream, &answer).is_err() || next == Next::Leave {
                            break;
                        }
                    }
                    // It is gone. What it was granted stays for its keeper, if it has one.
                    Err(_) if held.as_ref().is_some_and(|held| held.door.gone.is_some() || held.until.is_some()) => {
                        maker = None;
                    }
                    Err(_) => break,
                }
            }
            if ready[1] && self.open_door(&mut held, &mut session) == Next::Leave {
                break;
            }
            if ready[2]
                && let Some(held) = &mut held
            {
                held.door.gone = None;
                if !held.wanted.remote && self.nothing_runs_of(held) {
                    break;
                }
                // Nobody has said how it ended, and it may run on.
                held.linger();
            }
        }
        if let Some(held) = &held {
            self.close_door(held);
        }
    }

    /// The command died with its keeper; what that had started may not have.
    fn nothing_runs_of(&self, held: &Held) -> bool {
        held.wanted.grant.parse().is_ok_and(|grant| (self.outside.end_rest)(GrantId(grant)))
    }

    fn open_door(&self, held: &mut Option<Held>, session: &mut Option<Session>) -> Next {
        let Some((stream, _)) = held.as_ref().and_then(|held| held.door.listener.accept().ok()) else {
            return Next::Stay;
        };
        let Ok(ask) = hear::<Ask>(&stream, WORD) else { return Next::Stay };
        let (answer, next) = self.answer(ask, held, session, false);
        // Who does not wait for the answer asks again.
        let _asked_again = say(&stream, &answer);
        next
    }

    /// A socket under the grant's name. It gets the name when it listens, so that nobody takes a new one for a dead one.
    pub(super) fn make_door(&self, wanted: &Wanted) -> std::io::Result<Door> {
        let grant = &wanted.grant;
        let _as_owner = self.state.as_owner();
        let directory = File::open(&self.directory)?;
        // The path of a socket has 107 bytes at most; through the descriptor any directory will do.
        let short = format!("/proc/self/fd/{}/new-{grant}", directory.as_raw_fd());
        let listener = UnixListener::bind(short)?;
        let path = self.directory.join(grant);
        std::fs::rename(self.directory.join(format!("new-{grant}")), &path)?;
        Ok(Door { listener, path, gone: self.watch(wanted) })
    }

    pub(super) fn close_door(&self, held: &Held) {
        let _as_owner = self.state.as_owner();
        // A name that stays is swept later: nobody answers behind it.
        let _litter = std::fs::remove_file(&held.door.path);
    }

    /// Who wants to know asks.
    #[expect(clippy::unused_self, reason = "the same as where it is written down")]
    pub(super) fn told(&self, _held: &Held) {}

    /// Waits for the kernel lock of the live file, which is free when wrapper and keeper are gone.
    fn watch(&self, wanted: &Wanted) -> Option<PipeReader> {
        use std::os::unix::fs::MetadataExt as _;
        let live = wanted.facts.live?;
        let grant = wanted.grant.parse().ok().map(GrantId)?;
        let file = {
            let _as_owner = self.state.as_owner();
            state::open_existing(&self.state.live(grant)).ok()?
        };
        let found = file.metadata().ok()?;
        if (found.dev(), found.ino()) != (live.device, live.inode) {
            return None;
        }
        let (reader, mut writer) = std::io::pipe().ok()?;
        let waits = std::thread::Builder::new().spawn(move || {
            while file.lock_shared().is_err_and(|error| error.kind() == std::io::ErrorKind::Interrupted) {}
            // Whoever wants the proof gets it.
            drop(file);
            let _nobody_reads_any_more = writer.write_all(b".");
        });
        waits.ok().map(|_| reader)
    }
}

/// Waits for a word of the maker, somebody at the door, or the end of wrapper and keeper. None: the system fails.
fn wait(maker: Option<&UnixStream>, held: Option<&Held>) -> Option<[bool; 3]> {
    let lingers = held.and_then(|held| held.until);
    let sources: [Option<BorrowedFd<'_>>; 3] = [
        maker.map(|stream| stream.as_fd()),
        held.filter(|_| lingers.is_none()).map(|held| held.door.listener.as_fd()),
        held.and_then(|held| held.door.gone.as_ref()).filter(|_| lingers.is_none()).map(|gone| gone.as_fd()),
    ];
    let mut fds: Vec<PollFd<'_>> =
        sources.iter().flatten().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
    let left = lingers.map(|until| until.saturating_duration_since(Instant::now()));
    let left = left.and_then(|left| Timespec::try_from(left).ok());
    match poll(&mut fds, left.as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(_) => return None,
    }
    let mut ready = fds.iter().map(|fd| !fd.revents().is_empty());
    Some(sources.map(|source| source.is_some() && ready.next().unwrap_or(false)))
}
