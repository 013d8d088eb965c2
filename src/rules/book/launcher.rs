//! What starts another program.
#![forbid(unsafe_code)]

use std::num::NonZeroUsize;

use serde::Deserialize;

use super::Several;

/// A program whose operands are another command line.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launcher {
    /// Its names.
    pub program: Several,
    /// The sub-command with which it starts something (`direnv exec`, `uv tool run`); none: always.
    pub subcommand: Option<Several>,
    /// Options of which one is given; without, it is another form of the line.
    #[serde(default)]
    pub option: Several,
    /// Options with a value.
    #[serde(default)]
    pub values: Vec<String>,
    /// Options whose value can only be attached.
    #[serde(default)]
    pub attached: Vec<String>,
    /// Options without a value. Behind others that are not named here a word may be a value, so that what it starts is
    /// looked for behind it as well.
    #[serde(default)]
    pub switches: Vec<String>,
    /// The options end with this operand; ready: with the first.
    pub stop_at: Option<usize>,
    /// How many operands stand before the command (`timeout 5 …`).
    #[serde(default)]
    pub skip: usize,
    /// `NAME=value` words before the command are set for it.
    #[serde(default)]
    pub assignments: bool,
    /// The variables of its environment that it lets through, and no others (`LC_*`: all that begin so); none: all.
    pub keeps: Option<Vec<String>>,
    /// Options with which it lets all of them through, or, with a value, also those that this names
    /// (`sudo --preserve-env=NAME,NAME`).
    #[serde(default)]
    pub preserve: Several,
    /// The command begins behind the first `--`, and options may stand anywhere before it; without one nothing is
    /// started.
    #[serde(default)]
    pub behind_dashes: bool,
    /// With `behind_dashes`: other words behind which the command begins (`nix develop -c`).
    #[serde(default)]
    pub behind: Several,
    /// Options with which it starts a shell where no command is named; what comes in by standard input is its script
    /// (`sudo -i`).
    #[serde(default)]
    pub shell_with: Several,
    /// The same without any option (`chroot DIR`).
    #[serde(default)]
    pub shell_alone: bool,
    /// Options whose value is a host, or several parted by commas or blanks, instead of the first operand (`pdsh -w`); `-h|--hosts` names
    /// a file with them.
    #[serde(default)]
    pub hosts: Several,
    /// Options whose value is the directory where it runs.
    #[serde(default)]
    pub directory: Several,
    /// The operand, counted from one, that is the directory where it runs (`direnv exec DIR`).
    pub directory_operand: Option<NonZeroUsize>,
    /// Options whose value is a script for a shell (`flock FILE -c SCRIPT`, `env -S`).
    #[serde(default)]
    pub script: Several,
    /// `-c`: the first operand is a script for a shell (also in a bundle, `-lc`).
    #[serde(default)]
    pub shell: bool,
    /// What it starts is a script for a shell: its words, joined by spaces (`watch`).
    #[serde(default)]
    pub joined: bool,
    /// What comes in by standard input is a script (`at`).
    #[serde(default)]
    pub reads: bool,
    /// The command is run once for each word behind `:::` (`parallel`).
    #[serde(default)]
    pub each: bool,
    /// The program may have a version behind an `@` (`npx wrangler@4`).
    #[serde(default)]
    pub versions: bool,
    /// The first operand is a host, the rest a script for its shell.
    #[serde(default)]
    pub host: bool,
    /// With `host`: the operands are no script; what is on standard input is (`sftp`).
    #[serde(default)]
    pub input: bool,
    /// The operands are files, the last the place where they go, each perhaps on a host (`scp a host:b`): as `cp` there.
    #[serde(default)]
    pub copies: bool,
    /// Options with which nothing is started.
    #[serde(default)]
    pub unless: Several,
    /// What it starts belongs to another user and cannot be stopped from here.
    #[serde(default)]
    pub remote: bool,
    /// What it starts runs in a container: the files there are none of this machine's. It is read by the grammar of its
    /// program, so that `subcommand` may have several words, and begins behind `skip` operands.
    #[serde(default)]
    pub inside: bool,
}
