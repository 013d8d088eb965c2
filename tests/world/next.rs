//! The line behind `next:` is one thing: a line that can be pasted as it stands, or a sentence. People paste it, and agents run
//! it; a line that goes on in words runs its first half. In a sentence a command stands between backquotes. Every command
//! that the tests run is looked at for it.
#![forbid(unsafe_code)]

/// What a line to paste begins with, besides `NAME=value` and a path.
const COMMANDS: [&str; 27] = [
    "locked",
    "git",
    "gh",
    "sops",
    "export",
    "unset",
    "ls",
    "ssh",
    "sudo",
    "chmod",
    "mv",
    "rm",
    "cp",
    "cd",
    "grep",
    "mount",
    "psql",
    "apt-get",
    "cat",
    "sh",
    "curl",
    "timedatectl",
    "fish_add_path",
    "hash",
    "systemctl",
    "mkdir",
    "tail",
];

/// Words and signs that no command line of ours has, outside of quotes.
const WORDS: [&str; 17] = [
    "or", "and", "then", "if", "where", "which", "that", "with", "without", "shows", "tells", "sees", "as", "at",
    "the", "it", "else",
];

/// What is wrong with this line or sentence; none when nothing is.
pub(crate) fn mixed(next: &str) -> Option<String> {
    let plain = unquoted(next);
    let first = plain.split(' ').next().unwrap_or_default();
    if begins_a_line(first) {
        return line(&plain);
    }
    let bare = outside(&plain, '`')?;
    let words: Vec<&str> =
        bare.split_whitespace().map(|word| word.trim_matches(['(', ')', ',', ';', ':', '.'])).collect();
    let carried = words.windows(2).find(|pair| is_command(pair[0], pair[1]));
    carried.map(|pair| format!("a sentence with a command that stands in no backquotes: {} {}", pair[0], pair[1]))
}

fn begins_a_line(first: &str) -> bool {
    let assigns = first.split_once('=').is_some_and(|(name, _)| !name.is_empty() && is_upper(name));
    COMMANDS.contains(&first) || assigns || first.starts_with('/') || first.starts_with("install/")
}

fn is_upper(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Of a line: it goes on in words, or is cut short.
fn line(plain: &str) -> Option<String> {
    let words: Vec<&str> = plain.split(' ').collect();
    if let Some(word) = words.iter().find(|word| WORDS.contains(word)) {
        return Some(format!("a line that goes on in words: {word}"));
    }
    let sign = ["…", "; ", ", ", " (", " # ", "`"].into_iter().find(|sign| plain.contains(sign));
    sign.map(|sign| format!("a line with {sign:?}"))
}

/// A command and what follows it as its first argument, where English would not have the two.
fn is_command(word: &str, behind: &str) -> bool {
    let option = behind.starts_with('-') && behind.len() > 1;
    match word {
        "locked" => option || locked::cli::definition().find_subcommand(behind).is_some(),
        "git" => {
            option || ["add", "rm", "pull", "push", "checkout", "commit", "config", "show", "fsck"].contains(&behind)
        }
        "sops" => option || ["set", "edit", "encrypt", "decrypt", "updatekeys", "rotate"].contains(&behind),
        "export" | "unset" => is_upper(behind.split('=').next().unwrap_or_default()),
        "ls" | "chmod" | "sudo" | "mv" | "rm" | "cd" | "grep" => true,
        _ => false,
    }
}

/// Without what stands between quotes of a shell.
fn unquoted(text: &str) -> String {
    let mut plain = String::new();
    let mut open: Option<char> = None;
    for sign in text.chars() {
        match (open, sign) {
            (None, '"') => open = Some(sign),
            // Not the apostrophe of a word.
            (None, '\'') if !plain.ends_with(|before: char| before.is_alphanumeric()) => open = Some(sign),
            (Some(quote), sign) if quote == sign => {
                open = None;
                plain.push('Q');
            }
            (None, sign) => plain.push(sign),
            (Some(_), _) => {}
        }
    }
    plain
}

/// What stands outside of pairs of this sign; all of it where one is left open.
fn outside(text: &str, sign: char) -> Option<String> {
    let parts: Vec<&str> = text.split(sign).collect();
    Some(if parts.len().is_multiple_of(2) {
        text.to_owned()
    } else {
        parts.into_iter().step_by(2).collect::<Vec<_>>().join("Q")
    })
}

/// Looks at every `next:` of what a command said.
#[track_caller]
pub(crate) fn each_is_one_thing(said: &str) {
    for next in said.lines().filter_map(|line| line.strip_prefix("next:  ")) {
        if let Some(why) = mixed(next) {
            panic!("{why}: {next}");
        }
    }
}

#[test]
fn a_line_or_a_sentence_and_never_both() {
    for good in [
        "locked status sops:monitoring",
        "locked -r a:b COMMAND",
        "mv /a/gh /a/.gh.kept && locked shims install gh",
        "export LOCKED_SESSION=$(cat /proc/sys/kernel/random/uuid)",
        "git commit -m 'Update it, and more' -- x && git pull",
        "try again; `locked status` shows whether it answers",
        "see who may write there (`ls -ld /a`), or name another folder: --dir DIR",
        "update this copy of locked",
        "install sops",
        "make room on the server's disk, or on another's",
        "set ttl alone: the others follow from it",
        "LOCKED_STORE=embedded locked status",
    ] {
        assert_eq!(mixed(good), None, "{good}");
    }
    for wrong in [
        "locked sops encrypt -i x; and change what was in it",
        "locked restore x  # if it is new: git rm --cached x",
        "locked --secret NAME PROGRAM…, NAME as your people call the secret",
        "see what it is: ls -ld /a",
        "read that file, and if it is right: locked config trust /a",
        "export HOME, or CODEX_HOME",
        "sops decrypt FILE shows it",
        "put the shims first: export PATH=/a:\"$PATH\"",
        "git config --edit, with --global if it stands there",
        "after that: locked doctor --fix agents forgets them",
        "locked audit looks at all that a range of commits changed",
    ] {
        assert!(mixed(wrong).is_some(), "{wrong}");
    }
}
