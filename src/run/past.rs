//! What is known of a file that does not look like SOPS now: whether it was, or is to be. Then it may be open for an edit, or be
//! quarantined, and the store says whose it is. Nobody is asked here: this machine's copies and marks of them are at hand, and
//! what the checkout itself remembers.
#![forbid(unsafe_code)]

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::copies::{Chain, Known};
use crate::naming::{self, Local, Namer, Target};
use crate::plan::Past;
use crate::state::StateDir;

use super::{Context, env_of, opened, said_scope};

/// The file's names, if it is known as SOPS here.
#[must_use]
pub fn was_sops(context: &Context, path: &Path) -> Option<Target> {
    let target = named(context, path)?;
    let is_known = || copies(context).is_some_and(|copies| is_kept(&target, &copies));
    let is_open = || target.path.parent().is_some_and(|parent| opened::around(parent).contains(&target.path));
    (is_known() || is_open()).then_some(target)
}

fn named(context: &Context, path: &Path) -> Option<Target> {
    let (env, said) = (env_of(context), said_scope(context));
    // Who only looks gives a repository no name.
    Namer::new(Local::Peek, &env).heeding(&said).name(path).ok()
}

fn is_kept(target: &Target, copies: &Path) -> bool {
    Chain::of(copies, target.scope(), &target.key, &target.path).is_known_here()
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
    /// What was opened, by the directory that was asked about.
    opened: RefCell<BTreeMap<PathBuf, BTreeSet<PathBuf>>>,
}

impl<'a> AtHand<'a> {
    pub(super) fn of(context: &'a Context) -> Self {
        Self { context, copies: OnceCell::new(), known: OnceCell::new(), opened: RefCell::default() }
    }

    fn copies(&self) -> Option<&Path> {
        self.copies.get_or_init(|| copies(self.context)).as_deref()
    }

    fn was_opened(&self, path: &Path) -> bool {
        let Some(parent) = path.parent() else { return false };
        let mut opened = self.opened.borrow_mut();
        if !opened.contains_key(parent) {
            opened.insert(parent.to_owned(), opened::around(parent));
        }
        opened.get(parent).is_some_and(|opened| opened.contains(path))
    }

    fn is_kept(&self, path: &Path) -> bool {
        let Some(copies) = self.copies() else { return false };
        // Naming reads the settings of a repository and may ask git: not for each of a thousand files.
        self.known.get_or_init(|| Known::of(copies)).may_have(path)
            && named(self.context, path).is_some_and(|target| is_kept(&target, copies))
    }
}

impl Past for AtHand<'_> {
    fn was_sops(&self, path: &Path) -> bool {
        naming::place(path).is_ok_and(|place| self.is_among_many(&place.path))
    }

    fn is_among_many(&self, path: &Path) -> bool {
        self.was_opened(path) || self.is_kept(path)
    }
}
