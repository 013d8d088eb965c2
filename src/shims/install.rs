//! Puts one shim in its place.
#![forbid(unsafe_code)]

use std::io;
use std::path::Path;

use crate::program::FileId;

use super::entry::{Entry, look};
use super::{Folder, ShimError, Tool, platform};

/// What was to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Installed {
    /// It was not there.
    Made,
    /// It led to another place, or nowhere.
    Renewed,
    /// Nothing.
    AsItWas,
}

/// One tool, and what became of its shim.
pub type Done<'a> = (&'a Tool, Result<Installed, ShimError>);

/// Makes the folder if need be, takes away what killed installations left in it, and puts a link from each tool's name to
/// `target`. Each tool has its own answer: one that cannot be done stands in no other's way.
///
/// # Errors
/// The folder cannot be made, or nobody would find what is in it.
pub fn install<'a>(
    folder: &Folder,
    tools: &'a [Tool],
    target: &Path,
    ourselves: FileId,
) -> Result<Vec<Done<'a>>, ShimError> {
    folder.serves()?;
    folder.make()?;
    let _as_owner = folder.as_owner();
    platform::tidy(folder.path());
    let put = |tool: &'a Tool| (tool, put(&folder.path().join(tool.file()), target, ourselves));
    Ok(tools.iter().map(put).collect())
}

fn put(place: &Path, target: &Path, ourselves: FileId) -> Result<Installed, ShimError> {
    let failed = |source| ShimError::Failed { path: place.to_owned(), what: "cannot be made", source };
    loop {
        match look(place, ourselves) {
            Entry::Foreign => return Err(ShimError::NotOurs { path: place.to_owned() }),
            Entry::Free => match platform::link(target, place) {
                Ok(()) => return Ok(Installed::Made),
                // Another installation was first; what is it?
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(error)),
            },
            Entry::Ours if platform::leads_to(place, target) => return Ok(Installed::AsItWas),
            Entry::Ours | Entry::Broken => {
                return platform::relink(target, place).map(|()| Installed::Renewed).map_err(failed);
            }
        }
    }
}
