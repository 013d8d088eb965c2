//! A home to install into, and what lies in it.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::world::World;

/// What stands in front of a command that may mount over what is there, for itself alone.
pub(super) const MOUNTS: [&[&str]; 2] = [&["unshare", "--mount"], &["unshare", "--mount", "--user", "--map-root-user"]];

/// A file of the checkout.
pub(super) fn checkout(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// An executable file.
pub(super) fn executable(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("parent")).expect("directory");
    fs::write(path, text).expect("written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("mode");
}

/// A binary that is small, and knows no verb.
pub(super) fn small(world: &World) -> PathBuf {
    let path = world.root().join("built/locked");
    executable(&path, "#!/bin/sh\n[ \"$*\" = --version ] || exit 64\necho locked 0.0.0\n");
    path
}

pub(super) fn home(world: &World) -> PathBuf {
    world.root().join("home")
}

/// `install/install.sh` in this world.
pub(super) fn install(world: &World, words: &[&str]) -> Command {
    let mut command = world.command(checkout("install/install.sh"));
    command.args(words).env("SHELL", "/bin/sh");
    command
}

/// The uninstaller that was installed.
pub(super) fn uninstall(world: &World) -> Command {
    world.command(home(world).join(".local/share/locked/uninstall.sh"))
}

/// Everything below a directory: what it is, its mode, and what is in it.
pub(super) fn tree(root: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut todo = vec![root.to_owned()];
    while let Some(directory) = todo.pop() {
        for entry in fs::read_dir(&directory).expect("directory") {
            let path = entry.expect("entry").path();
            let seen = fs::symlink_metadata(&path).expect("metadata");
            let content = match seen.file_type() {
                kind if kind.is_dir() => Vec::new(),
                kind if kind.is_symlink() => fs::read_link(&path).expect("link").into_os_string().into_encoded_bytes(),
                _ => fs::read(&path).expect("file"),
            };
            if seen.is_dir() {
                todo.push(path.clone());
            }
            found.insert(path.strip_prefix(root).expect("below").to_owned(), (seen.mode(), content));
        }
    }
    found
}

/// The names of files (no directories) that are in the one and not in the other.
pub(super) fn added(before: &BTreeMap<PathBuf, (u32, Vec<u8>)>, root: &Path) -> Vec<String> {
    let now = tree(root);
    let new = now.keys().filter(|path| !before.contains_key(*path) && !root.join(path).is_dir());
    new.map(|path| path.display().to_string()).collect()
}
