//! What only reads, as far as that is known of a program: a file that came with a repository takes none of it away.
//!
//! Where the built-in rules know a program, a line that none of them is about passes: it is one of its reads, or of what
//! it may do to nobody else. Besides, these programs and sub-commands change nothing that is shared, whatever their words.
//! What a shell opens for them is looked at by itself.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::path::Path;

use super::book::{Author, Book, Place, Rule};
use super::grammar::Line;
use super::passing;
use super::step::Step;

/// Whether a path is a device's, which is nobody's file: every other line of a shell writes to `/dev/null`. What lies in
/// `/dev/shm` is a file like any other.
#[must_use]
pub fn is_device(path: &Path) -> bool {
    path.starts_with("/dev") && !path.starts_with("/dev/shm")
}

/// Whether a path is a device's and leads to no other file, as `/dev/stdout` does.
pub(super) fn is_nobodys(path: &Path) -> bool {
    let leads_on = || path.as_os_str().as_encoded_bytes().starts_with(b"/dev/std") || path.starts_with("/dev/fd");
    is_device(path) && !leads_on()
}

/// Programs that write to their standard output and nowhere else.
const PROGRAMS: &str = "\
    bat cal cat cksum cmp column comm cut date df diff dig dirname basename du egrep fgrep file fold free getent \
    grep groups head hexdump host hostname id join jq last less locale ls lsblk lscpu lsof man md5sum more \
    netstat nl nproc nslookup od paste pgrep ping printenv ps pwd readlink realpath rev rg sha1sum sha256sum \
    sha512sum ss stat strings tac tail top tr traceroute tree tty type uname uniq uptime vmstat w wc whatis \
    whereis which who whoami zcat zgrep";

/// The same of programs that do other things as well, by the word behind their name (git(1), kubectl(1), systemctl(1),
/// `journalctl` apart: it rotates by options).
const SUB_COMMANDS: [(&str, &str); 3] = [
    (
        "git",
        "annotate blame cat-file check-attr check-ignore check-ref-format cherry count-objects describe diff \
         diff-files diff-index diff-tree for-each-ref fsck grep help log ls-files ls-remote ls-tree merge-base \
         name-rev range-diff rev-list rev-parse shortlog show show-branch show-ref status var verify-commit \
         verify-tag version whatchanged",
    ),
    ("kubectl", "api-resources api-versions cluster-info describe diff events explain get logs top version"),
    (
        "systemctl",
        "cat get-default is-active is-enabled is-failed list-dependencies list-jobs list-sockets list-timers \
         list-unit-files list-units show status",
    ),
];

pub(super) fn has(words: &str, word: &str) -> bool {
    words.split(' ').any(|own| own == word)
}

/// Whether a program is one of those that only read, always or with some of its words.
pub(super) fn knows(program: &str) -> bool {
    has(PROGRAMS, program) || SUB_COMMANDS.iter().any(|(name, _)| *name == program)
}

/// Whether the line only reads, so far as no rule must be asked for that.
pub(super) fn only_reads(step: &Step<'_>, line: &Line<'_>, book: &Book, touches: bool) -> bool {
    let name = step.name();
    has(PROGRAMS, name)
        || step.starts_reads
        || passing::only_reads(step, line, touches)
        || line.is_on("--help")
        || line.is_on("--version")
        || SUB_COMMANDS.iter().any(|(program, words)| *program == name && words.split(' ').any(|word| begins(line, word)))
        // What is started on a host is looked at by itself, and what goes there too.
        || book.launchers(name).any(|launcher| launcher.host || launcher.copies)
}

/// Whether the sub-command is this word. The first operand may be the value of an option that nobody knows (`git -C DIR
/// status`).
fn begins(line: &Line<'_>, word: &str) -> bool {
    if !line.path.is_empty() {
        return line.path.split(' ').next() == Some(word);
    }
    let mut operands = line.operands.iter();
    let is_doubtful = line.doubtful.first() == Some(&0);
    let first = operands.next().is_some_and(|first| *first == OsStr::new(word));
    first || (is_doubtful && operands.next().is_some_and(|second| *second == OsStr::new(word)))
}

/// Whether a rule says by its silence that a line passes: it is built in, or stands for one that is, knows the program,
/// and is about commands there. A pack is about what it is switched on for alone.
pub(super) fn is_known_to(rule: &Rule, step: &Step<'_>) -> bool {
    let there = match rule.on {
        Place::Anywhere => true,
        Place::Here => step.host.is_none() && !step.inside,
        Place::Remote => step.host.is_some() && !step.inside,
    };
    let ready = rule.author == Author::BuiltIn || (rule.author == Author::Settings && Book::has_built_in(&rule.name));
    there && ready && rule.program.is_some() && rule.pack.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_there_once_and_no_built_in_table_writes_with_such_a_program() {
        let book = Book::new();
        let twice = |words: &str, word: &str| words.split(' ').filter(|own| *own == word).count() > 1;
        for name in PROGRAMS.split(' ') {
            assert!(!name.is_empty() && !twice(PROGRAMS, name), "{name:?} stands there twice");
            assert!(book.writers(name).next().is_none(), "{name} writes files");
            assert!(book.rules(name, true).all(|rule| rule.program.is_none()), "a rule is about {name}");
            assert!(!book.launches(name), "{name} starts others");
        }
        for (program, words) in SUB_COMMANDS {
            assert!(words.split(' ').all(|word| !word.is_empty() && !twice(words, word)), "{program}");
        }
    }
}
