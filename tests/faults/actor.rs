//! The child of these tests: the test binary itself, which writes into the log that it lives.
#![forbid(unsafe_code)]

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use locked::clock::{Clock as _, SystemClock};

/// The log that every child of one test appends to.
pub(crate) const LOG: &str = "FAULTS_LOG";
/// What the child is called there.
pub(crate) const ID: &str = "FAULTS_ID";
/// It ends by itself after so many milliseconds.
pub(crate) const FOR: &str = "FAULTS_FOR";
/// It ends by itself when this file is there.
pub(crate) const UNTIL: &str = "FAULTS_UNTIL";

/// No child lives longer, whatever went wrong with its test.
const LONGEST: Duration = Duration::from_secs(60);

/// The words that make the test binary play the child.
pub(crate) fn words() -> Vec<String> {
    let binary = std::env::current_exe().expect("this binary").to_str().expect("UTF-8").to_owned();
    let rest = ["faults::actor::plays_its_part", "--exact", "--nocapture", "--test-threads=1", "-q"];
    std::iter::once(binary).chain(rest.map(str::to_owned)).collect()
}

/// The same for `locked` to run. It would step over the binary itself, which has `locked` inside, as over a copy of it.
pub(crate) fn program() -> Vec<String> {
    ["sh", "-c", "exec \"$@\"", "sh"].map(str::to_owned).into_iter().chain(words()).collect()
}

/// Not a test by itself: without a log there is nothing to do.
#[test]
fn plays_its_part() {
    let Some(log) = std::env::var_os(LOG) else { return };
    let id = std::env::var(ID).expect("an id");
    let mut log = OpenOptions::new().append(true).open(log).expect("the log");
    let ends = std::env::var(FOR).ok().map(|ms| Duration::from_millis(ms.parse().expect("ms"))).unwrap_or(LONGEST);
    let until = std::env::var_os(UNTIL);
    let var = |name| std::env::var(name).unwrap_or_else(|_| "-".to_owned());
    // One line of a lease that covers several resources names them all.
    let what = format!("{} {}", var("LOCKED_RESOURCES").replace(' ', ","), var("LOCKED_TOKENS").replace(' ', ","));
    let began = Instant::now();
    say(&mut log, "start", &id, &what);
    while began.elapsed() < ends && !until.as_ref().is_some_and(|until| Path::new(until).exists()) {
        std::thread::sleep(Duration::from_millis(3));
        say(&mut log, "beat", &id, &what);
    }
    say(&mut log, "end", &id, &what);
}

/// One line by one write, so that the order of the log is the order in which things were so.
fn say(log: &mut File, word: &str, id: &str, what: &str) {
    let line = format!("{word} {id} {} {} {what}\n", std::process::id(), SystemClock::new().now().0.as_nanos());
    log.write_all(line.as_bytes()).expect("the log takes it");
}
