//! The rules of one configuration, read once and asked about many paths.
#![forbid(unsafe_code)]

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use regex::Regex;

use crate::terms::go_regex;

use super::{CreationError, CreationRule, Node, read, sops_config};

/// File types that hold anything: a rule that takes every such file says nothing of one.
const GENERAL: &[&str] = &["yaml", "yml", "json", "ini", "toml", "txt", "conf", "properties", "bin"];
/// A base name that no rule is about.
const NOBODYS: &str = "zzqx";

/// The creation rules of one `.sops.yaml`.
#[derive(Debug)]
pub struct CreationRules {
    config: PathBuf,
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    rule: CreationRule,
    /// Compiled when a path comes this far; none when it cannot be.
    pattern: OnceCell<Option<Regex>>,
    /// Whether it names files, and not whole kinds of them; told once.
    names_files: OnceCell<bool>,
}

impl CreationRules {
    /// Reads the content of a configuration; `config` is where it lies.
    ///
    /// # Errors
    /// [`CreationError::NotYaml`].
    pub fn parse(text: &[u8], config: &Path) -> Result<Self, CreationError> {
        let root = sops_config::parse(&String::from_utf8_lossy(text))
            .map_err(|error| CreationError::NotYaml { path: config.to_owned(), line: error.0 })?;
        let rules = root.get("creation_rules").map(Node::items).unwrap_or_default();
        let rule = |rule: &Node| {
            let pattern = rule.get("path_regex").and_then(Node::text).filter(|pattern| !pattern.is_empty());
            Rule {
                rule: read(rule, pattern, config.to_owned()),
                pattern: OnceCell::new(),
                names_files: OnceCell::new(),
            }
        };
        Ok(Self { rules: rules.iter().map(|node| rule(node)).collect(), config: config.to_owned() })
    }

    /// The first rule that takes a path, which is given below the directory of the configuration.
    ///
    /// # Errors
    /// [`CreationError::BadPattern`], when sops would come to it as well.
    pub fn rule_for(&self, below: &str) -> Result<Option<&CreationRule>, CreationError> {
        for rule in &self.rules {
            match rule.takes(below) {
                Some(true) => return Ok(Some(&rule.rule)),
                Some(false) => {}
                None => return Err(self.bad(rule)),
            }
        }
        Ok(None)
    }

    /// Whether a rule says of this very path that a secret lies there. One that takes every file, or every file of a
    /// general type, says so of none; neither does one that encrypts only some values: what has none of these may stand
    /// in the open. A pattern that cannot be read says nothing.
    #[must_use]
    pub fn means(&self, below: &str) -> bool {
        let rule = self.rules.iter().find(|rule| rule.takes(below) != Some(false));
        rule.is_some_and(|rule| rule.names_files() && rule.takes(below) == Some(true))
    }

    fn bad(&self, rule: &Rule) -> CreationError {
        let pattern = rule.rule.path_regex.clone().unwrap_or_default();
        CreationError::BadPattern { path: self.config.clone(), pattern }
    }
}

impl Rule {
    fn names_files(&self) -> bool {
        *self.names_files.get_or_init(|| {
            let anything = || GENERAL.iter().any(|ending| self.takes(&format!("{NOBODYS}.{ending}")) == Some(true));
            !self.rule.partial && self.takes("") == Some(false) && !anything()
        })
    }

    /// None when its pattern is not understood.
    fn takes(&self, below: &str) -> Option<bool> {
        let Some(pattern) = self.rule.path_regex.as_deref() else { return Some(true) };
        let compiled = self.pattern.get_or_init(|| go_regex::compile(pattern).ok());
        compiled.as_ref().map(|pattern| pattern.is_match(below))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_means_the_files_that_it_names_and_not_whole_kinds_of_files() {
        for (rule, path, means) in [
            ("path_regex: secrets/.*\\.yaml$\n    age: a", "secrets/x.yaml", true),
            ("path_regex: secrets/.*\n    age: a", "secrets/x", true),
            ("path_regex: \\.env$\n    age: a", "deep/x.env", true),
            ("path_regex: \\.enc\\.yaml$\n    age: a", "x.enc.yaml", true),
            ("path_regex: secrets/.*\n    age: a", "public/x", false),
            ("path_regex: .*\\.yaml\n    age: a", "x.yaml", false),
            ("path_regex: .*\n    age: a", "x.env", false),
            ("age: a", "x.env", false),
            ("path_regex: k8s/.*\n    encrypted_regex: ^data$\n    age: a", "k8s/x.yaml", false),
            ("path_regex: '(?!x)'\n    age: a", "x.env", false),
        ] {
            let text = format!("creation_rules:\n  - {rule}\n");
            let rules = CreationRules::parse(text.as_bytes(), Path::new("/r/.sops.yaml")).expect("YAML");
            assert_eq!(rules.means(path), means, "{rule} {path}");
        }
    }
}
