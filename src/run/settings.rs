//! Which settings count for this command: those of the repositories of its files, or of the one around the working
//! directory. Asked for once something is to be held, never before.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use crate::config::{self, BuiltIn, ConfigError, File, Ground, Ignored, Layers, Places, Settings};
use crate::exit::Exit;
use crate::git::Repository;
use crate::naming::{self, NamingError};
use crate::plan::HoldPlan;
use crate::report::{self, Voice};
use crate::rules;
use crate::terms::{Scope, shell_quote};

use super::{Context, NoSetting, env_of, trust};

/// What is known of repositories: their origins, and what people have vouched for.
struct Known<'a>(&'a Context);

impl Ground for Known<'_> {
    fn is_vouched_for(&self, file: &File) -> bool {
        trust::is_trusted(self.0, file)
    }

    fn origin(&self, root: &Path) -> Option<String> {
        let repository = Repository::around(root).ok().flatten()?;
        naming::of_origin(&repository, &env_of(self.0)).ok().flatten().map(|scope| scope.to_string())
    }
}

/// The files for these work trees. `outside`: the command is also about something that lies in none.
///
/// # Errors
/// A file cannot be read or followed.
pub(super) fn layers(context: &Context, roots: &[&Path], outside: bool) -> Result<Layers, ConfigError> {
    let env = env_of(context);
    let places = Places { outside, ..Places::around(&env, roots) };
    Layers::read(&places, &env, &context.shelf, &Known(context))
}

/// The files for what this plan holds.
pub(super) fn layers_for(context: &Context, plan: &HoldPlan) -> Result<Layers, ConfigError> {
    if plan.files.is_empty() {
        return layers_here(context);
    }
    let roots: Vec<&Path> = plan.files.iter().filter_map(|file| file.target.worktree()).collect();
    layers(context, &roots, plan.files.iter().any(|file| file.target.worktree().is_none()))
}

/// The files for the repository around the working directory.
///
/// # Errors
/// A file cannot be read or followed.
pub fn layers_here(context: &Context) -> Result<Layers, ConfigError> {
    let root = root_here(context);
    layers(context, root.as_deref().as_slice(), root.is_none())
}

/// A repository that cannot be read sets nothing; whoever names something in it is told.
pub(super) fn root_here(context: &Context) -> Option<PathBuf> {
    Repository::around(&context.invocation.cwd).ok().flatten().map(|repository| repository.worktree_root)
}

/// The scope that the origin of the repository around the working directory gives.
#[must_use]
pub fn origin_here(context: &Context) -> Option<String> {
    Known(context).origin(&root_here(context)?)
}

/// What counts for this plan. What stands in the way has been said, and so has what does not count.
pub(super) fn for_plan(context: &Context, plan: &HoldPlan) -> Result<Settings, Exit> {
    let settings = settings_for(context, plan)?;
    tell_ignored(context, &settings);
    Ok(settings)
}

/// What counts for this plan. What stands in the way has been said.
///
/// # Errors
/// The exit.
pub fn settings_for(context: &Context, plan: &HoldPlan) -> Result<Settings, Exit> {
    counted(context, layers_for(context, plan))
}

/// What counts in the repository around the working directory.
///
/// # Errors
/// The exit.
pub fn settings_here(context: &Context) -> Result<Settings, Exit> {
    counted(context, layers_here(context))
}

/// What counts in this work tree; none is outside of any.
///
/// # Errors
/// The exit.
pub fn settings_of(context: &Context, root: Option<&Path>) -> Result<Settings, Exit> {
    counted(context, layers(context, root.as_slice(), root.is_none()))
}

/// What the rules have already.
pub(super) const BUILT_IN: BuiltIn<'static> = BuiltIn { rule: &rules::is_built_in, program: &rules::knows };

fn counted(context: &Context, layers: Result<Layers, ConfigError>) -> Result<Settings, Exit> {
    let counted = layers.and_then(|layers| layers.settings(&BUILT_IN));
    counted.map_err(|error| NoSetting::Wrong(error).refuse(context))
}

/// The same for who says himself what stands in the way.
///
/// # Errors
/// A file cannot be read or followed.
pub fn settings_or_fault(context: &Context) -> Result<Settings, ConfigError> {
    layers_here(context)?.settings(&BUILT_IN)
}

/// The scopes that repositories' files give, for a [`Namer`](crate::naming::Namer).
pub fn said_scope(context: &Context) -> impl Fn(&Repository) -> Result<Option<Scope>, NamingError> {
    |repository| {
        let scope = layers(context, &[&repository.worktree_root], false).and_then(|layers| layers.scope());
        let scope = scope.map_err(|error| NamingError::Settings { what: error.to_string(), remedy: error.remedy() })?;
        Ok(scope.map(Scope))
    }
}

/// Says in one line for each file what it sets and what does not count.
pub fn tell_ignored(context: &Context, settings: &Settings) {
    if context.voice < Voice::Ready {
        return;
    }
    for of_file in settings.ignored().chunk_by(|one, other| path(one) == path(other)) {
        let Some(path) = path(&of_file[0]) else { continue };
        let mut keys: Vec<String> = of_file.iter().map(name).collect();
        keys.dedup();
        let place = path.parent().unwrap_or(path).as_os_str().as_encoded_bytes();
        let how = match of_file.iter().any(|ignored| ignored.if_trusted) {
            true => format!(" before it is trusted (locked config trust {})", shell_quote(place)),
            false => " there".to_owned(),
        };
        report::say(&report::not_counted(path, &keys, &how));
    }
}

pub(super) fn path(ignored: &Ignored) -> Option<&Path> {
    match &ignored.from {
        config::Source::File { path, .. } => Some(path),
        _ => None,
    }
}

/// `ttl`, `[[safe]]`, `canary of a [[rule]]`.
fn name(ignored: &Ignored) -> String {
    match ignored.inner {
        Some(inner) => format!("{inner} of a {}", ignored.key.name()),
        None => ignored.key.name().to_owned(),
    }
}
