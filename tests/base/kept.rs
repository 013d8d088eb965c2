//! Plaintext that is kept and encrypted again and again: each round has the version that the one before made as its base.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::stage::{At, FILE, Stage, ends, next, on_either_store, says};

on_either_store! {
    a_second_round_without_reading_undoes_nobody_s_write,
    in_place_from_memory_it_is_the_same,
}

/// Where plaintext is put out of the way.
const ASIDE: &str = "\"$(git rev-parse --absolute-git-dir)\"/secrets-app.yaml.plain";

/// One round of a session: its plaintext to the file.
type Round = fn(&Stage, &Path, &Path) -> Command;

const ROUNDS: [(&str, Round); 4] = [
    ("--output", |stage, place, plain| {
        let mut locked = stage.locked(1, place);
        locked.args(["-n", "sops", "encrypt", "--filename-override", FILE, "--output", FILE]).arg(plain);
        locked
    }),
    ("a redirection", |stage, place, plain| {
        let mut locked = stage.locked(1, place);
        locked.args(["-n", "sops", "encrypt", "--filename-override", FILE]).arg(plain);
        // As a shell does it, before we exist.
        locked.stdout(std::fs::File::create(place.join(FILE)).expect("emptied"));
        locked
    }),
    ("a pipe", |stage, place, plain| {
        let script = format!("sops encrypt --filename-override {FILE} '{}' | tee {FILE} > /dev/null", plain.display());
        let mut locked = stage.locked(1, place);
        locked.args(["-n", "sh", "-c", &script]);
        locked
    }),
    ("aside, and copied", |stage, place, plain| {
        let script = "\"$0\" -n sops encrypt --filename-override \"$1\" --output e.yaml \"$2\" && exec \"$0\" -n cp e.yaml \"$1\"";
        let mut shell = stage.locked(1, place);
        let locked = shell.get_program().to_owned();
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(locked).arg(FILE).arg(plain).current_dir(place);
        command.env_clear();
        for (name, value) in shell.get_envs() {
            value.map(|value| command.env(name, value));
        }
        shell.args([""; 0]);
        command
    }),
];

fn reads(stage: &Stage, place: &Path) -> PathBuf {
    let plain = stage.dir("plain.yaml");
    let output = std::fs::File::create(&plain).expect("plaintext");
    ends(stage.locked(1, place).args(["sops", "decrypt", FILE]).stdout(output), 0);
    plain
}

fn adds(plain: &Path, key: &str) {
    let text = std::fs::read_to_string(plain).expect("plaintext");
    std::fs::write(plain, format!("{text}{key}: 1\n")).expect("plaintext");
}

fn a_second_round_without_reading_undoes_nobody_s_write(at: At) {
    for (how, round) in ROUNDS {
        let stage = Stage::new(at);
        let a = stage.clone("a", &[]);
        stage.sets(9, &a, "CHAIN");
        let plain = reads(&stage, &a);
        for key in ["A1", "A2"] {
            adds(&plain, key);
            ends(&mut round(&stage, &a, &plain), 0);
        }
        assert_eq!(stage.keys(&a), ["first", "CHAIN", "A1", "A2"], "{how}: nobody wrote between");
        stage.sets(2, &a, "B1");
        adds(&plain, "A3");
        let said = says(&mut round(&stage, &a, &plain), 74);
        assert!(said.contains("would lose a newer one"), "{how}: {said}");
        if how == "a redirection" {
            assert_eq!(next(&said), format!("locked restore {FILE} && locked sops decrypt {FILE}"), "{said}");
            stage.follows(1, &a, &next(&said));
        }
        assert_eq!(stage.keys(&a), ["first", "CHAIN", "A1", "A2", "B1"], "{how}");
        // Read anew it goes.
        let plain = reads(&stage, &a);
        adds(&plain, "A3");
        ends(&mut round(&stage, &a, &plain), 0);
        assert_eq!(stage.keys(&a), ["first", "CHAIN", "A1", "A2", "B1", "A3"], "{how}");
    }
}

fn in_place_from_memory_it_is_the_same(at: At) {
    let stage = Stage::new(at);
    let a = stage.clone("a", &[]);
    stage.sets(9, &a, "CHAIN");
    let plain = reads(&stage, &a);
    let round = |status: i32| {
        std::fs::copy(&plain, a.join(FILE)).expect("plaintext");
        says(stage.locked(1, &a).args(["-n", "sops", "encrypt", "-i", FILE]), status)
    };
    for key in ["A1", "A2"] {
        adds(&plain, key);
        assert_eq!(round(0), "", "{key}");
    }
    stage.sets(2, &a, "B1");
    adds(&plain, "A3");
    let said = round(74);
    let line = next(&said);
    assert_eq!(line, format!("mv {FILE} {ASIDE} && locked restore {FILE} && locked sops decrypt {FILE}"), "{said}");
    stage.follows(1, &a, &line);
    assert_eq!(stage.keys(&a), ["first", "CHAIN", "A1", "A2", "B1"]);
    assert!(std::fs::read_to_string(a.join(".git/secrets-app.yaml.plain")).expect("aside").contains("A3"));
}

#[test]
fn rounds_under_leases_of_their_own_are_rounds() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    stage.sets(9, &a, "CHAIN");
    let (_, round) = ROUNDS[0];
    let held = |deed: &dyn Fn()| {
        ends(stage.locked(1, &a).args(["acquire", "sops:app"]), 0);
        deed();
        ends(stage.locked(1, &a).args(["release", "sops:app"]), 0);
    };
    let plain = std::cell::OnceCell::new();
    held(&|| {
        let plain = plain.get_or_init(|| reads(&stage, &a));
        adds(plain, "A1");
        ends(&mut round(&stage, &a, plain), 0);
    });
    stage.sets(2, &a, "B1");
    held(&|| drop(says(&mut round(&stage, &a, plain.get().expect("plaintext")), 74)));
    assert_eq!(stage.keys(&a), ["first", "CHAIN", "A1", "B1"]);
}

/// A line that looks at the file, and encrypts what was read long before.
#[test]
fn a_line_that_reads_the_file_and_encrypts_something_else_is_not_excused() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    stage.sets(9, &a, "CHAIN");
    let plain = reads(&stage, &a);
    stage.sets(2, &a, "B1");
    let shown = plain.display();
    for script in [
        format!(
            "sops decrypt {FILE} | diff - '{shown}' > d; sops encrypt --filename-override {FILE} --output {FILE} '{shown}'"
        ),
        format!("sops decrypt {FILE} > other; sops encrypt --filename-override {FILE} --output {FILE} '{shown}'"),
    ] {
        let said = says(stage.locked(1, &a).args(["-n", "sh", "-c", &script]), 74);
        assert!(said.contains("the plaintext for"), "{said}");
    }
    // What the line makes itself is of the version under the lease, however often.
    let own = format!(
        "sops decrypt {FILE} | cat > own.yaml; sops encrypt --filename-override {FILE} --output {FILE} own.yaml"
    );
    for key in ["B2", "B3"] {
        ends(stage.locked(1, &a).args(["-n", "sh", "-c", &own]), 0);
        stage.sets(2, &a, key);
    }
    assert_eq!(stage.keys(&a), ["first", "CHAIN", "B1", "B2", "B3"]);
}

/// A program that was run with the plaintext may have kept it, and an old reading is one.
#[test]
fn what_a_program_was_run_with_and_what_was_read_days_ago_are_bases() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    stage.sets(9, &a, "CHAIN");
    let plain = stage.dir("plain.yaml");
    let copy = format!("cat {{}} > '{}'", plain.display());
    ends(stage.locked(1, &a).args(["sops", "exec-file", "--no-fifo", FILE, &copy]), 0);
    let (_, round) = ROUNDS[0];
    stage.sets(2, &a, "B1");
    says(&mut round(&stage, &a, &plain), 74);
    let plain = reads(&stage, &a);
    stage.sets(2, &a, "B2");
    for note in std::fs::read_dir(stage.world.state().join("notes")).expect("notes") {
        let path = note.expect("note").path();
        let text = std::fs::read_to_string(&path).expect("note");
        let mut words: Vec<String> = text.trim().split(' ').map(str::to_owned).collect();
        let at: i64 = words[1].parse().expect("a moment");
        words[1] = (at - 25 * 60 * 60 * 1000).to_string();
        std::fs::write(&path, format!("{}\n", words.join(" "))).expect("older");
    }
    says(&mut round(&stage, &a, &plain), 74);
    assert_eq!(stage.keys(&a), ["first", "CHAIN", "B1", "B2"]);
    // Who runs a program with it stops nobody else who edits in place.
    ends(stage.locked(3, &a).args(["sops", "exec-env", FILE, "true"]), 0);
    let plain = reads(&stage, &a);
    adds(&plain, "A1");
    std::fs::copy(&plain, a.join(FILE)).expect("plaintext");
    assert_eq!(says(stage.locked(1, &a).args(["-n", "sops", "encrypt", "-i", FILE]), 0), "");
}
