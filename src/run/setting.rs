//! Which store this command goes to: asked once, before the keeper is forked, and kept in memory alone.
#![forbid(unsafe_code)]

use std::path::Path;

use crate::config::{ConfigError, Layers, StoreSetting};
use crate::exit::{self, Exit};
use crate::plan::HoldPlan;
use crate::report::{self, Refusal, Voice};
use crate::store::StoreError;

use super::way::{self, Tools};
use super::{Context, arbiter, env_of, settings};

/// Why there is no setting.
pub enum NoSetting {
    /// A file or a variable sets it wrong, or may not set it.
    Wrong(ConfigError),
    /// Its address cannot be had.
    Away(StoreError),
}

impl NoSetting {
    /// What to say, and the exit status.
    #[must_use]
    pub fn refusal(&self) -> (Refusal, i32) {
        match self {
            Self::Wrong(error) => (report::misconfigured(&error.to_string(), &error.remedy()), exit::CONFIG),
            Self::Away(error) => (report::store_down(error), status_of(error)),
        }
    }

    /// Says it.
    pub fn refuse(&self, context: &Context) -> Exit {
        let (refusal, status) = self.refusal();
        super::hold::refuse(context, &refusal, status)
    }
}

/// The exit status of a command that got no answer: 78 when what was set names no store that it could have, else 69.
#[must_use]
pub fn status_of(error: &StoreError) -> i32 {
    if error.is_of_the_setting() { exit::CONFIG } else { exit::UNREACHABLE }
}

/// The store for what this plan holds: that of the repositories of its files, or of the one around the working directory.
pub(super) fn for_plan(context: &Context, plan: &HoldPlan) -> Result<StoreSetting, NoSetting> {
    found(context, &settings::layers_for(context, plan).map_err(NoSetting::Wrong)?)
}

/// The store of the repository around the working directory.
///
/// # Errors
/// See [`NoSetting`].
pub fn store_here(context: &Context) -> Result<StoreSetting, NoSetting> {
    found(context, &settings::layers_here(context).map_err(NoSetting::Wrong)?)
}

/// The store of these work trees.
///
/// # Errors
/// See [`NoSetting`].
pub fn store_for(context: &Context, roots: &[&Path]) -> Result<StoreSetting, NoSetting> {
    found(context, &settings::layers(context, roots, roots.is_empty()).map_err(NoSetting::Wrong)?)
}

/// The store that the files name for the working directory, whatever the environment and the options say; none when none
/// does.
///
/// # Errors
/// See [`NoSetting`].
pub fn store_of_files(context: &Context) -> Result<Option<StoreSetting>, NoSetting> {
    let around = env_of(context);
    let env = |name: &str| around(name).filter(|_| name != "LOCKED_STORE");
    let layers = settings::layers_here(context).map_err(NoSetting::Wrong)?;
    let setting = layers.store(&env).map_err(NoSetting::Wrong)?;
    if setting.said_by.is_empty() { Ok(None) } else { completed(context, setting).map(Some) }
}

/// The store as files and environment name it for this work tree, for who only compares: what a SOPS file holds is not
/// read. `by_files`: whatever the environment and the options say.
///
/// # Errors
/// A file cannot be read or followed.
pub fn said_store(context: &Context, root: Option<&Path>, by_files: bool) -> Result<StoreSetting, ConfigError> {
    let around = env_of(context);
    let said = |name: &str| context.store.clone().filter(|_| name == "LOCKED_STORE").or_else(|| around(name));
    let env = |name: &str| if by_files && name == "LOCKED_STORE" { None } else { said(name) };
    settings::layers(context, root.as_slice(), root.is_none())?.store(&env)
}

/// A setting with what it leaves to be found.
///
/// # Errors
/// See [`NoSetting`].
pub fn completed(context: &Context, setting: StoreSetting) -> Result<StoreSetting, NoSetting> {
    let tools = Tools {
        real: &|name| arbiter::real(context, name),
        env: &|| arbiter::variables(context),
        cwd: &context.invocation.cwd,
    };
    way::complete(setting, &tools).map_err(NoSetting::Away)
}

fn found(context: &Context, layers: &Layers) -> Result<StoreSetting, NoSetting> {
    let around = env_of(context);
    let env = |name: &str| context.store.clone().filter(|_| name == "LOCKED_STORE").or_else(|| around(name));
    let mut setting = layers.store(&env).map_err(NoSetting::Wrong)?;
    setting.advisory |= context.advisory;
    // The option stands in for its twin; the one that was typed is the one to name.
    if setting.said_by == "LOCKED_STORE" && context.store.is_some() && context.store != around("LOCKED_STORE") {
        setting.said_by = "--store".to_owned();
    }
    if let Some(replaced) = setting.replaces.as_ref().filter(|_| context.voice == Voice::Verbose) {
        report::say(&format!("locked: {} says which store, instead of all of {replaced}", setting.said_by));
    }
    completed(context, setting)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn every_reason_has_its_status() {
        let (text, path) = (String::new, PathBuf::new);
        let all = [
            StoreError::Place { path: path(), why: text(), remedy: text() },
            StoreError::Unreachable(text()),
            StoreError::NoWay { why: text(), remedy: text() },
            StoreError::Unknown { why: text(), said_by: text() },
            StoreError::Misnamed { why: text(), remedy: text() },
            StoreError::Contended(text()),
            StoreError::Full { path: path() },
            StoreError::Corrupt { path: path(), why: text(), copy: path() },
            StoreError::Newer { found: 2, known: 1 },
            StoreError::Refused { why: text(), remedy: text() },
            StoreError::Failed(text()),
        ];
        let mut seen = std::collections::BTreeSet::new();
        for error in all {
            // A case of its own for each, so that a new one gets its status here.
            let (name, status) = match &error {
                StoreError::Unknown { .. } => ("unknown", 78),
                StoreError::Misnamed { .. } => ("misnamed", 78),
                StoreError::Place { .. } => ("place", 69),
                StoreError::Unreachable(_) => ("unreachable", 69),
                StoreError::NoWay { .. } => ("no way", 69),
                StoreError::Contended(_) => ("contended", 69),
                StoreError::Full { .. } => ("full", 69),
                StoreError::Corrupt { .. } => ("corrupt", 69),
                StoreError::Newer { .. } => ("newer", 69),
                StoreError::Refused { .. } => ("refused", 69),
                StoreError::Failed(_) => ("failed", 69),
            };
            assert_eq!(status_of(&error), status, "{name}");
            // What is said fits: a wrong setting is no store that cannot be had.
            let why = report::store_down(&error).why;
            assert_eq!(why.starts_with("locked stops at a setting"), status == 78, "{name}: {why}");
            seen.insert(name);
        }
        assert_eq!(seen.len(), 11);
    }
}
