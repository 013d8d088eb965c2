//! Any command line, its words divided by zero bytes: classified without panic and without hang.
#![no_main]

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use locked::rules::{Book, Command, classify};

thread_local! {
    // Its tables are read once, and not for every line.
    static BOOK: Book = Book::new().with_packs(Book::PACKS.map(str::to_owned).to_vec());
}

fuzz_target!(|data: &[u8]| {
    let mut words = data.split(|&byte| byte == 0).map(OsStr::from_bytes);
    let name = words.next().unwrap_or_default();
    let args: Vec<OsString> = words.map(OsStr::to_owned).collect();
    let command = Command { name, args: &args, cwd: Path::new("/w"), env: &|_| None, stdout: None, stdin: None };
    let _class = BOOK.with(|book| classify(&command, book));
});
