//! The table of messages: every refusal and what every verb says to people, played with the real programs and compared with
//! `tests/messages.md`. `LOCKED_BLESS=1` writes it anew; who changes a message reads it there once more, by the questions at
//! its head.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::path::Path;

mod around;
mod blocked;
mod duties;
mod example;
mod files;
mod guards;
mod lost;
mod older;
mod rotations;
mod sessions;
mod settings;
mod store;
mod table;
mod usage;

use table::Chapter;

/// Each plays its messages, in a world of its own.
const CHAPTERS: [fn() -> Chapter; 12] = [
    blocked::played,
    files::played,
    older::played,
    lost::played,
    rotations::played,
    duties::played,
    store::played,
    settings::played,
    usage::played,
    guards::played,
    sessions::played,
    around::played,
];

#[test]
fn the_table_of_messages_is_of_today() {
    let played: Vec<Chapter> = std::thread::scope(|scope| {
        let threads = CHAPTERS.map(|chapter| scope.spawn(chapter));
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    let told = table::told(&played);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/messages.md");
    if std::env::var_os("LOCKED_BLESS").is_some() {
        std::fs::write(&path, &told).expect("written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    for (line, (was, is)) in found.lines().zip(told.lines()).enumerate() {
        assert_eq!(was, is, "line {} of tests/messages.md: LOCKED_BLESS=1 cargo test table_of_messages", line + 1);
    }
    assert_eq!(found.lines().count(), told.lines().count(), "LOCKED_BLESS=1 cargo test table_of_messages");
}

/// Every exit status of our own is somewhere in it.
#[test]
fn no_exit_status_is_without_its_message() {
    let table = include_str!("messages.md");
    let ends: BTreeSet<&str> =
        table.lines().filter_map(|line| line.strip_prefix("### ")?.rsplit(" · exit ").next()).collect();
    for status in [0, 64, 69, 70, 72, 73, 74, 75, 77, 78, 79, 80, 126, 127] {
        assert!(ends.contains(status.to_string().as_str()), "nothing ends with {status}: {ends:?}");
    }
}
