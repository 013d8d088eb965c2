//! The one door for answers: standard output. Whoever asked and gets nothing must not take it for an answer, so what could
//! not be written is a fault of ours (70), whatever the verb makes of it; a reader that went away wanted no more and is none.
#![forbid(unsafe_code)]

use std::io::{self, ErrorKind, IsTerminal as _};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit::{self, Exit};
use crate::invocation;
use crate::report;

/// Something that was to be answered was not. Set here, read once at the way out.
static LOST: AtomicBool = AtomicBool::new(false);

/// Writes a verb's answer, and ends its last line.
pub(super) fn print(text: &str) -> Exit {
    write(format!("{text}\n").as_bytes()).map_or_else(|exit| exit, |()| Exit::OK)
}

/// Writes these bytes as they are.
///
/// # Errors
/// How to end when it makes no sense to go on: with 70, which was said; with 0 when nobody reads any more.
pub(super) fn write(bytes: &[u8]) -> Result<(), Exit> {
    told(write_all(bytes))
}

/// What came of words that somebody else wrote to standard output for us. Errors as [`write`].
pub(super) fn told(written: io::Result<()>) -> Result<(), Exit> {
    // Rust's runtime has put /dev/null in the place of a closed descriptor, and that takes everything.
    let written = if invocation::stdout_was_closed() { Err(closed()) } else { written };
    match written {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Exit::OK),
        Err(error) => {
            if !LOST.swap(true, Ordering::Relaxed) {
                report::say(&format!("locked: cannot write the answer: {error}"));
            }
            Err(Exit::Code(exit::INTERNAL))
        }
    }
}

/// How we end: no answer that was lost is a success.
pub(super) fn kept(exit: Exit) -> Exit {
    if exit == Exit::OK && LOST.load(Ordering::Relaxed) { Exit::Code(exit::INTERNAL) } else { exit }
}

/// So many of something: `1 finding`, `2 findings`.
pub(super) fn counted<N: std::fmt::Display>(count: N, one: &str) -> String {
    let count = count.to_string();
    let many = if count == "1" { "" } else { "s" };
    format!("{count} {one}{many}")
}

/// Whether a person looks at it.
pub(super) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// What is said of a descriptor that is closed.
fn closed() -> io::Error {
    #[cfg(unix)]
    return rustix::io::Errno::BADF.into();
    #[cfg(windows)]
    io::ErrorKind::NotConnected.into()
}

/// Consoles want text, and pipes here take all there is.
#[cfg(windows)]
fn write_all(rest: &[u8]) -> io::Result<()> {
    use std::io::Write as _;
    let mut out = io::stdout().lock();
    out.write_all(rest).and_then(|()| out.flush())
}

/// Straight to the descriptor: the library's own way takes a bad descriptor for a good one, and loses what a pipe that
/// does not block has no room for.
#[cfg(unix)]
fn write_all(mut rest: &[u8]) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::io::Errno;
    let out = io::stdout();
    while !rest.is_empty() {
        match rustix::io::write(&out, rest) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => rest = &rest[written..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => _ = poll(&mut [PollFd::new(&out, PollFlags::OUT)], None)?,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
