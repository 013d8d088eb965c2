//! The ssh client as a stream: a socket pair whose other end is its standard input and output. It lives as long as the
//! stream and is reaped with it.
#![forbid(unsafe_code)]

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::pin::Pin;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::task::JoinHandle;

use super::bastion::Bastion;
use super::error::ViaError;

/// Of what ssh says so many bytes are kept; the rest is read and left.
const KEPT: usize = 8 * 1024;
/// So long an ended stream waits for ssh's last words.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// The stream.
#[derive(Debug)]
pub(super) struct Tunnel {
    stream: UnixStream,
    child: Child,
}

/// What ssh says on its standard error.
#[derive(Debug)]
pub(super) struct Words {
    said: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
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
    let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    let stream = UnixStream::from_std(ours)?;
    let (reader, writer) = io::pipe()?;
    let reader = pipe::Receiver::from_owned_fd(OwnedFd::from(reader))?;
    let theirs = OwnedFd::from(theirs);
    let child = Command::new(bastion.client())
        .args(bastion.arguments(place, limit))
        .stdin(Stdio::from(theirs.try_clone()?))
        .stdout(Stdio::from(theirs))
        .stderr(Stdio::from(writer))
        // Keys for the whole of a terminal's job (Ctrl-C, Ctrl-Z) are not for the way to the store.
        .process_group(0)
        .spawn()?;
    let said = Arc::new(Mutex::new(Vec::new()));
    let reader = tokio::spawn(listen(reader, Arc::clone(&said)));
    Ok((Tunnel { stream, child }, Words { said, reader }))
}

/// Reads until ssh and everybody who has its standard error are gone: one that cannot say something hangs.
async fn listen(reader: pipe::Receiver, said: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = [0; 1024];
    while reader.readable().await.is_ok() {
        match reader.try_read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => {
                let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
                let room = KEPT.saturating_sub(said.len()).min(count);
                said.extend_from_slice(&buffer[..room]);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => return,
        }
    }
}

impl Words {
    /// All of them, once ssh has ended.
    pub(super) async fn last(mut self) -> Option<String> {
        // One that does not end has said what it has to say.
        let _ended_or_not = tokio::time::timeout(LAST_WORDS, &mut self.reader).await;
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
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Tunnel {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
