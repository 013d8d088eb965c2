//! Which store this command goes to: asked once, before the keeper is forked, and kept in memory alone.
#![forbid(unsafe_code)]

use std::io::{self, Read as _};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::canary;
use crate::config::{self, Address, ConfigError, Places, StoreSetting};
use crate::exit::{self, Exit};
use crate::git::Repository;
use crate::plan::HoldPlan;
use crate::report::{self, Refusal};
use crate::store::StoreError;

use super::{Context, arbiter, env_of};

/// How long the real sops may take to give the address out.
const SOPS: Duration = Duration::from_secs(20);

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
    let roots: Vec<&Path> = plan.files.iter().filter_map(|file| file.target.worktree()).collect();
    let outside = plan.files.iter().any(|file| file.target.worktree().is_none());
    if plan.files.is_empty() { store_here(context) } else { found(context, &roots, outside) }
}

/// The store of the repository around the working directory.
///
/// # Errors
/// See [`NoSetting`].
pub fn store_here(context: &Context) -> Result<StoreSetting, NoSetting> {
    // A repository that cannot be read sets nothing; whoever names something in it is told.
    let repository = Repository::around(&context.invocation.cwd).ok().flatten();
    let root = repository.as_ref().map(|repository| &*repository.worktree_root);
    store_for(context, root.as_slice())
}

/// The store of these work trees.
///
/// # Errors
/// See [`NoSetting`].
pub fn store_for(context: &Context, roots: &[&Path]) -> Result<StoreSetting, NoSetting> {
    found(context, roots, roots.is_empty())
}

/// `outside`: something lies in no work tree.
fn found(context: &Context, roots: &[&Path], outside: bool) -> Result<StoreSetting, NoSetting> {
    let around = env_of(context);
    let env = |name: &str| context.store.clone().filter(|_| name == "LOCKED_STORE").or_else(|| around(name));
    let mut setting =
        config::store(&env, &Places { outside, ..Places::around(&env, roots) }).map_err(NoSetting::Wrong)?;
    setting.advisory |= context.advisory;
    if setting.via.is_some() {
        setting.ssh = arbiter::real(context, "ssh");
    }
    match &setting.address {
        Address::InSops { file, key } => {
            let text = from_sops(context, file, key).map_err(NoSetting::Away)?;
            Ok(StoreSetting { address: Address::Text(text), ..setting })
        }
        Address::Embedded | Address::Text(_) => Ok(setting),
    }
}

/// Has the real sops read the address out of the file. It goes from a pipe into memory and nowhere else.
fn from_sops(context: &Context, file: &Path, key: &str) -> Result<String, StoreError> {
    let shown = file.display();
    let no_way = |why: String, remedy: String| StoreError::NoWay { why, remedy };
    let by_hand = || format!("sops decrypt --extract '[\"{key}\"]' {shown}");
    let arbiter = arbiter::arbiter(context, None);
    let Some(sops) = &arbiter.sops else {
        return Err(no_way(
            format!("its address is in {shown}, and there is no sops on PATH"),
            "install sops".to_owned(),
        ));
    };
    let read = || -> io::Result<Option<Vec<u8>>> {
        // An address fits into a pipe; what does not is none, and runs into the limit.
        let (mut reader, writer) = io::pipe()?;
        let mut command = Command::new(sops);
        command.args(["decrypt", "--extract", &format!("[{}]", serde_json::Value::from(key))]).arg(file);
        command.env_clear().envs(arbiter.env.iter().map(|(name, value)| (name, value))).current_dir(&arbiter.cwd);
        command.stdin(Stdio::null()).stdout(writer).stderr(Stdio::null());
        let status = canary::run_within(&mut command, SOPS)?;
        drop(command);
        let mut text = Vec::new();
        reader.read_to_end(&mut text)?;
        Ok(status.filter(ExitStatus::success).map(|_| text))
    };
    let output = match read() {
        Ok(Some(output)) => output,
        Ok(None) => return Err(no_way(format!("its address is in {shown}, and sops did not give it out"), by_hand())),
        Err(error) => return Err(no_way(format!("sops, which has its address, cannot be run: {error}"), by_hand())),
    };
    let text = String::from_utf8(output).ok().map(|text| text.trim_end_matches(['\r', '\n']).to_owned());
    text.filter(|text| !text.is_empty())
        .ok_or_else(|| no_way(format!("what {shown} has under {key} is no address"), by_hand()))
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
            StoreError::Unknown(text()),
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
                StoreError::Unknown(_) => ("unknown", 78),
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
            // What is said fits: a wrong setting is not to be tried again as it is.
            let retry = report::store_down(&error).retry;
            assert_eq!(retry.starts_with("no"), status == 78, "{name}: {retry}");
            seen.insert(name);
        }
        assert_eq!(seen.len(), 11);
    }
}
