//! How it is said: one line of JSON each way, over a socket.
#![forbid(unsafe_code)]

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde::{Serialize, de::DeserializeOwned};

/// Says something and waits for the answer, both within `limit`.
pub(super) fn ask<Q: Serialize, A: DeserializeOwned>(
    stream: &UnixStream,
    question: &Q,
    limit: Duration,
) -> io::Result<A> {
    let limit = limit.max(Duration::from_millis(1));
    stream.set_write_timeout(Some(limit))?;
    say(stream, question)?;
    hear(stream, limit)
}

/// Says one line.
pub(super) fn say<T: Serialize>(mut stream: &UnixStream, word: &T) -> io::Result<()> {
    let mut line = serde_json::to_vec(word)?;
    line.push(b'\n');
    stream.write_all(&line)
}

/// Hears one line. Nobody says the next one before it is answered, so nothing is read too far.
pub(super) fn hear<T: DeserializeOwned>(stream: &UnixStream, limit: Duration) -> io::Result<T> {
    stream.set_read_timeout(Some(limit.max(Duration::from_millis(1))))?;
    let mut line = String::new();
    if BufReader::new(stream).read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_str(&line)?)
}
