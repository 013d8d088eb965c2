//! Commands that must end as said, and looks that come to an end. No bound here is an expectation: each is far above what
//! anything takes, and says only that a hang is a failure.
#![forbid(unsafe_code)]

use std::io::Write as _;
use std::process::{Command, Output};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How long anything may take before a test says that it never came.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// How long a whole command may take: three waits, one after the other.
const COMMAND_LIMIT: Duration = Duration::from_secs(180);

/// Runs it, and wants this exit status.
#[track_caller]
pub(crate) fn ends(command: &mut Command, status: i32) -> Output {
    let watched = watch(format!("{command:?}"));
    let output = command.output().expect("it runs");
    drop(watched);
    assert_eq!(output.status.code(), Some(status), "{command:?}: {}{}", text(&output.stdout), text(&output.stderr));
    super::next::each_is_one_thing(&text(&output.stderr));
    output
}

/// Until it is dropped, somebody looks at the time: nobody else can end a wait for a command's output, and a run of tests
/// that hangs for ever tells nobody which one it was.
fn watch(what: String) -> mpsc::Sender<()> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        if receiver.recv_timeout(COMMAND_LIMIT) == Err(RecvTimeoutError::Timeout) {
            say(&format!("it hangs: {what}"));
            std::process::abort();
        }
    });
    sender
}

/// Runs it, and wants this exit status; the answer is what it said on standard error.
#[track_caller]
pub(crate) fn says(command: &mut Command, status: i32) -> String {
    text(&ends(command, status).stderr)
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Looks again and again until `look` finds something; `LIMIT` is the end.
#[track_caller]
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < LIMIT, "it never came: {what}");
        std::thread::sleep(Duration::from_millis(3));
    }
}

/// Waits until something is so.
#[track_caller]
pub(crate) fn so(what: &str, mut look: impl FnMut() -> bool) {
    until(what, || look().then_some(()));
}

/// Says aloud that a test could not be made here. The harness keeps what passing tests print to itself, so this goes past
/// it.
pub(crate) fn left_out(test: &str, why: &str) {
    say(&format!("{LEFT_OUT}{test}: {why}"));
}

const LEFT_OUT: &str = "NOT TESTED HERE: ";

/// The same for what a test that was run again has said.
pub(crate) fn pass_on(said: &str) {
    said.lines().filter(|line| line.starts_with(LEFT_OUT)).for_each(say);
}

fn say(line: &str) {
    writeln!(std::io::stderr(), "{line}").expect("standard error");
}
