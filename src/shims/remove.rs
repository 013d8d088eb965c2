//! Takes a shim away.
#![forbid(unsafe_code)]

use std::io;

use crate::program::FileId;

use super::entry::{Entry, look};
use super::{Folder, ShimError, Tool, platform};

/// Takes these shims away; the answer says of each whether there was one. What is not ours stays.
pub fn remove<'a>(folder: &Folder, tools: &'a [Tool], ourselves: FileId) -> Vec<(&'a Tool, Result<bool, ShimError>)> {
    let _as_owner = folder.as_owner();
    platform::tidy(folder.path());
    tools.iter().map(|tool| (tool, take(folder, tool, ourselves))).collect()
}

fn take(folder: &Folder, tool: &Tool, ourselves: FileId) -> Result<bool, ShimError> {
    let path = folder.path().join(tool.file());
    match look(&path, ourselves) {
        Entry::Free => Ok(false),
        Entry::Foreign => Err(ShimError::NotOurs { path }),
        Entry::Ours | Entry::Broken => match platform::unlink(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(ShimError::Failed { path, what: "cannot be taken away", source }),
        },
    }
}
