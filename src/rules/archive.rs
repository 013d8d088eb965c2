//! Archives: what lines of tar and unzip take out, and what tar puts together for a pipe. What stands in one, the plan
//! looks at.
//!
//! Sources: tar(1) of GNU, bsdtar(1), unzip(1).
#![forbid(unsafe_code)]

mod tar;
#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use self::tar::Tar;
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
    /// All of them come to lie side by side, without their directories.
    pub flat: bool,
    /// What is added to the archive's name where there is no file of that.
    pub ending: &'static str,
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
        let plain: PathBuf = member.components().filter(|part| matches!(part, Component::Normal(_))).collect();
        let is_taken = self.members.is_empty() || self.members.iter().any(|own| plain.starts_with(own));
        let left_out = self.without.iter().any(|pattern| pattern.fits(&plain));
        let rest: PathBuf = match plain.file_name().filter(|_| self.flat) {
            Some(name) => name.into(),
            None => plain.components().skip(self.strip).collect(),
        };
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

fn is_tar(name: &str) -> bool {
    ["tar", "gtar", "bsdtar"].contains(&name)
}

/// What a line takes out of an archive that the line names, or that comes in by standard input.
pub(super) fn unpacked(step: &Step<'_>) -> Vec<Unpacked> {
    let name = step.name();
    if is_tar(name) {
        let tar = Tar::read(&step.args);
        // What it does not write over is none of anybody's. Over there it may be new.
        if !tar.extracts || tar.prints || (tar.keeps && step.host.is_none()) {
            return Vec::new();
        }
        let named = tar.archive.as_deref().filter(|_| !tar.is_piped());
        // What a list or a pattern takes may be anything; bsdtar's names are patterns in any case.
        let patterns = tar.wildcards || name == "bsdtar";
        let all = tar.listed || (patterns && tar.names.iter().any(|(_, name)| is_pattern(name)));
        let members = tar.names.iter().filter(|_| !all).map(|(_, name)| PathBuf::from(name)).collect();
        let place = tar.place();
        let it = Unpacked {
            archive: None,
            place: step.path(place.as_deref().unwrap_or(&tar.directory).as_os_str()),
            strip: tar.strip,
            members,
            without: tar.exclude.clone(),
            flat: false,
            ending: "",
        };
        return if place.is_some() { from(step, named, &it) } else { vec![it] };
    }
    if name != "unzip" {
        return Vec::new();
    }
    let (mut words, mut place, mut files) = (step.args.iter(), OsString::new(), Vec::new());
    let (mut flat, mut leaving_out, mut without) = (false, false, Vec::new());
    while let Some(word) = words.next() {
        match word.as_encoded_bytes() {
            b"-d" => (place, leaving_out) = (words.next().cloned().unwrap_or_default(), false),
            b"-P" => drop(words.next()),
            // What stands behind it is left out, up to the next option.
            b"-x" => leaving_out = true,
            [b'-', b'd', attached @ ..] if !attached.is_empty() => {
                (place, leaving_out) = (tail(word, 2).into_owned(), false);
            }
            [b'-', letters @ ..] if !letters.is_empty() => {
                // `-n` writes over nothing. Over there a file may be new.
                let never = letters.contains(&b'n') && !letters.contains(&b'o') && step.host.is_none();
                if never || letters.iter().any(|letter| b"lptvzZ".contains(letter)) {
                    return Vec::new();
                }
                flat |= letters.contains(&b'j');
                leaving_out = letters.ends_with(b"x");
                if letters.ends_with(b"d") {
                    place = words.next().cloned().unwrap_or_default();
                }
            }
            _ if leaving_out => without.extend(left_out(word)),
            _ => files.push(word),
        }
    }
    let Some((archive, members)) = files.split_first() else { return Vec::new() };
    // What a pattern takes may be anything.
    let all = members.iter().any(|word| is_pattern(word));
    let members = members.iter().filter(|_| !all).map(PathBuf::from).collect();
    let it = Unpacked { archive: None, place: step.path(&place), strip: 0, members, without, flat, ending: ".zip" };
    from(step, Some(archive), &it)
}

fn is_pattern(word: &OsStr) -> bool {
    word.as_encoded_bytes().iter().any(|byte| b"*?[".contains(byte))
}

/// What unzip leaves out: its `*` goes over slashes, and a pattern is about the whole path.
fn left_out(word: &OsStr) -> impl Iterator<Item = Pattern> + use<> {
    let text = word.to_string_lossy().into_owned();
    let below = text.strip_suffix('*').map(|begin| format!("/{begin}**"));
    let deeper = text.strip_suffix("/*").map(|begin| format!("/{begin}/**/*"));
    let all = [Some(format!("/{text}")), below, deeper];
    all.into_iter().flatten().filter_map(|text| Pattern::new(OsStr::new(&text)))
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
    let mut sent = Vec::new();
    if is_tar(step.name()) && !step.packed.is_empty() {
        let tar = Tar::read(&step.args);
        let place = step.path(tar.directory.as_os_str());
        let is_unpacked = tar.extracts && !tar.prints && tar.is_piped();
        sent.extend(step.packed.iter().filter(|_| is_unpacked).map(|packed| Sent::Directory {
            path: packed.path.clone(),
            place: place.join(&packed.name),
            follow: false,
            without: packed.without.clone(),
        }));
    }
    sent.extend(unpacked(step).into_iter().map(Sent::Archive));
    sent
}

/// What a line of tar puts into an archive that goes into a pipe (`tar cz DIR`).
pub(super) fn packed(args: &[OsString], cwd: &Path) -> Option<Rc<[Packed]>> {
    let tar = Tar::read(args);
    if !tar.creates || !tar.is_piped() || tar.listed {
        return None;
    }
    let each = tar.names.iter().map(|(directory, name)| Packed {
        path: cwd.join(directory).join(name),
        name: Path::new(name).components().filter(|part| matches!(part, Component::Normal(_))).collect(),
        without: tar.exclude.clone(),
    });
    Some(each.filter(|packed| is_known(packed.path.as_os_str())).collect())
}
