//! The words of every refusal, end to end. What differs from run to run (times, names of machines) is masked.
#![forbid(unsafe_code)]

use super::mask::masked;
use crate::run::stage::{self, DOTENV, FILE, RESOURCE, Stage, ends, says, silent, text};

#[track_caller]
fn refused(stage: &Stage, command: &mut std::process::Command, status: i32, expected: &[&str]) {
    let said = says(command, status);
    let text = masked(stage, &said);
    assert_eq!(text.lines().collect::<Vec<_>>(), expected, "{command:?}");
    assert!(expected.len() <= 5);
    for word in ["--force", "steal", "LOCKED_BYPASS"] {
        assert!(!said.contains(word), "{word} is nothing to teach: {said}");
    }
}

#[test]
fn busy() {
    let stage = Stage::new();
    let held = stage.hold(1, &["-r", RESOURCE]);
    refused(
        &stage,
        &mut stage.set(2, &["-n"], "A", "1"),
        75,
        &[
            "BLOCKED: sops:monitoring is held by 01010101 (LABEL), sh",
            "why:   running since HH:MM:SS, place 1 in the queue, free by HH:MM:SS at the latest",
            "retry: yes, in about 5 s",
            "next:  locked status sops:monitoring",
        ],
    );
    held.let_go();
}

#[test]
fn a_rotation_of_somebody_else() {
    let stage = Stage::new();
    silent(stage.locked(1).args(["acquire", "rotation:API_KEY"]));
    refused(
        &stage,
        stage.locked(2).args(["--secret", "API_KEY", "true"]),
        75,
        &[
            "BLOCKED: rotation:API_KEY is held by 01010101 (LABEL), locked acquire",
            "why:   held between commands since HH:MM:SS; two new values would replace each other, place 1 in the queue, free by HH:MM:SS unless its session renews it",
            "retry: yes, when it has ended, if the secret still needs another new value",
            "next:  locked status rotation:API_KEY",
        ],
    );
    refused(
        &stage,
        stage.locked(2).args(["check", "rotation:API_KEY"]),
        77,
        &[
            "REFUSED: rotation:API_KEY is held by 01010101 (LABEL), locked acquire",
            "why:   a write now would replace the value that somebody else has made or is about to make; do not write",
            "retry: no; first see what they did, and compare the live value with the one in the files (reconcile)",
            "next:  locked history rotation:API_KEY",
        ],
    );
}

#[test]
fn kept() {
    let stage = Stage::new();
    ends(stage.set(1, &[], "A", "1").env("PATH", stage.stand_in("\"$real\" \"$@\"; exit 5")), 5);
    refused(
        &stage,
        &mut stage.set(2, &["-n"], "A", "1"),
        75,
        &[
            "BLOCKED: sops:monitoring is held by 01010101 (LABEL), sops set secrets/monitoring.env.sops",
            "why:   kept since HH:MM:SS because it failed with status 5 after it had written, place 1 in the queue, free by HH:MM:SS at the latest",
            "retry: yes, in 29 min, or when its session goes on",
            "next:  locked status sops:monitoring",
        ],
    );
}

#[test]
fn quarantined_by_this_very_write_and_then_by_an_earlier_one() {
    let stage = Stage::new();
    let bad = stage.stand_in(": > \"$file\"");
    refused(
        &stage,
        stage.set(1, &[], "A", "1").env("PATH", bad),
        72,
        &[
            "QUARANTINED: sops:monitoring: secrets/monitoring.env.sops: the file is empty",
            "why:   the command left the file like this; nobody may write it before it is restored",
            "retry: no, restore it first; then the command can be run again",
            "next:  locked restore secrets/monitoring.env.sops",
        ],
    );
    refused(
        &stage,
        &mut stage.set(2, &[], "A", "1"),
        72,
        &[
            "QUARANTINED: sops:monitoring must not be written: HOST:ROOT/work/secrets/monitoring.env.sops: the file is empty",
            "why:   a write left the file bad; quarantined since HH:MM:SS by 01010101 (LABEL), sops set secrets/monitoring.env.sops; nothing was run",
            "retry: no, restore it first",
            "next:  locked restore secrets/monitoring.env.sops",
        ],
    );
}

/// What is advised can be pasted where the command was typed.
#[test]
fn the_advice_holds_in_the_directory_where_it_is_given() {
    let stage = Stage::new();
    let inside = stage.world.work().join("secrets");
    let bad = stage.stand_in(": > \"$file\"");
    let mut command = stage.locked(1);
    command.current_dir(&inside).args(["sops", "rotate", "-i", "monitoring.env.sops"]).env("PATH", bad);
    let said = says(&mut command, 72);
    assert!(said.ends_with("next:  locked restore monitoring.env.sops\n"), "{said}");
    let said = says(stage.locked(2).current_dir(&inside).args(["acquire", RESOURCE]), 72);
    assert!(said.ends_with("next:  locked restore monitoring.env.sops\n"), "{said}");
    silent(stage.locked(2).current_dir(&inside).args(["restore", "monitoring.env.sops"]));
}

#[test]
fn store_down() {
    let stage = Stage::new();
    let file = stage.world.root().join("key.txt");
    refused(
        &stage,
        stage.set(1, &[], "A", "1").env("LOCKED_STATE_DIR", file),
        69,
        &[
            "REFUSED: the state directory ROOT/key.txt cannot be used: it cannot be opened: Not a directory (os error 20)",
            "why:   only the store knows who holds what; nothing was run",
            "retry: yes, after the next step",
            "next:  set LOCKED_STATE_DIR to a directory of your own on a local, writable disk",
        ],
    );
}

#[test]
fn no_session() {
    let stage = Stage::new();
    let mut set = stage.set(1, &[], "A", "1");
    let said = says(set.env("CLAUDE_CODE_SESSION_ID", "x").env_remove("LOCKED_SESSION"), 0);
    assert_eq!(said, "", "a value that is no UUID names a session too, where it is not ours to define");
    let said = says(stage.set(1, &[], "A", "1").env("LOCKED_SESSION", "me"), 64);
    assert!(said.contains("LOCKED_SESSION") || said.contains("--session"), "{said}");
    // Nothing above lasts: the process is adopted by what adopts orphans here, a clock of the test's own. (Elsewhere that
    // is the first process, or whoever among the test's own ancestors has asked for it.)
    let script = format!(
        "('{}' acquire x:y >out 2>err; echo $? >status.part; mv status.part status) </dev/null &",
        env!("CARGO_BIN_EXE_locked")
    );
    let clock = stage.world.root().join("cron");
    let perl = text(&ends(stage.world.command("sh").args(["-c", "command -v perl"]), 0).stdout);
    std::os::unix::fs::symlink(perl.trim(), &clock).expect("link");
    // PR_SET_CHILD_SUBREAPER; then every child is awaited, the adopted ones too.
    let adopts = "syscall(PRCTL, 36, 1, 0, 0, 0) == 0 or die $!; \
                  system('setsid', '-f', 'sh', '-c', $ARGV[0]); 1 while wait() > 0";
    let adopts = adopts.replace("PRCTL", if cfg!(target_arch = "x86_64") { "157" } else { "167" });
    ends(stage.world.command(&clock).args(["-e", &adopts, &script]), 0);
    let read = |name| std::fs::read_to_string(stage.world.work().join(name)).expect("it has ended");
    let (status, said) = (read("status"), read("err"));
    assert_eq!(status.trim(), "64", "{said}");
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with("REFUSED: no process above this one lasts until the next command"), "{said}");
    assert!(lines[3].starts_with("next:  export LOCKED_SESSION="), "{said}");
    let line = lines[3].trim_start_matches("next:  ");
    let pasted = format!("{line}; '{0}' acquire x:y && '{0}' release x:y", env!("CARGO_BIN_EXE_locked"));
    ends(stage.world.command("sh").args(["-c", &pasted]), 0);
}

/// A program that is called like a verb runs as one behind `run --`.
#[test]
fn a_program_that_is_called_like_a_verb() {
    let stage = Stage::new();
    let directory = stage.world.script("doctor", "echo the program");
    let mut command = stage.locked(1);
    command.env("PATH", stage::in_front(&directory)).args(["-q", "run", "--", "doctor"]);
    assert_eq!(silent(&mut command), "the program\n");
}

#[test]
fn options_that_are_wrong() {
    let stage = Stage::new();
    for (options, word) in [
        (&["--no-such-option"][..], "--no-such-option"),
        (&["--ttl", "5"], "--ttl"),
        (&["--wait", "soon"], "--wait"),
        (&["-r", "no-kind"], "--resource"),
        (&["--session", "me"], "--session"),
        (&["--conflict-exit-code", "300"], "--conflict-exit-code"),
        (&["-q", "-v"], "--verbose"),
        (&["-n", "--wait", "5s"], "--wait"),
    ] {
        let said = says(stage.locked(1).args(options).args(["sops", "rotate", "-i", FILE]), 64);
        assert!(said.starts_with("error: ") && said.contains(word), "{options:?}: {said}");
    }
    refused(
        &stage,
        stage.locked(1).args(["--ttl", "30s", "--heartbeat", "40s", "sops", "rotate", "-i", FILE]),
        64,
        &[
            "REFUSED: a heartbeat of 40s is not below the renew deadline of 20s",
            "why:   the command line cannot be carried out as it stands; nothing was run",
            "retry: no, not like this",
            "next:  locked --help",
        ],
    );
    let said = says(stage.locked(1).args(["status", "--no-such-option"]), 64);
    assert!(said.contains("--no-such-option"), "{said}");
    assert_eq!(stage.history().len(), 0, "nothing was run");
}

#[test]
fn a_program_that_is_not_there() {
    let stage = Stage::new();
    let said = says(stage.locked(1).arg("no-such-program"), 127);
    assert_eq!(said.lines().count(), 1);
    assert!(said.starts_with("locked: ") && said.contains("no-such-program"), "{said}");
    let directory = stage.world.script("held", "true");
    std::fs::set_permissions(directory.join("held"), std::os::unix::fs::PermissionsExt::from_mode(0o644))
        .expect("mode");
    let said = says(stage.locked(1).arg(directory.join("held")), 126);
    assert!(said.starts_with("locked: "), "{said}");
}

/// Nothing of ours on a clean success; standard output is the program's to the last byte.
#[test]
fn a_clean_success_says_nothing() {
    let stage = Stage::new();
    assert_eq!(silent(&mut stage.set(1, &[], "A", "1")), "");
    assert_eq!(silent(stage.locked(1).args(["-r", "x:y", "printf", "a\\nb"])), "a\nb");
    let plain = silent(stage.locked(1).args(["sops", "decrypt"]).args(DOTENV).arg(FILE));
    assert_eq!(plain, silent(stage.world.sops().arg("decrypt").args(DOTENV).arg(FILE)));
    for verb in [&["renew", "x:y"][..], &["check", "x:y"], &["release", "x:y"]] {
        if verb[0] == "renew" {
            silent(stage.locked(1).args(["acquire", "x:y"]));
        }
        assert_eq!(silent(stage.locked(1).args(verb)), "", "{verb:?}");
    }
    // A program that no rule knows runs without a lease; that is worth a line, unless one asks for silence.
    let said = says(stage.locked(1).args(["true"]), 0);
    assert_eq!(said, "locked: no rule knows true; it runs without a lease (name one with -r KIND:NAME)\n");
    assert_eq!(says(stage.locked(1).args(["-q", "true"]), 0), "");
    assert_eq!(says(stage.locked(1).env("LOCKED_QUIET", "1").args(["true"]), 0), "");
}

/// Whoever commits a file chooses its name, and names stand in lines that people paste.
#[test]
fn a_line_to_type_does_nothing_that_a_file_s_name_says() {
    let stage = Stage::new();
    let name = "secrets/$(touch${IFS}pwned).yaml";
    stage.world.encrypted(name, "a: b\n", "yaml");
    silent(stage.locked(1).args(["acquire", "sops:$(touch${IFS}pwned)"]));
    let blocked = says(stage.locked(2).args(["-n", "sops", "set", name, "[\"a\"]", "\"c\""]), 75);
    assert!(blocked.contains("sops:%24%28touch%24%7BIFS%7Dpwned%29"), "{blocked}");
    std::fs::write(stage.world.work().join(name), "a: plain\n").expect("plaintext");
    stage.world.git(&stage.world.work(), &["add", "-A"]);
    let adopted = says(stage.locked(1).args(["adopt", name]), 72);
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_locked")).parent().expect("bin");
    for said in [blocked, adopted] {
        let line = said.lines().find_map(|line| line.strip_prefix("next:  ")).expect("a line to type");
        let mut shell = stage.world.command("sh");
        let _whatever_it_says = shell.args(["-c", line]).env("PATH", stage::in_front(bin)).output().expect("it runs");
        assert!(!stage.world.work().join("pwned").exists(), "{line}");
    }
}
