//! The files that git keeps and that have the key: those of the work tree, and those that the index alone has (removed,
//! or left out by a sparse checkout), which whoever checks them out gets. What cannot be looked at is said.
#![forbid(unsafe_code)]

use std::collections::HashSet;
use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use crate::canary::{self, Kind, document};
use crate::git::Repository;
use crate::run::files::quoted;
use crate::run::{Context, env_of};
use crate::terms::{Resource, percent_decode};

/// A file is read whole up to here (bytes), a larger one where its end may be that of a SOPS file.
const WHOLE: u64 = 1024 * 1024;
/// So much of the end: what sops writes about itself stands there.
const END: u64 = 256 * 1024;
/// A larger one is not read (bytes).
const FILE_CAP: u64 = document::SIZE_CAP;
/// So many files of a repository are looked at, at most, and so many bytes of them.
const FILES_CAP: usize = 20_000;
const BYTES_CAP: u64 = 256 * 1024 * 1024;
/// So many files that the index alone has.
const STAGED_CAP: usize = 200;

/// The secret that a rotation is of.
pub(super) struct Secret(Option<String>);

impl Secret {
    pub(super) fn of(rotation: &Resource) -> Self {
        // A key that is no text is in no SOPS file.
        Self(String::from_utf8(percent_decode(rotation.name.as_str().trim_start_matches("rotation:"))).ok())
    }

    pub(super) fn name(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }
}

/// A file that has the key, and what stands in it.
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) content: Vec<u8>,
}

/// What was found, and why not all of it was.
#[derive(Default)]
pub(super) struct Finds {
    pub(super) files: Vec<Found>,
    pub(super) unseen: Option<String>,
    /// From where people look.
    cwd: PathBuf,
}

impl Finds {
    fn not_seen(&mut self, why: String) {
        self.unseen.get_or_insert(why);
    }

    fn shown(&self, path: &Path) -> String {
        quoted(path.strip_prefix(&self.cwd).unwrap_or(path))
    }

    fn take(&mut self, path: PathBuf, content: Vec<u8>, secret: &str) {
        match has_key(&content, secret) {
            Some(true) => self.files.push(Found { path, content }),
            Some(false) => {}
            None => self.not_seen(format!("{} cannot be read as SOPS", self.shown(&path))),
        }
    }
}

pub(super) fn of(context: &Context, secret: &Secret) -> Finds {
    let mut finds = Finds { cwd: context.invocation.cwd.clone(), ..Finds::default() };
    let repository = match Repository::around(&context.invocation.cwd) {
        Ok(Some(repository)) => repository,
        Ok(None) => return finds,
        Err(error) => return Finds { unseen: Some(error.to_string()), ..finds },
    };
    if secret.0.is_none() {
        return finds;
    }
    let tracked = match repository.tracked(&env_of(context)) {
        Ok(tracked) => tracked,
        Err(error) => return Finds { unseen: Some(error.to_string()), ..finds },
    };
    if tracked.cut || tracked.files.len() > FILES_CAP {
        finds.not_seen(format!("only the first {FILES_CAP} files, at most, were looked at"));
    }
    let mut budget = BYTES_CAP;
    let mut elsewhere = HashSet::new();
    for inside in tracked.files.into_iter().take(FILES_CAP) {
        let path = repository.worktree_root.join(&inside);
        let content = match read(&path) {
            Read::Content(content) => content,
            Read::NoFile => continue,
            Read::Missing => {
                elsewhere.insert(inside);
                continue;
            }
            Read::Unseen(why) => {
                finds.not_seen(format!("{}: {why}", finds.shown(&path)));
                continue;
            }
        };
        let Some(rest) = budget.checked_sub(content.len() as u64) else {
            finds.not_seen(format!("only the first {} MiB of the repository were looked at", BYTES_CAP / 1024 / 1024));
            break;
        };
        budget = rest;
        finds.take(path, content, secret.name());
    }
    if !elsewhere.is_empty() {
        staged(context, &repository, &elsewhere, secret.name(), &mut finds);
    }
    finds
}

/// Those of them that the index has with the key.
fn staged(context: &Context, repository: &Repository, missing: &HashSet<PathBuf>, secret: &str, finds: &mut Finds) {
    let env = env_of(context);
    let with = match repository.staged_with(secret, &env) {
        Ok(with) => with,
        Err(error) => return finds.not_seen(format!("what is not in the work tree: {error}")),
    };
    let with: Vec<PathBuf> = with.into_iter().filter(|path| missing.contains(path)).collect();
    if with.len() > STAGED_CAP {
        finds.not_seen(format!("only the first {STAGED_CAP} files that are not in the work tree were looked at"));
    }
    for path in with.into_iter().take(STAGED_CAP).map(|inside| repository.worktree_root.join(inside)) {
        let staged = repository.staged(&path, &env);
        let content = staged.and_then(|it| it.map_or(Ok(None), |(blob, _)| repository.content_of(&blob, &env)));
        match content {
            Ok(Some(content)) => finds.take(path, content, secret),
            _ => finds.not_seen(format!("{} is not in the work tree", finds.shown(&path))),
        }
    }
}

enum Read {
    Content(Vec<u8>),
    /// A link, whose end is a file of its own, or the place of another repository; or what is no SOPS file by its end.
    NoFile,
    /// It is not in the work tree.
    Missing,
    Unseen(String),
}

fn read(path: &Path) -> Read {
    let about = match path.symlink_metadata() {
        Ok(about) if !about.is_file() => return Read::NoFile,
        Ok(about) => about,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Read::Missing,
        Err(error) => return Read::Unseen(error.kind().to_string()),
    };
    let content = || {
        let mut file = crate::platform::regular(path)?;
        let mut content = Vec::new();
        if about.len() > WHOLE {
            file.seek(SeekFrom::End(-i64::try_from(END).unwrap_or_default()))?;
            (&file).take(END).read_to_end(&mut content)?;
            if !is_end_of_sops(&content) {
                return Ok(Read::NoFile);
            }
            if about.len() > FILE_CAP {
                return Ok(Read::Unseen(format!("it is larger than {} MiB", FILE_CAP / 1024 / 1024)));
            }
            file.rewind()?;
            content.clear();
        }
        (&file).take(FILE_CAP).read_to_end(&mut content)?;
        Ok(Read::Content(content))
    };
    content().unwrap_or_else(|error: std::io::Error| Read::Unseen(error.kind().to_string()))
}

fn is_end_of_sops(end: &[u8]) -> bool {
    let text = String::from_utf8_lossy(end);
    text.contains("sops") || text.contains("ENC[AES256_GCM,")
}

/// None: it is SOPS and cannot be read as that, and the name is in it.
fn has_key(content: &[u8], secret: &str) -> Option<bool> {
    // Order: the cheap looks first. A name with an escape in it is no name of a secret.
    let has = |word: &str| content.utf8_chunks().any(|chunk| chunk.valid().contains(word));
    if !has("sops") || !has(secret) || !matches!(canary::sniff(content), Kind::Sops(_)) {
        return Some(false);
    }
    document::read(content).ok().map(|document| document.keys.has_name(secret))
}
