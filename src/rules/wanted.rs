//! What is to be held besides files: names, and what somebody has to look up before it is one.
#![forbid(unsafe_code)]

mod filling;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

pub(super) use self::filling::Filling;

use super::grammar::Line;
use super::sent::Sending;
use super::set::Set;
use super::step::Step;
use crate::terms::ResourceName;

/// A resource that a command wants held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Its name.
    pub name: Wanted,
    /// Which engine a container belongs to, as the command says it.
    pub engine: Engine,
    /// Where the command runs: the repository there gives some kinds their scope.
    pub cwd: PathBuf,
    /// It runs on this other host.
    pub host: Option<String>,
    /// The files by whose writing the rule came to it; none: by something else.
    pub written: Vec<PathBuf>,
    /// Files that say what is done, where the rule names some.
    pub used: Vec<PathBuf>,
    /// It counts only if something of this is what the rule is about.
    pub sending: Option<Sending>,
}

/// A name, or how to find it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// This.
    Named(ResourceName),
    /// The Compose project of the command.
    Project {
        /// What the command says of it.
        compose: Compose,
        /// What is held where nobody can know the project.
        otherwise: Option<ResourceName>,
    },
    /// The Compose project of a container, if the engine says it has one; else the container itself.
    Stack {
        /// The container's name or id.
        container: OsString,
    },
}

/// What a command line says of a Compose project.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Compose {
    /// `--project-name`.
    pub project: Option<OsString>,
    /// `--project-directory`.
    pub directory: Option<OsString>,
    /// `--file`, in order.
    pub files: Vec<OsString>,
    /// `--env-file`, in order.
    pub env_files: Vec<OsString>,
    /// What is set for it besides the environment.
    pub env: Set,
    /// The program is `docker-compose`, which may be the first generation, in Python.
    pub standalone: bool,
}

/// Which engine a docker command talks to, as it says it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Engine {
    /// `--host`.
    pub host: Option<OsString>,
    /// `--context`.
    pub context: Option<OsString>,
    /// `--config`.
    pub config: Option<OsString>,
    /// What is set for the command besides the environment.
    pub env: Set,
    /// It is podman's: it has connections where docker has contexts, and variables of its own.
    pub podman: bool,
}

/// What the options of Compose say.
pub(super) fn compose(step: &Step<'_>, line: &Line<'_>) -> Compose {
    let all = |names: &'static str| line.values(names).map(OsStr::to_owned).collect();
    Compose {
        project: line.value("-p|--project-name").map(OsStr::to_owned),
        directory: line.value("--project-directory|--workdir").map(OsStr::to_owned),
        files: all("-f|--file"),
        env_files: all("--env-file"),
        env: step.env.clone(),
        standalone: step.name == "docker-compose",
    }
}

/// What the options of docker say. Asked for by their long names: `-c` and `-H` are others behind some sub-commands. podman
/// has docker's names besides its own (podman(1): `--connection`, `--url`).
pub(super) fn engine(step: &Step<'_>, line: &Line<'_>) -> Engine {
    let value = |names: &'static str| line.value(names).map(OsStr::to_owned);
    Engine {
        host: value("--host|--url"),
        context: value("--context|--connection"),
        config: value("--config"),
        env: step.env.clone(),
        podman: step.name().starts_with("podman"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Book, Command, classify};
    use super::*;

    #[test]
    fn an_option_of_a_sub_command_is_not_taken_for_one_of_the_engine() {
        for (line, context, host) in [
            ("stack deploy -c x.yml web", None, None),
            ("update -c 512 web", None, None),
            ("-c prod stack deploy -c x.yml web", Some("prod"), None),
            ("--context=prod -H ssh://h restart web", Some("prod"), Some("ssh://h")),
            ("-cprod restart -s KILL web", Some("prod"), None),
        ] {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let [name, cwd] = ["docker".as_ref(), "/".as_ref()];
            let command = Command {
                name,
                args: &args,
                cwd: std::path::Path::new(cwd),
                env: &|_| None,
                stdout: None,
                stdin: None,
            };
            let engine = classify(&command, &Book::new()).claims.remove(0).engine;
            assert_eq!(engine.context.as_deref(), context.map(OsStr::new), "{line}");
            assert_eq!(engine.host.as_deref(), host.map(OsStr::new), "{line}");
        }
    }
}
