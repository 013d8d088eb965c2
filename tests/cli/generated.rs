//! The man pages and the completions in `install/`: they are what the definitions say today. `LOCKED_BLESS=1` writes them.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

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
fn the_man_pages_are_current() {
    is_current("man/locked.1", &crate::cli::manual::page());
    is_current("man/locked.toml.5", &crate::cli::manual::settings());
    let known = [".TH", ".SH", ".SS", ".TP", ".B", ".BR", ".PP", ".nf", ".fi", ".br", ".\\\""];
    for page in [crate::cli::manual::page(), crate::cli::manual::settings()] {
        assert!(page.is_ascii());
        for request in page.lines().filter(|line| line.starts_with(['.', '\''])) {
            assert!(known.contains(&request.split(' ').next().expect("a word")), "no request of roff: {request}");
        }
    }
}

/// The scripts are written by hand, and compiled in.
#[test]
fn the_completions_are_what_the_program_prints() {
    let world = World::new();
    for (shell, file) in [("bash", "locked.bash"), ("zsh", "_locked"), ("fish", "locked.fish")] {
        let said = silent(world.locked().args(["completions", shell]));
        let written = std::fs::read_to_string(there("completions").join(file)).expect(file);
        assert!(said == written, "{shell}: install/completions/{file} is not what was compiled in");
        let checked = world.command(shell).arg("-n").arg(there("completions").join(file)).output();
        let checked = checked.unwrap_or_else(|error| panic!("{shell}: {error}; install/test installs it"));
        assert!(checked.status.success(), "{shell}: {}", String::from_utf8_lossy(&checked.stderr));
    }
    for shell in ["elvish", "powershell"] {
        let said = silent(world.locked().args(["completions", shell]));
        assert!(said.contains("restore") && said.contains("conflict-exit-code"), "{shell}");
    }
}
