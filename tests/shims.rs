//! Shims, whole: links that lead to `locked`, called as people, shells and other shims call them.
#![forbid(unsafe_code)]

mod bypass;
mod called;
mod cost;
mod foreign;
mod install;
mod parallel;
mod path;
mod search;

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::world::World;
use crate::world::board::{install as copy, write_program};
use crate::world::ends::{ends, text};

/// `locked` as built.
const LOCKED: &str = env!("CARGO_BIN_EXE_locked");

/// A folder with a shim of `tool`, and one with the real `tool`, which says `real` and its arguments.
struct Place {
    world: World,
}

impl Place {
    fn new() -> Self {
        let place = Self { world: World::new() };
        place.shim("shims", "tool");
        place.script("real/tool", "printf 'real'; for word in \"$@\"; do printf ' [%s]' \"$word\"; done; echo");
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.world.root().join(name)
    }

    /// A directory below the world's root.
    fn directory(&self, name: &str) -> PathBuf {
        let path = self.at(name);
        fs::create_dir_all(&path).expect("directory");
        path
    }

    fn shim(&self, folder: &str, tool: &str) -> PathBuf {
        let link = self.directory(folder).join(tool);
        symlink(LOCKED, &link).expect("shim");
        link
    }

    fn script(&self, name: &str, body: &str) -> PathBuf {
        let path = self.at(name);
        fs::create_dir_all(path.parent().expect("parent")).expect("directory");
        write_program(&path, &format!("#!/bin/sh\n{body}\n"));
        path
    }

    /// A copy of a program of the system, under another name.
    fn program(&self, name: &str, of: &str) -> PathBuf {
        let ours = std::env::var_os("PATH").expect("PATH");
        let from = std::env::split_paths(&ours).map(|entry| entry.join(of));
        let from = from.map(|path| path.canonicalize().unwrap_or(path)).find(|path| path.is_file()).expect(of);
        let path = self.at(name);
        fs::create_dir_all(path.parent().expect("parent")).expect("directory");
        copy(from, &path, "0755");
        path
    }

    /// A PATH of these folders below the world's root; what begins with `=` is taken as it is written.
    fn path(&self, entries: &[&str]) -> OsString {
        let entry = |entry: &&str| match entry.strip_prefix('=') {
            Some(written) => OsString::from(written),
            None => self.at(entry).into_os_string(),
        };
        entries.iter().map(entry).collect::<Vec<_>>().join(":".as_ref())
    }

    /// The first `tool` of this PATH, as a shell would start it.
    fn call(&self, entries: &[&str], words: &[&str]) -> Command {
        let path = self.path(entries);
        let work = self.world.work();
        let found = std::env::split_paths(&path).map(|entry| work.join(entry).join("tool")).find(|tool| tool.is_file());
        let mut command = self.world.command(found.expect("there is one"));
        command.arg0("tool").env("PATH", path).args(words);
        command
    }

    /// It ends with the words of the real program, and without any of ours.
    #[track_caller]
    fn ends_at_the_real(&self, entries: &[&str]) {
        let output = ends(&mut self.call(entries, &["a", "b c"]), 0);
        assert_eq!((&*text(&output.stdout), &*text(&output.stderr)), ("real [a] [b c]\n", ""), "{entries:?}");
    }

    /// `locked shims …`, whose folder is `shims`.
    fn shims(&self, words: &[&str]) -> Command {
        let mut command = self.world.locked();
        command.arg("shims").args(words);
        command
    }
}

/// The names in a directory.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("directory");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("entry").file_name().into_string().expect("UTF-8")).collect();
    names.sort();
    names
}
