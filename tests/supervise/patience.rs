//! Waiting for events, never for time: every wait ends when the event comes, and a test that waits in vain fails.
#![forbid(unsafe_code)]

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

pub(crate) use crate::world::ends::{LIMIT as PATIENCE, so as eventually};

/// Does it happen at all? For who has more to say about it than its name.
pub(crate) fn happens(mut happened: impl FnMut() -> bool) -> bool {
    let began = Instant::now();
    while !happened() {
        if began.elapsed() > PATIENCE {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    true
}

/// Waits for the end of a process; one that hangs is killed, and fails the test.
pub(crate) fn ended(child: &mut Child) -> ExitStatus {
    let mut status = None;
    let ends = || {
        status = child.try_wait().expect("our child");
        status.is_some()
    };
    if happens(ends) {
        return status.expect("ended");
    }
    child.kill().expect("our child");
    panic!("process {} does not end", child.id());
}

/// Runs a command to its end, and its output to *its* end: a pipe that somebody holds open fails the test.
pub(crate) fn finished(command: &mut Command) -> Output {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    let stdout = whole(child.stdout.take().expect("stdout"));
    let stderr = whole(child.stderr.take().expect("stderr"));
    let status = ended(&mut child);
    let text = |what, end: Receiver<Vec<u8>>| {
        end.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("somebody holds {what} open after the end"))
    };
    Output { status, stdout: text("stdout", stdout), stderr: text("stderr", stderr) }
}

fn whole(mut from: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).expect("a pipe");
        // Nobody listens any more when the test has failed.
        drop(sender.send(bytes));
    });
    receiver
}
