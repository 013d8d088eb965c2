//! The process: greets, believes who proves it, and calls for them; a thread for each who is there. It ends when nobody has been
//! there for as long as it stays.
#![forbid(unsafe_code)]

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::store::StoreError;
use crate::store::postgres::call::Call;
use crate::store::postgres::link::{Link, Next};

use super::calls::{Calls, Ear};
use super::pool::{Make, Pool};
use super::wire::{self, Ask, Said};
use super::{Relay, near};

/// Who has not proven himself within this is let go.
const PROVES: Duration = Duration::from_secs(1);

/// How often it is looked whether anybody is there.
const LOOKS: Duration = Duration::from_millis(250);

/// How long one may take to find out whether the server can call us.
const FINDS_OUT: Duration = Duration::from_secs(2);

/// How long one call of the server is waited for before the connection is looked at.
const LISTENS: Duration = Duration::from_secs(30);

/// So many are served at once: each has a thread, and may have a session of the server.
const MOST: usize = 64;

/// What the threads share.
struct Post {
    relay: Relay,
    pool: Pool,
    calls: Calls,
    /// How many are there, and since when nobody was.
    there: Mutex<(usize, Instant)>,
}

/// Serves until nobody comes any more; at once where another one serves already.
///
/// # Errors
/// The socket cannot be made.
pub(in crate::store::postgres) fn serve(relay: Relay, make: Make) -> io::Result<()> {
    if near::greeted(&relay).is_ok() {
        return Ok(());
    }
    let (listener, own) = bind(&relay.place)?;
    let there = Mutex::new((0, Instant::now()));
    let post = Arc::new(Post { relay, pool: Pool::new(make), calls: Calls::new(), there });
    thread::spawn({
        let post = Arc::clone(&post);
        move || post.greet_all(&listener)
    });
    post.stay(own);
    Ok(())
}

/// The socket, and the number of its file. It comes into its place whole, so that whoever finds it can use it; who made one at the
/// same time is replaced, and ends when nobody comes to him.
fn bind(place: &Path) -> io::Result<(UnixListener, u64)> {
    let mut made = place.as_os_str().to_owned();
    made.push(format!(".{}", std::process::id()));
    let made = PathBuf::from(made);
    let _of_a_process_that_was_killed = fs::remove_file(&made);
    let listener = UnixListener::bind(&made)?;
    fs::set_permissions(&made, fs::Permissions::from_mode(0o600))?;
    let own = fs::symlink_metadata(&made)?.ino();
    fs::rename(&made, place)?;
    Ok((listener, own))
}

/// One who is there, until this is dropped: whatever comes of serving him.
struct There(Arc<Post>);

impl Drop for There {
    fn drop(&mut self) {
        let mut there = self.0.there();
        *there = (there.0 - 1, Instant::now());
    }
}

impl Post {
    fn there(&self) -> std::sync::MutexGuard<'_, (usize, Instant)> {
        self.there.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enters(&self) -> bool {
        let mut there = self.there();
        let room = there.0 < MOST;
        there.0 += usize::from(room);
        room
    }

    fn greet_all(self: &Arc<Self>, listener: &UnixListener) {
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                // It is gone already, or the system has no descriptor left.
                thread::park_timeout(LOOKS);
                continue;
            };
            if !self.enters() {
                continue;
            }
            let post = Arc::clone(self);
            thread::spawn(move || {
                let there = There(post);
                let _who_left = there.0.serve_one(stream);
            });
        }
    }

    /// Until nobody has been there for as long as it stays.
    #[expect(clippy::disallowed_methods, reason = "nobody tells that nobody has come")]
    fn stay(&self, own: u64) {
        loop {
            thread::sleep(LOOKS.min(self.relay.stays()));
            self.pool.trim(self.relay.stays());
            let there = self.there();
            if there.0 == 0 && there.1.elapsed() >= self.relay.stays() {
                // Order: nobody finds us any more, then we end. Whoever comes in between asks directly.
                if fs::symlink_metadata(&self.relay.place).is_ok_and(|it| it.ino() == own) {
                    let _somebody_may_have_cleared_up = fs::remove_file(&self.relay.place);
                }
                return self.pool.trim(Duration::ZERO);
            }
        }
    }

    fn serve_one(self: &Arc<Self>, mut stream: UnixStream) -> io::Result<()> {
        stream.set_read_timeout(Some(PROVES))?;
        stream.set_write_timeout(Some(PROVES))?;
        let mut salt = [0; 32];
        getrandom::fill(&mut salt).map_err(io::Error::other)?;
        wire::say(&mut stream, &Said::Salt(salt))?;
        let Ask::Prove(shown) = wire::hear(&mut stream)? else { return Ok(()) };
        if shown != self.relay.proof.shown(&salt) {
            return Ok(());
        }
        wire::say(&mut stream, &Said::Welcome)?;
        stream.set_read_timeout(None)?;
        let mut from = None;
        loop {
            let said = match wire::hear(&mut stream)? {
                Ask::Prove(_) => return Ok(()),
                Ask::Call { function, arguments, limit_ms } => self.call(&function, arguments, limit_ms),
                Ask::Hear { wanted, changes, span_ms } => {
                    self.hear(&mut from, &wanted, changes, Duration::from_millis(span_ms))
                }
            };
            wire::say(&mut stream, &said)?;
        }
    }

    fn call(&self, function: &str, arguments: Vec<(String, String, String)>, limit_ms: u64) -> Said {
        let Some(call) = Call::of_told(function, arguments) else {
            return Said::Fault(StoreError::Failed("no function of the protocol".to_owned()));
        };
        let sql = call.sql(self.relay.schema());
        let answer = self.pool.with(|link| link.call(&sql, &call, Duration::from_millis(limit_ms)));
        answer.map_or_else(Said::Fault, Said::Answer)
    }

    fn hear(self: &Arc<Self>, from: &mut Option<u64>, wanted: &[String], changes: usize, span: Duration) -> Said {
        if self.calls.is_first() {
            let post = Arc::clone(self);
            thread::spawn(move || post.listen(post.pool.fresh()));
        }
        let (ear, count) = self.calls.opened(FINDS_OUT);
        if ear != Ear::Open {
            return Said::Deaf;
        }
        // What was called out before the first wait was told to nobody: then it is looked again at once.
        *from = Some(match *from {
            None => count,
            Some(from) => self.calls.hear(from, wanted, changes, span),
        });
        Said::Heard
    }

    /// Hands on what the server calls out, as long as it can.
    fn listen(&self, mut link: Link) {
        let channel = self.relay.schema().to_string();
        if !link.opens_its_ear(&channel, FINDS_OUT) {
            return self.calls.found(Ear::Deaf);
        }
        self.calls.found(Ear::Open);
        loop {
            match link.next_call(LISTENS) {
                Next::Call(call) => self.calls.put(Some(call)),
                Next::Nothing => {}
                Next::Gone => {
                    self.calls.put(None);
                    // The next who waits has it opened anew.
                    return self.calls.found(Ear::Untried);
                }
            }
        }
    }
}
