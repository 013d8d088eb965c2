//! The side of a command: asks the relay, and starts one where there is none. Every fault of the relay is answered with `None`:
//! then it is asked directly.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::io;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::store::StoreError;
use crate::store::postgres::call::Call;

use super::wire::{self, Ask, Said};
use super::{Order, Relay};

/// A relay that does not greet within this is frozen, or not ours.
const GREETS: Duration = Duration::from_millis(200);

/// It may answer later than the server was given, by this.
const LATE: Duration = Duration::from_millis(200);

/// The function whose caller starts a relay where there is none.
const STARTS: &str = "acquire_v1";

/// The way to it.
pub(in crate::store::postgres) struct Near {
    relay: Relay,
    stream: Option<UnixStream>,
    /// It was not there or failed, and is not asked again by this process.
    gone: bool,
}

/// What came of a wait for a call.
pub(in crate::store::postgres) enum Heard {
    /// It may have changed, or the time has passed.
    Heard,
    /// The server cannot call out.
    Deaf,
}

impl Near {
    pub(in crate::store::postgres) fn new(relay: Relay) -> Self {
        Self { relay, stream: None, gone: false }
    }

    /// Whether it is there, as far as is known.
    pub(in crate::store::postgres) fn is_there(&self) -> bool {
        self.stream.is_some()
    }

    /// Calls a function through it. A relay gets half of the time: the rest is for who must ask directly after all.
    pub(in crate::store::postgres) fn call(
        &mut self,
        call: &Call,
        limit: Duration,
    ) -> Option<Result<String, StoreError>> {
        let limit = limit / 2;
        let limit_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        let (function, arguments) = call.told();
        match self.ask(&Ask::Call { function, arguments, limit_ms }, limit + LATE)? {
            Said::Answer(text) => Some(Ok(text)),
            // What went wrong on its way may not go wrong on ours.
            Said::Fault(StoreError::Unreachable(_) | StoreError::NoWay { .. }) => self.leaves(),
            Said::Fault(error) => Some(Err(error)),
            _ => self.leaves(),
        }
    }

    /// Waits until something has changed so often about one of these, for at most so long.
    pub(in crate::store::postgres) fn hear(
        &mut self,
        wanted: &[String],
        changes: usize,
        span: Duration,
    ) -> Option<Heard> {
        let span_ms = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        match self.ask(&Ask::Hear { wanted: wanted.to_vec(), changes, span_ms }, span + 10 * LATE)? {
            Said::Heard => Some(Heard::Heard),
            Said::Deaf => Some(Heard::Deaf),
            _ => self.leaves(),
        }
    }

    /// Lets it go; the next call comes back.
    pub(in crate::store::postgres) fn hang_up(&mut self) {
        self.stream = None;
    }

    fn ask(&mut self, what: &Ask, limit: Duration) -> Option<Said> {
        if self.stream.is_none() && !self.gone {
            match greeted(&self.relay) {
                Ok(stream) => self.stream = Some(stream),
                Err(error) => {
                    let missing = matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused);
                    // By who asks for a lease alone: a keeper stops and freezes whatever lives below it.
                    let starts = missing && matches!(what, Ask::Call { function, .. } if function == STARTS);
                    if starts {
                        let _without_one_it_is_asked_directly = start(&self.relay.order);
                    }
                    self.gone = starts || !missing;
                }
            }
        }
        let stream = self.stream.as_mut()?;
        let said = answered(stream, what, limit);
        said.map_or_else(|_| self.leaves(), Some)
    }

    fn leaves<T>(&mut self) -> Option<T> {
        (self.stream, self.gone) = (None, true);
        None
    }
}

/// Connected, and believed.
pub(super) fn greeted(relay: &Relay) -> io::Result<UnixStream> {
    let mut stream = UnixStream::connect(&relay.place)?;
    stream.set_read_timeout(Some(GREETS))?;
    stream.set_write_timeout(Some(GREETS))?;
    let Said::Salt(salt) = wire::hear(&mut stream)? else { return Err(io::ErrorKind::InvalidData.into()) };
    match answered(&mut stream, &Ask::Prove(relay.proof.shown(&salt)), GREETS)? {
        Said::Welcome => Ok(stream),
        _ => Err(io::ErrorKind::PermissionDenied.into()),
    }
}

/// The answer, whole, within the limit.
fn answered(stream: &mut UnixStream, what: &Ask, limit: Duration) -> io::Result<Said> {
    wire::say(stream, what)?;
    wire::hear(&mut Within { stream, until: Instant::now() + limit })
}

/// Reads until a moment, however many pieces come.
struct Within<'a> {
    stream: &'a mut UnixStream,
    until: Instant,
}

impl io::Read for Within<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = self.until.saturating_duration_since(Instant::now());
        self.stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
        self.stream.read(into)
    }
}

/// Whether a variable is of the machine and not of a command.
fn is_kept(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let whole =
        ["HOME", "LANG", "LOGNAME", "PATH", "SSL_CERT_DIR", "SSL_CERT_FILE", "TMPDIR", "USER", "XDG_RUNTIME_DIR"];
    whole.contains(&&*name) || name.starts_with("LC_") || name.starts_with("SSH_")
}

/// Starts one for those who come later. Nobody waits for it; what it is for it is told by a pipe.
fn start(order: &Order) -> io::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    // By the name that is none of a shim's, and with what ssh and the search for certificates ask for: an address may stand in
    // any other variable, and would be there for as long as it stays.
    command
        .arg0("locked")
        .args(["store", "relay"])
        .env_clear()
        .envs(std::env::vars_os().filter(|(name, _)| is_kept(name)));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let told = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
    Ok(serde_json::to_writer(told, order)?)
}
