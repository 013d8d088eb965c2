//! The one test binary: real programs, real files, real processes. For Windows it is built by `tests/windows/run`.

#![allow(clippy::disallowed_methods, reason = "bounded waits sleep between two looks and read the clock themselves")]

#[cfg(unix)]
mod world;

#[cfg(unix)]
mod agents;
#[cfg(unix)]
mod architecture;
#[cfg(unix)]
mod base;
#[cfg(unix)]
mod board;
#[cfg(unix)]
mod canary;
#[cfg(unix)]
mod cli;
mod compose;
#[cfg(unix)]
mod config;
#[cfg(unix)]
mod counted;
#[cfg(unix)]
mod creation;
#[cfg(unix)]
mod differential;
#[cfg(unix)]
mod docs;
#[cfg(unix)]
mod doctor;
#[cfg(unix)]
mod dsn;
#[cfg(unix)]
mod extras;
#[cfg(unix)]
mod faults;
#[cfg(unix)]
mod fuzz;
#[cfg(unix)]
mod git;
#[cfg(unix)]
mod holder;
#[cfg(unix)]
mod hooks;
#[cfg(unix)]
mod install;
#[cfg(unix)]
mod invocation;
#[cfg(unix)]
mod machines;
#[cfg(unix)]
mod messages;
#[cfg(unix)]
mod naming;
#[cfg(unix)]
mod policy;
#[cfg(unix)]
mod program;
#[cfg(unix)]
mod readme;
#[cfg(unix)]
mod remote;
#[cfg(unix)]
mod rotation;
mod rules;
#[cfg(unix)]
mod run;
#[cfg(unix)]
mod seam;
#[cfg(unix)]
mod shell;
#[cfg(unix)]
mod shims;
#[cfg(unix)]
mod state;
mod store;
#[cfg(unix)]
mod supervise;
#[cfg(unix)]
mod via;
#[cfg(windows)]
mod windows;
mod zones;

/// A file that nobody names above would never run.
#[test]
fn no_test_file_is_forgotten() {
    let main = include_str!("main.rs");
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")).expect("tests") {
        let name = entry.expect("entry").file_name().into_string().expect("UTF-8");
        let stem = name.strip_suffix(".rs").unwrap_or(&name);
        let is_room = name.ends_with(".rs")
            || std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")).join(&name).join("mod.rs").exists();
        assert!(
            !is_room || stem == "main" || main.contains(&format!("mod {stem};")),
            "tests/{name} is not named in tests/main.rs"
        );
    }
}
