//! `copies`: what `locked restore` brings back. Copies of SOPS files (never of plaintext) in the state directory, one
//! folder per chain. A copy is *proven* when the canary passed it, else it is a *pre-image*: how the file was before a
//! command, if it passed the native checks. A pre-image never replaces a proven copy.
#![forbid(unsafe_code)]

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::terms::{Digest, Scope};

mod meant;

pub use meant::Known;

/// How many proven copies a chain keeps.
const PROVEN_KEPT: usize = 5;
/// How many pre-images a chain keeps.
const PRE_IMAGES_KEPT: usize = 3;

/// What a content that was found bad ends in.
const BAD: &str = "bad";

/// How good a copy is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quality {
    /// It was so before a command and passed the native checks.
    PreImage,
    /// The canary passed it.
    Proven,
}

impl Quality {
    fn suffix(self) -> &'static str {
        match self {
            Self::PreImage => "before",
            Self::Proven => "proven",
        }
    }
}

/// The copies of one file: of one path in one scope.
#[derive(Debug, Clone)]
pub struct Chain {
    directory: PathBuf,
    /// Tells the checkouts apart that share the chain.
    place: String,
}

/// One copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copy {
    /// Where it is.
    pub path: PathBuf,
    /// Milliseconds since 1970 when it was made.
    pub made_at: i64,
    /// Digest of its content.
    pub digest: Digest,
    /// How good it is.
    pub quality: Quality,
    /// It is of the file in this checkout. One of another checkout may be of another branch.
    pub is_here: bool,
}

impl Chain {
    /// The chain of `key` in `scope`, below the directory for copies, as the checkout sees it whose file is `path`.
    #[must_use]
    pub fn of(copies: &Path, scope: &Scope, key: &str, path: &Path) -> Self {
        let name = Digest::of(format!("{scope}\0{key}").as_bytes());
        Self { directory: copies.join(&name.as_str()[..32]), place: place_of(path) }
    }

    /// Keeps this content, durably, as the newest copy: the last in a chain is always what the file held last. A
    /// pre-image that was proven once stays proven.
    ///
    /// # Errors
    /// When the disk cannot take it.
    pub fn keep(&self, content: &[u8], quality: Quality, now_ms: i64) -> io::Result<()> {
        let _as_owner = self.directory.parent().and_then(crate::state::as_owner_of);
        let digest = Digest::of(content);
        let all = self.all()?;
        if quality == Quality::PreImage {
            // A pre-image of what was found bad would be no use.
            if self.is_bad(&digest) || all.first().is_some_and(|newest| newest.digest == digest && newest.is_here) {
                return Ok(());
            }
            if let Some(proven) = all.iter().find(|copy| copy.digest == digest && copy.quality == Quality::Proven) {
                return self.renew(content, proven, now_ms);
            }
        }
        let is_kept = |newest: &Copy| newest.digest == digest && newest.quality == quality && newest.is_here;
        if all.first().is_some_and(is_kept) && !self.is_bad(&digest) {
            return Ok(());
        }
        self.write(content, &digest, quality.suffix(), now_ms)?;
        self.prune(quality)
    }

    fn write(&self, content: &[u8], digest: &Digest, suffix: &str, now_ms: i64) -> io::Result<()> {
        self.make_directory()?;
        let mut file = tempfile::NamedTempFile::new_in(&self.directory)?;
        file.write_all(content)?;
        file.as_file().sync_data()?;
        let name = self.newest_name(digest, suffix, now_ms)?;
        file.persist(self.directory.join(name)).map(drop).map_err(|error| error.error)
    }

    /// The file holds this proven content again: another branch or another worktree had a different one meanwhile. So it
    /// is the last one now.
    fn renew(&self, content: &[u8], proven: &Copy, now_ms: i64) -> io::Result<()> {
        if !proven.is_here {
            self.write(content, &proven.digest, proven.quality.suffix(), now_ms)?;
            return self.prune(proven.quality);
        }
        let name = self.newest_name(&proven.digest, proven.quality.suffix(), now_ms)?;
        fs::rename(&proven.path, self.directory.join(name))
    }

    /// Names sort by time; a clock that was set back must not make an old one the newest.
    fn newest_name(&self, digest: &Digest, suffix: &str, now_ms: i64) -> io::Result<String> {
        let made_at = self.entries()?.first().map_or(now_ms, |newest| now_ms.max(newest.made_at.saturating_add(1)));
        Ok(format!("{made_at:016}-{digest}.{}.{suffix}", self.place))
    }

    /// Notes that this content was found bad, and keeps it, so that nothing is deleted by a restore: unless it may
    /// be plaintext, of which only the digest is noted. It is no copy to restore from.
    ///
    /// # Errors
    /// When the disk cannot take it.
    pub fn put_aside(&self, content: &[u8], may_be_plaintext: bool, now_ms: i64) -> io::Result<()> {
        let _as_owner = self.directory.parent().and_then(crate::state::as_owner_of);
        let digest = Digest::of(content);
        if self.is_bad(&digest) {
            return Ok(());
        }
        self.write(if may_be_plaintext { b"" } else { content }, &digest, BAD, now_ms)
    }

    /// Whether the last that was noted of this content is that it is bad.
    #[must_use]
    pub fn is_bad(&self, digest: &Digest) -> bool {
        let entries = self.entries().unwrap_or_default();
        entries.iter().find(|entry| entry.digest == *digest).is_some_and(|entry| entry.quality.is_none())
    }

    /// Every copy, newest first.
    ///
    /// # Errors
    /// When the directory cannot be read; a missing one is empty.
    pub fn all(&self) -> io::Result<Vec<Copy>> {
        Ok(self.entries()?.into_iter().filter_map(|entry| entry.copy(&self.place)).collect())
    }

    /// The copies of the file in this checkout, newest first; none is known when it never was written from here.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn here(&self) -> io::Result<Vec<Copy>> {
        Ok(self.all()?.into_iter().filter(|copy| copy.is_here).collect())
    }

    fn entries(&self) -> io::Result<Vec<Entry>> {
        let found = match fs::read_dir(&self.directory) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut entries: Vec<Entry> = found.filter_map(|entry| read_name(entry.ok()?.path())).collect();
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.made_at));
        Ok(entries)
    }

    /// The newest copy with this digest.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn with_digest(&self, digest: &Digest) -> io::Result<Option<Vec<u8>>> {
        let found = self.all()?.into_iter().find(|copy| copy.digest == *digest);
        found.map(|copy| fs::read(copy.path)).transpose()
    }

    fn make_directory(&self) -> io::Result<()> {
        #[cfg(unix)]
        let made = std::os::unix::fs::DirBuilderExt::mode(&mut fs::DirBuilder::new(), 0o700).create(&self.directory);
        // It has the rights of the state directory, which is for its owner alone.
        #[cfg(not(unix))]
        let made = fs::create_dir(&self.directory);
        match made {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            // Whatever the umask says.
            #[cfg(unix)]
            Ok(()) => fs::set_permissions(&self.directory, std::os::unix::fs::PermissionsExt::from_mode(0o700)),
            other => other,
        }
    }

    fn prune(&self, quality: Quality) -> io::Result<()> {
        let kept = if quality == Quality::Proven { PROVEN_KEPT } else { PRE_IMAGES_KEPT };
        for copy in self.all()?.iter().filter(|copy| copy.quality == quality).skip(kept) {
            // Two runs of one chain may prune at once; who comes second finds it gone.
            let _already_gone = fs::remove_file(&copy.path);
        }
        Ok(())
    }
}

/// What stands for a path in the names of what is kept.
fn place_of(path: &Path) -> String {
    Digest::of(path.as_os_str().as_encoded_bytes()).as_str()[..8].to_owned()
}

/// A file of the chain: a copy, or without quality a content that was found bad.
struct Entry {
    path: PathBuf,
    made_at: i64,
    digest: Digest,
    place: String,
    quality: Option<Quality>,
}

impl Entry {
    fn copy(self, here: &str) -> Option<Copy> {
        let Self { path, made_at, digest, place, quality } = self;
        Some(Copy { path, made_at, digest, quality: quality?, is_here: place == here })
    }
}

fn read_name(path: PathBuf) -> Option<Entry> {
    let name = path.file_name()?.to_str()?;
    let (made_at, rest) = name.split_once('-')?;
    let (digest, rest) = rest.split_once('.')?;
    let (place, suffix) = rest.split_once('.')?;
    let quality = [Quality::PreImage, Quality::Proven].into_iter().find(|quality| quality.suffix() == suffix);
    if quality.is_none() && suffix != BAD {
        return None;
    }
    let (digest, place) = (Digest::from(digest.to_owned()), place.to_owned());
    Some(Entry { made_at: made_at.parse().ok()?, digest, place, quality, path })
}

#[cfg(test)]
mod tests;
