//! Posts: who keeps a hold between commands alive. One small file in `keep/` for each thing that is kept; its keeper has the
//! kernel lock. Who takes over puts a file of its own in its place, who gives back removes it, and the keeper sees both by
//! the very file that it has open: nothing leads to it any more.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::store::StoreError;

use super::place::refuse;
use super::{Account, StateDir, platform};

/// Where they lie.
const PLACE: &str = "keep";

/// A post that this process has.
#[derive(Debug)]
pub struct Post {
    path: PathBuf,
    file: File,
    /// Of the file, asked before it was put in its place.
    identity: (u64, u64),
    account: Account,
}

impl Post {
    /// Takes the post of this name (a plain file name), whoever has it: the one before sees that it is relieved. Call it in
    /// the process that stays: the lock is shared with whatever is forked afterwards.
    ///
    /// # Errors
    /// [`StoreError::Place`] when its file cannot be made, locked or put in its place.
    pub fn take(state: &StateDir, name: &str) -> Result<Self, StoreError> {
        let path = state.below(PLACE)?.join(name);
        let draft = path.with_file_name(format!(".{name}.{}", std::process::id()));
        let _as_owner = state.as_owner();
        let problem = |error: std::io::Error| refuse(&path, format!("the post cannot be taken: {error}"));
        // One of a process of this number that is gone.
        let _none_usually = std::fs::remove_file(&draft);
        let mut file = platform::create_new(&draft).map_err(problem)?;
        write!(file, "{}", std::process::id()).map_err(problem)?;
        // Order: locked before anybody can find it.
        match platform::try_lock(&file) {
            Ok(true) => {}
            Ok(false) => return Err(refuse(&path, "another process locked a file that we just made")),
            Err(error) => return Err(problem(error)),
        }
        let identity = platform::identity(&file).map_err(problem)?;
        platform::put_in_place(&draft, &path).map_err(problem)?;
        Ok(Self { path, file, identity, account: state.account() })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The descriptor's owner, for keeping it open past a cleanup of descriptors.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Whether it is this process's still: nobody was put in its place, and nobody has removed it.
    #[must_use]
    pub fn stands(&self) -> bool {
        platform::leads_to(&self.path, &self.file, self.identity)
    }

    /// Leaves it, if nobody else has it by now.
    pub fn leave(self) {
        if self.stands() {
            let _as_owner = self.account.act();
            // A file that stays is litter: its lock falls with us.
            let _litter = std::fs::remove_file(&self.path);
        }
    }
}

/// Who has the post of this name: a process id, for people. None when nobody has it, or nobody that lives.
#[must_use]
pub fn keeper_at(state: &StateDir, name: &str) -> Option<u32> {
    let _as_owner = state.as_owner();
    let mut file = platform::open_existing(&state.path().join(PLACE).join(name)).ok()?;
    let mut text = String::new();
    (!platform::try_lock(&file).ok()?).then(|| file.read_to_string(&mut text)).and_then(Result::ok)?;
    text.parse().ok()
}

/// Whether the post of this name was left by a death: its file is there, and nobody has the lock.
#[must_use]
pub fn is_deserted(state: &StateDir, name: &str) -> bool {
    let _as_owner = state.as_owner();
    let place = state.path().join(PLACE).join(name);
    platform::open_existing(&place).and_then(|file| platform::try_lock(&file)).is_ok_and(|free| free)
}

/// Whoever has the post of this name leaves it, without a word to the store. Nobody need have it.
pub fn relieve(state: &StateDir, name: &str) {
    let _as_owner = state.as_owner();
    let _nobody_has_it = platform::take_away(&state.path().join(PLACE).join(name));
}

/// Whoever has the post of this name looks at once how long its lease lasts. Nobody need have it.
pub fn wake(state: &StateDir, name: &str) {
    let _as_owner = state.as_owner();
    let _nobody_has_it = platform::touch(&state.path().join(PLACE).join(name));
}

/// Removes the posts whose keepers were killed; up to `limit` are looked at.
pub fn sweep_posts(state: &StateDir, limit: usize) {
    let _as_owner = state.as_owner();
    let Ok(entries) = std::fs::read_dir(state.path().join(PLACE)) else { return };
    for entry in entries.flatten().take(limit) {
        // A draft is locked in a moment; one that lies here longer goes when its process id comes again.
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        let free = || platform::open_existing(&entry.path()).and_then(|file| platform::try_lock(&file));
        if !hidden && free().is_ok_and(|free| free) {
            let _another_sweeps = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn state(directory: &Path) -> StateDir {
        let path = directory.as_os_str().to_owned();
        StateDir::open(&|name| (name == "LOCKED_STATE_DIR").then(|| path.clone())).expect("a state directory")
    }

    #[test]
    fn a_post_has_one_keeper_and_who_is_relieved_sees_it() {
        let directory = tempfile::tempdir().expect("directory");
        let state = state(directory.path());
        assert_eq!(keeper_at(&state, "a"), None);
        relieve(&state, "a");
        wake(&state, "a");
        let first = Post::take(&state, "a").expect("taken");
        assert_eq!((first.stands(), keeper_at(&state, "a")), (true, Some(std::process::id())));
        let second = Post::take(&state, "a").expect("taken over");
        assert_eq!((first.stands(), second.stands()), (false, true));
        first.leave();
        wake(&state, "a");
        sweep_posts(&state, 10);
        assert!(second.stands(), "who was relieved takes nothing away, and a post with a keeper is no litter");
        relieve(&state, "a");
        assert!(!second.stands());
        let third = Post::take(&state, "a").expect("taken");
        drop(third);
        assert_eq!(keeper_at(&state, "a"), None, "its keeper is gone");
        sweep_posts(&state, 10);
        assert_eq!(std::fs::read_dir(directory.path().join("keep")).expect("there").count(), 0);
    }
}
