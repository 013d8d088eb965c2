//! Help: an example for every verb, and every example of it is a command line that `locked` takes.
#![forbid(unsafe_code)]

use std::fs;

use crate::run::stage::{Stage, ends, in_front, silent, text, uuid};

fn verbs() -> Vec<String> {
    let definition = locked::cli::definition();
    definition.get_subcommands().map(|verb| verb.get_name().to_owned()).filter(|name| name != "help").collect()
}

/// The lines below "Example:" of a help text.
fn examples(help: &str) -> Vec<String> {
    let below = help.lines().skip_while(|line| !line.starts_with("Example")).skip(1);
    below.take_while(|line| line.starts_with("  ")).map(|line| line.trim().to_owned()).collect()
}

fn help(stage: &Stage, words: &[&str]) -> String {
    silent(stage.world.locked().args(words).arg("--help"))
}

#[test]
fn every_verb_has_an_example() {
    let stage = Stage::new();
    assert!(verbs().len() >= 10, "{:?}", verbs());
    assert!(examples(&help(&stage, &[])).len() >= 3);
    for verb in verbs() {
        let found = examples(&help(&stage, &[&verb]));
        assert!(!found.is_empty(), "locked {verb} --help shows none");
        assert!(found.iter().all(|line| line.starts_with(&format!("locked {verb}"))), "{verb}: {found:?}");
        assert_eq!(help(&stage, &[&verb]), silent(stage.world.locked().args(["help", &verb])), "{verb}");
    }
}

/// Those of groups, too.
#[test]
fn every_verb_of_a_group_has_an_example() {
    let stage = Stage::new();
    let definition = locked::cli::definition();
    let mut seen = 0;
    for group in definition.get_subcommands().filter(|verb| verb.get_name() != "help") {
        for verb in group.get_subcommands().filter(|verb| verb.get_name() != "help" && !verb.is_hide_set()) {
            let line = format!("locked {} {}", group.get_name(), verb.get_name());
            let found = examples(&help(&stage, &[group.get_name(), verb.get_name()]));
            assert!(!found.is_empty() && found.iter().all(|it| it.contains(&line)), "{line} --help: {found:?}");
            seen += 1;
        }
    }
    assert!(seen >= 15, "{seen}");
}

/// Run as they stand, in the order in which they are shown.
#[test]
fn every_example_works_as_it_stands() {
    let stage = Stage::new();
    stage.world.encrypted("secrets/x.sops.yaml", "first: one\n", "yaml");
    let programs = stage.world.script("status", "true");
    fs::copy(programs.join("status"), stage.world.work().join("deploy.sh")).expect("copied");
    fs::create_dir_all(stage.world.root().join("home/.local/share/bash-completion/completions")).expect("directory");
    let mut lines = examples(&help(&stage, &[]));
    lines.extend(verbs().iter().flat_map(|verb| examples(&help(&stage, &[verb]))));
    for line in lines {
        let shell = line.replacen("locked", &format!("'{}'", env!("CARGO_BIN_EXE_locked")), 1);
        let mut command = stage.world.command("sh");
        command.args(["-c", &shell]).env("LOCKED_SESSION", uuid(1)).env("PATH", in_front(&programs));
        let status = match line.split(' ').nth(1) {
            // Released by the example before it: this is an answer, no mistake.
            Some("check") => 77,
            _ => 0,
        };
        let said = text(&ends(&mut command, status).stderr);
        assert!(!said.contains("error: ") && !said.contains("Usage:"), "{line}: {said}");
    }
}

#[test]
fn version_and_help_go_to_standard_output_and_mistakes_do_not() {
    let stage = Stage::new();
    let version = silent(stage.world.locked().arg("--version"));
    assert_eq!(version, format!("locked {}\n", env!("CARGO_PKG_VERSION")));
    assert!(silent(stage.world.locked().arg("-h")).contains("Usage: locked [OPTIONS] PROGRAM [ARGS]..."));
    let output = ends(&mut stage.world.locked(), 64);
    assert!(output.stdout.is_empty() && text(&output.stderr).contains("Usage:"));
}

#[test]
fn a_value_of_the_environment_is_not_shown_in_the_help() {
    let stage = Stage::new();
    for variable in ["LOCKED_SESSION", "LOCKED_OPERATION"] {
        let said = silent(stage.world.locked().arg("--help").env(variable, "hunter2-secret"));
        assert!(!said.contains("hunter2"), "{variable}: {said}");
    }
}
