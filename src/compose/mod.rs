//! `compose`: which project and which engine a line of `docker compose`, `docker-compose`, `docker stack` or
//! `docker restart` means. It answers as the program itself would, so that two lines that reach one stack get one name.
//! It reads files and may ask the docker client; it writes nothing. Options are parsed elsewhere.
//!
//! Sources: docker/compose `cmd/compose/compose.go`, compose-spec/compose-go `cli/options.go`, `loader/loader.go`,
//! `dotenv`, `template`; for version 1 (`legacy`) `compose/cli/command.py` and `compose/config` of 1.29.2. The tests
//! compare with the programs.
//!
//! Where the program would refuse the line (a file that is missing, say), the name is still the one that it would have
//! had: a lease on the stack of a line that then does nothing harms nobody. Where the name may stand in something that
//! cannot be read (standard input, a pipe, another machine), it is unknown, and the reason says so.
#![forbid(unsafe_code)]

mod container;
mod context;
mod document;
mod dotenv;
mod dotenv_legacy;
mod endpoint;
mod engine;
mod environment;
mod layout;
mod layout_legacy;
mod name;
mod path;
mod project;
mod template;
#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

pub use container::project_of_container;
pub use endpoint::scope_of_ssh_host;
pub use engine::{AskedEngine, Engine, engine};
pub use project::{project, variable};

/// A variable's value in the environment that the program will have.
pub type Variable<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// May files be looked at?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// The command runs here: its files are read.
    Files,
    /// It runs on another machine (`ssh host 'cd /opt/x && docker compose up'`): nothing is read, and the words and
    /// the directory's name are all there is.
    Nothing,
}

/// What a command line says about its project.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// `-p`, `--project-name`.
    pub project: Option<&'a OsStr>,
    /// `--project-directory`, or the older `--workdir`.
    pub project_directory: Option<&'a Path>,
    /// `-f`, `--file`, in order; `-` is standard input.
    pub files: &'a [&'a OsStr],
    /// `--env-file`, in order. Version 1 knows one: the last counts.
    pub env_files: &'a [&'a OsStr],
    /// The directory in which the program runs, absolute.
    pub cwd: &'a Path,
    /// Its environment.
    pub env: Variable<'a>,
    /// `docker-compose` of version 1, the one in Python.
    pub legacy: bool,
    /// What may be read.
    pub sight: Sight,
}

/// The project that is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Its name, as its containers bear it in the label `com.docker.compose.project`.
    pub name: Name,
    /// The compose files, absolute, in the order in which they are laid over each other. Those that are named are here
    /// whether or not they exist; standard input and files on the network are not.
    pub files: Vec<PathBuf>,
}

/// What a project is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Name {
    /// It is certain.
    Known {
        /// The name: never empty.
        name: String,
        /// Where it came from: one sentence for `explain`.
        from: String,
    },
    /// It cannot be known without running the program.
    Unknown {
        /// Why, and what would make it known.
        why: String,
    },
}

impl Name {
    /// The name, where it is known.
    #[must_use]
    pub fn known(&self) -> Option<&str> {
        match self {
            Self::Known { name, .. } => Some(name),
            Self::Unknown { .. } => None,
        }
    }
}
