//! The recipe for CI, run: the steps of the playbook's workflow by two jobs, with a real server for a store.
#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::bench::{ends, says};
use crate::run::server::database;
use crate::world::World;

const FILE: &str = "secrets/app.yaml";

/// The lines of each step that runs something, by the step's name.
fn steps() -> Vec<(String, String)> {
    let text =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("install/playbooks/ci.md")).expect("playbook");
    let workflow = text.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a workflow");
    let mut steps: Vec<(String, String)> = Vec::new();
    for line in workflow.lines() {
        let bare = line.trim_start();
        if let Some(name) = bare.strip_prefix("- name: ") {
            steps.push((name.to_owned(), String::new()));
        } else if let Some((_, script)) = steps.last_mut() {
            match bare.strip_prefix("run: ") {
                Some("|") => {}
                Some(run) => script.push_str(run),
                None if line.starts_with("          ") => script.push_str(&format!("{bare}\n")),
                None => {}
            }
        }
    }
    steps
}

/// A checkout of the repository, as a job has it.
struct Job<'a> {
    world: &'a World,
    checkout: PathBuf,
    run: u32,
    store: String,
}

impl<'a> Job<'a> {
    fn new(world: &'a World, run: u32, store: &str) -> Self {
        let checkout = world.work().join(format!("job-{run}"));
        world.git(&world.work(), &["clone", "-q", "origin.git", checkout.to_str().expect("UTF-8")]);
        Self { world, checkout, run, store: store.to_owned() }
    }

    /// A step as the runner starts it: `bash -e`, with the variables of the run.
    fn step(&self, script: &str) -> Command {
        let bin = Path::new(env!("CARGO_BIN_EXE_locked")).parent().expect("a directory");
        let mut command = self.world.command("bash");
        command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script]).current_dir(&self.checkout);
        command
            .env("PATH", format!("{}:{}", bin.display(), std::env::var("PATH").expect("PATH")))
            .env("LOCKED_STORE", &self.store)
            .env("LOCKED_WAIT", "10m")
            .env("GITHUB_RUN_ID", self.run.to_string())
            .env("GITHUB_JOB", "write")
            .env("GITHUB_RUN_ATTEMPT", "1")
            .env("RUNNER_NAME", format!("runner-{}", self.run))
            .env("GITHUB_WORKFLOW", "new-value");
        command
    }
}

#[test]
fn the_recipe_writes_in_turn_and_its_audit_passes() {
    let world = World::in_memory();
    let store = database("of_the_recipe_for_ci");
    world.git(&world.work(), &["-c", "init.defaultBranch=main", "init", "-q", "--bare", "origin.git"]);
    let seed = world.work().join("seed");
    world.git(&world.work(), &["clone", "-q", "origin.git", "seed"]);
    world.encrypted(&format!("seed/{FILE}"), "API_KEY: old\n", "yaml");
    let rules = format!("creation_rules:\n  - path_regex: secrets/.*\n    age: {}\n", world.recipient());
    fs::write(seed.join(".sops.yaml"), rules).expect("rules");
    for args in [&["add", "-A"][..], &["commit", "-qm", "base"], &["push", "-q", "origin", "HEAD:main"]] {
        world.git(&seed, args);
    }
    let steps = steps();
    let named = |name: &str| {
        let found = steps.iter().position(|(own, _)| own.starts_with(name));
        found.unwrap_or_else(|| panic!("no step is called {name}: {steps:?}"))
    };
    let (first, second) = (Job::new(&world, 1, &store), Job::new(&world, 2, &store));
    let publish = named("Publish");
    for (_, script) in &steps[..publish] {
        ends(&mut first.step(script), 0);
    }
    // Who comes second is told who is at it, and waits by itself otherwise.
    let said = says(second.step(&steps[named("Take the file")].1).env("LOCKED_WAIT", "1ms"), 75);
    assert!(said.starts_with("BLOCKED: sops:app is held by ") && said.contains("(github@"), "{said}");
    for (_, script) in &steps[publish..] {
        ends(&mut first.step(script), 0);
    }
    for (_, script) in &steps {
        ends(&mut second.step(script), 0);
    }
    world.git(&seed, &["pull", "-q", "--ff-only", "origin", "main"]);
    assert_eq!(world.decrypted(&seed.join(FILE), "yaml"), "API_KEY: old\nBUILD: \"2\"\n");
    // What was written around `locked` does not pass.
    let script = format!("sops set {FILE} '[\"X\"]' '\"1\"' && git commit -qam x");
    ends(&mut second.step(&script), 0);
    ends(&mut second.step(&steps[named("Was all of it")].1), 73);
}
