//! The ssh client as a stream, on Windows: pipes to its standard input and from its standard output, each with a thread that
//! waits for it, since a pipe cannot be asked whether it is ready. The client lives as long as the stream and is reaped with
//! it, and the threads end with their pipes.
#![forbid(unsafe_code)]

use std::io::{self, Read, Write as _};
use std::os::windows::process::CommandExt as _;
use std::pin::Pin;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{mpsc, oneshot};
use windows_sys::Win32::System::Threading::{CREATE_NEW_PROCESS_GROUP, CREATE_NO_WINDOW};

use super::bastion::Bastion;
use super::error::ViaError;

/// Of what ssh says so many bytes are kept; the rest is read and left.
const KEPT: usize = 8 * 1024;
/// So long an ended stream waits for ssh's last words.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// So many parts wait to be read, at most; then ssh does.
const PARTS: usize = 16;

/// The stream.
#[derive(Debug)]
pub(super) struct Tunnel {
    child: Child,
    heard: mpsc::Receiver<Vec<u8>>,
    /// What was heard and not yet read.
    rest: Vec<u8>,
    /// None: nothing is said any more.
    says: Option<mpsc::UnboundedSender<Vec<u8>>>,
}

/// What ssh says on its standard error.
#[derive(Debug)]
pub(super) struct Words {
    said: Arc<Mutex<Vec<u8>>>,
    ended: oneshot::Receiver<()>,
}

impl Tunnel {
    /// Starts ssh towards `place`. Whether it gets there shows when the stream is used.
    pub(super) fn open(bastion: &Bastion, place: &str, limit: Duration) -> Result<(Self, Words), ViaError> {
        start(bastion, place, limit).map_err(|error| ViaError::NoClient {
            client: bastion.client().display().to_string(),
            why: error.to_string(),
        })
    }
}

fn start(bastion: &Bastion, place: &str, limit: Duration) -> io::Result<(Tunnel, Words)> {
    let mut child = Command::new(bastion.client())
        .args(bastion.arguments(place, limit))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // Keys of the console are not for the way to the store.
        .creation_flags(CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW)
        .spawn()?;
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(stdin), Some(stdout), Some(stderr)) = pipes else { return Err(io::Error::other("no pipe")) };
    let ((says, said), (hears, heard)) = (mpsc::unbounded_channel(), mpsc::channel(PARTS));
    let ((ends, ended), words) = (oneshot::channel(), Arc::new(Mutex::new(Vec::new())));
    // Order: the stream first, so that ssh is reaped when a thread cannot be had.
    let tunnel = Tunnel { child, heard, rest: Vec::new(), says: Some(says) };
    let thread = || std::thread::Builder::new().name("ssh".into());
    thread().spawn(move || speak(stdin, said))?;
    thread().spawn(move || hear(stdout, |part| hears.blocking_send(part.to_vec()).is_ok()))?;
    let kept = Arc::clone(&words);
    thread().spawn(move || {
        hear(stderr, |part| keep(&kept, part));
        // Nobody may be waiting.
        let _told_or_not = ends.send(());
    })?;
    Ok((tunnel, Words { said: words, ended }))
}

fn speak(mut stdin: ChildStdin, mut said: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(part) = said.blocking_recv() {
        if stdin.write_all(&part).is_err() {
            return;
        }
    }
}

/// Reads until the end, or until nobody wants more.
fn hear(mut pipe: impl Read, mut wants: impl FnMut(&[u8]) -> bool) {
    let mut buffer = [0; 8192];
    while let Ok(count @ 1..) = pipe.read(&mut buffer) {
        if !wants(&buffer[..count]) {
            return;
        }
    }
}

/// All of it is read: one that cannot say something hangs.
fn keep(kept: &Mutex<Vec<u8>>, part: &[u8]) -> bool {
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    let room = KEPT.saturating_sub(kept.len()).min(part.len());
    kept.extend_from_slice(&part[..room]);
    true
}

impl Words {
    /// All of them, once ssh has ended.
    pub(super) async fn last(mut self) -> Option<String> {
        // One that does not end has said what it has to say.
        let _ended_or_not = tokio::time::timeout(LAST_WORDS, &mut self.ended).await;
        self.now()
    }

    /// What was said so far.
    pub(super) fn now(&self) -> Option<String> {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&said).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }
}

impl Drop for Tunnel {
    fn drop(&mut self) {
        // It has ended, or it ends now; either way nobody else reaps it.
        let _it_may_have_ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

impl AsyncRead for Tunnel {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.rest.is_empty() {
            match self.heard.poll_recv(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => return Poll::Ready(Ok(())),
                Poll::Ready(Some(part)) => self.rest = part,
            }
        }
        let count = self.rest.len().min(buffer.remaining());
        buffer.put_slice(&self.rest[..count]);
        self.rest.drain(..count);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Tunnel {
    fn poll_write(self: Pin<&mut Self>, _context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        // What a client of the store says is small and is answered, so that little of it ever waits here.
        let said = self.says.as_ref().is_some_and(|says| says.send(bytes.to_vec()).is_ok());
        Poll::Ready(if said { Ok(bytes.len()) } else { Err(io::ErrorKind::BrokenPipe.into()) })
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.says = None;
        Poll::Ready(Ok(()))
    }
}
