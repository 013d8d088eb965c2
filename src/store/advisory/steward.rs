//! The steward: the process that has the server's session, and with it the locks of one grant.
//!
//! Neither wrapper nor keeper can have it: each may be killed while the other goes on, a session cannot be shared over a
//! fork, and the lock must fall when, and only when, both are gone. So the session lives here, in a process that asks
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

use crate::state::{self, StateDir};
use crate::terms::GrantId;

use super::Outside;
use super::held::Held;
use super::key::AdvisoryKey;
use super::local;
use super::name;
use super::server::{Reach, Session};
use super::speak::{hear, say};
use super::words::{Answer, Ask, Fault, HeldBy, Wanted};

/// Who connects speaks at once.
const WORD: Duration = Duration::from_secs(2);

/// What it works with.
pub(super) struct Steward<'a> {
    pub(super) reach: &'a Reach,
    pub(super) state: &'a StateDir,
    pub(super) directory: PathBuf,
    /// A lock of this machine serves when nobody answers.
    pub(super) local: bool,
    pub(super) outside: &'a Outside,
}

/// What follows a word.
#[derive(PartialEq, Eq)]
enum Next {
    Stay,
    Leave,
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
                    Err(_) if held.as_ref().is_some_and(|held| held.gone.is_some() || held.until.is_some()) => {
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
                held.gone = None;
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
        let Some((stream, _)) = held.as_ref().and_then(|held| held.door.accept().ok()) else { return Next::Stay };
        let Ok(ask) = hear::<Ask>(&stream, WORD) else { return Next::Stay };
        let (answer, next) = self.answer(ask, held, session, false);
        // Who does not wait for the answer asks again.
        let _asked_again = say(&stream, &answer);
        next
    }

    fn answer(&self, ask: Ask, held: &mut Option<Held>, spare: &mut Option<Session>, maker: bool) -> (Answer, Next) {
        let (ask, held) = match (ask, held) {
            (Ask::Take(wanted), held) if maker => return (self.take(*wanted, held, spare), Next::Stay),
            (Ask::Take(_), _) => return (Answer::Lost, Next::Stay),
            (_, None) => return (Answer::Lost, Next::Stay),
            (ask, Some(held)) => (ask, held),
        };
        match ask {
            Ask::Facts => (Answer::Facts(Box::new(held.wanted.facts.clone())), Next::Stay),
            Ask::Prove { key, limit_ms } if held.is_of(&key) => (held.prove(limit_ms), Next::Stay),
            Ask::Files { key, files, limit_ms } if held.is_of(&key) => {
                held.wanted.facts.files = files;
                (held.prove(limit_ms), Next::Stay)
            }
            Ask::Release { key, lingers: true, limit_ms } if held.is_of(&key) => {
                let answer = match held.prove(limit_ms) {
                    Answer::Held { .. } => Answer::Done,
                    other => other,
                };
                if matches!(answer, Answer::Failed(_)) {
                    return (answer, Next::Stay);
                }
                self.close_door(held);
                if !matches!(answer, Answer::Done) {
                    return (answer, Next::Leave);
                }
                held.linger();
                (answer, Next::Stay)
            }
            Ask::Release { key, lingers: false, limit_ms } if held.is_of(&key) => {
                let answer = held.release(limit_ms);
                let next = if matches!(answer, Answer::Failed(_)) { Next::Stay } else { Next::Leave };
                if next == Next::Leave {
                    // Order: before the answer, so that who asks again finds it settled.
                    self.close_door(held);
                }
                (answer, next)
            }
            _ => (Answer::Lost, Next::Stay),
        }
    }

    fn take(&self, wanted: Wanted, held: &mut Option<Held>, spare: &mut Option<Session>) -> Answer {
        if let Some(held) = held {
            return match held.wanted.grant == wanted.grant && held.is_of(&wanted.key) {
                true => Answer::Taken { alone: None },
                false => Answer::Lost,
            };
        }
        match self.try_to_take(wanted, held, spare) {
            Ok(Ok(alone)) => Answer::Taken { alone },
            Ok(Err(by)) => Answer::Busy(by),
            Err(fault) => Answer::Failed(fault),
        }
    }

    fn try_to_take(
        &self,
        mut wanted: Wanted,
        held: &mut Option<Held>,
        spare: &mut Option<Session>,
    ) -> Result<Result<Option<String>, HeldBy>, Fault> {
        let keys: Vec<i64> =
            wanted.facts.resources.iter().map(|resource| AdvisoryKey::of_resource(resource).0).collect();
        let name = name::of(&wanted.facts.owner);
        // Order: this machine's lock first, so that whoever got it while nobody answered keeps those out who come when
        // the server does.
        let files = match self.local.then(|| local::take(self.state, &self.directory, &keys, &name)).transpose()? {
            None => Vec::new(),
            Some(Ok(files)) => files,
            Some(Err(by)) => return Ok(Err(by)),
        };
        let (limit, ttl) = (Duration::from_millis(wanted.limit_ms), Duration::from_millis(wanted.ttl_ms));
        let until = Instant::now() + limit;
        let mut session = spare.take().map_or_else(Session::new, Ok)?;
        let (session, alone) = match session.open(self.reach, &name, ttl, limit) {
            Ok(()) => match session.take(&keys, until.saturating_duration_since(Instant::now()))? {
                None => (Some(session), None),
                Some(by) => {
                    *spare = Some(session);
                    return Ok(Err(by));
                }
            },
            Err(Fault::Unreachable(why) | Fault::NoWay { why, .. }) if self.local => (None, Some(why)),
            Err(fault) => return Err(fault),
        };
        wanted.facts.local = session.is_none();
        let (door, path) = self.make_door(&wanted.grant).map_err(|error| {
            Fault::Failed(format!("{}: no socket can be made there: {error}", self.directory.display()))
        })?;
        let gone = self.watch(&wanted);
        *held = Some(Held { wanted, keys, session, files, door, path, gone, unlocking: false, until: None });
        Ok(Ok(alone))
    }

    /// A socket under the grant's name. It gets the name when it listens, so that nobody takes a new one for a dead one.
    fn make_door(&self, grant: &str) -> std::io::Result<(UnixListener, PathBuf)> {
        let _as_owner = self.state.as_owner();
        let directory = File::open(&self.directory)?;
        // The path of a socket has 107 bytes at most; through the descriptor any directory will do.
        let short = format!("/proc/self/fd/{}/new-{grant}", directory.as_raw_fd());
        let door = UnixListener::bind(short)?;
        let path = self.directory.join(grant);
        std::fs::rename(self.directory.join(format!("new-{grant}")), &path)?;
        Ok((door, path))
    }

    fn close_door(&self, held: &Held) {
        let _as_owner = self.state.as_owner();
        // A name that stays is swept later: nobody answers behind it.
        let _litter = std::fs::remove_file(&held.path);
    }

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
        held.filter(|_| lingers.is_none()).map(|held| held.door.as_fd()),
        held.and_then(|held| held.gone.as_ref()).filter(|_| lingers.is_none()).map(|gone| gone.as_fd()),
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
