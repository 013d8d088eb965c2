//! The one socket between wrapper and keeper, and the words on it. Packets keep their bounds; end of file means that
//! the other side is dead.
#![forbid(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{Hold, Outcome, unix};

/// From the wrapper.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Word {
    /// The lease is ours: spawn. With the words for [`super::Duty::begin`].
    Go(String),
    /// Until when does the lease hold, and are you there at all?
    Ask,
    /// The lease is settled: leave.
    Settled,
    /// The lease is settled and stays with its session: look after what it is about.
    Tend,
    /// The same where nothing is run: what an earlier command has left stays. With the words for [`super::Duty::begin`].
    Stay(String),
}

/// From the keeper.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Tale {
    /// The child runs under this process id.
    Spawned(i32),
    /// It stopped by this signal.
    Halted(i32),
    /// The answer to [`Word::Ask`]: the tree is stopped at this moment of the boot clock (ms) unless a renew comes
    /// first. Told only when asked: a wrapper that is stopped for hours must not find, nor we fill, a long queue.
    Renewed { stop_at: u64 },
    /// Its tree is being stopped.
    Stopping,
    /// Nothing runs (it is not started yet, or its tree is frozen) until a renew has said whether the lease is ours.
    Asking,
    /// It runs on without the lease, and nothing stops it any more.
    Loose(Hold),
    /// It ended, or its tree was stopped; with what has become of the lease by then.
    Ended(Outcome, Hold),
    /// After its end: the lease is not ours any more, or not for long.
    Lost,
}

/// From a keeper without a command, once.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Stand {
    /// It is at its post.
    Taken,
    /// It cannot be, and why.
    Refused(String),
}

/// What a packet meets whose listener is dead or has not listened for long.
const NOBODY_LISTENS: [io::ErrorKind; 3] =
    [io::ErrorKind::BrokenPipe, io::ErrorKind::ConnectionReset, io::ErrorKind::WouldBlock];

/// One end of the socket.
#[derive(Debug)]
pub(super) struct Link(OwnedFd);

/// What came.
pub(super) enum Heard<T> {
    /// A packet.
    Said(T),
    /// The other side is dead.
    Dead,
}

impl Link {
    /// Both ends, closed on exec.
    pub(super) fn pair() -> io::Result<(Self, Self)> {
        let (a, b) = unix::packet_pair()?;
        Ok((Self(a), Self(b)))
    }

    /// Says something, and never waits. A dead listener is not an error: it is noticed when listening. Nor is a full
    /// queue: only a frozen wrapper lets one fill, and it asks when it is back.
    pub(super) fn say<T: Serialize>(&self, word: &T) -> io::Result<()> {
        let packet = serde_json::to_vec(word)?;
        match unix::send_packet(self.0.as_fd(), &packet) {
            Err(error) if NOBODY_LISTENS.contains(&error.kind()) => Ok(()),
            other => other,
        }
    }

    /// Has this process continued by what the other side says, or by its death.
    pub(super) fn rouses(&self) -> io::Result<unix::Rouser<'_>> {
        unix::Rouser::over(self.0.as_fd())
    }

    /// Whether the other side is dead, without listening to what it said before.
    pub(super) fn is_dead(&self) -> bool {
        unix::is_hung_up(self.0.as_fd())
    }

    /// Waits for one packet; none when `limit` has passed first.
    pub(super) fn hear<T: DeserializeOwned>(&self, limit: Option<Duration>) -> io::Result<Option<Heard<T>>> {
        if !unix::wait_readable(&[self.0.as_fd()], limit)?[0] {
            return Ok(None);
        }
        let packet = unix::receive_packet(self.0.as_fd())?;
        if packet.is_empty() {
            return Ok(Some(Heard::Dead));
        }
        Ok(Some(Heard::Said(serde_json::from_slice(&packet)?)))
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
