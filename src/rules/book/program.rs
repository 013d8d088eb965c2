//! How the options of a program are read.
#![forbid(unsafe_code)]

use serde::Deserialize;

use super::Several;

/// The grammar of a program's command line. An option that is not named here is read as a switch, `--name=value` has a
/// value in any case; the word behind such an option may be its value all the same, so nothing is named by it.
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
    /// Options without a value, at every level. `--help` and `--version` are known without being named.
    #[serde(default)]
    pub switches: Vec<String>,
    /// `-p=NAME` is `-p NAME` (Go's `pflag`, with which docker, gh and kubectl read their lines).
    #[serde(default)]
    pub equals: bool,
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
    /// It came with a repository that nobody has vouched for: what it takes for a sub-command may be a value.
    #[serde(skip)]
    pub adds_only: bool,
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
    /// Options without a value.
    #[serde(default)]
    pub switches: Vec<String>,
    /// As for the program.
    pub stop_at: Option<usize>,
    /// It has sub-commands of its own.
    #[serde(default)]
    pub group: bool,
}

impl Program {
    /// Whether it says anything of this sub-command.
    pub(in crate::rules) fn knows(&self, path: &str) -> bool {
        self.command.iter().any(|command| !command.group && command.path.has(path))
    }

    /// Whether some sub-command begins with this word, behind those that were read.
    pub(in crate::rules) fn has_command(&self, path: &str, word: &std::ffi::OsStr) -> bool {
        let Some(word) = word.to_str() else { return false };
        let begins = |command: &str| {
            let rest = command.strip_prefix(path)?.trim_start_matches(' ');
            Some(rest.split(' ').next() == Some(word))
        };
        self.command.iter().flat_map(|command| command.path.iter()).any(|command| begins(command) == Some(true))
    }
}
