//! What counts of the tables: `[[rule]]` and its kin.
#![forbid(unsafe_code)]

use std::sync::Arc;

use super::{BuiltIn, Counted, Ignored, Reading, Standing, Table};
use crate::config::Key;
use crate::config::file::Head;
use crate::config::key::Untrusted;

/// Keys of a `[[rule]]` or `[[zone]]` that say on what terms something is held, let something pass, take a read away or
/// run a command; the others say what is held, which only adds.
const TERMS: [&str; 18] = [
    "ask",
    "canary",
    "detached",
    "elsewhere",
    "follow",
    "give_back",
    "hold_for",
    "keep",
    "keep_for",
    "on_lost",
    "pass",
    "reads",
    "replaces",
    "safe",
    "sessions",
    "ttl",
    "uses",
    "wait",
];

/// Keys that say which programs, or what is written where, a `[[rule]]` is about.
const NARROW: [&str; 3] = ["program", "remote", "writes"];

/// So many tables of files that nobody has vouched for look into words, values and texts. Whether such a rule holds its
/// name shows one bit of what stands in the line; with hundreds of them a file would spell a token.
const MOST_SPELLING: usize = 16;

pub(super) fn table(counted: &mut Counted, reading: &Reading, head: &Head, below: usize, built_in: &BuiltIn<'_>) {
    let adds_only = reading.standing == Standing::Untrusted;
    let from = reading.file.source(head.line);
    let mut without = Vec::new();
    if adds_only {
        let ignored =
            |inner, why| Ignored { key: head.key, inner, from: from.clone(), why, if_trusted: true, beyond: None };
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
        if head.asks_alone() {
            counted.ignored.push(ignored(None, "it holds nothing, and would only refuse"));
            return;
        }
        let spelling = counted.tables.iter().filter(|table| table.adds_only && table.head.spells).count();
        if head.spells && spelling >= MOST_SPELLING {
            let why = "sixteen tables of untrusted files look into words already; more could spell them";
            counted.ignored.push(Ignored { beyond: Some(head.program.clone()), ..ignored(None, why) });
            return;
        }
        without = TERMS.into_iter().filter(|term| head.sets.iter().any(|set| set == term)).collect();
        let why = "an untrusted file says what is held, not on what terms";
        counted.ignored.extend(without.iter().map(|&term| ignored(Some(term), why)));
    }
    counted.tables.push(Table { file: Arc::clone(&reading.file), head: head.clone(), without, adds_only });
}

impl Head {
    /// A rule that holds nothing by itself: it refuses until somebody names a secret.
    fn asks_alone(&self) -> bool {
        self.key == Key::Rule && self.holds.is_empty() && self.sets.iter().any(|set| set == "ask")
    }
}

/// Does it take the name of one that is there already? What has no name takes none, but for a program: that is how the
/// command lines of that program are read, and read differently they may pass whatever else is said of them. By what lines
/// the programs that are known write files and tell SQL is known as well: more of them would make writes of reads.
fn is_taken(below: &[Table], head: &Head, built_in: &BuiltIn<'_>) -> bool {
    if matches!(head.key, Key::Writer | Key::Sql) {
        return head.program.iter().any(|program| (built_in.program)(program));
    }
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
            Key::Zone => self.is_entered_by(program),
            _ => false,
        }
    }

    /// May a line of this program enter the zone by how it is read? Which of its words are files matters where reading or
    /// copying enters as well, and that is so for any program.
    fn is_entered_by(&self, program: &str) -> bool {
        let by_files = self.head.sets.iter().any(|set| set == "reads" || set == "content");
        by_files || self.head.commands.iter().any(|glob| may_begin_with(glob, program))
    }
}

/// May a line that fits the glob begin with this word? As far as the glob says it before its first sign: `*` goes over
/// spaces.
fn may_begin_with(glob: &str, program: &str) -> bool {
    let plain = &glob[..glob.find(['*', '?', '[', '{', '\\', '!']).unwrap_or(glob.len())];
    match plain.split_once(' ') {
        Some((first, _)) => first == program,
        None if plain.len() == glob.len() => plain == program,
        None => program.starts_with(plain),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_for_lines_says_with_which_programs_they_may_begin() {
        let table = [
            ("deployctl deploy*", "deployctl", true),
            ("deployctl deploy*", "deploy", false),
            ("deployctl", "deployctl", true),
            ("deployctl", "deployctl2", false),
            ("deploy*", "deployctl", true),
            ("dep*prod", "deployctl", true),
            ("{deployctl,other} x", "deployctl", true),
            ("*deploy*", "anything", true),
            ("deploy?tl x", "deployctl", true),
            ("crontab *", "deployctl", false),
        ];
        for (glob, program, may) in table {
            assert_eq!(may_begin_with(glob, program), may, "{glob} {program}");
        }
    }
}
