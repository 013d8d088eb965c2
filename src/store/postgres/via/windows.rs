//! The ssh client as a stream: not on Windows yet, where a socket cannot be a program's standard input and output.
#![forbid(unsafe_code)]

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::bastion::Bastion;
use super::error::ViaError;

/// No stream.
#[derive(Debug)]
pub(super) struct Tunnel(Infallible);

/// What nobody says.
#[derive(Debug)]
pub(super) struct Words(Infallible);

impl Tunnel {
    /// Refuses.
    pub(super) fn open(bastion: &Bastion, _place: &str, _limit: Duration) -> Result<(Self, Words), ViaError> {
        Err(ViaError::NoClient {
            client: bastion.client().display().to_string(),
            why: "not on Windows yet: forward a port with ssh -L, and name that in the store's address".to_owned(),
        })
    }
}

impl Words {
    pub(super) async fn last(self) -> Option<String> {
        match self.0 {}
    }

    pub(super) fn now(&self) -> Option<String> {
        match self.0 {}
    }
}

impl AsyncRead for Tunnel {
    fn poll_read(self: Pin<&mut Self>, _context: &mut Context<'_>, _buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.0 {}
    }
}

impl AsyncWrite for Tunnel {
    fn poll_write(self: Pin<&mut Self>, _context: &mut Context<'_>, _bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.0 {}
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.0 {}
    }

    fn poll_shutdown(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.0 {}
    }
}
