//! Which tracked files should be encrypted, by their names: asked for many files, so the rules are read once.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::rc::Rc;

use regex::Regex;

use super::creation::{CONFIG, PARTIAL};
use super::sops_config::{self, Node};
use super::{bytes_of, go_regex};

/// File types that hold anything: a rule that takes every such file says nothing of one.
const GENERAL: [&str; 9] = ["yaml", "yml", "json", "ini", "toml", "txt", "conf", "properties", "bin"];

/// Why a file that is plaintext should not be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedSecret {
    /// One of its endings is `.sops`. The other markers (`.enc`, `.age`…) are used by other programs as well.
    Marker,
    /// A creation rule names it by its `path_regex`.
    Rule,
}

/// The names of secrets below a directory with a `.sops.yaml`.
#[derive(Debug)]
pub struct SecretNames {
    directory: PathBuf,
    rules: Vec<Rule>,
}

/// A creation rule. The first that takes a path counts.
#[derive(Debug)]
struct Rule {
    /// None takes every path.
    pattern: Option<Regex>,
    /// It says of a path that a secret lies there: not one that takes every file, or every file of a general type, nor one
    /// that encrypts only some values, since what has none of these may stand in the open.
    means_it: bool,
}

impl SecretNames {
    /// By the `.sops.yaml` in this directory, if there is one. A pattern that is not understood names nothing.
    #[must_use]
    pub fn of(directory: &Path) -> Self {
        let text = std::fs::read(directory.join(CONFIG)).unwrap_or_default();
        Self { directory: directory.to_owned(), rules: rules(&String::from_utf8_lossy(&text)) }
    }

    /// Whether the name of this file, absolute, is one of a secret.
    #[must_use]
    pub fn names(&self, path: &Path) -> Option<NamedSecret> {
        let base = path.file_name().filter(|base| *base != CONFIG)?;
        if bytes_of(base).split(|&byte| byte == b'.').skip(1).any(|part| part.eq_ignore_ascii_case(b"sops")) {
            return Some(NamedSecret::Marker);
        }
        let below = path.strip_prefix(&self.directory).unwrap_or(path).to_string_lossy();
        let rule = self.rules.iter().find(|rule| rule.takes(&below))?;
        rule.means_it.then_some(NamedSecret::Rule)
    }
}

impl Rule {
    fn takes(&self, below: &str) -> bool {
        self.pattern.as_ref().is_none_or(|pattern| pattern.is_match(below))
    }
}

fn rules(text: &str) -> Vec<Rule> {
    let root = sops_config::parse(text).unwrap_or(Node::Null);
    root.get("creation_rules").map(Node::items).unwrap_or_default().iter().filter_map(rule).collect()
}

fn rule(node: &Rc<Node>) -> Option<Rule> {
    let pattern = match node.get("path_regex").and_then(Node::text).filter(|pattern| !pattern.is_empty()) {
        Some(pattern) => Some(go_regex::compile(pattern).ok()?),
        None => None,
    };
    let partial = PARTIAL.iter().any(|setting| node.get(setting).is_some_and(Node::says_something));
    let takes_any = |pattern: &Regex| {
        pattern.is_match("") || GENERAL.iter().any(|ending| pattern.is_match(&format!("zzqx.{ending}")))
    };
    let means_it = !partial && pattern.as_ref().is_some_and(|pattern| !takes_any(pattern));
    Some(Rule { pattern, means_it })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(rule: &str, path: &str) -> Option<NamedSecret> {
        let directory = PathBuf::from("/r");
        let names = SecretNames { directory, rules: rules(&format!("creation_rules:\n  - {rule}\n    age: a\n")) };
        names.names(&Path::new("/r").join(path))
    }

    #[test]
    fn a_rule_names_the_files_that_it_means_and_not_whole_kinds_of_files() {
        use NamedSecret::{Marker, Rule};
        for (rule, path, expected) in [
            ("path_regex: secrets/.*", "secrets/x.yaml", Some(Rule)),
            ("path_regex: \\.env$", "deep/x.env", Some(Rule)),
            ("path_regex: secrets/.*", "public/x", None),
            ("path_regex: .*\\.yaml", "x.yaml", None),
            ("path_regex: .*", "x.env", None),
            ("path_regex: k8s/.*\n    encrypted_regex: ^data$", "k8s/x.yaml", None),
            ("path_regex: '(?!x)'", "x.env", None),
            ("shamir_threshold: 1", "x.env", None),
            ("path_regex: none", "x.env.sops", Some(Marker)),
            ("path_regex: none", "a/x.SOPS.yaml", Some(Marker)),
            ("path_regex: none", "a/.sops.yaml", None),
            ("path_regex: none", "x.sops/readme", None),
            ("path_regex: none", "x.enc", None),
        ] {
            assert_eq!(named(rule, path), expected, "{rule} {path}");
        }
    }
}
