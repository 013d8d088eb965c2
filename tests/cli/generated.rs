//! The man page and the completions in `install/`: they are what the definitions say today. `LOCKED_BLESS=1` writes them.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use clap_complete::Shell;

use crate::run::stage::silent;
use crate::world::World;

fn there(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("install").join(path)
}

#[track_caller]
fn is_current(path: &str, content: &str) {
    let path = there(path);
    if std::env::var_os("LOCKED_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().expect("parent")).expect("directory");
        std::fs::write(&path, content).expect("written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == content,
        "{} is not what the definitions say: LOCKED_BLESS=1 cargo test generated",
        path.display()
    );
}

#[test]
fn the_man_page_is_current() {
    is_current("man/locked.1", &crate::cli::manual::page());
}

#[test]
fn the_completions_are_current_and_their_shells_take_them() {
    let world = World::new();
    for (shell, name, file) in [
        (Shell::Bash, "bash", "completions/locked.bash"),
        (Shell::Zsh, "zsh", "completions/_locked"),
        (Shell::Fish, "fish", "completions/locked.fish"),
    ] {
        let said = silent(world.locked().args(["completions", name]));
        assert!(said.contains("restore") && said.contains("conflict-exit-code"), "{shell}");
        is_current(file, &said);
        // Not every machine has every shell; bash is a need of the tests.
        let checked = world.command(name).arg("-n").arg(there(file)).output();
        match checked {
            Ok(output) => assert!(output.status.success(), "{shell}: {}", String::from_utf8_lossy(&output.stderr)),
            Err(error) => assert!(name != "bash", "{error}"),
        }
    }
}
