//! Shims are linked again: to this very program, by a path that lasts.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use crate::run::{Context, env_of};
use crate::shims::{self, Folder, Tool};

use super::patient::Patient;

/// Makes the links of these tools anew, as `locked shims install` makes them.
pub(super) fn link_again(patient: &Patient<'_>, folder: &Path, tools: &[Tool]) -> Result<String, String> {
    let context = patient.context;
    let program = launcher(context, folder == Path::new(shims::SYSTEM))?;
    let told = |error: &shims::ShimError| error.to_string();
    let folder = Folder::choose(Some(folder), false, Path::new("/"), &env_of(context)).map_err(|error| told(&error))?;
    let done = shims::install(&folder, tools, &program, context.ourselves).map_err(|error| told(&error))?;
    let wrong: Vec<String> = done.iter().filter_map(|(_, result)| result.as_ref().err()).map(told).collect();
    if !wrong.is_empty() {
        return Err(wrong.join("; "));
    }
    let names: Vec<String> = tools.iter().map(ToString::to_string).collect();
    Ok(format!("made the links again: {}", names.join(", ")))
}

/// A path to this very program that lasts, as the shims' own room finds it.
fn launcher(context: &Context, for_all: bool) -> Result<PathBuf, String> {
    let invocation = &context.invocation;
    let executed = invocation.executed.as_deref();
    let launcher = if for_all { shims::launcher_for_all } else { shims::launcher };
    launcher(executed, invocation.var("PATH").as_deref(), &invocation.cwd, context.ourselves)
        .map_err(|error| error.to_string())
}
