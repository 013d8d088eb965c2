//! Asks the docker client which project a container belongs to: `docker restart web-1` touches that project's stack.
#![forbid(unsafe_code)]

#[cfg_attr(unix, path = "container/unix.rs")]
#[cfg_attr(windows, path = "container/windows.rs")]
mod platform;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::name;

/// Compose puts it on all that it makes (docker/compose `pkg/api/labels.go`).
const FORMAT: &str = r#"{{index .Config.Labels "com.docker.compose.project"}}"#;
/// Names are short; what is longer is none.
const LENGTH_CAP: u64 = 4096;

/// The compose project of a container, by name or id. `docker` is the real client, `global` its options before the
/// sub-command (`--context`, `-H`…), `env` its whole environment.
///
/// None if the container has no such label, there is no such container, the engine does not answer within `limit`, or
/// anything else is in the way. The client is killed at the limit; it never costs more.
#[must_use]
pub fn project_of_container(
    docker: &Path,
    global: &[&OsStr],
    container: &OsStr,
    env: impl IntoIterator<Item = (OsString, OsString)>,
    limit: Duration,
) -> Option<String> {
    let mut command = Command::new(docker);
    command.args(global).args(["container", "inspect", "--format", FORMAT, "--"]).arg(container);
    command.env_clear().envs(env).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let text = platform::answer(&mut command, limit, LENGTH_CAP)?;
    Some(text.trim_end()).filter(|text| name::is_name(text)).map(str::to_owned)
}
