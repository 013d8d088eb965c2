//! How the options of a program are read.
#![forbid(unsafe_code)]

use serde::Deserialize;

use super::Several;

/// The grammar of a program's command line. Options that are not named here are switches without a value; `--name=value`
/// has one in any case.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Its names.
    pub name: Several,
    /// Options that take the next word as their value, before any sub-command; `"-p|--project-name"` are one option.
    #[serde(default)]
    pub values: Vec<String>,
    /// Options whose value can only be attached (`-i.bak`): the rest of a bundle is no bundle.
    #[serde(default)]
    pub attached: Vec<String>,
    /// Options to which digits may be attached, behind which the bundle goes on (`perl -0777pi`).
    #[serde(default)]
    pub digits: Vec<String>,
    /// Options with a value that are understood behind every sub-command as well.
    #[serde(default)]
    pub everywhere: Vec<String>,
    /// `-name` is one option, not a bundle of `-n -a -m -e`.
    #[serde(default)]
    pub single_dash: bool,
    /// With this operand the options end, and every later word is an operand as it stands. None: options may stand
    /// anywhere before `--`.
    pub stop_at: Option<usize>,
    /// It has sub-commands: the first operand is one.
    #[serde(default)]
    pub group: bool,
    /// The sub-commands about which there is something to say.
    #[serde(default)]
    pub command: Vec<SubCommand>,
}

/// A sub-command.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubCommand {
    /// Its words, from the program on: `compose up`. Several that are read alike.
    pub path: Several,
    /// As for the program.
    #[serde(default)]
    pub values: Vec<String>,
    /// As for the program.
    #[serde(default)]
    pub attached: Vec<String>,
    /// As for the program.
    pub stop_at: Option<usize>,
    /// It has sub-commands of its own.
    #[serde(default)]
    pub group: bool,
}
