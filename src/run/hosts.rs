//! Other names of hosts: as the settings have them, and, where they ask for it, as the ssh client reads its own.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::{Command, Stdio};

use crate::config::{Key, Settings, Value};
use crate::rules::book::HostAsker;

use super::{Context, arbiter};

/// `[hosts]`.
pub(super) fn named(settings: &Settings) -> BTreeMap<String, String> {
    match settings.value(Key::Hosts).map(|said| &said.value) {
        Some(Value::Names(names)) => names.clone(),
        _ => BTreeMap::new(),
    }
}

/// What `ssh -G` says a name leads to under the options of the line (`hostname`, ssh_config(5)); none where it says
/// nothing. It opens no connection.
pub(super) fn asked(context: &Context) -> HostAsker {
    let ssh = arbiter::real(context, "ssh");
    let (env, cwd): (Vec<(OsString, OsString)>, _) = (arbiter::variables(context), context.invocation.cwd.clone());
    Box::new(move |options, name| {
        let mut command = Command::new(ssh.as_ref()?);
        command.arg("-G").args(options).args(["--", name]).env_clear().envs(env.iter().cloned()).current_dir(&cwd);
        let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
        let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
        let host = text.lines().find_map(|line| line.strip_prefix("hostname "))?.trim().to_ascii_lowercase();
        (!host.is_empty()).then_some(host)
    })
}
