//! Waiting for events, never for time: every wait ends when the event comes, and a test that waits in vain fails.
#![forbid(unsafe_code)]

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// How long any one event may take on a machine that does much else besides.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until `happened`; a test whose event does not come fails, with `what` it was.
pub(crate) fn eventually(what: &str, happened: impl FnMut() -> bool) {
    within(PATIENCE, what, happened);
}

/// The same with a bound of its own.
pub(crate) fn within(limit: Duration, what: &str, happened: impl FnMut() -> bool) {
    assert!(happens(limit, happened), "did not happen within {limit:?}: {what}");
}

/// Does it happen within this time?
pub(crate) fn happens(limit: Duration, mut happened: impl FnMut() -> bool) -> bool {
    let began = Instant::now();
    while !happened() {
        if began.elapsed() > limit {
            return false;
        }
        rest();
    }
    true
}

#[expect(clippy::disallowed_methods, reason = "between two looks at something that tells nobody when it changes")]
fn rest() {
    std::thread::sleep(Duration::from_millis(2));
}

/// Waits for the end of a process; one that hangs is killed, and fails the test.
pub(crate) fn ended(child: &mut Child) -> ExitStatus {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("our child") {
            return status;
        }
        if began.elapsed() > PATIENCE {
            child.kill().expect("our child");
            panic!("process {} does not end", child.id());
        }
        rest();
    }
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
