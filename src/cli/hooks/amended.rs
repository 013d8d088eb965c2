//! Whether the commit that is being made takes the place of HEAD (`git commit --amend`): then HEAD is none of its parents. git tells
//! its hooks nothing of that, but it stands above us, and its words can be seen. Where they cannot, a commit is an ordinary one.
#![forbid(unsafe_code)]

use crate::holder;

/// Options of git itself, before the command, whose value is a word of its own (git's `git.adoc`).
const OF_GIT: [&[u8]; 8] =
    [b"-C", b"-c", b"--git-dir", b"--work-tree", b"--namespace", b"--super-prefix", b"--config-env", b"--attr-source"];

/// Options of `git commit` whose value is a word of its own, where it does not stand behind `=` (git's `git-commit.adoc`).
const OF_COMMIT: [&[u8]; 11] = [
    b"--message",
    b"--file",
    b"--author",
    b"--date",
    b"--template",
    b"--cleanup",
    b"--fixup",
    b"--squash",
    b"--reuse-message",
    b"--reedit-message",
    b"--trailer",
];

/// The same as letters, which may stand behind others: `-am WORDS`.
const LETTERS: &[u8] = b"mFCct";

/// Whether the `git commit` that has started us amends.
pub(super) fn amends() -> bool {
    holder::words_above("git").find_map(|words| is_amending(&words)).unwrap_or_default()
}

/// Whether this line of git amends; none where it is no commit.
fn is_amending(words: &[Vec<u8>]) -> Option<bool> {
    let mut words = words.iter().skip(1).map(Vec::as_slice);
    let command = loop {
        match words.next()? {
            option if OF_GIT.contains(&option) => _ = words.next(),
            option if option.starts_with(b"-") => {}
            command => break command,
        }
    };
    if command != b"commit" {
        return None;
    }
    let mut amends = false;
    while let Some(word) = words.next().filter(|word| *word != b"--") {
        match word {
            // git takes any beginning that no other option has.
            [b'-', b'-', name @ ..] if name.len() >= 2 && b"amend".starts_with(name) => amends = true,
            [b'-', b'-', b'n', b'o', b'-', name @ ..] if name.len() >= 2 && b"amend".starts_with(name) => {
                amends = false
            }
            [b'-', b'-', ..] if OF_COMMIT.contains(&word) => _ = words.next(),
            [b'-', letters @ .., last] if !letters.starts_with(b"-") && takes_the_next(letters, *last) => {
                _ = words.next()
            }
            _ => {}
        }
    }
    Some(amends)
}

/// A letter before it that takes a value has what follows it.
fn takes_the_next(before: &[u8], last: u8) -> bool {
    LETTERS.contains(&last) && !before.iter().any(|letter| LETTERS.contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_commit_amends_and_a_message_is_no_option() {
        for (line, amends) in [
            ("git commit --amend", Some(true)),
            ("git commit --ame -m x", Some(true)),
            ("/usr/bin/git -C x -c a=b --no-pager commit -qam x --amend", Some(true)),
            ("git --git-dir=x commit --amend --no-edit -- --x", Some(true)),
            ("git commit --amend --no-amend", Some(false)),
            ("git commit -m --amend", Some(false)),
            ("git commit -qam --amend", Some(false)),
            ("git commit -mx --amend", Some(true)),
            ("git commit -mc --amend", Some(true)),
            ("git commit --author --amend", Some(false)),
            ("git commit --author=x --amend", Some(true)),
            ("git commit -- --amend", Some(false)),
            ("git commit --all", Some(false)),
            ("git commit --a", Some(false)),
            ("git -c commit merge --amend", None),
            ("git hook run pre-commit", None),
            ("git", None),
        ] {
            let words: Vec<Vec<u8>> = line.split(' ').map(|word| word.as_bytes().to_vec()).collect();
            assert_eq!(is_amending(&words), amends, "{line}");
        }
    }
}
