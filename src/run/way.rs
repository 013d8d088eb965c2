//! What a setting leaves to be found: an address that lies in a SOPS file, and the real ssh that leads to a server. Found
//! once, before anything is connected, and kept in memory alone.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::canary;
use crate::config::{Address, StoreSetting};
use crate::store::StoreError;

/// How long the real sops may take to give the address out.
const SOPS: Duration = Duration::from_secs(20);

/// The programs that are there, and the world that they are started in.
pub struct Tools<'a> {
    /// The real program of this name, past our own shims.
    pub real: &'a dyn Fn(&str) -> Option<PathBuf>,
    /// The whole environment that sops gets: it is where its keys are found.
    pub env: &'a dyn Fn() -> Vec<(OsString, OsString)>,
    /// Its working directory.
    pub cwd: &'a Path,
}

/// The setting with nothing left open.
///
/// # Errors
/// [`StoreError::NoWay`] when sops is not there or does not give the address out; [`StoreError::Misnamed`] when what it
/// gives out is none.
pub fn complete(mut setting: StoreSetting, tools: &Tools<'_>) -> Result<StoreSetting, StoreError> {
    // Order: before a keeper leaves this directory.
    setting.from = tools.cwd.to_owned();
    if setting.via.is_some() {
        // Whoever opens the store says it when there is none.
        setting.ssh = (tools.real)("ssh").map(|ssh| tools.cwd.join(ssh));
    }
    if let Address::InSops { file, key } = &setting.address {
        setting.address = Address::Text(from_sops(file, key, tools)?);
    }
    Ok(setting)
}

/// Has the real sops read the address out of the file. It goes from a pipe into memory and nowhere else.
fn from_sops(file: &Path, key: &str, tools: &Tools<'_>) -> Result<String, StoreError> {
    let shown = file.display();
    let no_way = |why: String, remedy: String| StoreError::NoWay { why, remedy };
    let by_hand = || format!("see why by hand: `sops decrypt --extract '[\"{key}\"]' {shown}`");
    let Some(sops) = (tools.real)("sops") else {
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
        command.env_clear().envs((tools.env)()).current_dir(tools.cwd);
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
    text.filter(|text| !text.is_empty()).ok_or_else(|| StoreError::Misnamed {
        why: format!("what {shown} has under {key} is no address of a store"),
        remedy: by_hand(),
    })
}
