//! Archives: what lines of tar and unzip take out, and what tar puts together for a pipe. What stands in one, the plan
//! looks at.
//!
//! Sources: tar(1) of GNU, bsdtar(1), unzip(1).
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::argument::tail;
use super::sent::{Pattern, Sent};
use super::step::{STDIN, Step, is_known};

/// An archive that is unpacked.
#[derive(Clone, PartialEq, Eq)]
pub struct Unpacked {
    /// It, if it is a file of this machine.
    pub archive: Option<PathBuf>,
    /// Where its files come to lie.
    pub place: PathBuf,
    /// So many parts of each name are left out.
    pub strip: usize,
    /// Those that are taken; none: all of them.
    pub members: Vec<PathBuf>,
    /// Those that are left out.
    pub without: Vec<Pattern>,
}

/// Any word may be taken for a file: what it is called is not shown.
impl std::fmt::Debug for Unpacked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unpacked").field("strip", &self.strip).finish_non_exhaustive()
    }
}

impl Unpacked {
    /// Where a member of the archive comes to lie, if it is taken.
    #[must_use]
    pub fn lands(&self, member: &Path) -> Option<PathBuf> {
        let plain: PathBuf =
            member.components().filter(|part| matches!(part, std::path::Component::Normal(_))).collect();
        let is_taken = self.members.is_empty() || self.members.iter().any(|own| plain.starts_with(own));
        let left_out = self.without.iter().any(|pattern| pattern.fits(&plain));
        let rest: PathBuf = plain.components().skip(self.strip).collect();
        (is_taken && !left_out && !rest.as_os_str().is_empty()).then(|| self.place.join(rest))
    }
}

/// What is put into an archive: the file or directory, and the name that it has there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Packed {
    pub(super) path: PathBuf,
    pub(super) name: PathBuf,
    pub(super) without: Vec<Pattern>,
}

/// Options of tar that take a value in the next word, by their letters.
const VALUES: &[u8] = b"bCfFgHIKLNTVX";

/// The same, by their names.
const LONG: [&str; 18] = [
    "--file",
    "--directory",
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

/// A line of tar, as far as it says which files.
#[derive(Default)]
struct Tar {
    archive: Option<OsString>,
    extracts: bool,
    creates: bool,
    prints: bool,
    listed: bool,
    strip: usize,
    exclude: Vec<Pattern>,
    /// Each with the directory in which it is looked for.
    names: Vec<(PathBuf, OsString)>,
    directory: PathBuf,
}

impl Tar {
    fn read(args: &[OsString]) -> Self {
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
                let name = &bytes[..equals.unwrap_or(bytes.len())];
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
            (b"--file", Some(file)) => self.archive = Some(file),
            (b"--directory" | b"--cd", Some(directory)) => self.directory.push(directory),
            (b"--files-from", _) => self.listed = true,
            (b"--strip-components", Some(count)) => {
                self.strip = count.to_str().and_then(|count| count.parse().ok()).unwrap_or_default();
            }
            (b"--exclude", Some(pattern)) => self.exclude.extend(Pattern::new(&pattern)),
            _ => {}
        }
    }

    /// It reads or writes the pipe.
    fn is_piped(&self) -> bool {
        self.archive.as_ref().is_none_or(|file| file == "-" || file == STDIN)
    }
}

fn is_tar(name: &str) -> bool {
    ["tar", "gtar", "bsdtar"].contains(&name)
}

/// What a line takes out of an archive that the line names, or that comes in by standard input.
pub(super) fn unpacked(step: &Step<'_>) -> Vec<Unpacked> {
    let name = step.name();
    if is_tar(name) {
        let tar = Tar::read(&step.args);
        if !tar.extracts || tar.prints {
            return Vec::new();
        }
        let named = tar.archive.as_deref().filter(|_| !tar.is_piped());
        let members = tar.names.iter().filter(|_| !tar.listed).map(|(_, name)| PathBuf::from(name)).collect();
        let it = Unpacked {
            archive: None,
            place: step.path(tar.directory.as_os_str()),
            strip: tar.strip,
            members,
            without: tar.exclude.clone(),
        };
        return from(step, named, &it);
    }
    if name != "unzip" {
        return Vec::new();
    }
    let (mut words, mut place, mut files) = (step.args.iter(), OsString::new(), Vec::new());
    while let Some(word) = words.next() {
        match word.as_encoded_bytes() {
            b"-d" => place = words.next().cloned().unwrap_or_default(),
            b"-P" => drop(words.next()),
            // What stands behind it is left out.
            b"-x" => break,
            [b'-', letters @ ..] if !letters.is_empty() => {
                if letters.iter().any(|letter| b"lptvzZ".contains(letter)) {
                    return Vec::new();
                }
            }
            _ => files.push(word),
        }
    }
    let Some((archive, members)) = files.split_first() else { return Vec::new() };
    let members = members.iter().map(PathBuf::from).collect();
    let it = Unpacked { archive: None, place: step.path(&place), strip: 0, members, without: Vec::new() };
    from(step, Some(archive), &it)
}

/// The same with the archives that it may be.
fn from(step: &Step<'_>, named: Option<&OsStr>, it: &Unpacked) -> Vec<Unpacked> {
    let of = |path: &PathBuf| Unpacked { archive: Some(path.clone()), ..it.clone() };
    let is_file = |path: &&PathBuf| is_known(path.as_os_str()) && path.as_os_str() != STDIN;
    match named {
        Some(named) if step.host.is_none() && !step.inside && is_known(named) => vec![of(&step.path(named))],
        Some(_) => vec![it.clone()],
        None => {
            let mut all: Vec<_> = step.input_from.iter().filter(is_file).map(of).collect();
            if all.is_empty() && step.packed.is_empty() {
                all.push(it.clone());
            }
            all
        }
    }
}

/// What comes to lie on the host by unpacking it there.
pub(super) fn sent(step: &Step<'_>) -> Vec<Sent> {
    let unpacked = unpacked(step);
    let is_piped = is_tar(step.name()) && {
        let tar = Tar::read(&step.args);
        tar.extracts && !tar.prints && tar.is_piped()
    };
    let place = || step.path(Tar::read(&step.args).directory.as_os_str());
    let packed = step.packed.iter().filter(|_| is_piped).map(|packed| Sent::Directory {
        path: packed.path.clone(),
        place: place().join(&packed.name),
        follow: false,
        without: packed.without.clone(),
    });
    packed.chain(unpacked.into_iter().map(Sent::Archive)).collect()
}

/// What a line of tar puts into an archive that goes into a pipe (`tar cz DIR`).
pub(super) fn packed(args: &[OsString], cwd: &Path) -> Option<Rc<[Packed]>> {
    let tar = Tar::read(args);
    if !tar.creates || !tar.is_piped() || tar.listed {
        return None;
    }
    let each = tar.names.iter().map(|(directory, name)| Packed {
        path: cwd.join(directory).join(name),
        name: Path::new(name).components().filter(|part| matches!(part, std::path::Component::Normal(_))).collect(),
        without: tar.exclude.clone(),
    });
    Some(each.filter(|packed| is_known(packed.path.as_os_str())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tar(line: &str) -> Tar {
        Tar::read(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn lines_of_tar_are_read_as_tar_reads_them() {
        for (line, archive, directory, names) in [
            ("xzf a.tgz -C /srv", Some("a.tgz"), "/srv", &[][..]),
            ("xzfC a.tgz /srv app", Some("a.tgz"), "/srv", &["app"]),
            ("-xzf a.tgz app .env", Some("a.tgz"), "", &["app", ".env"]),
            ("-xfa.tgz -C/srv", Some("a.tgz"), "/srv", &[]),
            ("--extract --file=a.tgz --directory /srv", Some("a.tgz"), "/srv", &[]),
            ("-C /srv -xz", None, "/srv", &[]),
            ("xz --exclude .env -f a.tgz", Some("a.tgz"), "", &[]),
            ("-x -I zstd -f a.tzst -- -b", Some("a.tzst"), "", &["-b"]),
        ] {
            let found = tar(line);
            assert!(found.extracts && !found.creates, "{line}");
            assert_eq!(found.archive.as_deref(), archive.map(OsStr::new), "{line}");
            assert_eq!(found.directory, Path::new(directory), "{line}");
            assert_eq!(found.names.iter().map(|(_, name)| name.as_os_str()).collect::<Vec<_>>(), names, "{line}");
        }
        assert!(!tar("tzf a.tgz").extracts && tar("cz app").creates && tar("xOf a.tar").prints);
    }

    #[test]
    fn members_land_where_tar_puts_them() {
        let it = Unpacked {
            archive: None,
            place: "/srv".into(),
            strip: 1,
            members: vec!["app/conf".into()],
            without: vec![Pattern::new(OsStr::new("*.bak")).expect("a pattern")],
        };
        let lands = |member: &str| it.lands(Path::new(member)).map(|path| path.display().to_string());
        assert_eq!(lands("./app/conf/.env").as_deref(), Some("/srv/conf/.env"));
        assert_eq!(lands("/app/conf/../x").as_deref(), Some("/srv/conf/x"));
        assert_eq!(lands("app/other"), None);
        assert_eq!(lands("app/conf/a.bak"), None);
    }

    #[test]
    fn what_goes_into_a_pipe_is_named_with_its_directory() {
        let args = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let of = |line: &str| packed(&args(line), Path::new("/w"));
        let one = |path: &str, name: &str| Packed { path: path.into(), name: name.into(), without: Vec::new() };
        assert_eq!(of("cz app").as_deref(), Some(&[one("/w/app", "app")][..]));
        assert_eq!(
            of("-czf - -C deploy . -C ../x y").as_deref(),
            Some(&[one("/w/deploy/.", ""), one("/w/deploy/../x/y", "y")][..])
        );
        assert_eq!(of("czf a.tgz app"), None);
        assert_eq!(of("tz"), None);
    }
}
