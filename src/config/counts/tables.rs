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
    "follow",
    "give_back",
    "hold_for",
    "keep",
    "keep_for",
    "on_lost",
    "pass",
    "remote",
    "replaces",
    "safe",
    "sessions",
    "ttl",
    "wait",
];

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
        without = TERMS.into_iter().filter(|term| head.sets.iter().any(|set| set == term)).collect();
        let why = "an untrusted file says what is held, not on what terms";
        counted.ignored.extend(without.iter().map(|&term| ignored(Some(term), why)));
    }
    counted.tables.push(Table { file: Arc::clone(&reading.file), head: head.clone(), without, adds_only });
}

/// Does it take the name of one that is there already? What has no name takes none, but for a program: that is how the
/// command lines of that program are read, and read differently they may pass.
fn is_taken(below: &[Table], head: &Head, built_in: &BuiltIn<'_>) -> bool {
    let Some(name) = &head.name else { return head.key == Key::Program };
    let same = |table: &Table| match head.key {
        Key::Program => table.names_program(name),
        key => table.head.key == key && table.head.name.as_ref() == Some(name),
    };
    let ready = match head.key {
        Key::Rule => (built_in.rule)(name),
        Key::Program => (built_in.program)(name),
        _ => false,
    };
    ready || below.iter().any(same)
}

impl Table {
    /// Does it say something of this program: how it is read, or what it locks?
    fn names_program(&self, program: &str) -> bool {
        match self.head.key {
            Key::Program => self.head.name.as_deref() == Some(program),
            Key::Rule => self.head.program.iter().any(|it| it == program),
            _ => false,
        }
    }
}
