//! The words of a classification.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::{Claim, Policy, Unpacked};

/// What is classified.
#[derive(Clone, Copy)]
pub struct Command<'a> {
    /// The program's own name: the last part of the path it was called by (`sops` for `/usr/local/bin/sops`).
    pub name: &'a OsStr,
    /// Its arguments, without the program.
    pub args: &'a [OsString],
    /// Where it runs; absolute.
    pub cwd: &'a Path,
    /// Its environment.
    pub env: &'a dyn Fn(&str) -> Option<OsString>,
    /// The regular file behind descriptor 1, if it is one.
    pub stdout: Option<&'a Stdout>,
    /// What stands at descriptor 0, where that says more than a terminal or a device does.
    pub stdin: Option<&'a Stdin>,
}

/// Where standard input comes from, which may hold a program's orders. Nothing is read from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stdin {
    /// A regular file, by a path that leads to it.
    File(PathBuf),
    /// A pipe or a socket: what comes nobody can look at.
    Pipe,
}

/// The regular file that descriptor 1 writes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stdout {
    /// Its path.
    pub path: PathBuf,
    /// Opened to append.
    pub append: bool,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Classification {
    /// The rule that decided, for example `sops.set`; none when no rule knows the program.
    pub rule: Option<String>,
    /// Some rule knows the program, whether it locks or not.
    pub known: bool,
    /// The files it may write, in the order of the command line. Empty: nothing to lock.
    pub writes: Vec<Write>,
    /// What it removes or moves with everything in it, where that is a directory.
    pub trees: Vec<Tree>,
    /// Archives that it unpacks onto this machine.
    pub unpacked: Vec<Unpacked>,
    /// What may be files that a program is told which only run time knows.
    pub open: Vec<Named>,
    /// What is to be held besides files.
    pub claims: Vec<Claim>,
    /// Its commands, where there are zones to look at them.
    pub deeds: Vec<Deed>,
    /// The zones that it enters by what the line itself says, each with how.
    pub zones: BTreeMap<String, &'static str>,
    /// What runs, without argument values: program, sub-command and targets (`sops set secrets/monitoring.env.sops`).
    pub operation: String,
    /// Its effect does not stop with its processes (it works on another machine): whoever stops them cannot stop it.
    pub remote: bool,
    /// On what terms the resources are held.
    pub policy: Policy,
    /// What could not be told of it, one sentence each.
    pub notes: Vec<String>,
    /// A rule wants the name of a secret, and the line does not say it.
    pub asks: bool,
    /// A rule decided, and the name of what it is about only run time knows: nothing is held for that here.
    pub unnamed: bool,
    /// What it decrypts, where plaintext comes out of it.
    pub decrypted: Vec<Decrypted>,
    /// One sentence for `explain`: why it locks or passes.
    pub reason: String,
}

impl Classification {
    /// Whether anything may be held for it by its rules; which of its files are shared at all the plan says.
    #[must_use]
    pub fn may_hold(&self) -> bool {
        !self.writes.is_empty() || !self.claims.is_empty()
    }
}

/// What a command takes whole, or puts another directory over.
#[derive(Clone, PartialEq, Eq)]
pub struct Tree {
    /// The directory, if it is one.
    pub path: PathBuf,
    /// Whoever takes it cannot be stopped from here.
    pub beyond: bool,
    /// Only what stands in this directory as well, where something is copied over it; none: all of it.
    pub like: Option<PathBuf>,
    /// What is left where its files were.
    pub leaves: Leaves,
}

/// Any word may be taken for a directory: what it is called is not shown.
impl std::fmt::Debug for Tree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tree").field("beyond", &self.beyond).finish_non_exhaustive()
    }
}

/// What may be a file. Any word may be taken for one: what it is called is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Named(pub PathBuf);

impl std::fmt::Debug for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Named")
    }
}

/// A SOPS file whose plaintext a command gives out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decrypted {
    /// The file, as sops opens it.
    pub file: PathBuf,
    /// The file that the plaintext goes to; none where that is no file that is known.
    pub plaintext: Option<PathBuf>,
    /// A program is run with it, and need not keep anything of it.
    pub runs: bool,
}

/// One command of a line, as zones look at it.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Deed {
    /// Its directory.
    pub cwd: PathBuf,
    /// The other host on which it runs.
    pub host: Option<String>,
    /// It runs in a container: its files are none of this machine's.
    pub inside: bool,
    /// It runs beyond us: whoever stops our processes does not stop it.
    pub beyond: bool,
    /// sops reads here: no zone that only adds is entered by it.
    pub passes: bool,
    /// It only reads, as far as that is known: by its words no zone that only adds is entered.
    pub left_alone: bool,
    /// It starts others, which are looked at by themselves: by the words that it has for them no zone that only adds is
    /// entered.
    pub launches: bool,
    /// Files that it writes.
    pub writes: Vec<PathBuf>,
    /// What it writes there, as far as the line has it; only where a zone asks for what stands in files.
    pub brings: Vec<Rc<[u8]>>,
    /// Files of this machine that what it writes may come from; only then as well.
    pub sources: Vec<PathBuf>,
    /// Words that may name files that it reads; only where a zone asks for them.
    pub reads: Vec<PathBuf>,
    /// What SQL it is told; only where a zone asks for it.
    pub sql: Told,
}

/// SQL that a command is told.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Told {
    /// As the line says it.
    pub texts: Vec<Vec<u8>>,
    /// Files with more of it, where it runs.
    pub files: Vec<PathBuf>,
    /// Files of this machine that come in by standard input; `/dev/stdin` is that of the whole line.
    pub input: Vec<PathBuf>,
    /// There is more, where nobody can look.
    pub hidden: bool,
    /// Who is told, for messages.
    pub reader: String,
}

/// Files may have names that are secrets: they are counted, not shown.
impl std::fmt::Debug for Deed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Deed").field("writes", &self.writes.len()).finish_non_exhaustive()
    }
}

/// SQL may carry passwords: it is counted, not shown.
impl std::fmt::Debug for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Told").field("texts", &self.texts.len()).finish_non_exhaustive()
    }
}

/// One file that the command may write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// Absolute. As the program itself will open it: lexically cleaned where the program cleans, raw where it does not.
    pub path: PathBuf,
    /// What it does to the file.
    pub change: Change,
    /// How the target was named.
    pub via: Via,
    /// What the options ask of the result.
    pub asked: Asked,
    /// Whoever writes it cannot be stopped from here (another user's process).
    pub beyond: bool,
    /// What it leaves there, where [`Change::Other`] does not say it.
    pub leaves: Leaves,
}

/// What another program leaves where a file was: whether what is there then was made from what was there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Leaves {
    /// The same file, changed.
    #[default]
    Changed,
    /// Content that came from elsewhere: from [`Asked::source`], where the line says it.
    Replaced,
    /// Nothing.
    Gone,
}

impl Write {
    /// Whether the program opens the path with every part as it was typed, so that the kernel follows links before it
    /// goes up by `..`. Otherwise `path` was cleaned by the letter first, as the program does it.
    #[must_use]
    pub fn is_as_typed(&self) -> bool {
        matches!((self.via, self.change), (Via::Output | Via::Stdout, _) | (Via::InPlace, Change::Groups))
    }
}

/// What a command does to a SOPS file, which decides what the canary may find changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// One value set; keys stay.
    Set,
    /// One key removed.
    Unset,
    /// Whatever the editor does; may remove keys, not all of them.
    Edit,
    /// Plaintext becomes SOPS (in place, or from another file).
    Encrypt,
    /// New data key, perhaps other recipients.
    Rotate,
    /// Recipients as the configuration says.
    UpdateKeys,
    /// A key group added or removed.
    Groups,
    /// SOPS becomes plaintext in place: an open edit.
    DecryptInPlace,
    /// Plaintext written to another file. A write only if that file is SOPS by content, may be open for an edit, bears a
    /// marker suffix, or a creation rule names it; the plan looks.
    DecryptTo,
    /// Some other program writes it. A write only if the file is SOPS by content, or may be open for an edit; the plan looks.
    Other,
}

/// How the target was named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Via {
    /// In place, by a positional argument (or `groups -f`).
    InPlace,
    /// By `--output`.
    Output,
    /// By the shell's redirection of descriptor 1, which has truncated the file already.
    Stdout,
}

/// What the options and the environment ask of the result. Only what the canary needs; never a value of a secret.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Asked {
    /// age recipients given by `--age` or `SOPS_AGE_RECIPIENTS`, for encrypt, for edit (which heeds them only when it
    /// creates the file) and for `groups add` (the new group's): they replace the creation rule's.
    pub age: Option<Vec<String>>,
    /// Some other kind of key was given by option or environment (KMS, PGP, Vault…), so the creation rule is not used.
    pub other_keys: bool,
    /// `--add-age` of rotate.
    pub add_age: Vec<String>,
    /// `--rm-age` of rotate.
    pub remove_age: Vec<String>,
    /// Another kind of key is added or removed by rotate.
    pub changes_other_keys: bool,
    /// `--config` or `SOPS_CONFIG`.
    pub config: Option<PathBuf>,
    /// `--filename-override`: the name by which creation rules are matched.
    pub filename_override: Option<PathBuf>,
    /// `--input-type` as given.
    pub input_type: Option<String>,
    /// `--output-type` as given.
    pub output_type: Option<String>,
    /// The source file when the target is another one (`--output`, redirection); none for standard input.
    pub source: Option<PathBuf>,
    /// The options choose which values are encrypted (`--encrypted-regex` and its kin).
    pub partial: bool,
}
