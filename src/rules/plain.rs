//! A plain read, told by the program and the words of its sub-command alone: no word of the line is one by which a built-in
//! table of that program has anything to say. It is asked before any table is read, since that takes longer than all the rest of
//! a command that passes; what it cannot tell, the tables do.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};

use super::book::{Book, Verbs};
use super::step::shown;
use super::{Classification, Command};

/// What the tables would say of this line, if it is plain that it is nothing.
pub(super) fn read(command: &Command<'_>, book: &Book) -> Option<Classification> {
    let verbs = book.verbs(command.name.to_str()?)?;
    is_plain(command.args, verbs).then(|| {
        let name = shown(command.name);
        let reason = format!("no rule locks this line of {name}");
        Classification { known: true, operation: name, reason, ..Classification::default() }
    })
}

/// The sub-command stands in front of all options, so that none of them can be taken for it; and no word acts.
fn is_plain(args: &[OsString], verbs: &Verbs) -> bool {
    let acts = |word: &OsString| verbs.acts.iter().any(|verb| word == verb);
    let path: Vec<&OsStr> = args.iter().map(OsString::as_os_str).take_while(|word| is_a_word(word)).collect();
    let is_leaf = |word: &&OsStr| !verbs.groups.iter().any(|group| *word == *group);
    !args.iter().any(acts) && path.iter().any(is_leaf)
}

fn is_a_word(word: &OsStr) -> bool {
    let mut signs = word.as_encoded_bytes().iter();
    signs.next().is_some_and(u8::is_ascii_alphanumeric)
        && signs.all(|sign| sign.is_ascii_alphanumeric() || *sign == b'-')
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// So many words make every kind of line that is told apart here, and many that are not.
    const WORDS: [&str; 16] = [
        "ps",
        "compose",
        "up",
        "run",
        "container",
        "restart",
        "stack",
        "deploy",
        "api",
        "workflow",
        "pr",
        "-f",
        "--help",
        "-p=up",
        "--",
        "secrets.yml",
    ];

    #[test]
    fn what_is_plain_the_tables_say_as_well() {
        let (nothing, book) = (|_: &str| None, Book::new());
        let mut plain = 0;
        for name in ["docker", "podman", "docker-compose", "podman-compose", "gh"] {
            for number in 0..WORDS.len().pow(3) {
                let words = [number % 16, number / 16 % 16, number / 256].map(|at| OsString::from(WORDS[at]));
                for length in 1..=3 {
                    let args = &words[..length];
                    let cwd = Path::new("/");
                    let command = Command { name: name.as_ref(), args, cwd, env: &nothing, stdout: None, stdin: None };
                    let Some(told) = read(&command, &book) else { continue };
                    assert_eq!(told, super::super::by_tables(&command, &book), "{name} {args:?}");
                    plain += 1;
                }
            }
        }
        assert!(plain > 5_000, "{plain} lines");
    }

    #[test]
    fn settings_that_have_a_say_are_asked() {
        let command = Command {
            name: "gh".as_ref(),
            args: &["pr".into()],
            cwd: Path::new("/"),
            env: &|_| None,
            stdout: None,
            stdin: None,
        };
        assert!(read(&command, &Book::new()).is_some());
        let own =
            super::super::Tables::read("[[rule]]\nname = \"x\"\nprogram = \"gh\"\nresource = \"a:b\"\n").expect("one");
        assert!(read(&command, &Book::with(own, std::collections::BTreeMap::new())).is_none());
        assert!(read(&command, &Book::new().with_packs(vec!["rotation".to_owned()])).is_none());
    }
}
