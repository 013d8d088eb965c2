//! `copies`: what `locked restore` brings back. Copies of SOPS files (never of plaintext) in the state directory, one
//! folder per chain. A copy is *proven* when the canary passed it, else it is a *pre-image*: how the file was before a
//! command, if it passed the native checks. A pre-image never replaces a proven copy.
#![forbid(unsafe_code)]

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::terms::{Digest, Scope};

/// How many proven copies a chain keeps.
const PROVEN_KEPT: usize = 5;
/// How many pre-images a chain keeps.
const PRE_IMAGES_KEPT: usize = 3;

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
}

impl Chain {
    /// The chain of `key` in `scope`, below the directory for copies.
    #[must_use]
    pub fn of(copies: &Path, scope: &Scope, key: &str) -> Self {
        let name = Digest::of(format!("{scope}\0{key}").as_bytes());
        Self { directory: copies.join(&name.as_str()[..32]) }
    }

    /// Keeps this content, durably, unless the newest copy of this or a better quality holds it already.
    ///
    /// # Errors
    /// When the disk cannot take it.
    pub fn keep(&self, content: &[u8], quality: Quality, now_ms: i64) -> io::Result<()> {
        let digest = Digest::of(content);
        let all = self.all()?;
        if all.iter().any(|copy| copy.digest == digest && copy.quality > quality) {
            return Ok(());
        }
        if all.iter().find(|copy| copy.quality == quality).is_some_and(|newest| newest.digest == digest) {
            return Ok(());
        }
        self.make_directory()?;
        let mut file = tempfile::NamedTempFile::new_in(&self.directory)?;
        file.write_all(content)?;
        file.as_file().sync_data()?;
        // Names sort by time; a clock that was set back must not make an old copy the newest.
        let made_at = all.first().map_or(now_ms, |newest| now_ms.max(newest.made_at + 1));
        let name = format!("{made_at:016}-{digest}.{}", quality.suffix());
        file.persist(self.directory.join(name)).map_err(|error| error.error)?;
        self.prune(quality)
    }

    /// Puts a bad version aside, so that nothing is deleted by a restore. It is no copy to restore from.
    ///
    /// # Errors
    /// When the disk cannot take it.
    pub fn put_aside(&self, content: &[u8], now_ms: i64) -> io::Result<()> {
        self.make_directory()?;
        let mut file = tempfile::NamedTempFile::new_in(&self.directory)?;
        file.write_all(content)?;
        file.as_file().sync_data()?;
        let name = format!("{now_ms:016}-{}.bad", Digest::of(content));
        file.persist(self.directory.join(name)).map(drop).map_err(|error| error.error)
    }

    /// Every copy, newest first.
    ///
    /// # Errors
    /// When the directory cannot be read; a missing one is empty.
    pub fn all(&self) -> io::Result<Vec<Copy>> {
        let entries = match fs::read_dir(&self.directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut copies: Vec<Copy> = entries.filter_map(|entry| read_name(entry.ok()?.path())).collect();
        copies.sort_by_key(|copy| std::cmp::Reverse(copy.made_at));
        Ok(copies)
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
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        match builder.create(&self.directory) {
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

fn read_name(path: PathBuf) -> Option<Copy> {
    let name = path.file_name()?.to_str()?;
    let (made_at, rest) = name.split_once('-')?;
    let (digest, suffix) = rest.split_once('.')?;
    let quality = [Quality::PreImage, Quality::Proven].into_iter().find(|quality| quality.suffix() == suffix)?;
    Some(Copy { made_at: made_at.parse().ok()?, digest: Digest::from(digest.to_owned()), quality, path })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain() -> (tempfile::TempDir, Chain) {
        let directory = tempfile::tempdir().expect("temporary directory");
        let chain = Chain::of(directory.path(), &Scope::global(), "secrets/x.env.sops");
        (directory, chain)
    }

    fn kept(chain: &Chain) -> Vec<(Quality, Vec<u8>)> {
        chain.all().expect("all").into_iter().map(|copy| (copy.quality, fs::read(copy.path).expect("copy"))).collect()
    }

    #[test]
    fn the_newest_comes_first_also_when_the_clock_was_set_back() {
        let (_directory, chain) = chain();
        chain.keep(b"one", Quality::Proven, 5_000).expect("kept");
        chain.keep(b"two", Quality::Proven, 4_000).expect("kept");
        assert_eq!(kept(&chain), [(Quality::Proven, b"two".to_vec()), (Quality::Proven, b"one".to_vec())]);
    }

    #[test]
    fn a_pre_image_never_replaces_or_repeats_a_proven_copy() {
        let (_directory, chain) = chain();
        chain.keep(b"one", Quality::Proven, 1).expect("kept");
        chain.keep(b"one", Quality::PreImage, 2).expect("kept");
        assert_eq!(kept(&chain), [(Quality::Proven, b"one".to_vec())]);
        for n in 0..20u8 {
            chain.keep(&[n], Quality::PreImage, i64::from(n) + 3).expect("kept");
        }
        assert_eq!(kept(&chain).len(), 1 + PRE_IMAGES_KEPT, "only pre-images are pruned by pre-images");
    }

    #[cfg(unix)]
    #[test]
    fn copies_are_for_their_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let (_directory, chain) = chain();
        chain.keep(b"one", Quality::Proven, 1).expect("kept");
        let copy = chain.all().expect("all").remove(0);
        assert_eq!(fs::metadata(&copy.path).expect("copy").permissions().mode() & 0o777, 0o600);
        assert_eq!(
            fs::metadata(copy.path.parent().expect("folder")).expect("folder").permissions().mode() & 0o777,
            0o700
        );
    }
}
