//! What `locked init` writes: every key that counts in a repository, as a comment.
#![forbid(unsafe_code)]

use crate::config::Key;

const HEAD: &str = "\
# Settings of `locked` for everybody who works in this repository. Nothing is set as it stands: take the # before a
# line off to set it. The values shown are the ready ones, or examples. `locked config show` tells what counts, and
# who says so.
#
# Until somebody has read this file and said `locked config trust`, it may only add; what else it may is said as
# \"untrusted\".
";

/// The whole file.
pub(super) fn commented() -> String {
    let here = |key: &&Key| **key != Key::TrustRepositories;
    let keys = Key::ALL.iter().filter(here).map(|key| {
        let example = key.example().lines().map(|line| format!("#{line}\n")).collect::<String>();
        format!("\n{}{example}", prose(&format!("{} Untrusted: {}.", key.about(), key.before_trust())))
    });
    std::iter::once(HEAD.to_owned()).chain(keys).collect()
}

/// A comment of lines that fit.
fn prose(text: &str) -> String {
    let mut lines = vec![String::from("#")];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() < 118 => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(format!("# {word}")),
        }
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines that are settings; prose has a space behind its #.
    fn uncommented() -> String {
        let text = commented();
        let line = |line: &str| match line.strip_prefix('#') {
            Some(setting) if !setting.starts_with(' ') => format!("{setting}\n"),
            _ => format!("{line}\n"),
        };
        text.lines().map(line).collect()
    }

    #[test]
    fn it_sets_nothing_as_it_stands_and_all_that_may_stand_in_a_repository_without_its_comments() {
        assert!(commented().lines().all(|line| line.is_empty() || line.starts_with('#')));
        assert!(commented().lines().all(|line| line.chars().count() <= 120));
        let set: toml::Table = toml::from_str(&uncommented()).expect("TOML");
        for key in Key::ALL.into_iter().filter(|&key| key != Key::TrustRepositories) {
            let mut names = key.name().trim_matches(['[', ']']).split('.');
            let first = names.next().and_then(|name| set.get(name));
            let found = names.fold(first, |table, name| table.and_then(|table| table.get(name)));
            assert!(found.is_some(), "{} is missing", key.name());
        }
        assert!(!set.contains_key("trust"));
    }
}
