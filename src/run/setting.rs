//! Which store this command goes to: asked once, before the keeper is forked, and kept in memory alone.
#![forbid(unsafe_code)]

use std::io::{self, Read as _};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::canary;
use crate::config::{Address, ConfigError, Layers, StoreSetting};
use crate::exit::{self, Exit};
use crate::plan::HoldPlan;
use crate::report::{self, Refusal};
use crate::store::StoreError;

use super::{Context, arbiter, env_of, settings};

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
            Self::Away(error) => (report::store_down(error), exit::UNREACHABLE),
        }
    }

    /// Says it.
    pub fn refuse(&self, context: &Context) -> Exit {
        let (refusal, status) = self.refusal();
        super::hold::refuse(context, &refusal, status)
    }
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

fn found(context: &Context, layers: &Layers) -> Result<StoreSetting, NoSetting> {
    let around = env_of(context);
    let env = |name: &str| context.store.clone().filter(|_| name == "LOCKED_STORE").or_else(|| around(name));
    let mut setting = layers.store(&env).map_err(NoSetting::Wrong)?;
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
