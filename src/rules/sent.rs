//! What goes to another host without the line naming it: the files of a directory, of a list, of a file with commands.
//! Rules look at no file; the plan looks into these.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::book::{Glob, Rule};

/// Something of this machine by which files are written on another.
#[derive(Clone, PartialEq, Eq)]
pub enum Sent {
    /// Everything below this, if it is a directory.
    Directory {
        /// The directory.
        path: PathBuf,
        /// Where its files come to lie.
        place: PathBuf,
        /// Links to directories are followed.
        follow: bool,
        /// What stays here, as rsync's `--exclude` has it.
        without: Vec<Pattern>,
    },
    /// What stands in this list of files, one a line or parted by NUL (rsync's `--files-from`).
    List {
        /// The list.
        path: PathBuf,
        /// Below this they come to lie.
        place: PathBuf,
    },
    /// What the commands of sftp in this file put there (`-b`).
    Commands {
        /// The file.
        path: PathBuf,
        /// Where sftp runs.
        directory: PathBuf,
    },
    /// What stands there below this, and not here: it goes, but for what these keep.
    Others {
        /// The directory.
        place: PathBuf,
        /// What stays, as rsync's `--exclude` and its `protect` have it.
        kept: Vec<Pattern>,
    },
    /// What nobody here can look at.
    Unseen,
}

/// Any word may be taken for a file: what it is called is not shown.
impl std::fmt::Debug for Sent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Directory { .. } => "Directory",
            Self::List { .. } => "List",
            Self::Commands { .. } => "Commands",
            Self::Others { .. } => "Others",
            Self::Unseen => "Unseen",
        })
    }
}

/// A pattern of rsync (its manual, "PATTERN MATCHING RULES"), as exact as leaving a name out needs it: one without a slash
/// is about names at any depth, one that begins with a slash is about the path from the directory on, any other about its
/// end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    glob: Glob,
    /// It is about the whole path.
    rooted: bool,
}

impl Pattern {
    /// Of a text that is typed.
    pub(super) fn new(text: &OsStr) -> Option<Self> {
        let text = text.to_str()?.trim_end_matches('/');
        let (whole, rooted) = match text.strip_prefix('/') {
            Some(whole) => (whole.to_owned(), true),
            None if text.contains('/') && !text.starts_with("**/") => (format!("**/{text}"), true),
            None => (text.to_owned(), text.contains('/')),
        };
        (!whole.is_empty()).then(|| Self { glob: Glob::from(whole), rooted })
    }

    /// Whether it is about this path, which begins in the directory.
    #[must_use]
    pub fn fits(&self, relative: &Path) -> bool {
        let path = relative.as_os_str();
        if self.rooted { self.glob.fits(path.as_encoded_bytes()) } else { self.glob.fits_path(path) }
    }
}

/// The directories that commands of sftp put there whole (`put -r DIR`, sftp(1)).
#[must_use]
pub fn put_whole(commands: &[u8], directory: &Path) -> Vec<Sent> {
    let lines = commands.split(|byte| b"\n;".contains(byte));
    let words = lines.map(|line| line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect());
    let puts = words.filter(|words: &Vec<&[u8]>| {
        let command = words.first().map(|first| first.trim_ascii_start()).unwrap_or_default();
        let is_put = [&b"put"[..], b"mput", b"reput"].iter().any(|put| command.ends_with(put));
        is_put && words.iter().any(|word| word.starts_with(b"-") && word.contains(&b'r'))
    });
    puts.filter_map(|words| {
        let source = words.iter().skip(1).find(|word| !word.starts_with(b"-"))?;
        let source = String::from_utf8_lossy(source).replace(['"', '\''], "");
        let name = Path::new(&source).file_name().unwrap_or_default().to_owned();
        Some(Sent::Directory { path: directory.join(&source), place: name.into(), follow: true, without: Vec::new() })
    })
    .collect()
}

/// What is sent, and which of it a rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sending {
    /// What is sent.
    pub sent: Vec<Sent>,
    /// The files that count.
    pub names: Vec<Glob>,
    /// Those of them that do not.
    pub unless: Vec<Glob>,
}

impl Sending {
    /// Of a rule.
    pub(super) fn of(rule: &Rule, sent: &[Sent]) -> Self {
        Self { sent: sent.to_vec(), names: rule.writes.clone(), unless: rule.unless_writes.clone() }
    }

    /// Whether writing this file is what the rule is about.
    #[must_use]
    pub fn is_about(&self, path: &OsStr) -> bool {
        let fits = |globs: &[Glob]| globs.iter().any(|glob| glob.fits_path(path));
        fits(&self.names) && !fits(&self.unless)
    }

    /// Whether what it is about may be there below `place` and is none of these: by the names that the rule says to the
    /// letter. One that says none may be about any.
    #[must_use]
    pub fn may_be_below(&self, place: &Path, kept: &[Pattern]) -> bool {
        let mut literal = self.names.iter().filter_map(Glob::literal).peekable();
        if literal.peek().is_none() {
            return true;
        }
        literal.any(|name| {
            self.is_about(place.join(name).as_os_str()) && !kept.iter().any(|pattern| pattern.fits(Path::new(name)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_rule_names_to_the_letter_may_be_there_unless_it_is_kept() {
        let about = |names: &[&str]| Sending {
            sent: Vec::new(),
            names: names.iter().map(|&name| Glob::from(name.to_owned())).collect(),
            unless: vec![Glob::from("/tmp/*".to_owned())],
        };
        let env = about(&[".env", ".env.*", "*.env"]);
        let pattern = |text: &str| Pattern::new(OsStr::new(text)).expect(text);
        for (place, kept, expected) in [
            ("/opt/app", None, true),
            ("/opt/app", Some(".env"), false),
            ("/opt/app", Some(".env*"), false),
            ("/opt/app", Some("/.env"), false),
            ("/opt/app", Some("conf/.env"), true),
            ("/opt/app", Some("*.log"), true),
            ("/tmp", None, false),
        ] {
            let kept: Vec<Pattern> = kept.into_iter().map(pattern).collect();
            assert_eq!(env.may_be_below(Path::new(place), &kept), expected, "{place} {kept:?}");
        }
        assert!(about(&["*.conf"]).may_be_below(Path::new("/tmp"), &[pattern(".env")]));
    }

    #[test]
    fn patterns_are_about_what_rsync_leaves_out() {
        let table = [
            (".env", ".env", true),
            (".env", "a/b/.env", true),
            (".env", "a/.env.bak", false),
            (".env*", "a/.env.bak", true),
            ("/.env", ".env", true),
            ("/.env", "a/.env", false),
            ("a/.env", "x/a/.env", true),
            ("a/.env", "a/.env", true),
            ("node_modules/", "x/node_modules", true),
            ("**/.env", "x/.env", true),
        ];
        for (pattern, path, fits) in table {
            let pattern = Pattern::new(OsStr::new(pattern)).expect(pattern);
            assert_eq!(pattern.fits(Path::new(path)), fits, "{pattern:?} {path}");
        }
    }
}
