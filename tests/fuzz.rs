//! A bounded run over command lines and settings that nobody wrote: no panic, no hang, and nothing of a word in a message
//! about a line that changes nothing. The same for ever, from a seed; `LOCKED_FUZZ` says how many of each (ready: 3,000).
//! `cargo fuzz` has the same inputs without a bound: tests/fuzz. What else comes from outside (files, connection strings,
//! answers) has laws of its own, which hold in both: tests/fuzz/laws.
#![forbid(unsafe_code)]

mod bounded;
mod lines;
/// Shared with the targets in tests/fuzz.
mod laws {
    pub(crate) mod address;
    pub(crate) mod answers;
    pub(crate) mod input;
    pub(crate) mod metadata;
    pub(crate) mod told;
    pub(crate) mod written;
}

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use locked::rules::{Book, Classification, Command, Tables, classify};

use crate::counted::allocated_by;
use crate::differential::random::{self, Random};

fn rounds() -> u64 {
    std::env::var("LOCKED_FUZZ").ok().and_then(|count| count.parse().ok()).unwrap_or(3_000)
}

fn classified(line: &[OsString], book: &Book) -> Classification {
    let name = Path::new(&line[0]).file_name().unwrap_or_default();
    classify(&Command { name, args: &line[1..], cwd: Path::new("/w"), env: &|_| None, stdout: None, stdin: None }, book)
}

#[test]
fn no_line_makes_it_panic_or_hang() {
    let words = lines::vocabulary();
    let mut spans = Vec::new();
    for round in 0..rounds() {
        let mut random = Random::new(4, round);
        let line = lines::any(&mut random, &words);
        let book = Book::new();
        let began = Instant::now();
        let _class = classified(&line, &book);
        spans.push(began.elapsed());
    }
    tell("lines", spans);
}

#[test]
fn an_argument_of_a_mebibyte_is_read_like_any_other() {
    let mut spans = Vec::new();
    for line in lines::with_a_mebibyte() {
        let book = Book::new();
        let began = Instant::now();
        let (_class, allocated) = allocated_by(|| classified(&line, &book));
        spans.push(began.elapsed());
        let shown = &line[..line.len() - 1];
        assert!(allocated < MOST_ALLOCATED, "{shown:?} and a word of 1 MiB: {allocated} bytes are allocated");
    }
    tell("lines with a word of 1 MiB", spans);
}

/// What a line with a word of 1 MiB may allocate: one copy of the word, and what the tables take. Time is not judged here,
/// since a busy machine has none; but what copies a word at every step needs both.
const MOST_ALLOCATED: usize = 2 << 20;

/// A word that no system takes is nobody's file, and what stands beside it is seen all the same.
#[test]
fn what_stands_beside_a_huge_word_is_seen() {
    let book = Book::new();
    let lines: [(&[&str], usize, usize); 9] = [
        (&["sops", "set", "f", "[\"A\"]", "HUGE"], 1, 0),
        (&["env", "A=b", "sops", "updatekeys", "f", "HUGE"], 1, 0),
        (&["rm", "f", "HUGE", "g"], 2, 0),
        (&["cp", "HUGE", "f", "dir"], 2, 0),
        (&["sh", "-c", "rm f \"$1\"", "x", "HUGE"], 1, 0),
        (&["docker", "restart", "web", "HUGE"], 0, 1),
        (&["docker", "compose", "-p", "a", "up", "HUGE"], 0, 1),
        (&["gh", "workflow", "run", "secrets-sync.yml", "HUGE"], 0, 1),
        (&["scp", ".env", "HUGE", "h:/opt/.env"], 0, 1),
    ];
    for huge in lines::of_a_mebibyte() {
        // sops refuses a word of dashes.
        let refused = |line: &[&str]| line.contains(&"sops") && huge.as_encoded_bytes()[0] == b'-';
        for (line, files, names) in lines.iter().filter(|(line, ..)| !refused(line)) {
            let word = |word: &&str| if *word == "HUGE" { huge.clone() } else { word.into() };
            let class = classified(&line.iter().map(word).collect::<Vec<_>>(), &book);
            let seen = class.writes.iter().filter(|write| write.path.as_os_str().len() < 4096).count();
            assert!(seen >= *files, "{line:?}: {seen} files");
            assert!(class.claims.len() >= *names, "{line:?}: {} names", class.claims.len());
        }
    }
}

/// Tables that are nearly right.
#[test]
fn no_settings_make_it_panic_or_hang() {
    let text = Book::built_in();
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let mut read = 0;
    for round in 0..rounds() / 10 {
        let mut random = Random::new(5, round);
        let mut part: Vec<u8> = Vec::new();
        let start = random.below(lines.len());
        for line in lines.iter().skip(start).take(random.below(40)) {
            part.extend_from_slice(line.as_bytes());
            part.push(b'\n');
        }
        for _ in 0..random.below(3) {
            let place = random.below(part.len() + 1);
            part.insert(place, u8::try_from(random.below(127) + 1).expect("a byte"));
        }
        let text = String::from_utf8_lossy(&part);
        let Ok(tables) = Tables::read(&text) else { continue };
        read += 1;
        let book = Book::with(tables, BTreeMap::new());
        for line in [&["docker", "compose", "up"][..], &["ssh", "h", "rm .env"], &["gh", "workflow", "run", "secret"]] {
            let _class = classified(&line.iter().map(OsString::from).collect::<Vec<_>>(), &book);
        }
    }
    assert!(read > 0, "some of them can be read");
}

#[test]
fn a_secret_in_a_line_is_nowhere_in_the_answer() {
    const SECRET: &str = "hunter2-secret";
    let words = lines::vocabulary();
    for round in 0..rounds() / 3 {
        let mut random = Random::new(6, round);
        let mut line = lines::any(&mut random, &words);
        let at = 1 + random.below(line.len());
        line.insert(at.min(line.len()), format!("K={SECRET}").into());
        let mut class = classified(&line, &Book::new());
        // A path may be any file's; whether it is there, the plan looks.
        class.writes.clear();
        let told = format!("{class:?}");
        assert!(!told.contains(SECRET), "{line:?}: {told}");
    }
}

/// Told, not judged: the budget is 1 ms at the 99th percentile (in a release build, on a machine that has time). Past the
/// harness, which keeps what a test that passes prints to itself.
fn tell(what: &str, mut spans: Vec<Duration>) {
    spans.sort_unstable();
    let at = |share: usize| spans[(spans.len() * share / 100).min(spans.len() - 1)];
    let (median, most, longest) = (at(50), at(99), at(100));
    let told = writeln!(
        std::io::stderr(),
        "{} {what}: median {median:.1?}, 99 of 100 within {most:.1?}, longest {longest:.1?}",
        spans.len()
    );
    told.expect("told");
}

#[test]
fn the_names_of_programs_are_no_trap() {
    for name in ["", ".", "..", "/", "\u{1a}", "sops/"] {
        let class = classified(&[OsString::from(name)], &Book::new());
        assert!(class.writes.is_empty() && class.claims.is_empty(), "{name:?}");
    }
}
