//! Any text as tables of rules, and a few command lines by them: no panic, no hang.
#![no_main]

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use locked::rules::{Book, Command, Tables, classify};

fuzz_target!(|data: &[u8]| {
    let Some(tables) = std::str::from_utf8(data).ok().and_then(|text| Tables::read(text).ok()) else { return };
    let book = Book::with(tables, BTreeMap::new());
    for line in [&["docker", "compose", "up"][..], &["ssh", "h", "rm .env"], &["a", "-b", "c=d"]] {
        let args: Vec<OsString> = line[1..].iter().map(OsString::from).collect();
        let name = OsStr::new(line[0]);
        let command = Command { name, args: &args, cwd: Path::new("/w"), env: &|_| None, stdout: None, stdin: None };
        let _class = classify(&command, &book);
    }
});
