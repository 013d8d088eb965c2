//! A value on the command line of sops is in nothing of ours: no store, no copy, no answer, no message, no argv.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::world::processes;

use super::stage::{self, DOTENV, FILE, RESOURCE, Stage, contains, ends, silent, text, until};

/// Unlike any word of the test's own files, and of every other test that runs at the same time.
fn secret(stage: &Stage) -> String {
    format!("hunter2-secret-{}", stage.world.root().file_name().expect("name").display())
}

#[track_caller]
fn nowhere_in_state(stage: &Stage, secret: &str) {
    let files = stage::files_below(&stage.world.state());
    assert!(files.iter().any(|path| path.is_file()), "there is a state to look into");
    for path in files.iter().filter(|path| path.is_file()) {
        assert!(!contains(&fs::read(path).expect("file"), secret), "{} holds the value", path.display());
    }
}

#[track_caller]
fn nowhere_in_answers(stage: &Stage, secret: &str) {
    let verbs: [&[&str]; 4] = [&["status"], &["status", "--json"], &["history"], &["history", "--json"]];
    for verb in verbs {
        let output = ends(stage.world.locked().args(verb), 0);
        assert!(!contains(&output.stdout, secret) && !contains(&output.stderr, secret), "{verb:?}: {output:?}");
    }
}

#[track_caller]
fn unsaid(output: &Output, secret: &str) {
    assert!(!contains(&output.stderr, secret), "{}", text(&output.stderr));
    assert!(!contains(&output.stdout, secret), "{}", text(&output.stdout));
}

fn shown_by_ps(pid: u32, secret: &str) -> bool {
    fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| contains(&line, secret))
}

#[test]
fn a_value_that_waits_for_a_lease_is_shown_by_nothing() {
    let stage = Stage::new();
    let secret = secret(&stage);
    let held = stage.hold(1, &["-r", RESOURCE]);
    let waiting =
        stage.set(2, &["-v"], "A", &secret).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    until("it waits", || (stage.status().first()?["waiters"] == 1).then_some(()));
    let ours: Vec<u32> = std::iter::once(waiting.id()).chain(processes::children(waiting.id())).collect();
    assert!(ours.len() >= 2, "wrapper and keeper");
    for pid in processes::all() {
        assert!(!shown_by_ps(pid, &secret), "process {pid} shows the value (ours are {ours:?})");
    }
    nowhere_in_state(&stage, &secret);
    held.let_go();
    let output = waiting.wait_with_output().expect("waited");
    assert!(output.status.success(), "{}", text(&output.stderr));
    unsaid(&output, &secret);
    assert!(stage.keys().contains(&format!("A={secret}")), "it was written all the same");
    nowhere_in_state(&stage, &secret);
    nowhere_in_answers(&stage, &secret);
}

/// What can go wrong for a command with a value, each with its exit status.
#[test]
fn no_refusal_repeats_a_value() {
    let stage = Stage::new();
    let secret = secret(&stage);
    let value = format!("\"{secret}\"");
    let unsaid_by = |command: &mut Command, status: i32| unsaid(&ends(command, status), &secret);
    for option in [&["--ttl", "garbage"][..], &["--ttl", "1ms"], &["-r", "bad"], &["--no-such-option"], &["-N", "-v"]] {
        let status = if option[0] == "-N" { 0 } else { 64 };
        unsaid_by(&mut stage.set(1, option, "A", &secret), status);
    }
    let held = stage.hold(1, &["-r", RESOURCE]);
    unsaid_by(&mut stage.set(2, &["-v", "-n"], "A", &secret), 75);
    held.let_go();
    // A verb's command line, and a line whose value stands where an option does.
    unsaid_by(stage.locked(1).args(["explain", "--json", "--", "sops", "set", FILE, "[\"A\"]", &value]), 0);
    unsaid_by(stage.locked(1).args(["explain", "--", "sops", "--set", &format!("[\"A\"] {value}"), FILE]), 0);
    // Mistakes that sops itself refuses. What sops says is its own; these do not repeat the value either.
    let output = stage.locked(1).args(["-v", "sops", "set", "--no-such-flag", FILE, "[\"A\"]", &value]).output();
    let output = output.expect("it runs");
    assert!(!output.status.success());
    assert!(!text(&output.stderr).contains("locked: ") || !contains(&output.stderr, &secret));
    // The store is down.
    let nowhere = stage.world.root().join("key.txt");
    unsaid_by(stage.set(1, &["-v"], "A", &secret).env("LOCKED_STATE_DIR", &nowhere), 69);
    // Bad by this very write, then refused for it.
    let path = stage.stand_in(": > \"$file\"; exit 0");
    unsaid_by(stage.set(1, &["-v"], "A", &secret).env("PATH", &path), 72);
    unsaid_by(&mut stage.set(1, &["-v"], "A", &secret), 72);
    nowhere_in_state(&stage, &secret);
    nowhere_in_answers(&stage, &secret);
}

#[test]
fn every_way_to_give_a_value_keeps_it_secret() {
    let stage = Stage::new();
    let secret = secret(&stage);
    let value = format!("\"{secret}\"");
    fs::write(stage.world.root().join("value"), &value).expect("value");
    let from = |path: &Path| Stdio::from(fs::File::open(path).expect("value"));
    let set = |words: &[&str]| {
        let mut command = stage.locked(3);
        command.args(["-v", "sops", "set"]).args(DOTENV).args(words).stdin(from(&stage.world.root().join("value")));
        ends(&mut command, 0)
    };
    unsaid(&set(&["--value-stdin", FILE, "[\"A\"]"]), &secret);
    unsaid(
        &set(&["--value-file", FILE, "[\"B\"]", stage.world.root().join("value").to_str().expect("UTF-8")]),
        &secret,
    );
    let older = format!("[\"C\"] {value}");
    let output = ends(stage.locked(3).args(["-v", "sops"]).args(DOTENV).args(["--set", &older, FILE]), 0);
    unsaid(&output, &secret);
    let lines = stage.keys();
    for key in ["A", "B", "C"] {
        assert!(lines.contains(&format!("{key}={secret}")), "{key} in {lines:?}");
    }
    nowhere_in_state(&stage, &secret);
    nowhere_in_answers(&stage, &secret);
}

#[test]
fn an_open_edit_leaves_no_plaintext_in_the_state_directory() {
    let stage = Stage::new();
    let secret = secret(&stage);
    silent(&mut stage.set(1, &[], "A", &secret));
    let sops = |words: &[&str]| {
        let mut command = stage.locked(1);
        command.args(["-v", "sops"]).args(words).args(DOTENV).args(["-i", FILE]);
        ends(&mut command, 0)
    };
    unsaid(&sops(&["decrypt"]), &secret);
    assert!(contains(&stage.content(), &secret), "it is plaintext now");
    nowhere_in_state(&stage, &secret);
    fs::write(stage.file(), format!("A={secret}\nB={secret}-more\n")).expect("edit");
    // Another command of the session while the file is plaintext: sops fails, and nothing keeps a copy of it.
    let failed = stage.locked(1).args(["-v", "sops", "rotate", "-i"]).args(DOTENV).arg(FILE).output().expect("runs");
    assert!(!failed.status.success());
    unsaid(&failed, &secret);
    nowhere_in_state(&stage, &secret);
    unsaid(&sops(&["encrypt"]), &secret);
    nowhere_in_state(&stage, &secret);
    nowhere_in_answers(&stage, &secret);
    assert_eq!(stage.keys(), [format!("A={secret}"), format!("B={secret}-more")]);
    assert_eq!(stage.state(), None);
}

#[test]
fn everything_in_the_state_directory_is_for_its_owner_alone() {
    let stage = Stage::new();
    let state = stage.world.root().join("own/state");
    let held = {
        let mut command = stage.locked(1);
        command.env("LOCKED_STATE_DIR", &state).args(["-r", RESOURCE, "sh", "-c", "echo up; cat"]);
        stage::Held::start(&mut command)
    };
    let script = "umask 000; exec \"$0\" \"$@\"";
    let mut other = stage.world.command("sh");
    other.args(["-c", script, env!("CARGO_BIN_EXE_locked"), "sops", "set"]).args(DOTENV);
    other.args(["--idempotent", FILE, "[\"A\"]", "\"x\""]).env("LOCKED_STATE_DIR", &state);
    other.env("LOCKED_WAIT", "0s");
    ends(&mut other, 75);
    held.let_go();
    ends(&mut other, 0);
    let mut looked = 0;
    for path in stage::files_below(&state).iter().chain([&state]) {
        let metadata = fs::symlink_metadata(path).expect("metadata");
        let mode = metadata.permissions().mode() & 0o7777;
        assert_eq!(mode, if metadata.is_dir() { 0o700 } else { 0o600 }, "{}", path.display());
        looked += 1;
    }
    assert!(looked >= 5, "directory, database, live files, copies: {looked}");
}

/// A value that stands where the name of a file, or of the program, belongs.
#[test]
fn a_value_in_the_place_of_a_file_is_refused_and_not_repeated() {
    let stage = Stage::new();
    let secret = secret(&stage);
    silent(&mut stage.set(1, &[], "A", "1"));
    let report = stage.world.root().join("report.json");
    let options = ["-v", "--report", report.to_str().expect("UTF-8")];
    let assignment = format!("PASSWORD={secret}");
    let url = format!("postgres://user:{secret}@db.example.org/app.yaml");
    let long = format!("PASSWORD={secret}{}", "x".repeat(5_000));
    for value in [&assignment, &url] {
        for words in [
            &["edit", value][..],
            &[value],
            &["encrypt", "-i", value],
            &["encrypt", "--output", value, FILE],
            &["updatekeys", "-y", FILE, value],
            &["set", value, "[\"A\"]", "\"1\""],
        ] {
            let mut command = stage.locked(1);
            let ran = stage.world.root().join("ran");
            command
                .args(options)
                .arg("sops")
                .args(words)
                .env("PATH", stage.stand_in(&format!("touch '{}'", ran.display())));
            let output = ends(&mut command, 64);
            unsaid(&output, &secret);
            assert!(text(&output.stderr).contains("looks like a value"), "{output:?}");
            assert!(!ran.exists(), "{words:?}");
            unsaid(&ends(stage.locked(1).args(["explain", "--json", "--", "sops"]).args(words), 64), &secret);
        }
        unsaid(&ends(stage.locked(1).args(options).args([value, "sops", "x"]), 127), &secret);
        assert!(!contains(&fs::read(&report).expect("report"), &secret));
        // What writes nothing passes, and its own words are its own.
        let output = stage.locked(1).args(options).args(["sops", "decrypt", value]).output().expect("it runs");
        assert!(!text(&output.stderr).contains("locked: "), "{output:?}");
        assert!(!contains(&fs::read(&report).expect("report"), &secret));
    }
    // No file has so long a name: nothing would be written, so it passes, and what sops says of it is its own.
    let output = ends(stage.locked(1).args(options).args(["sops", "edit", &long]).env("PATH", stage.stand_in(":")), 0);
    unsaid(&output, &secret);
    assert!(!contains(&fs::read(&report).expect("report"), &secret));
    nowhere_in_state(&stage, &secret);
    nowhere_in_answers(&stage, &secret);
}

#[test]
fn a_file_that_is_there_is_written_whatever_its_name() {
    let stage = Stage::new();
    stage.world.encrypted("secrets/env=prod.yaml", "a: 1\n", "yaml");
    silent(stage.locked(1).args(["sops", "set", "secrets/env=prod.yaml", "[\"b\"]", "\"2\""]));
    assert_eq!(stage.history()[0]["operation"], "sops set …");
}
