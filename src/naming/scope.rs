//! The scope of a repository: the same for every checkout of it, different for any other.
#![forbid(unsafe_code)]

use std::io::Write as _;
use std::path::Path;

use uuid::Uuid;

use super::{NamingError, SaidScope, remote};
use crate::git::{Environment, Repository};
use crate::terms::Scope;

/// May a repository without a remote be given its identity now?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Local {
    /// Only look: a repository that has none yet is `local/unborn`. For `explain` and dry runs.
    Peek,
    /// Make one that lasts. For acquiring.
    Make,
}

/// Where the identity is kept, below the common git directory: shared by all work trees, never committed.
const KEPT_IN: &str = "locked";
const KEPT_AS: &str = "scope";
/// And the scopes that it has had from remotes.
const HAD_AS: &str = "scopes";
/// So many of them; nobody moves a repository more often.
const MOST_HAD: usize = 32;

/// `host/path` of origin, or of the only remote, whatever it is called; none without.
///
/// # Errors
/// When a configuration file of the repository is unreadable or broken, or git is needed and fails.
pub fn of_origin(repository: &Repository, env: Environment<'_>) -> Result<Option<Scope>, NamingError> {
    let url = repository.origin(env)?;
    Ok(url.map(|url| Scope(remote::scope(&url, &base_of_relative_urls(repository)))))
}

/// What the settings say, else `host/path` of origin, else `local/UUID`.
pub(super) fn of(
    repository: &Repository,
    local: Local,
    env: Environment<'_>,
    said: SaidScope<'_>,
) -> Result<Scope, NamingError> {
    if let Some(scope) = said(repository)? {
        return Ok(scope);
    }
    if let Some(scope) = of_origin(repository, env)? {
        return Ok(scope);
    }
    let file = repository.common_dir.join(KEPT_IN).join(KEPT_AS);
    let identity = match (kept(&file)?, local) {
        (Some(identity), _) => identity.to_string(),
        (None, Local::Peek) => "unborn".to_owned(),
        (None, Local::Make) => make(&file)?.to_string(),
    };
    Ok(Scope(format!("local/{identity}")))
}

/// The scopes that the files of this repository had before its remote was added or turned elsewhere, as far as its common git
/// directory knows: what was written under them was written here.
#[must_use]
pub fn former(repository: &Repository) -> Vec<Scope> {
    let place = repository.common_dir.join(KEPT_IN);
    let local = kept(&place.join(KEPT_AS)).ok().flatten().map(|identity| Scope(format!("local/{identity}")));
    local.into_iter().chain(had(&place.join(HAD_AS))).collect()
}

/// It has this scope now, which [`former`] is to know. Best effort: what is not known is asked for again, by the hook.
pub fn note(repository: &Repository, scope: &Scope) {
    let place = repository.common_dir.join(KEPT_IN);
    let file = place.join(HAD_AS);
    let had = had(&file);
    if scope.0.starts_with("local/") || had.contains(scope) || had.len() >= MOST_HAD || scope.0.contains('\n') {
        return;
    }
    let append = || -> std::io::Result<()> {
        std::fs::create_dir_all(&place)?;
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(&file)?;
        file.write_all(format!("{scope}\n").as_bytes())
    };
    let _asked_for_otherwise = append();
}

fn had(file: &Path) -> Vec<Scope> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().take(MOST_HAD).map(|line| Scope(line.to_owned())).collect()
}

/// What a relative URL starts from: the main work tree, so that linked work trees at other depths agree with it.
fn base_of_relative_urls(repository: &Repository) -> std::path::PathBuf {
    match repository.common_dir.parent() {
        Some(main) if repository.git_dir != repository.common_dir && repository.common_dir.ends_with(".git") => {
            main.to_owned()
        }
        _ => repository.worktree_root.clone(),
    }
}

fn kept(file: &Path) -> Result<Option<Uuid>, NamingError> {
    match std::fs::read(file) {
        Ok(text) => {
            Uuid::try_parse_ascii(text.trim_ascii()).map(Some).map_err(|_| NamingError::NoIdentity(file.to_owned()))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(NamingError::Unreadable { path: file.to_owned(), source }),
    }
}

/// The first to come makes it, everyone reads what the first made. The file appears whole and on disk or not at all, so
/// that neither a crash nor a cut of power leaves half an identity.
fn make(file: &Path) -> Result<Uuid, NamingError> {
    let cannot = |source| NamingError::CannotKeep { path: file.to_owned(), source };
    let directory = file.parent().unwrap_or(file);
    std::fs::create_dir_all(directory).map_err(cannot)?;
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        // No secret, and the repository may be shared by several users.
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(std::fs::Permissions::from_mode(0o644));
    }
    let mut draft = builder.prefix(".scope-").tempfile_in(directory).map_err(cannot)?;
    writeln!(draft, "{}", Uuid::new_v4()).and_then(|()| draft.as_file().sync_all()).map_err(cannot)?;
    match draft.persist_noclobber(file) {
        Ok(_) => {}
        Err(lost) if lost.error.kind() == std::io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(cannot(error.error)),
    }
    kept(file)?.ok_or_else(|| NamingError::NoIdentity(file.to_owned()))
}
