//! Every case about other programs, by `locked explain --json` as built. Those about sops are decided by the library.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::rules::{Case, Decision, other_cases};

use super::stage::{Stage, good, until};

/// At a time: each is a process, and most of its time it is Wine's server that works.
const AT_A_TIME: usize = 3;

/// A repository of its own for each, so that no file of another case answers.
fn repository(stage: &Stage, number: usize, case: &Case) -> PathBuf {
    let root = stage.at(&format!("case-{number}"));
    for directory in [".git/objects", ".git/refs", &case.cwd] {
        std::fs::create_dir_all(root.join(directory)).expect("directory");
    }
    std::fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").expect("HEAD");
    for (file, content) in case.files.each() {
        std::fs::create_dir_all(root.join(file).parent().expect("parent")).expect("directory");
        std::fs::write(root.join(file), content).expect("file");
    }
    root
}

fn explained(stage: &Stage, root: &Path, case: &Case) -> Value {
    let words: Vec<&str> =
        ["explain", "--json", "--"].into_iter().chain(case.argv.iter().map(|word| &**word)).collect();
    let mut command = stage.locked(&words);
    command.current_dir(root.join(&case.cwd)).envs(&case.env).stdout(Stdio::piped()).stderr(Stdio::piped());
    match case.stdin.as_deref() {
        None => {}
        Some("|") => drop(command.stdin(Stdio::piped())),
        Some(file) => drop(command.stdin(File::open(root.join(file)).expect("standard input"))),
    }
    let mut child = started(&mut command);
    // Nothing is read from a pipe, so that one into which nobody writes holds nobody up.
    let _open = child.stdin.take();
    serde_json::from_str(&good(&child.wait_with_output().expect("it ends"))).expect("JSON")
}

/// Of a thousand starts Wine itself fails in one now and then.
fn started(command: &mut Command) -> Child {
    const INTERNAL_ERROR: i32 = 1359;
    let mut child = None;
    until("it starts", || match command.spawn() {
        Err(error) if error.raw_os_error() == Some(INTERNAL_ERROR) => false,
        started => {
            child = Some(started.expect("locked runs"));
            true
        }
    });
    child.expect("until it has started")
}

fn is_as_written(answer: &Value, case: &Case) -> bool {
    let decision = match case.expect.decision {
        Decision::Lock => "lock",
        Decision::Pass => "pass",
    };
    answer["decision"] == decision
        && answer["resources"] == serde_json::json!(case.expect.resources)
        && case.expect.rule.as_ref().is_none_or(|rule| answer["rule"] == *rule)
        && case.expect.note.is_none_or(|note| answer["notes"].as_array().is_some_and(|all| all.is_empty() != note))
}

#[test]
fn every_case_of_other_programs_is_explained_as_written() {
    let (stage, cases) = (Stage::new(), other_cases());
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let play = || {
        while let Some((number, case)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, cases.get(at)?)))
        {
            let answer = explained(&stage, &repository(&stage, number, case), case);
            if !is_as_written(&answer, case) {
                let told = format!("{}: {:?}\n  expected {:?}\n  got {answer}", case.name, case.argv, case.expect);
                wrong.lock().expect("nobody failed").push(told);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(play);
        }
    });
    let wrong = wrong.into_inner().expect("nobody failed");
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}
