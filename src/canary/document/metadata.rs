//! The metadata of a SOPS file. Every reader hands it over flat, under the names that sops itself uses to flatten it
//! for dotenv and INI (`age__list_0__map_recipient`; getsops/sops `stores/flatten.go`).
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::fmt;
use std::hash::{Hash as _, Hasher as _};

/// What the metadata says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metadata {
    /// Who can decrypt, in the order of the file.
    pub recipients: Vec<Recipient>,
    /// The message authentication code is there.
    pub mac: bool,
    /// The time of the last change is there.
    pub last_modified: bool,
    /// Two files with one number have one message authentication code.
    pub seal: u64,
    /// Two files with one number have one time of the last change.
    pub made: u64,
    /// The message authentication code covers encrypted values alone.
    pub mac_only_encrypted: bool,
    /// The version of sops that wrote it; empty when it is not there.
    pub version: String,
    /// The rules that choose what is encrypted (`encrypted_regex`…), as name and value; the ready
    /// `unencrypted_suffix` is one of them.
    pub rules: Vec<(String, String)>,
    /// The ending of keys whose values stay in the open.
    pub unencrypted_suffix: Option<String>,
    /// How many key groups must open; none: all of them.
    pub threshold: Option<usize>,
    /// The metadata stands in the file more than once.
    pub twice: bool,
}

/// Something that the metadata must have and has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// No key that could decrypt the file.
    NoRecipients,
    /// No message authentication code.
    NoMac,
    /// No time of the last change.
    NoLastModified,
    /// No version of sops.
    NoVersion,
    /// A version that ends too early, as when the last line was cut.
    VersionCut,
    /// Everything is there twice, as when a file was written behind itself.
    Twice,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoRecipients => "it names no key that could decrypt the file",
            Self::NoMac => "the message authentication code is missing",
            Self::NoLastModified => "the time of the last change is missing",
            Self::NoVersion => "the sops version is missing",
            Self::VersionCut => "the sops version is cut off",
            Self::Twice => "it is in the file twice",
        })
    }
}

impl Metadata {
    /// The first thing that is missing, if any.
    #[must_use]
    pub fn flaw(&self) -> Option<Flaw> {
        [
            (self.twice, Flaw::Twice),
            (self.recipients.is_empty(), Flaw::NoRecipients),
            (!self.last_modified, Flaw::NoLastModified),
            (!self.mac, Flaw::NoMac),
            (self.version.is_empty(), Flaw::NoVersion),
        ]
        .into_iter()
        .find_map(|(found, flaw)| found.then_some(flaw))
    }

    /// The recipients of kind `age`, in the order of the file.
    pub fn age(&self) -> impl Iterator<Item = &str> {
        self.recipients.iter().filter(|recipient| recipient.kind == "age").map(|recipient| recipient.id.as_str())
    }
}

/// One key that can decrypt the data key.
#[derive(Clone, PartialEq, Eq)]
pub struct Recipient {
    /// `age`, `pgp`, `kms`…, as the metadata names it.
    pub kind: String,
    /// For age the public key; for others their fields, joined.
    pub id: String,
    /// The data key, encrypted for it.
    pub enc: String,
    /// Its key group, counted from zero.
    pub group: usize,
}

/// Shows who, not the wrapped key.
impl fmt::Debug for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind, self.id)
    }
}

/// The number of a message authentication code.
pub(in crate::canary) fn seal_of(code: &str) -> u64 {
    hash_of(Some(&code.to_owned()))
}

fn hash_of(text: Option<&String>) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Longer flat names are no metadata of sops; they are left out, so that hostile nesting costs nothing.
const NAME_CAP: usize = 256;

/// Metadata while it is read.
#[derive(Debug, Default)]
pub(super) struct Flat {
    values: BTreeMap<String, String>,
    found: bool,
    twice: bool,
}

impl Flat {
    /// The place of the metadata was met.
    pub(super) fn begin(&mut self) {
        self.twice |= self.found;
        self.found = true;
    }

    /// One value, by its flat name.
    pub(super) fn put(&mut self, name: &str, value: &str) {
        self.found = true;
        if name.len() <= NAME_CAP {
            self.twice |= self.values.insert(name.to_owned(), value.to_owned()).is_some();
        }
    }

    pub(super) fn finish(mut self) -> Option<Metadata> {
        if !self.found {
            return None;
        }
        let recipients = self.recipients();
        let [seal, made] = ["mac", "lastmodified"].map(|name| hash_of(self.values.get(name)));
        let mut take = |name: &str| self.values.remove(name).filter(|value| !value.is_empty());
        Some(Metadata {
            recipients,
            seal,
            made,
            mac_only_encrypted: take("mac_only_encrypted").is_some_and(|value| value.eq_ignore_ascii_case("true")),
            mac: take("mac").is_some(),
            last_modified: take("lastmodified").is_some(),
            version: take("version").unwrap_or_default(),
            threshold: take("shamir_threshold").and_then(|number| number.trim().parse().ok()).filter(|n| *n > 0),
            unencrypted_suffix: self.values.get("unencrypted_suffix").cloned(),
            rules: self.values.into_iter().filter(|(name, value)| is_rule(name) && !value.is_empty()).collect(),
            twice: self.twice,
        })
    }

    fn recipients(&self) -> Vec<Recipient> {
        let mut found: BTreeMap<Place<'_>, Recipient> = BTreeMap::new();
        for (name, value) in &self.values {
            let Some((place, field)) = Place::of(name) else { continue };
            let recipient = found.entry(place).or_insert_with(|| Recipient {
                kind: place.kind.to_owned(),
                id: String::new(),
                enc: String::new(),
                group: place.group,
            });
            match field {
                "enc" => recipient.enc.clone_from(value),
                // These may change although the key stays: a new date, the version that a key vault resolved.
                "created_at" | "version" => {}
                _ if value.is_empty() => {}
                _ => {
                    if !recipient.id.is_empty() {
                        recipient.id.push('/');
                    }
                    recipient.id.push_str(value.trim());
                }
            }
        }
        found.into_values().collect()
    }
}

/// Where a recipient stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place<'a> {
    group: usize,
    kind: &'a str,
    item: usize,
}

impl<'a> Place<'a> {
    /// Splits `age__list_0__map_enc`, or the same inside `key_groups__list_1__map_`, into place and field.
    fn of(name: &'a str) -> Option<(Self, &'a str)> {
        let (group, name) = match name.strip_prefix("key_groups__list_") {
            Some(rest) => {
                let (number, rest) = rest.split_once("__map_")?;
                (number.parse().ok()?, rest)
            }
            None => (0, name),
        };
        let (kind, rest) = name.split_once("__list_")?;
        let (item, field) = rest.split_once("__map_")?;
        Some((Self { group, kind, item: item.parse().ok()? }, field))
    }
}

fn is_rule(name: &str) -> bool {
    let name = name.strip_prefix("un").unwrap_or(name);
    matches!(name, "encrypted_suffix" | "encrypted_regex" | "encrypted_comment_regex")
}
