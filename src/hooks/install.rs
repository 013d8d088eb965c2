//! Puts the hooks there, and takes them away.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use crate::terms::Done;

use super::place::Place;
use super::{HooksError, NAMES, config, legacy, probe, text};

/// Puts every hook there and has git run each of them once. `locked` is our own program.
///
/// # Errors
/// The place is somebody else's, or cannot be written; git does not run what was put there.
pub fn install(place: &Place, locked: &OsStr) -> Result<Vec<(&'static str, Done)>, HooksError> {
    if place.whose.is_some() && config::is_heard(place) {
        return config::install(place, locked);
    }
    owned(place)?;
    let made = !place.directory.exists();
    fs::create_dir_all(&place.directory).map_err(HooksError::io(&place.directory))?;
    let _alone = alone(place)?;
    let mut done = Vec::new();
    for name in NAMES {
        done.push((name, put(place, name, locked, made)?));
    }
    for name in NAMES {
        probe::runs(place, name).map_err(|why| HooksError::NotRun { hook: place.hook(name), why })?;
    }
    Ok(done)
}

/// Takes away what [`install`] put there.
///
/// # Errors
/// The place cannot be written, or somebody has put another hook in the place of ours.
pub fn uninstall(place: &Place) -> Result<Vec<(&'static str, Done)>, HooksError> {
    let mut named = Vec::new();
    for name in NAMES {
        named.push(config::uninstall(place, name)?);
    }
    let of = |named: bool| if named { Done::Removed } else { Done::Absent };
    if !place.directory.is_dir() {
        return Ok(NAMES.into_iter().zip(named.into_iter().map(of)).collect());
    }
    let alone = alone(place)?;
    let mut made = false;
    let mut done = Vec::new();
    for (name, named) in NAMES.into_iter().zip(named) {
        let (hook, aside) = (place.hook(name), place.aside(name));
        let was_moved = legacy::undo(place, name)?;
        let content = read(&hook)?;
        keep_additions(&place.added(name), content.as_deref())?;
        let ours = content.as_deref().is_some_and(text::is_ours);
        made |= content.as_deref().is_some_and(text::made_directory) && ours;
        match (ours, aside_exists(&aside)) {
            (true, true) => fs::rename(&aside, &hook).map_err(HooksError::io(&hook))?,
            (true, false) => fs::remove_file(&hook).map_err(HooksError::io(&hook))?,
            (false, true) if content.is_none() => fs::rename(&aside, &hook).map_err(HooksError::io(&hook))?,
            (false, true) => return Err(HooksError::Between { hook, aside }),
            (false, false) => {}
        }
        done.push((name, of(ours || named || was_moved)));
    }
    drop(alone);
    if made {
        // Others may have put theirs there meanwhile.
        let _only_when_empty = fs::remove_dir(&place.directory);
    }
    Ok(done)
}

fn put(place: &Place, name: &str, locked: &OsStr, made: bool) -> Result<Done, HooksError> {
    let (hook, aside) = (place.hook(name), place.aside(name));
    legacy::undo(place, name)?;
    let there = read(&hook)?;
    keep_additions(&place.added(name), there.as_deref())?;
    let ours = there.as_deref().filter(|content| text::is_ours(content));
    let made = ours.map_or(made, text::made_directory);
    let content = text::hook(name, locked, made);
    match (&there, ours) {
        (_, Some(ours)) if ours == content && is_executable(&hook) => return Ok(Done::Kept),
        (Some(_), None) if aside_exists(&aside) => return Err(HooksError::Between { hook, aside }),
        (Some(_), None) => fs::rename(&hook, &aside).map_err(HooksError::io(&hook))?,
        _ => {}
    }
    let io = || HooksError::io(&hook);
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o755));
    }
    let mut draft = builder.prefix(".locked-").tempfile_in(&place.directory).map_err(io())?;
    draft.write_all(&content).and_then(|()| draft.as_file().sync_all()).map_err(io())?;
    draft.persist(&hook).map_err(|error| error.error).map_err(io())?;
    Ok(if ours.is_some() { Done::Renewed } else { Done::Installed })
}

/// What a person has written behind the end of ours is theirs: it is kept beside it. It was never run there.
fn keep_additions(kept: &Path, content: Option<&[u8]>) -> Result<(), HooksError> {
    let Some(added) = content.and_then(text::additions) else { return Ok(()) };
    fs::write(kept, added).map_err(HooksError::io(kept))
}

fn owned(place: &Place) -> Result<(), HooksError> {
    match place.whose {
        Some(whose) => Err(HooksError::Elsewhere { directory: place.directory.clone(), whose }),
        None => Ok(()),
    }
}

/// Two at once would each take the other's hook for somebody else's.
fn alone(place: &Place) -> Result<File, HooksError> {
    crate::platform::alone_in(&place.directory).map_err(HooksError::io(&place.directory))
}

/// A link that leads nowhere is there all the same.
pub(super) fn aside_exists(aside: &Path) -> bool {
    fs::symlink_metadata(aside).is_ok()
}

/// What stands there; a link that leads nowhere is somebody's, and empty.
pub(super) fn read(hook: &Path) -> Result<Option<Vec<u8>>, HooksError> {
    match fs::read(hook) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(aside_exists(hook).then(Vec::new)),
        Err(error) => Err(HooksError::io(hook)(error)),
    }
}

fn is_executable(hook: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::metadata(hook).is_ok_and(|found| found.permissions().mode() & 0o100 != 0)
    }
    #[cfg(not(unix))]
    {
        hook.exists()
    }
}
