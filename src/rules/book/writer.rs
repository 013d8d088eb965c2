//! By what lines programs write files.
#![forbid(unsafe_code)]

use serde::Deserialize;

use super::{Several, Template};
use crate::rules::Leaves;

/// A form of a command line that writes files.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Writer {
    /// The program's names.
    pub program: Several,
    /// Its sub-command.
    pub subcommand: Option<Several>,
    /// Options that are all given.
    #[serde(default)]
    pub option: Several,
    /// Options with which it does not write these.
    #[serde(default)]
    pub unless: Several,
    /// The files: `{*}`, `{2..}`, `{last}`, `{--output}`, `{of=}` (an operand that begins so), `{*|url}` (the
    /// file that an address ends with).
    pub files: Template,
    /// The last operand may be a directory, into which the others go.
    #[serde(default)]
    pub into: bool,
    /// The option whose value is the directory into which the files go, instead of the one where it runs.
    pub directory: Option<String>,
    /// With `into`: options with which directories are copied with everything in them.
    #[serde(default)]
    pub tree: Several,
    /// A directory is taken with everything in it.
    #[serde(default)]
    pub whole: bool,
    /// What it leaves where these files were. With `into`, what the others leave where they were: what goes into the last
    /// one replaces what was there.
    #[serde(default)]
    pub leaves: Leaves,
}
