//! Is there a version of a file that `locked restore` could bring back? Of one that is new and was never filled there is none.
#![forbid(unsafe_code)]

use std::path::Path;

use crate::canary;
use crate::copies::{Chain, Known};
use crate::naming::{Local, Namer, Target};
use crate::state::StateDir;

use super::{Context, env_of, said_scope};

/// Whether a copy on this machine or HEAD has a sound version of it. What cannot be looked at has none.
#[must_use]
pub fn can_be_restored(context: &Context, file: &Path) -> bool {
    let (env, said) = (env_of(context), said_scope(context));
    // Who only looks gives a repository no name.
    let Ok(target) = Namer::new(Local::Peek, &env).heeding(&said).name(file) else { return false };
    let head = || target.repository.as_ref()?.head_content(&target.path, &env).ok()?;
    has_copy(context, &target) || head().is_some_and(|content| canary::native(&content).is_ok())
}

/// The files of which this machine keeps copies: one look for who asks about many.
#[must_use]
pub fn kept_here(state: &StateDir) -> Known {
    Known::of(&state.path().join("copies"))
}

fn has_copy(context: &Context, target: &Target) -> bool {
    let Ok(Some(state)) = StateDir::existing(&env_of(context)) else { return false };
    let chain = Chain::of(&state.path().join("copies"), target.scope(), &target.key, &target.path);
    let sound = |path: &Path| std::fs::read(path).is_ok_and(|content| canary::native(&content).is_ok());
    chain.all().unwrap_or_default().iter().any(|copy| sound(&copy.path))
}
