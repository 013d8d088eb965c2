//! What goes to another host without the line naming it: the files of a directory, of a list, of a file with commands.
//! Rules look at no file; the plan looks into these.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::archive::Unpacked;
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
    /// What is unpacked there.
    Archive(Unpacked),
    /// Everything below a directory that only run time knows.
    Open {
        /// Where its files come to lie.
        place: PathBuf,
        /// What stays here.
        without: Vec<Pattern>,
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
            Self::Archive(_) => "Archive",
            Self::Open { .. } => "Open",
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
    /// It is about directories alone (`x/`).
    directory: bool,
    /// It has no slash: it is about a name, wherever and whatever that is.
    plain: bool,
    /// It is about the whole path.
    rooted: bool,
}

impl Pattern {
    /// Of a text that is typed.
    pub(super) fn new(text: &OsStr) -> Option<Self> {
        let typed = text.to_str()?;
        let text = typed.trim_end_matches('/');
        let (whole, rooted) = match text.strip_prefix('/') {
            Some(whole) => (whole.to_owned(), true),
            None if text.contains('/') && !text.starts_with("**/") => (format!("**/{text}"), true),
            None => (text.to_owned(), text.contains('/')),
        };
        (!whole.is_empty()).then(|| Self {
            glob: Glob::from(whole),
            directory: typed.ends_with('/'),
            plain: !typed.contains('/'),
            rooted,
        })
    }

    /// Whether it leaves this path out, which begins in the directory; `is_directory` is asked only where that says it.
    #[must_use]
    pub fn leaves_out(&self, relative: &Path, is_directory: &dyn Fn() -> bool) -> bool {
        self.fits(relative) && (!self.directory || is_directory())
    }

    /// Whether it is about this path, which begins in the directory.
    #[must_use]
    pub fn fits(&self, relative: &Path) -> bool {
        let path = relative.as_os_str();
        if self.rooted { self.glob.fits(path.as_encoded_bytes()) } else { self.glob.fits_path(path) }
    }
}

/// The directories that commands of sftp put there whole (`put -r DIR`, sftp(1)); `lcd` goes on from this one.
#[must_use]
pub fn put_whole(commands: &[u8], directory: &Path) -> Vec<Sent> {
    let mut directory = directory.to_owned();
    let mut sent = Vec::new();
    for line in commands.split(|byte| b"\n;".contains(byte)) {
        let line = String::from_utf8_lossy(line).replace(['"', '\''], "");
        let mut words = line.split_whitespace();
        let command = words.next().unwrap_or_default().trim_start_matches(['-', '@']).to_ascii_lowercase();
        let (options, files): (Vec<&str>, Vec<&str>) = words.partition(|word| word.starts_with('-'));
        match (command.as_str(), files.first()) {
            ("lcd", Some(to)) => directory.push(to),
            ("put" | "mput" | "reput", Some(source)) if options.iter().any(|option| option.contains(['r', 'R'])) => {
                let path = directory.join(source);
                let place = Path::new(source).file_name().unwrap_or_default().into();
                sent.push(Sent::Directory { path, place, follow: true, without: Vec::new() });
            }
            _ => {}
        }
    }
    sent
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

    /// What it is about that may be there below `place` and is none of these, as the rule writes it: each of its names is
    /// presumed to be there, at any depth: what is about one place, or about directories, keeps none of them. Of names that
    /// have no example any may be.
    #[must_use]
    pub fn may_be_below(&self, place: &Path, kept: &[Pattern]) -> Option<&str> {
        let is_kept = |name: &str| kept.iter().any(|pattern| pattern.plain && pattern.fits(Path::new(name)));
        let may_be = |glob: &&Glob| match glob.example() {
            Some(name) => self.is_about(place.join(&name).as_os_str()) && !is_kept(&name),
            None => true,
        };
        self.names.iter().find(may_be).map(Glob::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_of_a_rule_may_be_there_unless_it_is_kept() {
        let about = |names: &[&str]| Sending {
            sent: Vec::new(),
            names: names.iter().map(|&name| Glob::from(name.to_owned())).collect(),
            unless: vec![Glob::from("/tmp/*".to_owned())],
        };
        let env = about(&[".env", ".env.*", "*.env"]);
        let pattern = |text: &str| Pattern::new(OsStr::new(text)).expect(text);
        for (place, kept, expected) in [
            ("/opt/app", &[][..], Some(".env")),
            ("/opt/app", &[".env"], Some(".env.*")),
            ("/opt/app", &[".env*"], Some("*.env")),
            ("/opt/app", &[".env*", "*.env"], None),
            ("/opt/app", &["*.env*"], None),
            ("/opt/app", &[".env", ".env.production", "prod.env"], Some(".env.*")),
            ("/opt/app", &["/.env"], Some(".env")),
            ("/opt/app", &["/*.env*"], Some(".env")),
            ("/opt/app", &["*.env*/"], Some(".env")),
            ("/opt/app", &["*/"], Some(".env")),
            ("/opt/app", &["conf/*.env*"], Some(".env")),
            ("/opt/app", &["*.log"], Some(".env")),
            ("/tmp", &[], None),
        ] {
            let kept: Vec<Pattern> = kept.iter().map(|text| pattern(text)).collect();
            assert_eq!(env.may_be_below(Path::new(place), &kept), expected, "{place} {kept:?}");
        }
        let conf = about(&["*.conf", "x[0-9]"]);
        assert_eq!(conf.may_be_below(Path::new("/tmp"), &[pattern("*.conf")]), Some("x[0-9]"));
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
