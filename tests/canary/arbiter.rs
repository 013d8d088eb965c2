//! The arbiter as a process: its limits, its arguments, and whom it blames.

use std::io::Read as _;
use std::time::Duration;

use locked::canary::{Arbiter, Fault, Sample, Verdict};
use locked::rules::Change;

use super::stage::{Stage, fault, text};

const SOME: &str = "A=hunter2-secret\nB=2\n";

/// A program that stands where sops should be. Another process writes it: were it open for writing here, a fork of
/// another test at that moment would make it "busy".
fn stand_in(stage: &Stage, script: &str) -> Arbiter {
    let path = stage.world.root().join("stand-in");
    let mut shell = stage.world.command("sh");
    shell.args(["-c", "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$2\" && chmod 755 \"$2\"", "sh", script]).arg(&path);
    assert!(shell.status().expect("sh").success());
    Arbiter { sops: Some(path), ..stage.arbiter() }
}

fn changed() -> Stage {
    let stage = Stage::encrypted("x.env", "dotenv", SOME);
    stage.set("[\"NEW\"]", "\"one\"");
    stage
}

#[test]
fn without_sops_a_sound_looking_file_is_unverified_and_a_broken_one_is_still_bad() {
    let stage = changed();
    let mut arbiter = Arbiter { sops: None, ..stage.arbiter() };
    assert!(matches!(stage.look_with(&super::stage::expect(Change::Set), &arbiter), Verdict::Unverified(_)));
    arbiter.sops = Some(stage.world.root().join("no such program"));
    assert!(matches!(stage.look_with(&super::stage::expect(Change::Set), &arbiter), Verdict::Unverified(_)));
    stage.write("");
    assert_eq!(fault(stage.look_with(&super::stage::expect(Change::Set), &arbiter)), Fault::Empty);
}

/// The stand-in and its child hold a pipe open as long as they live: its end proves that both are gone.
#[test]
fn an_arbiter_that_hangs_is_stopped_with_all_it_started() {
    let stage = changed();
    let fifo = stage.world.root().join("alive");
    let made = stage.world.command("mkfifo").arg(&fifo).status().expect("mkfifo");
    assert!(made.success());
    // As long as this end is open, no one waits to open the other.
    let held = std::fs::File::options().read(true).write(true).open(&fifo).expect("pipe");
    let script = format!("exec 3> '{}'\nsleep 600 &\nsleep 600\n", fifo.display());
    let arbiter = Arbiter { timeout: Duration::from_secs(1), ..stand_in(&stage, &script) };
    let mut pipe = std::fs::File::open(&fifo).expect("pipe");
    let verdict = stage.look_with(&super::stage::expect(Change::Set), &arbiter);
    assert!(matches!(verdict, Verdict::Unverified(why) if why.contains("longer")));
    drop(held);
    let (sender, ended) = std::sync::mpsc::channel();
    let reader = std::thread::spawn(move || {
        let read = pipe.read_to_end(&mut Vec::new());
        let _ = sender.send(read.is_ok());
    });
    assert_eq!(ended.recv_timeout(Duration::from_secs(60)), Ok(true), "something still holds the pipe");
    reader.join().expect("reader");
}

#[test]
fn an_arbiter_that_dies_by_a_signal_proves_nothing() {
    let stage = changed();
    let arbiter = stand_in(&stage, "kill -9 $$");
    assert!(matches!(stage.look_with(&super::stage::expect(Change::Set), &arbiter), Verdict::Unverified(_)));
}

#[test]
fn a_file_that_is_written_meanwhile_is_looked_at_again_and_then_left_open() {
    let stage = changed();
    let always = stand_in(&stage, &format!("echo >> '{}'", text(&stage.path)));
    let verdict = stage.look_with(&super::stage::expect(Change::Set), &always);
    assert!(matches!(verdict, Verdict::Unverified(why) if why.contains("changes while")));
    let mark = stage.world.root().join("once");
    let once = format!("[ -e '{0}' ] || {{ : > '{0}'; : > '{1}'; }}", mark.display(), text(&stage.path));
    assert_eq!(fault(stage.look_with(&super::stage::expect(Change::Set), &stand_in(&stage, &once))), Fault::Empty);
}

#[test]
fn names_that_look_like_options_or_commands_are_files() {
    for name in ["decrypt", "-x", "--output", "a b\nc", "\u{fc}.env"] {
        let stage = Stage::encrypted(&format!("d/{name}"), "dotenv", SOME);
        let at = stage.path.parent().expect("parent");
        let arbiter = Arbiter { cwd: at.to_owned(), ..stage.arbiter() };
        stage.sops(&["rotate", "--input-type", "dotenv", "--output-type", "dotenv", "-i", text(&stage.path)], 0);
        assert_eq!(stage.look_with(&super::stage::expect(Change::Rotate), &arbiter), Verdict::Sound, "{name}");
    }
}

#[test]
fn a_broken_configuration_in_the_directory_has_no_say() {
    let stage = changed();
    std::fs::write(stage.world.work().join(".sops.yaml"), "creation_rules: [broken\n").expect("configuration");
    let mut arbiter = stage.arbiter();
    arbiter.env.push(("SOPS_CONFIG".into(), "no such file".into()));
    assert_eq!(stage.look_with(&super::stage::expect(Change::Set), &arbiter), Verdict::Sound);
}

/// updatekeys does not check the code, so it writes on what was broken already (getsops/sops#2256 is of this kind).
#[test]
fn what_was_undecryptable_before_is_not_the_commands_fault() {
    let mut stage = Stage::encrypted("x.env", "dotenv", SOME);
    stage.write(stage.text().replacen("sops_lastmodified=20", "sops_lastmodified=19", 1));
    stage.keep();
    let rule = format!("creation_rules:\n  - age: {},{}\n", stage.world.recipient(), super::stage::stranger());
    std::fs::write(stage.world.work().join(".sops.yaml"), rule).expect("rule");
    stage.sops(&["updatekeys", "-y", text(&stage.path)], 0);
    assert_ne!(stage.before.as_deref(), Some(stage.text().as_bytes()));
    assert!(matches!(stage.look(Change::UpdateKeys), Verdict::Unverified(why) if why.contains("before")));
}

#[test]
fn what_the_command_left_as_it_was_is_no_fault_of_it() {
    let mut stage = Stage::plain("x.env", "");
    assert!(matches!(stage.look(Change::Edit), Verdict::Unverified(_)));
    stage.write("A=1\n");
    stage.keep();
    assert!(matches!(stage.look(Change::Encrypt), Verdict::Unverified(_)));
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    let mut stage = Stage::plain("x.env", "A=1\n");
    std::fs::remove_file(&stage.path).expect("remove");
    stage.keep();
    assert!(matches!(stage.look(Change::Encrypt), Verdict::Unverified(_)), "no file before, none after");
    assert!(stage.world.command("mkfifo").arg(&stage.path).status().expect("mkfifo").success());
    assert!(matches!(stage.look(Change::Encrypt), Verdict::Unverified(_)), "a pipe");
    std::fs::remove_file(&stage.path).expect("remove");
    std::fs::create_dir(&stage.path).expect("directory");
    assert!(matches!(stage.look(Change::Encrypt), Verdict::Unverified(_)), "a directory");
}

#[test]
fn neither_keys_nor_contents_are_shown() {
    let stage = Stage::plain("x.env", SOME);
    let mut arbiter = stage.arbiter();
    arbiter.env.push(("SOPS_AGE_KEY".into(), "AGE-SECRET-KEY-1HUNTER2".into()));
    let expect = super::stage::expect(Change::Set);
    let sample = Sample { path: &stage.path, before: stage.before.as_deref(), expect: &expect };
    let shown = format!("{arbiter:?} {sample:?}");
    assert!(!shown.contains("HUNTER2") && !shown.contains("104, 117"), "{shown}");
}

#[test]
fn a_file_beyond_the_cap_is_left_open() {
    let stage = changed();
    std::fs::File::options().write(true).open(&stage.path).expect("open").set_len(17 << 20).expect("length");
    assert!(matches!(stage.look(Change::Set), Verdict::Unverified(why) if why.contains("larger")));
}
