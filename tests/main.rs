//! The one test binary: real programs, real files, real processes.

#![allow(clippy::disallowed_methods, reason = "bounded waits sleep between two looks and read the clock themselves")]

mod world;

mod agents;
mod architecture;
mod base;
mod board;
mod canary;
mod cli;
mod compose;
mod config;
mod counted;
mod creation;
mod differential;
mod docs;
mod doctor;
mod dsn;
mod extras;
mod faults;
mod fuzz;
mod git;
mod holder;
mod hooks;
mod install;
mod invocation;
mod machines;
mod naming;
mod policy;
mod program;
mod readme;
mod remote;
mod rotation;
mod rules;
mod run;
mod seam;
mod shell;
mod shims;
mod state;
mod store;
mod supervise;
mod via;
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
