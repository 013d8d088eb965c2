//! The files, read, each with its standing, in the order in which they are heard.
#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::counts::{self, BuiltIn, Reading, Standing};
use super::file::File;
use super::pattern::{self, Pattern};
use super::places::{Layer, Places, fragments};
use super::settings::Settings;
use super::value::Value;
use super::{ConfigError, Key};

/// Every file is read once: what is vouched for is what counts, though somebody writes it anew meanwhile.
#[derive(Debug, Default)]
pub struct Shelf(RefCell<BTreeMap<PathBuf, Option<Arc<File>>>>);

impl Shelf {
    /// The file; none when it is not there.
    ///
    /// # Errors
    /// It cannot be read or followed.
    pub fn file(&self, path: &Path, layer: Layer) -> Result<Option<Arc<File>>, ConfigError> {
        if let Some(known) = self.0.borrow().get(path) {
            return Ok(known.clone());
        }
        let file = File::read(path, layer)?.map(Arc::new);
        self.0.borrow_mut().insert(path.to_owned(), file.clone());
        Ok(file)
    }
}

/// What is known of repositories, besides their files.
pub trait Ground {
    /// Has somebody vouched for this very content in this repository (`locked config trust`)?
    fn is_vouched_for(&self, file: &File) -> bool;
    /// The `host/path` of the origin of the repository around this root; none when it has none, or nobody can say.
    fn origin(&self, root: &Path) -> Option<String>;
}

/// Nobody has vouched for anything.
#[derive(Debug, Clone, Copy)]
pub struct NoGround;

impl Ground for NoGround {
    fn is_vouched_for(&self, _: &File) -> bool {
        false
    }

    fn origin(&self, _: &Path) -> Option<String> {
        None
    }
}

/// All files, read, each with its standing.
#[derive(Debug, Clone)]
pub struct Layers {
    pub(super) own: Vec<Reading>,
    /// As in [`Places`]; none where there is no such file.
    pub(super) repositories: Vec<(PathBuf, Option<Reading>)>,
    pub(super) outside: bool,
}

impl Layers {
    /// Reads them.
    ///
    /// # Errors
    /// A file is there and cannot be read or followed; `LOCKED_TRUST` makes no sense.
    pub fn read(
        places: &Places,
        env: &dyn Fn(&str) -> Option<OsString>,
        shelf: &Shelf,
        ground: &dyn Ground,
    ) -> Result<Self, ConfigError> {
        let mut own = Vec::new();
        let system = std::iter::once(places.system.clone()).chain(fragments(&places.fragments)?);
        let user = places.user.iter().map(|path| (path.clone(), Layer::User));
        for (path, layer) in system.map(|path| (path, Layer::System)).chain(user) {
            let file = shelf.file(&path, layer)?;
            own.extend(file.map(|file| Reading { file, standing: Standing::Own, origin: None }));
        }
        let mut patterns = pattern::of_variable(env)?;
        for reading in &own {
            let Some(Value::Words(words)) = reading.file.value(Key::TrustRepositories) else { continue };
            patterns.extend(words.iter().filter_map(|word| Pattern::read(word)));
        }
        let mut repositories = Vec::new();
        for path in &places.repositories {
            let file = shelf.file(path, Layer::Repository)?;
            repositories.push((path.clone(), file.map(|file| judged(file, &patterns, ground))));
        }
        Ok(Self { own, repositories, outside: places.outside })
    }

    /// What counts of them.
    ///
    /// # Errors
    /// An untrusted file names a foreign scope or store.
    pub fn settings(&self, built_in: &BuiltIn<'_>) -> Result<Settings, ConfigError> {
        let of_repositories = self.repositories.iter().filter_map(|(_, reading)| reading.clone());
        let readings: Vec<Reading> = self.own.iter().cloned().chain(of_repositories).collect();
        counts::what_counts(&readings, built_in).map(Settings)
    }

    /// The scope that the repository's file gives it; none when it says nothing.
    ///
    /// # Errors
    /// It is not origin's, and the file is not trusted.
    pub fn scope(&self) -> Result<Option<String>, ConfigError> {
        let reading = self.repositories.iter().find_map(|(_, reading)| reading.as_ref());
        Ok(reading.map(counts::scope).transpose()?.flatten().map(str::to_owned))
    }

    /// The files of repositories, each with its standing.
    pub fn of_repositories(&self) -> impl Iterator<Item = (&File, Standing)> {
        self.repositories.iter().filter_map(|(_, reading)| reading.as_ref()).map(|it| (&*it.file, it.standing))
    }
}

/// The standing of a repository's file. Where its origin is matters only to patterns and to `scope`, and may need git.
fn judged(file: Arc<File>, patterns: &[Pattern], ground: &dyn Ground) -> Reading {
    let root = file.document.path.parent().unwrap_or(Path::new("/")).to_owned();
    let asks = file.value(Key::Scope).is_some() || patterns.iter().any(|pattern| !pattern.is_path());
    let origin = asks.then(|| ground.origin(&root)).flatten();
    let of_origin = |pattern: &Pattern| !pattern.is_path() && origin.as_ref().is_some_and(|it| pattern.means(it));
    let named = patterns.iter().any(|pattern| pattern.means_path(&root) || of_origin(pattern));
    let standing = if named || ground.is_vouched_for(&file) { Standing::Trusted } else { Standing::Untrusted };
    Reading { file, standing, origin }
}
