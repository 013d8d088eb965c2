//! What of the repository matters here, found in one bounded walk over what git keeps: SOPS files by their content, plaintext
//! under the name of a secret, and scripts.
#![forbid(unsafe_code)]

use std::cell::OnceCell;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::canary::{self, Document, Fault, Kind};
use crate::naming::{NamedSecret, SecretNames};
use crate::platform::not_followed;
use crate::run::env_of;

use super::patient::Patient;
use super::scripts::is_script;

/// So many files are looked at, so many SOPS files kept, for so long.
const MOST: usize = 50_000;
const MOST_SECRETS: usize = 300;
const MOST_SCRIPTS: usize = 500;
const TIME: Duration = Duration::from_secs(2);
/// No file is read further (bytes): what is longer is looked at only if its name is one of a secret.
const LARGE: u64 = 1024 * 1024;
/// So many documents are opened to see whether an identity does.
const DOCUMENTS: usize = 20;

/// A SOPS file.
pub(super) struct Secret {
    /// Absolute.
    pub(super) path: PathBuf,
    pub(super) content: Vec<u8>,
}

/// What was found.
#[derive(Default)]
pub(super) struct Survey {
    pub(super) secrets: Vec<Secret>,
    /// So many more are here.
    pub(super) more_secrets: usize,
    /// Not SOPS, and should be by name or rule.
    pub(super) plain: Vec<(PathBuf, NamedSecret)>,
    /// Nothing in it, and should be SOPS by its name.
    pub(super) empty: Vec<PathBuf>,
    /// Neither plaintext nor SOPS any more, as its name has it: what is wrong.
    pub(super) broken: Vec<(PathBuf, Fault)>,
    /// In the open or empty, and no name of theirs says that they should be SOPS, or only a rule does.
    pub(super) open: Vec<PathBuf>,
    pub(super) scripts: Vec<PathBuf>,
    /// How many files were looked at, and how many there are.
    pub(super) looked: usize,
    pub(super) total: usize,
    /// Git has more files than it was let tell.
    pub(super) cut: bool,
    /// Why git could not be asked.
    pub(super) unasked: Option<String>,
    documents: OnceCell<Vec<Document>>,
}

impl Survey {
    pub(super) fn of(patient: &Patient<'_>) -> Self {
        let Some(repository) = patient.repository() else { return Self::default() };
        let tracked = match repository.tracked(&env_of(patient.context)) {
            Ok(tracked) => tracked,
            Err(error) => return Self { unasked: Some(error.to_string()), ..Self::default() },
        };
        let names = SecretNames::of(&repository.worktree_root);
        let mut survey = Self { total: tracked.files.len(), cut: tracked.cut, ..Self::default() };
        let until = Instant::now() + TIME.min(patient.left());
        for file in tracked.files.iter().take(MOST) {
            if Instant::now() >= until {
                break;
            }
            survey.looked += 1;
            survey.take_in(&repository.worktree_root.join(file), &names);
        }
        survey
    }

    fn take_in(&mut self, path: &Path, names: &SecretNames) {
        if is_script(path) && self.scripts.len() < MOST_SCRIPTS {
            self.scripts.push(path.to_owned());
        }
        let named = names.names(path);
        let limit = if named.is_some() { canary::document::SIZE_CAP } else { LARGE };
        let Some(content) = read(path, limit) else { return };
        let kind = canary::sniff(&content);
        if !matches!(kind, Kind::Sops(_)) && named != Some(NamedSecret::Marker) {
            self.open.push(path.to_owned());
        }
        match (kind, named) {
            (Kind::Sops(_), _) if self.secrets.len() == MOST_SECRETS => self.more_secrets += 1,
            (Kind::Sops(_), _) => self.secrets.push(Secret { path: path.to_owned(), content }),
            (Kind::Empty, Some(NamedSecret::Marker)) => self.empty.push(path.to_owned()),
            (Kind::Plain, Some(why)) if !is_other_ciphertext(&content) && !is_about(path) => {
                match canary::native(&content) {
                    Err(fault) if fault != Fault::Plaintext => self.broken.push((path.to_owned(), fault)),
                    _ => self.plain.push((path.to_owned(), why)),
                }
            }
            _ => {}
        }
    }

    /// Not everything was looked at.
    pub(super) fn is_partial(&self) -> bool {
        self.cut || self.looked < self.total
    }

    pub(super) fn has_age(&self) -> bool {
        !self.age_documents().is_empty()
    }

    /// The first SOPS files that are for age, read.
    pub(super) fn age_documents(&self) -> &[Document] {
        self.documents.get_or_init(|| {
            let documents = self.secrets.iter().filter_map(|secret| canary::document::read(&secret.content).ok());
            let is_for_age = |document: &Document| {
                document.metadata.as_ref().is_some_and(|metadata| metadata.age().next().is_some())
            };
            documents.filter(is_for_age).take(DOCUMENTS).collect()
        })
    }
}

/// A regular file's content up to the limit; nothing of a longer one. Links are not followed: what they lead to is tracked
/// itself, or not the repository's.
pub(super) fn read(path: &Path, limit: u64) -> Option<Vec<u8>> {
    let file = not_followed(fs::OpenOptions::new().read(true)).open(path).ok()?;
    let found = file.metadata().ok().filter(|found| found.is_file() && found.len() <= limit)?;
    let mut content = Vec::with_capacity(usize::try_from(found.len()).unwrap_or_default());
    file.take(limit).read_to_end(&mut content).ok()?;
    Some(content)
}

/// Encrypted by something else: age's own files, PGP, openssl, git-crypt; and what is no text at all.
fn is_other_ciphertext(content: &[u8]) -> bool {
    let begins = [
        &b"age-encryption.org/"[..],
        b"-----BEGIN AGE",
        b"-----BEGIN PGP",
        b"Salted__",
        b"U2FsdGVk",
        b"$ANSIBLE_VAULT",
    ];
    begins.iter().any(|begin| content.starts_with(begin))
        || content.contains(&0)
        || std::str::from_utf8(content).is_err()
}

/// What stands beside secrets in their directory and says something about them.
fn is_about(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let ends = [".md", ".txt.example", ".example", ".sample", ".template", ".tmpl", ".pub", ".gitkeep", ".gitignore"];
    name.starts_with("readme") || name.starts_with(".git") || ends.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_encrypted_and_what_explains_is_no_plaintext_secret() {
        for content in [
            &b"age-encryption.org/v1\n"[..],
            b"-----BEGIN PGP MESSAGE-----",
            b"Salted__x",
            b"\x00GITCRYPT",
            b"\xff\xfe",
        ] {
            assert!(is_other_ciphertext(content), "{content:?}");
        }
        assert!(!is_other_ciphertext(b"PASSWORD=hunter2\n"));
        for (name, about) in
            [("README.md", true), ("x.env.example", true), (".gitkeep", true), ("x.env", false), ("a.sops.yaml", false)]
        {
            assert_eq!(is_about(Path::new(name)), about, "{name}");
        }
    }
}
