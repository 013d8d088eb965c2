//! Shims are linked again: to this very program, by a path that lasts.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::run::Context;
use crate::shims;
use crate::state::as_owner_of;
use crate::terms::shell_quote;

use super::patient::Patient;

/// Makes the links anew, each in one step: a shell that looks meanwhile finds the old one or the new one.
pub(super) fn link_again(patient: &Patient<'_>, links: &[PathBuf]) -> Result<String, String> {
    let program = launcher(patient.context)?;
    for link in links {
        // As the owner of the folder: what root makes in a user's folder is the user's.
        let _as_owner = link.parent().and_then(as_owner_of);
        let draft = link.with_file_name(format!(".{}-{}", std::process::id(), name_of(link)));
        let made = symlink(&program, &draft).and_then(|()| fs::rename(&draft, link));
        if let Err(error) = made {
            let _it_may_not_be_there = fs::remove_file(&draft);
            return Err(format!("{} cannot be made: {error}", shell_quote(link.as_os_str().as_encoded_bytes())));
        }
    }
    let names: Vec<String> = links.iter().map(|link| name_of(link)).collect();
    Ok(format!("made the links again: {}", names.join(", ")))
}

fn name_of(link: &Path) -> String {
    link.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A path to this very program that lasts, as the shims' own room finds it.
fn launcher(context: &Context) -> Result<PathBuf, String> {
    let invocation = &context.invocation;
    let executed = invocation.executed.as_deref();
    shims::launcher(executed, invocation.var("PATH").as_deref(), &invocation.cwd, context.ourselves)
        .map_err(|error| error.to_string())
}
