//! Every line of the table of cases through `locked explain --json`, in a git repository with the files it names.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use locked::rules::{Book, Tables};
use serde_json::Value;

use crate::rules::{Case, Decision, other_cases, sops_cases};
use crate::world::World;

/// One repository for one case, so that no file of another case answers.
fn repository(world: &World, number: usize, case: &Case) -> std::path::PathBuf {
    let root = fs::canonicalize(world.work()).expect("work").join(format!("case-{number}"));
    fs::create_dir_all(root.join(&case.cwd)).expect("directory");
    world.git(&root, &["init", "-q"]);
    for (file, content) in case.files.each() {
        fs::create_dir_all(root.join(file).parent().expect("parent")).expect("directory");
        fs::write(root.join(file), content).expect("file");
    }
    root
}

fn explained(world: &World, root: &Path, case: &Case) -> Value {
    let mut command = world.locked();
    command.current_dir(root.join(&case.cwd)).envs(&case.env).args(["explain", "--json", "--"]).args(&case.argv);
    let output = command.output().expect("locked runs");
    assert!(output.status.success(), "{}: {}", case.name, String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{}", case.name);
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn every_case_of_sops_is_explained_as_written() {
    // `explain` does not look at its own descriptor 1: a case about that is the library's.
    as_written(&sops_cases().into_iter().filter(|case| case.stdout.is_none()).collect::<Vec<_>>());
}

#[test]
fn every_case_of_other_programs_is_explained_as_written() {
    as_written(&other_cases());
}

#[test]
fn every_built_in_rule_has_three_cases_that_lock() {
    let tables = Tables::read(&Book::built_in()).expect("the built-in tables");
    let world = World::new();
    let mut locks: BTreeMap<String, usize> = BTreeMap::new();
    for (number, case) in other_cases().iter().enumerate() {
        let rule = &explained(&world, &repository(&world, number, case), case)["rule"];
        *locks.entry(rule.as_str().unwrap_or_default().to_owned()).or_default() += 1;
    }
    let few = |rule: &&locked::rules::Rule| locks.get(&rule.name).is_none_or(|count| *count < 3);
    // What is off until it is switched on has cases of its own.
    let ready = tables.rule.iter().filter(|rule| rule.pack.is_none());
    let few: Vec<_> = ready.filter(few).map(|rule| rule.name.as_str()).collect();
    assert!(few.is_empty(), "fewer than three cases that lock: {few:?}");
}

fn as_written(cases: &[Case]) {
    let world = World::new();
    let mut wrong = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        let root = repository(&world, number, case);
        let answer = explained(&world, &root, case);
        let names_writes = case.argv[0] == "sops";
        let decision = match case.expect.decision {
            Decision::Lock => "lock",
            Decision::Pass => "pass",
        };
        let writes: Vec<_> = case.expect.writes.iter().map(|path| root.join(path).display().to_string()).collect();
        let as_written = answer["decision"] == decision
            && answer["resources"] == serde_json::json!(case.expect.resources)
            && (!names_writes || answer["writes"] == serde_json::json!(writes))
            && case.expect.rule.as_ref().is_none_or(|rule| answer["rule"] == *rule)
            && case.expect.note.is_none_or(|note| answer["notes"].as_array().is_some_and(|all| all.is_empty() != note));
        if !as_written {
            wrong.push(format!("{}: {:?}\n  expected {:?}\n  got {answer}", case.name, case.argv, case.expect));
        }
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(fs::read_dir(world.state()).expect("state").count(), 0, "explain touches no store");
}
