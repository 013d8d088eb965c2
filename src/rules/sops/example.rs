//! Commands for the tests of this room.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::rules::{Command, Stdout};

/// A command line of sops in `/w`, its words divided by `|`, with an environment and perhaps a redirection.
pub(super) struct Example {
    args: Vec<OsString>,
    env: Vec<(&'static str, &'static str)>,
    stdout: Option<Stdout>,
}

impl Example {
    pub(super) fn new(line: &str) -> Self {
        let args = line.split('|').map(OsString::from).collect();
        Self { args, env: Vec::new(), stdout: None }
    }

    pub(super) fn env(mut self, name: &'static str, value: &'static str) -> Self {
        self.env.push((name, value));
        self
    }

    pub(super) fn redirected(mut self, path: &str, append: bool) -> Self {
        self.stdout = Some(Stdout { path: path.into(), append });
        self
    }

    /// Hands the command to `look`.
    pub(super) fn with<T>(&self, look: impl Fn(&Command<'_>) -> T) -> T {
        let env = |name: &str| self.env.iter().find(|(own, _)| *own == name).map(|(_, value)| value.into());
        look(&Command {
            name: OsStr::new("sops"),
            args: &self.args,
            cwd: Path::new("/w"),
            env: &env,
            stdout: self.stdout.as_ref(),
            stdin: None,
        })
    }
}
