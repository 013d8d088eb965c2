//! Which tracked files should be encrypted, by their names: asked for many files, so the rules are read once.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use super::creation::{CONFIG, CreationRules};
use super::{bytes_of, says_sops};

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
    rules: Option<CreationRules>,
}

impl SecretNames {
    /// By the `.sops.yaml` in this directory, if there is one. What is not understood names nothing.
    #[must_use]
    pub fn of(directory: &Path) -> Self {
        Self::by(directory, &crate::platform::regular_text(&directory.join(CONFIG)).unwrap_or_default())
    }

    fn by(directory: &Path, text: &[u8]) -> Self {
        Self { directory: directory.to_owned(), rules: CreationRules::parse(text, &directory.join(CONFIG)).ok() }
    }

    /// Whether the name of this file, absolute, is one of a secret.
    #[must_use]
    pub fn names(&self, path: &Path) -> Option<NamedSecret> {
        let base = path.file_name().filter(|base| *base != CONFIG)?;
        if says_sops(bytes_of(base)) {
            return Some(NamedSecret::Marker);
        }
        let below = path.strip_prefix(&self.directory).unwrap_or(path).to_string_lossy();
        self.rules.as_ref()?.means(&below).then_some(NamedSecret::Rule)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(rule: &str, path: &str) -> Option<NamedSecret> {
        let text = format!("creation_rules:\n  - {rule}\n    age: a\n");
        let names = SecretNames::by(Path::new("/r"), text.as_bytes());
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
