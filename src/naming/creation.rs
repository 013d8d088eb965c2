//! Creation rules: what `.sops.yaml` says of a path. sops looks for the file from the cwd upwards (not from the target),
//! matches `path_regex` against the path below the configuration's directory, and the first rule that matches counts.
//! Facts from sops' `config/config.go`, version 3.11.
#![forbid(unsafe_code)]

mod set;

pub use set::CreationRules;

use std::path::{Component, Path, PathBuf};

use super::sops_config::{self, Node};
use super::{bytes_of, sniff, stem};
use crate::terms::go_regex;

pub(super) const CONFIG: &str = ".sops.yaml";
/// sops climbs no further.
const MOST_PARENTS: usize = 100;
/// More recipients than this are no team but an attack on our memory.
const MOST_RECIPIENTS: usize = 10_000;

/// Key types beside age: in a rule, and in one of its key groups.
const OTHER_KEYS: &[&str] =
    &["kms", "pgp", "gcp_kms", "hckms", "azure_keyvault", "hc_vault_transit_uri", "hc_vault", "plugins"];

/// Settings that leave a part of the values in plaintext.
pub(super) const PARTIAL: &[&str] = &[
    "encrypted_suffix",
    "unencrypted_suffix",
    "encrypted_regex",
    "unencrypted_regex",
    "encrypted_comment_regex",
    "unencrypted_comment_regex",
];

/// The rule by which sops would encrypt a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreationRule {
    /// The configuration it stands in.
    pub config: PathBuf,
    /// Its `path_regex`; none for a rule that takes every path.
    pub path_regex: Option<String>,
    /// All age recipients (public keys), of all key groups, in the order of the file, each once.
    pub age: Vec<String>,
    /// It names keys of other kinds as well (KMS, PGP, Vault…).
    pub other_keys: bool,
    /// How many key groups it makes; more than one means that the data key is split.
    pub key_groups: usize,
    /// It chooses which values are encrypted: plaintext values are no fault.
    pub partial: bool,
}

/// Why the rules cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CreationError {
    /// The configuration cannot be read.
    #[error("cannot read {path:?}: {source}; sops needs it as well")]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// It is not YAML.
    #[error("{path:?} is not YAML (line {line}); correct it, sops refuses it as well")]
    NotYaml {
        /// Which file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
    },
    /// A `path_regex` cannot be understood.
    #[error(
        "{path:?}: the path_regex {pattern:?} is not understood; Go's syntax has no look-around and no back-references"
    )]
    BadPattern {
        /// Which file.
        path: PathBuf,
        /// The pattern.
        pattern: String,
    },
}

/// Would writing plaintext to `path` (`decrypt --output`) overwrite a secret's file? Yes if it is SOPS by content, bears a
/// marker suffix (`.sops`, `.enc`…), or a creation rule names it; a rule that takes every path names none. A pattern or
/// configuration that cannot be read counts as yes.
///
/// `path` is absolute, as sops opens it; `config` is what `--config` or `SOPS_CONFIG` says.
#[must_use]
pub fn is_secret_target(path: &Path, cwd: &Path, config: Option<&Path>) -> bool {
    let Some(base) = path.file_name() else { return false };
    if base == CONFIG {
        return false;
    }
    stem::bears_marker(bytes_of(base)) || holds_sops(path) || is_named_by_a_rule(path, cwd, config)
}

/// Whether the file is SOPS now, by its content.
#[must_use]
pub fn holds_sops(path: &Path) -> bool {
    crate::platform::regular_text(path).is_ok_and(|content| sniff::is_sops(&content))
}

fn is_named_by_a_rule(path: &Path, cwd: &Path, config: Option<&Path>) -> bool {
    match creation_rule_for(path, cwd, config) {
        Ok(Some(CreationRule { path_regex: Some(pattern), .. })) => {
            // A pattern that the empty path matches is satisfied by every path.
            go_regex::compile(&pattern).is_ok_and(|pattern| !pattern.is_match(""))
        }
        Ok(_) => false,
        Err(_) => true,
    }
}

/// The creation rule for `path`: the first that matches. None when there is no configuration, no rule in it, or none that
/// matches (then sops encrypts nothing without keys on its command line).
///
/// `path` is absolute, lexically cleaned as sops does (or `--filename-override`, absolute); `config` is what `--config` or
/// `SOPS_CONFIG` says.
///
/// # Errors
/// See [`CreationError`].
pub fn creation_rule_for(
    path: &Path,
    cwd: &Path,
    config: Option<&Path>,
) -> Result<Option<CreationRule>, CreationError> {
    let Some(config) = config.map(|config| cleaned(&cwd.join(config))).or_else(|| find(cwd)) else { return Ok(None) };
    let text = crate::platform::regular_text(&config)
        .map_err(|source| CreationError::Unreadable { path: config.clone(), source })?;
    let below = config.parent().and_then(|directory| path.strip_prefix(directory).ok()).unwrap_or(path);
    let below = below.to_string_lossy().into_owned();
    Ok(CreationRules::parse(&text, &config)?.rule_for(&below)?.cloned())
}

/// A path without `.` and `..`, by its text alone: sops compares paths so.
fn cleaned(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut clean, component| {
        match component {
            Component::CurDir => {}
            Component::ParentDir => _ = clean.pop(),
            other => clean.push(other),
        }
        clean
    })
}

/// The configuration that sops finds from `cwd`.
fn find(cwd: &Path) -> Option<PathBuf> {
    cwd.ancestors().take(MOST_PARENTS).map(|directory| directory.join(CONFIG)).find(|config| config.exists())
}

fn read(rule: &Node, pattern: Option<&str>, config: PathBuf) -> CreationRule {
    let groups = rule.get("key_groups").map(Node::items).unwrap_or_default();
    let mut keys = Keys::default();
    if groups.is_empty() {
        keys.add(rule, 0);
    }
    for group in groups {
        keys.add(group, 16);
    }
    CreationRule {
        config,
        path_regex: pattern.map(str::to_owned),
        age: keys.age,
        other_keys: keys.other,
        key_groups: groups.len().max(1),
        partial: PARTIAL.iter().any(|setting| rule.get(setting).is_some_and(Node::says_something)),
    }
}

#[derive(Default)]
struct Keys {
    age: Vec<String>,
    other: bool,
    looked_at: usize,
}

impl Keys {
    /// Adds the keys of a rule or group, and of the groups it merges, `depth` levels down.
    fn add(&mut self, group: &Node, depth: usize) {
        self.looked_at += 1;
        if self.looked_at > MOST_RECIPIENTS {
            return;
        }
        self.other |= OTHER_KEYS.iter().any(|kind| group.get(kind).is_some_and(Node::says_something));
        let age = group.get("age");
        // One text with commas, or a list of such texts.
        let texts = age.into_iter().chain(age.map(Node::items).unwrap_or_default().iter().map(|item| &**item));
        for key in texts.filter_map(Node::text).flat_map(|text| text.split(|c: char| c == ',' || c.is_whitespace())) {
            if !key.is_empty() && self.age.len() < MOST_RECIPIENTS && !self.age.iter().any(|known| known == key) {
                self.age.push(key.to_owned());
            }
        }
        if let Some(depth) = depth.checked_sub(1) {
            for merged in group.get("merge").map(Node::items).unwrap_or_default() {
                self.add(merged, depth);
            }
        }
    }
}
