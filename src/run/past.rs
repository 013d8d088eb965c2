//! What this machine knows of a file that does not look like SOPS now: whether it was, or is to be. Then it may be open for an
//! edit, or be quarantined, and the store says whose it is. Nobody is asked here: copies and marks of them are at hand.
#![forbid(unsafe_code)]

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use crate::copies::{Chain, Known};
use crate::naming::{self, Local, Namer, Target};
use crate::plan::Past;
use crate::state::StateDir;

use super::{Context, env_of, said_scope};

/// The file's names, if this machine knows of it as SOPS.
#[must_use]
pub fn was_sops(context: &Context, path: &Path) -> Option<Target> {
    known(context, path, &copies(context)?)
}

fn known(context: &Context, path: &Path, copies: &Path) -> Option<Target> {
    let (env, said) = (env_of(context), said_scope(context));
    // Who only looks gives a repository no name.
    let target = Namer::new(Local::Peek, &env).heeding(&said).name(path).ok()?;
    let chain = Chain::of(copies, target.scope(), &target.key, &target.path);
    chain.is_known_here().then_some(target)
}

/// Where copies are; none where none was ever made.
fn copies(context: &Context) -> Option<PathBuf> {
    let state = StateDir::existing(&env_of(context)).ok().flatten()?;
    Some(state.path().join("copies")).filter(|copies| copies.is_dir())
}

/// The same for the plan, which may ask about many.
pub(super) struct AtHand<'a> {
    context: &'a Context,
    copies: OnceCell<Option<PathBuf>>,
    known: OnceCell<Known>,
}

impl<'a> AtHand<'a> {
    pub(super) fn of(context: &'a Context) -> Self {
        Self { context, copies: OnceCell::new(), known: OnceCell::new() }
    }

    fn copies(&self) -> Option<&Path> {
        self.copies.get_or_init(|| copies(self.context)).as_deref()
    }
}

impl Past for AtHand<'_> {
    fn was_sops(&self, path: &Path) -> bool {
        self.copies().is_some() && naming::place(path).is_ok_and(|place| self.is_among_many(&place.path))
    }

    fn is_among_many(&self, path: &Path) -> bool {
        let Some(copies) = self.copies() else { return false };
        // Naming reads the settings of a repository and may ask git: not for each of a thousand files.
        self.known.get_or_init(|| Known::of(copies)).may_have(path) && known(self.context, path, copies).is_some()
    }
}
