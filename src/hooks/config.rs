//! Hooks by configuration, which git has since 2.54: several for one event, beside the files of whoever owns the directory
//! of the hooks. The hook itself lies in the common git directory, and the repository's own configuration names it.
//!
//! Facts: git-hook(1) of 2.54.0, `hook.<friendly-name>.event` and `hook.<friendly-name>.command`; a shell runs the command,
//! with the hook's arguments behind it.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::PathBuf;

use super::place::Place;
use super::{HooksError, NAMES, probe, text};
use crate::git::GitError;
use crate::platform::OsStringExt as _;
use crate::terms::Done;

/// The first version that has them.
const SINCE: (u32, u32) = (2, 54);

/// Whether this git runs hooks that its configuration names.
pub(super) fn is_heard(place: &Place) -> bool {
    let said = place.git().arg("version").output().map(|output| output.stdout).unwrap_or_default();
    version(&String::from_utf8_lossy(&said)).is_some_and(|version| version >= SINCE)
}

/// `git version 2.54.0.windows.1` → (2, 54).
fn version(said: &str) -> Option<(u32, u32)> {
    let mut parts = said.trim().strip_prefix("git version ")?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Names every hook of ours in the repository's configuration, and has git run each once.
pub(super) fn install(place: &Place, locked: &OsStr) -> Result<Vec<(&'static str, Done)>, HooksError> {
    let mut done = Vec::new();
    for name in NAMES {
        let (file, content) = (file(place, name), text::hook(name, locked, false));
        let kept = fs::read(&file).is_ok_and(|there| there == content) && is_named(place, name);
        write(place, &file, &content)?;
        set(place, name, "event", OsStr::new(name))?;
        set(place, name, "command", &OsString::from_vec(text::quoted(file.as_os_str().as_encoded_bytes())))?;
        done.push((name, if kept { Done::Kept } else { Done::Installed }));
    }
    for name in NAMES {
        probe::runs(place, name).map_err(|why| HooksError::NotRun { hook: file(place, name), why })?;
    }
    Ok(done)
}

/// Takes away what [`install`] did. Whether there was anything.
pub(super) fn uninstall(place: &Place, name: &str) -> Result<bool, HooksError> {
    let (named, file) = (is_named(place, name), file(place, name));
    if named {
        run(place, &["config".as_ref(), "--local".as_ref(), "--remove-section".as_ref(), section(name).as_ref()])?;
    }
    match fs::remove_file(&file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(HooksError::io(&file)(error)),
        _ => {}
    }
    // The last one takes the directory along.
    let _others_are_there = fs::remove_dir(directory(place));
    Ok(named)
}

/// Whether the repository's configuration names our hook, which is there.
pub(super) fn is_named(place: &Place, name: &str) -> bool {
    let key = format!("{}.event", section(name));
    let asked = place.git().args(["config", "--local", "--get", &key]).output();
    asked.is_ok_and(|output| output.status.success()) && file(place, name).is_file()
}

fn section(name: &str) -> String {
    format!("hook.locked-{name}")
}

fn directory(place: &Place) -> PathBuf {
    place.common.join("locked/hooks")
}

/// Where the hook lies.
pub(super) fn file(place: &Place, name: &str) -> PathBuf {
    directory(place).join(name)
}

fn write(place: &Place, file: &PathBuf, content: &[u8]) -> Result<(), HooksError> {
    let directory = directory(place);
    fs::create_dir_all(&directory).map_err(HooksError::io(&directory))?;
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o755));
    }
    let draft = builder.prefix(".locked-").tempfile_in(&directory).map_err(HooksError::io(file))?;
    fs::write(draft.path(), content).map_err(HooksError::io(file))?;
    draft.persist(file).map(drop).map_err(|error| HooksError::io(file)(error.error))
}

fn set(place: &Place, name: &str, key: &str, value: &OsStr) -> Result<(), HooksError> {
    let key = format!("{}.{key}", section(name));
    run(place, &["config".as_ref(), "--local".as_ref(), "--replace-all".as_ref(), key.as_ref(), value])
}

fn run(place: &Place, args: &[&OsStr]) -> Result<(), HooksError> {
    let output = place.git().args(args).output();
    let output = output.map_err(|source| GitError::NoGit { need: "to name its hooks", source })?;
    match output.status.success() {
        true => Ok(()),
        false => {
            let (command, directory) = ("config", place.from.clone());
            Err(GitError::Failed { command, directory, status: output.status }.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_as_git_says_it() {
        for (said, read) in [
            ("git version 2.54.0\n", Some((2, 54))),
            ("git version 2.47.3", Some((2, 47))),
            ("git version 2.55.0.windows.1", Some((2, 55))),
            ("git version 3.0", Some((3, 0))),
            ("fatal: no", None),
            ("", None),
        ] {
            assert_eq!(version(said), read, "{said}");
        }
    }
}
