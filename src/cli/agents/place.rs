//! Where a file lies that an agent or its line is about to write.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use crate::git::Repository;
use crate::naming;
use crate::rules;
use crate::run::Context;
use crate::terms::shell_quote;

/// Its names mean something in its own repository: what is to be run is run there.
pub(super) fn from_elsewhere(context: &Context, why: &str) -> String {
    let root = shell_quote(context.invocation.cwd.as_os_str().as_encoded_bytes());
    match why.rsplit_once("\nnext:  ") {
        Some((before, next)) => {
            let next = next.replace("locked ", &format!("cd {root} && locked "));
            format!("{before}\nnext:  {next}")
        }
        None => why.to_owned(),
    }
}

/// A path of a line: where only run time knows its directory, it may be that of the agent, or the root of its repository.
pub(super) fn places(context: &Context, path: &Path) -> Vec<PathBuf> {
    let cwd = &context.invocation.cwd;
    if rules::is_known(path.as_os_str()) {
        return vec![cwd.join(path)];
    }
    let Some(below) = rules::below_nowhere(path) else { return Vec::new() };
    let root = Repository::around(cwd).ok().flatten().map(|repository| repository.worktree_root);
    let mut places = vec![cwd.join(below)];
    places.extend(root.map(|root| root.join(below)).filter(|place| *place != places[0]));
    places
}

/// The root of the file's repository, if that is another one than the agent works in.
pub(super) fn root_elsewhere(context: &Context, path: &Path) -> Option<PathBuf> {
    let physical = naming::place(path).ok()?.path;
    let root = Repository::discover(&physical).ok()??.worktree_root;
    let own = crate::platform::canonical(&context.invocation.cwd)
        .ok()
        .and_then(|cwd| Repository::around(&cwd).ok().flatten());
    (own.map(|own| own.worktree_root).as_ref() != Some(&root)).then_some(root)
}
