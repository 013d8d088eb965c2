//! Classifies command lines one after the other and prints what each took, in nanoseconds: one kind of line to a row, its name
//! first. Run by classifying.py, which makes the table.
#![forbid(unsafe_code)]

#[path = "../fuzz/lines.rs"]
mod lines;
#[path = "../differential/random.rs"]
#[expect(dead_code, reason = "the tests ask it for more")]
mod random;

use std::ffi::OsString;
use std::path::Path;
use std::time::Instant;

use locked::rules::{Book, Command, classify};
use random::Random;

fn main() {
    let words = lines::vocabulary();
    let known = lines::known().into_iter().map(|line| line.into_iter().map(OsString::from).collect());
    print("lines of the project's own cases", known);
    print("lines that nobody wrote", (0..20_000).map(|round| lines::any(&mut Random::new(4, round), &words)));
    print("lines with a word of 1 MiB", lines::with_a_mebibyte());
}

/// With tables that nobody has looked at yet, as in a process of its own.
fn print(what: &str, lines: impl Iterator<Item = Vec<OsString>>) {
    print!("{what}");
    for line in lines {
        let name = Path::new(&line[0]).file_name().unwrap_or_default();
        let command =
            Command { name, args: &line[1..], cwd: Path::new("/w"), env: &|_| None, stdout: None, stdin: None };
        let book = Book::new();
        let began = Instant::now();
        let _class = std::hint::black_box(classify(&command, &book));
        print!("\t{}", began.elapsed().as_nanos());
    }
    println!();
}
