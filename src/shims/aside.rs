//! What stands where a shim belongs and is not ours: can it be moved aside, and by which line?
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use crate::platform;
use crate::program::{FileId, is_ours, places};
use crate::terms::shell_quote;

use super::Tool;

/// Whether the shim would have a program behind it if what stands in its place were moved: what is there is no program, or
/// callers with this PATH find another one elsewhere.
#[must_use]
pub fn may_be_moved(place: &Path, tool: &Tool, path: Option<&OsStr>, cwd: &Path, ourselves: FileId) -> bool {
    let folder = place.parent().and_then(|folder| FileId::of(folder).ok());
    let elsewhere = |other: &PathBuf| {
        let there = other.parent().and_then(|folder| FileId::of(folder).ok());
        there != folder && is_program(other) && !is_ours(other, ourselves)
    };
    !is_program(place)
        || places(tool.as_os_str(), path).iter().map(|other| cwd.join(other)).any(|other| elsewhere(&other))
}

fn is_program(place: &Path) -> bool {
    fs::metadata(place).is_ok_and(|there| there.is_file() && platform::mode(&there) & 0o111 != 0)
}

/// The line that moves what stands in these places out of the way, each to a place of its own beside it: hidden, since the
/// folder may be on PATH, and free.
#[must_use]
pub fn moved_aside(places: &[PathBuf]) -> String {
    let quoted = |path: &Path| shell_quote(path.as_os_str().as_encoded_bytes());
    let moves = places.iter().map(|place| format!("mv {} {}", quoted(place), quoted(&aside(place))));
    moves.collect::<Vec<_>>().join(" && ")
}

fn aside(place: &Path) -> PathBuf {
    let name = place.file_name().unwrap_or_default();
    let named = |number: u32| {
        let number = if number == 0 { String::new() } else { format!("-{number}") };
        let mut hidden = OsString::from(if name.as_encoded_bytes().starts_with(b".") { "" } else { "." });
        hidden.push(name);
        hidden.push(format!(".kept{number}"));
        place.with_file_name(hidden)
    };
    (0..).map(named).find(|aside| fs::symlink_metadata(aside).is_err()).unwrap_or_else(|| named(0))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_is_moved_away_takes_nobody_s_place() {
        let place = tempfile::tempdir().expect("place");
        fs::write(place.path().join(".gh.kept"), "").expect("file");
        let [gh, sops] = ["gh", "sops"].map(|name| place.path().join(name));
        let at = place.path().display();
        assert_eq!(moved_aside(&[gh, sops]), format!("mv {at}/gh {at}/.gh.kept-1 && mv {at}/sops {at}/.sops.kept"));
    }

    #[test]
    fn the_only_program_of_its_name_stays() {
        let place = tempfile::tempdir().expect("place");
        let put = |name: &str, mode: u32| {
            let path = place.path().join(name);
            fs::create_dir_all(path.parent().expect("parent")).expect("directory");
            fs::write(&path, "#!/bin/sh\n").expect("file");
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("mode");
            path
        };
        let (program, wrapper, text) = (put("bin/a", 0o755), put("shims/b", 0o755), put("bin/c", 0o644));
        put("bin/b", 0o755);
        std::os::unix::fs::symlink("bin", place.path().join("again")).expect("link");
        let path = std::env::join_paths(["shims", "bin", "again"].map(|name| place.path().join(name))).expect("PATH");
        let ourselves = FileId::ourselves().expect("ourselves");
        let may = |place: &Path| {
            let tool = Tool::found(place.file_name().expect("name")).expect("a tool");
            may_be_moved(place, &tool, Some(&path), Path::new("/"), ourselves)
        };
        assert_eq!([may(&program), may(&wrapper), may(&text)], [false, true, true]);
    }
}
