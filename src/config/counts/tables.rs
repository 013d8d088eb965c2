//! What counts of the tables: `[[rule]]` and its kin.
#![forbid(unsafe_code)]

use std::sync::Arc;

use super::{BuiltIn, Counted, Ignored, Reading, Standing, Table};
use crate::config::Key;
use crate::config::file::Head;
use crate::config::key::Untrusted;

/// Keys of a `[[rule]]` or `[[zone]]` that say on what terms something is held, let something pass, or run a command; the
/// others say what is held, which only adds.
const TERMS: [&str; 14] = [
    "canary",
    "elsewhere",
    "follow",
    "give_back",
    "hold_for",
    "keep",
    "keep_for",
    "on_lost",
    "pass",
    "replaces",
    "safe",
    "sessions",
    "ttl",
    "wait",
];

/// Keys that say which programs, or what is written where, a `[[rule]]` is about.
const NARROW: [&str; 3] = ["program", "remote", "writes"];

pub(super) fn table(counted: &mut Counted, reading: &Reading, head: &Head, below: usize, built_in: &BuiltIn<'_>) {
    let adds_only = reading.standing == Standing::Untrusted;
    let from = reading.file.source(head.line);
    let mut without = Vec::new();
    if adds_only {
        let ignored = |inner, why| Ignored { key: head.key, inner, from: from.clone(), why, if_trusted: true };
        // What the same file says of it twice is its own affair.
        if head.key.untrusted() == Untrusted::Nothing || is_taken(&counted.tables[..below], head, built_in) {
            counted.ignored.push(ignored(None, head.key.why()));
            return;
        }
        // One about every program would take every read away.
        if head.key == Key::Rule && !head.sets.iter().any(|set| NARROW.contains(&set.as_str())) {
            counted.ignored.push(ignored(None, "it is about every program"));
            return;
        }
        without = TERMS.into_iter().filter(|term| head.sets.iter().any(|set| set == term)).collect();
        let why = "an untrusted file says what is held, not on what terms";
        counted.ignored.extend(without.iter().map(|&term| ignored(Some(term), why)));
    }
    counted.tables.push(Table { file: Arc::clone(&reading.file), head: head.clone(), without, adds_only });
}

/// Does it take the name of one that is there already? What has no name takes none, but for a program: that is how the
/// command lines of that program are read, and read differently they may pass whatever else is said of them.
fn is_taken(below: &[Table], head: &Head, built_in: &BuiltIn<'_>) -> bool {
    if head.called.is_empty() {
        return head.key == Key::Program;
    }
    head.called.iter().any(|name| {
        let same = |table: &Table| match head.key {
            Key::Program => table.speaks_of(name),
            key => table.head.key == key && table.head.called.contains(name),
        };
        let ready = match head.key {
            Key::Rule => (built_in.rule)(name),
            Key::Program => (built_in.program)(name),
            _ => false,
        };
        ready || below.iter().any(same)
    })
}

impl Table {
    /// Does it say something of this program: how it is read, what it locks, writes, starts or tells a database?
    fn speaks_of(&self, program: &str) -> bool {
        let named = self.head.program.iter().any(|it| it == program);
        match self.head.key {
            Key::Program => self.head.called.iter().any(|it| it == program),
            // One without a program is about all of them.
            Key::Rule => named || self.head.program.is_empty(),
            Key::Launcher | Key::Writer | Key::Sql => named,
            _ => false,
        }
    }
}
