//! PATH and PATHEXT of Windows as a list of places.
//!
//! Only absolute entries count: the working directory is never looked into, neither first, as the system's own search has
//! it, nor by an entry that is empty or relative; and the application's own directory is no place of its own, since there
//! our shims stand.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::platform::OsStrExt as _;

/// What PATHEXT is where nobody says: the part of the system's own value that can be run without an interpreter's help.
const READY: &str = ".COM;.EXE;.BAT;.CMD";

/// The extensions of programs, in the order in which they are tried; each with its dot, in small letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Extensions(Vec<String>);

impl Extensions {
    #[cfg(windows)]
    pub(super) fn of_environment() -> Self {
        Self::read(std::env::var_os("PATHEXT").as_deref())
    }

    fn read(text: Option<&OsStr>) -> Self {
        let text = text.map(OsStr::to_string_lossy).filter(|text| !text.is_empty()).unwrap_or(READY.into());
        let parts = text.split(';').map(|part| part.trim().to_lowercase());
        Self(parts.filter(|part| part.len() > 1 && part.starts_with('.')).collect())
    }

    /// The name without its extension, if that is one of a program.
    pub(super) fn stem<'a>(&self, name: &'a OsStr) -> Option<&'a OsStr> {
        let path = Path::new(name);
        let extension = format!(".{}", path.extension()?.to_str()?.to_lowercase());
        self.0.contains(&extension).then(|| path.file_stem()).flatten()
    }

    /// The files that a path may mean: as it stands when it has a program's extension, else with each of them; and last
    /// as it stands, for what names no program and is to be refused by its name.
    pub(super) fn spellings(&self, path: &Path) -> Vec<PathBuf> {
        if path.file_name().is_some_and(|name| self.stem(name).is_some()) {
            return vec![path.to_owned()];
        }
        let longer = |extension: &String| {
            let mut spelled = OsString::from(path);
            spelled.push(extension);
            PathBuf::from(spelled)
        };
        self.0.iter().map(longer).chain([path.to_owned()]).collect()
    }
}

/// `word` in every absolute entry of `path`, with every extension, in PATH's order first. A quote in an entry only
/// protects a `;`.
pub(super) fn candidates(path: &OsStr, word: &OsStr, extensions: &Extensions) -> Vec<PathBuf> {
    if word.is_empty() {
        return Vec::new();
    }
    let mut entries = Vec::new();
    let (mut entry, mut quoted) = (Vec::new(), false);
    for &byte in path.as_bytes() {
        match byte {
            b'"' => quoted = !quoted,
            b';' if !quoted => entries.push(std::mem::take(&mut entry)),
            byte => entry.push(byte),
        }
    }
    entries.push(entry);
    let absolute = entries.iter().map(|entry| Path::new(OsStr::from_bytes(entry))).filter(|entry| is_absolute(entry));
    // A name alone is no program without an extension: the file `sops` beside `sops.exe` is a script of another world.
    let spelled = |entry: &Path| {
        let mut all = extensions.spellings(&entry.join(word));
        if all.len() > 1 {
            all.pop();
        }
        all
    };
    absolute.flat_map(spelled).collect()
}

/// With a drive and a root, or a server: what does not change with the working directory.
fn is_absolute(entry: &Path) -> bool {
    let bytes = entry.as_os_str().as_bytes();
    let separator = |at: usize| bytes.get(at).is_some_and(|byte| b"/\\".contains(byte));
    (bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.get(1) == Some(&b':') && separator(2))
        || (separator(0) && separator(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extensions(text: Option<&str>) -> Extensions {
        Extensions::read(text.map(OsStr::new))
    }

    fn found(path: &str, word: &str) -> Vec<String> {
        let found = candidates(OsStr::new(path), OsStr::new(word), &extensions(Some(".EXE;.Cmd")));
        // Joined with the separator of whatever system this runs on.
        found.iter().map(|path| path.to_str().expect("UTF-8").replace('\\', "/")).collect()
    }

    #[test]
    fn every_absolute_entry_is_tried_with_every_extension_and_no_other_is() {
        assert_eq!(found(r"C:\a;D:/b", "sops"), ["C:/a/sops.exe", "C:/a/sops.cmd", "D:/b/sops.exe", "D:/b/sops.cmd"]);
        assert_eq!(found(r"C:\a", "sops.EXE"), ["C:/a/sops.EXE"]);
        assert_eq!(found(r"C:\a", "v1.2"), ["C:/a/v1.2.exe", "C:/a/v1.2.cmd"], "no program's extension");
        assert_eq!(found(r#""C:\a;b";\\host\share\bin"#, "x.cmd"), ["C:/a;b/x.cmd", "//host/share/bin/x.cmd"]);
        for nowhere in ["", ".", ";;", "bin", r"\bin", "C:bin", "C:", r"..\b"] {
            assert_eq!(found(nowhere, "sops"), Vec::<String>::new(), "{nowhere}");
        }
        assert_eq!(found(r"C:\a", ""), Vec::<String>::new());
    }

    #[test]
    fn extensions_are_read_as_they_stand_or_are_the_usual_ones() {
        let ready = Extensions([".com", ".exe", ".bat", ".cmd"].map(str::to_owned).to_vec());
        assert_eq!(extensions(None), ready);
        assert_eq!(extensions(Some("")), ready);
        assert_eq!(extensions(Some(".EXE; .PY ;;x;.")), Extensions([".exe", ".py"].map(str::to_owned).to_vec()));
    }

    #[test]
    fn a_typed_path_is_what_it_says_or_what_it_says_with_an_extension() {
        let spelled = |path: &str| {
            let all = extensions(Some(".exe;.cmd")).spellings(Path::new(path));
            all.iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(spelled("./sops"), ["./sops.exe", "./sops.cmd", "./sops"]);
        assert_eq!(spelled("./sops.EXE"), ["./sops.EXE"]);
        assert_eq!(spelled("deploy.sh"), ["deploy.sh.exe", "deploy.sh.cmd", "deploy.sh"]);
    }
}
