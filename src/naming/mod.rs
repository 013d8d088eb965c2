//! `naming`: one file, one name. However a file is spelled (links, `.` and `..`, another cwd, another checkout of the
//! same repository), the lease on it has one name, so that two writers of it always meet. It reads links, git's files
//! and the machine's id; the only thing it may write is the identity of a repository without a remote.
//!
//! Two files under one name only wait for each other. One file under two names loses data. Wherever this room has to
//! choose, it lets files share.
//!
//! What it cannot see: a file that reaches two places by two mounts outside a repository, and hard links between
//! machines (NFS).
#![forbid(unsafe_code)]

mod by_hand;
mod creation;
mod inode;
mod machine;
mod physical;
mod remote;
mod scope;
mod secret;
mod sniff;
mod sops_config;
mod spelling;
mod stem;
mod tracked;
mod value;

use std::path::{Path, PathBuf};

use crate::git::{Environment, GitError, Repository};
use crate::terms::{Resource, ResourceName, Scope, percent_encode};

pub use creation::{CreationError, CreationRule, CreationRules, creation_rule_for, holds_sops, is_secret_target};
pub use machine::scope as machine_scope;
pub use scope::{Local, former as former_scopes, note as note_scope, of_origin};
pub use secret::{NamedSecret, SecretNames};
pub use sniff::is_sops;
pub use tracked::{Tracked, says_sops, tracked};
pub use value::is_likely_a_value;

/// A file and the name under which leases on it are taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The physical path: absolute, every link resolved as far as the path exists.
    pub path: PathBuf,
    /// Its name, in the scope of its repository (or of this machine, outside any).
    pub resource: Resource,
    /// When the file has further hard links: a second resource, `sops:link/INODE` on this machine, to be taken together
    /// with the first. The names of the links differ, this one they have in common. The device is left out of it (it
    /// changes over a reboot): two unrelated linked files with one inode number wait for each other.
    pub link: Option<Resource>,
    /// Names the file for its chain of receipts: its path inside the work tree (outside any: the absolute path),
    /// `/`-separated, percent-encoded where it does not print.
    pub key: String,
    /// Its repository.
    pub repository: Option<Repository>,
    /// Which path gave which name, and why: one sentence for `explain`.
    pub stem_from: String,
}

impl Target {
    /// Does `path`, from which this target was made, still lead to this very file? A link may be turned, and a hard link
    /// made, while one waits.
    #[must_use]
    pub fn is_still_at(&self, path: &Path) -> bool {
        physical::resolve(path).is_ok_and(|now| now == self.path && link_of(&now) == self.link)
    }

    /// All that must be held to write the file.
    pub fn resources(&self) -> impl Iterator<Item = &Resource> {
        std::iter::once(&self.resource).chain(&self.link)
    }

    /// The scope of its name and of its chain of receipts.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.resource.scope
    }

    /// The work tree it lies in.
    #[must_use]
    pub fn worktree(&self) -> Option<&Path> {
        self.repository.as_ref().map(|repository| &*repository.worktree_root)
    }
}

/// Why a file has no name. Then nothing may run: a guess could let two writers in.
#[derive(Debug, thiserror::Error)]
pub enum NamingError {
    /// The path is relative; the caller makes it absolute, as the program will open it.
    #[error("{0:?} is not an absolute path, so it cannot be named")]
    Relative(PathBuf),
    /// There is no file name (`/`).
    #[error("{0:?} names no file")]
    NoFile(PathBuf),
    /// It is not there, and looks like a value. What it is stays out of the message.
    #[error(
        "an argument stands where the name of a file belongs and looks like a value (it has a '=' or a user's part), and there is no such file"
    )]
    Value,
    /// Links that lead to each other.
    #[error("the symbolic links of {0:?} lead in a circle; point them at a file, then try again")]
    Circle(PathBuf),
    /// A directory on the way cannot be looked at.
    #[error("cannot look at {path:?}: {source}; without that its name is unknown")]
    Unreadable {
        /// Where.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The repository cannot be read.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The identity of a repository without a remote cannot be kept.
    #[error(
        "{path:?}, which would name this repository, cannot be made: {source}; make the directory writable, or give the repository a remote called origin"
    )]
    CannotKeep {
        /// The file with the identity.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The settings cannot be followed, so the scope is not known.
    #[error("{what}")]
    Settings {
        /// What is wrong with them.
        what: String,
        /// The next step.
        remedy: String,
    },
    /// The identity is not one.
    #[error(
        "{0:?} should hold one UUID and does not; when nothing runs in this repository, delete it, and the next lease makes a new one"
    )]
    NoIdentity(PathBuf),
}

/// The scope that the settings give a repository, if they do; who reads them knows whether they are trusted.
pub type SaidScope<'a> = &'a dyn Fn(&Repository) -> Result<Option<Scope>, NamingError>;

/// Where a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The physical path.
    pub path: PathBuf,
    /// The same below the root of its work tree, where there is one.
    pub inside: Option<PathBuf>,
}

/// Finds a file, which need not exist, without naming it. `path` is absolute.
///
/// # Errors
/// See [`NamingError`].
pub fn place(path: &Path) -> Result<Place, NamingError> {
    let path = physical::resolve(path)?;
    let repository = Repository::discover(&path)?;
    let inside = repository.and_then(|repository| repository.inside(&path).map(Path::to_owned));
    Ok(Place { path, inside })
}

/// Names files, and looks at each repository once.
pub struct Namer<'a> {
    local: Local,
    env: Environment<'a>,
    said: SaidScope<'a>,
    seen: Vec<(Repository, Scope)>,
}

/// Names one file. `path` is absolute, spelled as the program will open it; it need not exist. `env` is the environment of
/// the named command (it chooses git's configuration files).
///
/// # Errors
/// See [`NamingError`].
pub fn name(path: &Path, local: Local, env: Environment<'_>) -> Result<Target, NamingError> {
    Namer::new(local, env).name(path)
}

impl NamingError {
    /// The next step for a person.
    #[must_use]
    pub fn remedy(&self) -> &str {
        match self {
            Self::Value => "check the order of the arguments; a file with such a name must be there first",
            Self::Settings { remedy, .. } => remedy,
            _ => "check the path",
        }
    }
}

impl<'a> Namer<'a> {
    /// One that has seen nothing yet, and knows of no settings.
    #[must_use]
    pub fn new(local: Local, env: Environment<'a>) -> Self {
        Self { local, env, said: &|_| Ok(None), seen: Vec::new() }
    }

    /// The same, with the scopes that settings give. They are asked for when something is named, and not before.
    #[must_use]
    pub fn heeding(self, said: SaidScope<'a>) -> Self {
        Self { said, ..self }
    }

    /// The scope of what belongs to the repository around a directory; the machine's, outside any.
    ///
    /// # Errors
    /// See [`NamingError`].
    pub fn scope_of_directory(&mut self, directory: &Path) -> Result<Scope, NamingError> {
        match Repository::around(&physical::resolve(directory)?)? {
            Some(repository) => self.scope_of(&repository),
            None => Ok(machine::scope()),
        }
    }

    /// As [`name`].
    ///
    /// # Errors
    /// See [`NamingError`].
    pub fn name(&mut self, path: &Path) -> Result<Target, NamingError> {
        if is_likely_a_value(path) {
            return Err(NamingError::Value);
        }
        let physical = physical::resolve(path)?;
        let repository = Repository::discover(&physical)?;
        let scope = match &repository {
            Some(repository) => self.scope_of(repository)?,
            None => machine::scope(),
        };
        let spelled = match &repository {
            Some(repository) => spelling::below(&repository.worktree_root, &physical),
            None => spelling::whole(&physical),
        };
        let (directory, base) = match spelled.iter().rposition(|&byte| byte == b'/') {
            Some(slash) => (&spelled[..slash], &spelled[slash + 1..]),
            None => (&spelled[..0], &*spelled),
        };
        if base.is_empty() {
            return Err(NamingError::NoFile(path.to_owned()));
        }
        let stem = stem::of(base);
        let whole = repository.is_none() || stem.generic;
        let resource =
            ResourceName::of("sops", &if whole { joined(&spelled, directory, &stem.rest) } else { stem.rest.clone() });
        let key = percent_encode(&spelled);
        let stem_from = explain(path, &physical, &key, &resource, repository.is_none(), &stem);
        Ok(Target {
            link: link_of(&physical),
            path: physical,
            resource: Resource { name: resource, scope },
            key,
            repository,
            stem_from,
        })
    }

    fn scope_of(&mut self, repository: &Repository) -> Result<Scope, NamingError> {
        if let Some((_, scope)) = self.seen.iter().find(|(seen, _)| seen == repository) {
            return Ok(scope.clone());
        }
        let scope = scope::of(repository, self.local, self.env, self.said)?;
        self.seen.push((repository.clone(), scope.clone()));
        Ok(scope)
    }
}

/// The resource that the hard links of a file have in common; none when there are no further links.
fn link_of(physical: &Path) -> Option<Resource> {
    inode::shared(physical).map(|inode| Resource {
        name: ResourceName::of("sops", format!("link/{inode}").as_bytes()),
        scope: machine::scope(),
    })
}

/// The stem with its directory before it; `spelled` has a `/` exactly when there is a directory to put there.
fn joined(spelled: &[u8], directory: &[u8], rest: &[u8]) -> Vec<u8> {
    if spelled.contains(&b'/') { [directory, b"/", rest].concat() } else { rest.to_vec() }
}

fn explain(path: &Path, physical: &Path, key: &str, name: &ResourceName, outside: bool, stem: &stem::Stem) -> String {
    let shown = |path: &Path| percent_encode(path.as_os_str().as_encoded_bytes());
    let mut text = format!("{key} gives {name}");
    if outside {
        text.push_str(", with its directory, because it lies in no repository");
    } else if stem.generic {
        text.push_str(", with its directory, because its own name is a general one");
    }
    if path != physical {
        text = format!("{text} ({} is {})", shown(path), shown(physical));
    }
    text
}

/// The bytes of one component or path, as the system keeps them.
fn bytes_of(name: &std::ffi::OsStr) -> &[u8] {
    name.as_encoded_bytes()
}
