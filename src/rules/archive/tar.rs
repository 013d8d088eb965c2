//! The words of tar (tar(1) of GNU): which archive, where, and which members.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::rules::argument::tail;
use crate::rules::sent::Pattern;
use crate::rules::step::STDIN;

/// Options of tar that take a value in the next word, by their letters.
const VALUES: &[u8] = b"bCfFgHIKLNTVX";

/// The same, by their names.
const LONG: [&str; 20] = [
    "--file",
    "--directory",
    "--cd",
    "--to-command",
    "--exclude",
    "--exclude-from",
    "--files-from",
    "--transform",
    "--xform",
    "--strip-components",
    "--owner",
    "--group",
    "--mode",
    "--use-compress-program",
    "--starting-file",
    "--listed-incremental",
    "--format",
    "--sort",
    "--mtime",
    "--blocking-factor",
];

/// What an archive's name ends with.
const ENDINGS: [&str; 10] =
    [".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst", ".tzst", ".taz"];

/// A line of tar, as far as it says which files.
#[derive(Default)]
pub(super) struct Tar {
    pub(super) archive: Option<OsString>,
    pub(super) extracts: bool,
    pub(super) creates: bool,
    pub(super) prints: bool,
    /// It writes over no file.
    pub(super) keeps: bool,
    pub(super) listed: bool,
    /// Names of members are patterns.
    pub(super) wildcards: bool,
    /// Members get other names than they have.
    pub(super) renames: bool,
    /// A directory of its own is made for all of it; empty: called as the archive is.
    pub(super) top: Option<OsString>,
    pub(super) strip: usize,
    pub(super) exclude: Vec<Pattern>,
    /// Each with the directory in which it is looked for.
    pub(super) names: Vec<(PathBuf, OsString)>,
    pub(super) directory: PathBuf,
}

/// Options that take none and that are of use here.
const SWITCHES: [&str; 8] = [
    "--extract",
    "--get",
    "--create",
    "--to-stdout",
    "--keep-old-files",
    "--skip-old-files",
    "--wildcards",
    "--one-top-level",
];

/// The option that is meant: GNU's tar takes as much of a name as tells it from the others.
fn whole(typed: &[u8]) -> &[u8] {
    let all = || LONG.iter().chain(&SWITCHES).map(|own| own.as_bytes());
    if all().any(|own| own == typed) {
        return typed;
    }
    let mut meant = all().filter(|own| own.starts_with(typed));
    meant.next().filter(|_| meant.next().is_none()).unwrap_or(typed)
}

impl Tar {
    pub(super) fn read(args: &[OsString]) -> Self {
        let mut tar = Self::default();
        let mut words = args.iter();
        let mut first = true;
        let mut ended = false;
        while let Some(word) = words.next() {
            let bytes = word.as_encoded_bytes();
            let is_old = std::mem::take(&mut first) && bytes.first() != Some(&b'-');
            if ended || (!is_old && (bytes.len() < 2 || bytes[0] != b'-')) {
                tar.names.push((tar.directory.clone(), word.clone()));
            } else if bytes == b"--" {
                ended = true;
            } else if bytes.starts_with(b"--") {
                let equals = bytes.iter().position(|&byte| byte == b'=');
                let name = whole(&bytes[..equals.unwrap_or(bytes.len())]);
                let takes = LONG.iter().any(|own| own.as_bytes() == name);
                let value = equals.map(|at| tail(word, at + 1).into_owned());
                tar.long(name, value.or_else(|| if takes { words.next().cloned() } else { None }));
            } else if is_old {
                for letter in bytes {
                    let value = if VALUES.contains(letter) { words.next().cloned() } else { None };
                    tar.letter(*letter, value);
                }
            } else {
                for (at, letter) in bytes.iter().enumerate().skip(1) {
                    if VALUES.contains(letter) {
                        let attached = Some(tail(word, at + 1).into_owned()).filter(|rest| !rest.is_empty());
                        tar.letter(*letter, attached.or_else(|| words.next().cloned()));
                        break;
                    }
                    tar.letter(*letter, None);
                }
            }
        }
        tar
    }

    fn letter(&mut self, letter: u8, value: Option<OsString>) {
        match (letter, value) {
            (b'x', _) => self.extracts = true,
            (b'c', _) => self.creates = true,
            (b'O', _) => self.prints = true,
            (b'k', _) => self.keeps = true,
            (b'f', Some(file)) => self.archive = Some(file),
            (b'C', Some(directory)) => self.directory.push(directory),
            (b'T', _) => self.listed = true,
            _ => {}
        }
    }

    fn long(&mut self, name: &[u8], value: Option<OsString>) {
        match (name, value) {
            (b"--extract" | b"--get", _) => self.extracts = true,
            (b"--create", _) => self.creates = true,
            (b"--to-stdout" | b"--to-command", _) => self.prints = true,
            (b"--keep-old-files" | b"--skip-old-files", _) => self.keeps = true,
            (b"--file", Some(file)) => self.archive = Some(file),
            (b"--directory" | b"--cd", Some(directory)) => self.directory.push(directory),
            (b"--files-from", _) => self.listed = true,
            (b"--strip-components", Some(count)) => {
                self.strip = count.to_str().and_then(|count| count.parse().ok()).unwrap_or_default();
            }
            (b"--wildcards", _) => self.wildcards = true,
            (b"--transform" | b"--xform", _) => self.renames = true,
            (b"--one-top-level", directory) => self.top = Some(directory.unwrap_or_default()),
            (b"--exclude", Some(pattern)) => self.exclude.extend(Pattern::new(&pattern)),
            _ => {}
        }
    }

    /// Where members come to lie, in this directory; none where nobody can say.
    pub(super) fn place(&self) -> Option<PathBuf> {
        if self.renames {
            return None;
        }
        let Some(top) = &self.top else { return Some(self.directory.clone()) };
        if !top.is_empty() {
            return Some(self.directory.join(top));
        }
        // Called as the archive is, without what tells that it is one.
        let name = Path::new(self.archive.as_ref()?).file_name()?.to_str()?;
        let bare = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)).filter(|bare| !bare.is_empty());
        bare.map(|bare| self.directory.join(bare))
    }

    /// It reads or writes the pipe.
    pub(super) fn is_piped(&self) -> bool {
        self.archive.as_ref().is_none_or(|file| file == "-" || file == STDIN)
    }
}
