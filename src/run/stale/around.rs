//! What git and the work trees of this host say of the versions of one file. git is started only when it is asked.
#![forbid(unsafe_code)]

mod fetched;
mod forgotten;
mod gone;
mod index;
mod lies;
mod reference;
mod theirs;
mod ways;
mod writer;

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::git::{GitError, History, Repository};
use crate::lineage::{Way, Whereabouts, World};
use crate::naming::Target;
use crate::state::{self, StateDir};
use crate::store::StoredReceipt;
use crate::terms::{Digest, percent_decode};

use super::ours::Ours;
use reference::short;
use theirs::Theirs;
use ways::Asked;

pub(super) use reference::branch_in;

/// Where a version is that no branch has.
const DETACHED: &str = "a detached HEAD";

/// The surroundings of a file.
pub(super) struct Around<'a> {
    target: &'a Target,
    machine: Machine<'a>,
    env: &'a dyn Fn(&str) -> Option<OsString>,
    /// The version that is judged: what it holds, if that is known.
    content: Option<&'a [u8]>,
    version: Option<&'a Digest>,
    seen: OnceCell<Result<Seen, String>>,
    /// What has been asked about once: many versions may have been written in one place.
    places: RefCell<BTreeMap<PathBuf, Rc<Theirs>>>,
    pulls: RefCell<BTreeMap<Asked, Way>>,
    looked_at: RefCell<BTreeMap<(String, String), Option<i64>>>,
}

/// The machine that this is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Machine<'a> {
    pub(super) host: &'a str,
    /// Two machines may have one name.
    pub(super) host_id: Option<&'a str>,
    /// Where it remembers its boots: two machines may be made from one image.
    pub(super) state: Option<&'a StateDir>,
}

impl Machine<'_> {
    /// Whether this was written on this machine, for sure.
    fn wrote(&self, receipt: &StoredReceipt) -> bool {
        let ids = receipt.host_id.as_deref().zip(self.host_id);
        // It may have been started anew since.
        let is_seen = |theirs: &str| self.state.is_some_and(|state| state.has_seen(theirs));
        receipt.host == self.host
            && ids.is_some_and(|(theirs, ours)| state::is_same_machine(theirs, ours) && is_seen(theirs))
    }
}

/// What git has said.
struct Seen {
    history: History,
    ours: Ours,
    /// The names that git may have for the version at hand.
    blobs: Vec<String>,
}

impl Seen {
    /// The branch that it was written on, where that is one of ours.
    fn branch_of<'r>(&self, receipt: &'r StoredReceipt) -> Option<&'r str> {
        receipt.branch.as_deref().filter(|branch| self.ours.has(branch))
    }
}

impl<'a> Around<'a> {
    pub(super) fn of(
        target: &'a Target,
        machine: Machine<'a>,
        env: &'a dyn Fn(&str) -> Option<OsString>,
        content: Option<&'a [u8]>,
        version: Option<&'a Digest>,
    ) -> Self {
        Self {
            target,
            machine,
            env,
            content,
            version,
            seen: OnceCell::new(),
            places: RefCell::default(),
            pulls: RefCell::default(),
            looked_at: RefCell::default(),
        }
    }

    fn repository(&self) -> Option<&'a Repository> {
        self.target.repository.as_ref()
    }

    fn file(&self) -> &'a Path {
        &self.target.path
    }

    fn seen(&self, repository: &Repository) -> Result<&Seen, String> {
        let look = || -> Result<Seen, GitError> {
            Ok(Seen {
                history: repository.history(self.file(), self.env)?,
                ours: Ours::of(repository, self.env)?,
                blobs: self
                    .content
                    .map(|content| names(repository, self.file(), content, self.env))
                    .unwrap_or_default(),
            })
        };
        self.seen.get_or_init(|| look().map_err(|error| error.to_string())).as_ref().map_err(Clone::clone)
    }

    /// The version of this chain that git knows the content at hand as: a filter may leave other bytes of it in each checkout.
    pub(super) fn known_as(&self, chain: &[StoredReceipt]) -> Option<Digest> {
        let names = names(self.repository()?, self.file(), self.content?, self.env);
        let same = |receipt: &&StoredReceipt| receipt.blob.as_ref().is_some_and(|blob| names.contains(blob));
        chain.iter().find(same).map(|receipt| receipt.new.clone())
    }

    /// Where refs here have it, if some do.
    fn in_refs(
        &self,
        repository: &Repository,
        seen: &Seen,
        receipt: &StoredReceipt,
    ) -> Result<Option<Whereabouts>, GitError> {
        let Some(blob) = blob_of(repository, &seen.history, receipt, self.env)? else { return Ok(None) };
        let commits = seen.history.brought(&blob);
        let mut elsewhere = None;
        for commit in commits.iter().take(4) {
            if repository.head_has(commit, self.env)? {
                return self.behind(repository, &blob).map(Some);
            }
            // Where both meet somebody has taken HEAD's side, and knows what the other one has.
            let taken_in = repository.is_taking_in(commit, self.env);
            if taken_in && self.is_as_head(repository, seen)? {
                return Ok(Some(Whereabouts::Behind));
            }
            let refs = repository.refs_with(commit, self.env)?;
            // It is in no ref yet, and no git will ask about it once this has ended.
            if taken_in && refs.is_empty() {
                return Ok(Some(Whereabouts::Ahead(Way::EndFirst)));
            }
            for reference in seen.ours.among(&refs) {
                let standing = repository.standing(reference, self.file(), self.env)?;
                match standing.blob {
                    // It has gone back to what we have.
                    Some(at_tip) if seen.blobs.contains(&at_tip) => return Ok(Some(Whereabouts::Behind)),
                    Some(_) => {
                        let way = self.merging(repository, seen, short(reference), standing.merges)?;
                        return Ok(Some(Whereabouts::Ahead(way)));
                    }
                    None => elsewhere = Some(format!("{}, which has deleted the file since", short(reference))),
                }
            }
            let other = refs.first().map_or(DETACHED, |reference| short(reference));
            elsewhere.get_or_insert_with(|| other.to_owned());
        }
        Ok(elsewhere.map(Whereabouts::Elsewhere))
    }

    /// The version at hand is what HEAD has.
    fn is_as_head(&self, repository: &Repository, seen: &Seen) -> Result<bool, GitError> {
        let head = repository.blob_at("HEAD", self.file(), self.env)?;
        Ok(head.is_some_and(|head| seen.blobs.contains(&head)))
    }

    /// It lies in the history of HEAD. A file that is not there because a sparse checkout leaves it out is no revert.
    fn behind(&self, repository: &Repository, blob: &str) -> Result<Whereabouts, GitError> {
        let left_out = self.content.is_none()
            && repository.staged(self.file(), self.env)?.is_some_and(|(staged, sparse)| sparse && staged == blob);
        Ok(if left_out { Whereabouts::Ahead(Way::PastSparse) } else { Whereabouts::Behind })
    }

    fn look(&self, receipt: &StoredReceipt, moved_on: bool) -> Result<Whereabouts, GitError> {
        let here = receipt.host == self.machine.host;
        let place = receipt.worktree.as_ref().map(PathBuf::from).filter(|_| here);
        let Some(repository) = self.repository() else {
            // Outside of any repository the chain is of this very file, on this machine.
            return Ok(Whereabouts::Nowhere);
        };
        let seen = match self.seen(repository) {
            Ok(seen) => seen,
            Err(why) => return Ok(Whereabouts::Untold(why)),
        };
        if let Some(found) = self.in_refs(repository, seen, receipt)? {
            return Ok(found);
        }
        if let Some(way) = self.in_an_index(repository, seen, receipt, place.as_deref())? {
            return Ok(Whereabouts::Ahead(way));
        }
        match place {
            Some(place) => self.at_its_writer(receipt, repository, &place, moved_on, seen),
            None => self.out_of_sight(receipt, seen),
        }
    }
}

impl World for Around<'_> {
    fn came_by_git(&mut self) -> bool {
        let Some((repository, seen)) = self.repository().and_then(|it| Some((it, self.seen(it).ok()?))) else {
            return false;
        };
        let staged = || repository.staged(self.file(), self.env).ok().flatten().map(|(blob, _)| blob);
        seen.blobs.iter().any(|blob| !seen.history.brought(blob).is_empty())
            || staged().is_some_and(|staged| seen.blobs.contains(&staged))
    }

    fn is_at_head(&mut self) -> bool {
        let head = || self.repository()?.head_content(self.file(), self.env).ok()?;
        self.version.is_some_and(|version| head().is_some_and(|head| Digest::of(&head) == *version))
    }

    fn whereabouts(&mut self, receipt: &StoredReceipt, moved_on: bool) -> Whereabouts {
        self.look(receipt, moved_on).unwrap_or_else(|error| Whereabouts::Untold(error.to_string()))
    }
}

/// The names that git may have for this content: as it is, with LF, and as attributes have it.
fn names(repository: &Repository, file: &Path, content: &[u8], env: &dyn Fn(&str) -> Option<OsString>) -> Vec<String> {
    let stored = repository.stored_as(file, content, env).ok();
    let lines = String::from_utf8_lossy(content).replace("\r\n", "\n");
    let others = [repository.blob_id(content).ok(), repository.blob_id(lines.as_bytes()).ok()];
    let mut names: Vec<String> = stored.into_iter().chain(others.into_iter().flatten()).collect();
    names.sort();
    names.dedup();
    names
}

/// The blob of this history that a receipt is of: by its name, else by its content, which a receipt for a dead command or of a
/// repository with other hashes needs.
fn blob_of(
    repository: &Repository,
    history: &History,
    receipt: &StoredReceipt,
    env: &dyn Fn(&str) -> Option<OsString>,
) -> Result<Option<String>, GitError> {
    if let Some(blob) = receipt.blob.as_ref().filter(|blob| !history.brought(blob).is_empty()) {
        return Ok(Some(blob.clone()));
    }
    let same_length = |blob: &&str| receipt.blob.as_ref().is_none_or(|known| known.len() != blob.len());
    for blob in history.blobs().filter(same_length) {
        if repository.content_of(blob, env)?.is_some_and(|content| Digest::of(&content) == receipt.new) {
            return Ok(Some(blob.to_owned()));
        }
    }
    Ok(None)
}

/// The path of a chain within its work tree.
pub(super) fn path_of_key(key: &str) -> PathBuf {
    crate::git::path_from(&percent_decode(key))
}
