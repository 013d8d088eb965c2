//! Every line of the table of cases through `locked explain --json`, in a git repository with the files it names.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Output, Stdio};

use serde_json::Value;

use crate::rules::{Case, Decision, RULES_OF_SOPS, other_cases, ready_rules, sops_cases};
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
    match case.stdin.as_deref() {
        None => {}
        Some("|") => drop(command.stdin(Stdio::piped())),
        Some(file) => drop(command.stdin(fs::File::open(root.join(file)).expect("standard input"))),
    }
    // Nothing is read from a pipe, so that one into which nobody writes holds nobody up.
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("locked runs");
    let output = waited_for(child);
    assert!(output.status.success(), "{}: {}", case.name, String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{}", case.name);
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// What it says, while its standard input stays open.
fn waited_for(mut child: Child) -> Output {
    let open = child.stdin.take();
    let output = child.wait_with_output().expect("locked ends");
    drop(open);
    output
}

#[test]
fn every_case_of_sops_is_explained_as_written_and_every_rule_has_three_that_lock() {
    // `explain` does not look at its own descriptor 1: a case about that is the library's.
    let locks = as_written(&sops_cases().into_iter().filter(|case| case.stdout.is_none()).collect::<Vec<_>>());
    assert!(
        locks.keys().all(|rule| RULES_OF_SOPS.contains(&&**rule)),
        "a rule that the table does not have: {locks:?}"
    );
    three_each(RULES_OF_SOPS, &locks);
}

#[test]
fn every_case_of_other_programs_is_explained_as_written_and_every_rule_has_three_that_lock() {
    let locks = as_written(&other_cases());
    // What is off until it is switched on has cases of its own.
    three_each(ready_rules().iter().map(|rule| &*rule.name), &locks);
}

fn three_each<'a>(rules: impl IntoIterator<Item = &'a str>, locks: &BTreeMap<String, usize>) {
    let few: Vec<_> = rules.into_iter().filter(|rule| locks.get(*rule).is_none_or(|count| *count < 3)).collect();
    assert!(few.is_empty(), "fewer than three cases that lock: {few:?}");
}

/// How many cases lock by each rule.
fn as_written(cases: &[Case]) -> BTreeMap<String, usize> {
    let world = World::new();
    let mut wrong = Vec::new();
    let mut locks: BTreeMap<String, usize> = BTreeMap::new();
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
            && case.expect.scope.as_ref().is_none_or(|scope| {
                answer["leases"].as_array().is_some_and(|all| all.iter().all(|lease| lease["scope"] == *scope))
            })
            && !answer.to_string().contains("%1A")
            && case.expect.note.is_none_or(|note| answer["notes"].as_array().is_some_and(|all| all.is_empty() != note));
        if let (Decision::Lock, Some(rule)) = (case.expect.decision, answer["rule"].as_str()) {
            *locks.entry(rule.to_owned()).or_default() += 1;
        }
        if !as_written {
            wrong.push(format!("{}: {:?}\n  expected {:?}\n  got {answer}", case.name, case.argv, case.expect));
        }
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(fs::read_dir(world.state()).expect("state").count(), 0, "explain touches no store");
    locks
}
