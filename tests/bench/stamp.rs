//! `stamp LOG MILLISECONDS`: notes when it began and when it ended, in nanoseconds of one clock, as one line of the log; in
//! between it sleeps. The program whose turns `tests/bench/handover.py` looks at.

use std::io::Write as _;
use std::time::{Duration, SystemTime};

fn now() -> u128 {
    SystemTime::UNIX_EPOCH.elapsed().expect("after 1970").as_nanos()
}

fn main() {
    let began = now();
    let mut words = std::env::args().skip(1);
    let log = words.next().expect("a log");
    let pause = words.next().and_then(|it| it.parse().ok()).expect("a number of milliseconds");
    let mut log = std::fs::OpenOptions::new().append(true).create(true).open(log).expect("the log");
    std::thread::sleep(Duration::from_millis(pause));
    log.write_all(format!("{began} {}\n", now()).as_bytes()).expect("written");
}
