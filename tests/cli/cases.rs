//! Every line of the table of cases through `locked explain --json`, in a git repository with the files it names.
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::rules::{Case, Decision, sops_cases};
use crate::world::World;

/// One repository for one case, so that no file of another case answers.
fn repository(world: &World, number: usize, case: &Case) -> std::path::PathBuf {
    let root = fs::canonicalize(world.work()).expect("work").join(format!("case-{number}"));
    fs::create_dir_all(root.join(&case.cwd)).expect("directory");
    world.git(&root, &["init", "-q"]);
    // Made by hand instead of by sops: only that it is SOPS matters, and there are many.
    for file in &case.files {
        fs::create_dir_all(root.join(file).parent().expect("parent")).expect("directory");
        fs::write(root.join(file), "A=ENC[AES256_GCM,data:AA==,iv:AA==,tag:AA==,type:str]\nsops_version=3.11.0\n")
            .expect("file");
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
    let world = World::new();
    let mut wrong = Vec::new();
    // `explain` does not look at its own descriptor 1: a case about that is the library's.
    for (number, case) in sops_cases().iter().enumerate().filter(|(_, case)| case.stdout.is_none()) {
        let root = repository(&world, number, case);
        let answer = explained(&world, &root, case);
        let decision = match case.expect.decision {
            Decision::Lock => "lock",
            Decision::Pass => "pass",
        };
        let writes: Vec<_> = case.expect.writes.iter().map(|path| root.join(path).display().to_string()).collect();
        let as_written = answer["decision"] == decision
            && answer["resources"] == serde_json::json!(case.expect.resources)
            && answer["writes"] == serde_json::json!(writes)
            && case.expect.rule.as_ref().is_none_or(|rule| answer["rule"] == *rule);
        if !as_written {
            wrong.push(format!("{}: {:?}\n  expected {:?}\n  got {answer}", case.name, case.argv, case.expect));
        }
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(fs::read_dir(world.state()).expect("state").count(), 0, "explain touches no store");
}
