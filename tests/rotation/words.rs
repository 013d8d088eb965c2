//! What is said beside the way, and stays true when something is done twice.
#![forbid(unsafe_code)]

use super::stage::{ISSUE, ROTATION, Stage, ends, says, silent, text};

#[test]
fn who_acquires_again_without_a_word_is_called_as_before() {
    for stage in Stage::both("acquires_again") {
        let acquire = |words: &[&str]| drop(ends(stage.locked(1).args(["acquire", ROTATION]).args(words), 0));
        let called = || stage.status()[0]["operation"].as_str().expect("text").to_owned();
        acquire(&["--operation", "rotate it", "--issue", ISSUE]);
        acquire(&["--ttl", "10m"]);
        assert_eq!(called(), format!("rotate it for {ISSUE}"));
        acquire(&["--operation", "rotate it again"]);
        assert_eq!(called(), format!("rotate it again for {ISSUE}"));
        acquire(&["--issue", "acme/infra#7"]);
        assert_eq!(called(), "rotate it again for acme/infra#7");
        silent(stage.locked(1).args(["release", ROTATION, "--as", "human-action"]));
        let duties = silent(stage.locked(1).args(["status", "--duties"]));
        assert!(duties.contains("finish: rotate it again for acme/infra#7"), "{duties}");
        // What is held along with it now was not acquired for that.
        acquire(&["--operation", "rotate it", "--issue", ISSUE]);
        ends(stage.locked(1).args(["acquire", ROTATION, "server:a"]), 0);
        assert!(stage.status().iter().all(|lease| lease["operation"] == "locked acquire"), "{:?}", stage.status());
    }
}

#[test]
fn what_goes_back_to_its_session_is_not_said_to_be_kept() {
    for stage in Stage::both("goes_back") {
        silent(stage.locked(1).args(["acquire", "server:a"]));
        for (script, status) in [("exit 3", 3), ("exit 0", 0)] {
            let said = says(stage.locked(1).args(["-v", "-r", "server:a", "sh", "-c", script]), status);
            let is_back = said.contains("server:a held by this session, as before\n");
            assert!(is_back && !said.contains(" kept") && !said.contains("released as"), "{said}");
        }
        assert_eq!((stage.status().len(), &stage.status()[0]["state"]), (1, &"held".into()));
    }
}

/// A new value below a rotation is for everything that the rotations above it are for.
#[test]
fn every_issue_above_a_rotation_counts_for_what_is_below() {
    for stage in Stage::both("issues_above") {
        let locked = env!("CARGO_BIN_EXE_locked");
        let inmost = format!("'{locked}' --secret API_KEY touch ran");
        let inner = format!(
            "printf CLOSED > \"$GH/state.5925\"; '{locked}' --secret API_KEY --issue acme/infra#7 sh -c \"{inmost}\""
        );
        for (script, issue) in [
            (
                format!(
                    "'{locked}' --secret API_KEY --issue acme/infra#7 sh -c \"printf CLOSED > '$GH/state.5925'; {inmost}\""
                ),
                ISSUE,
            ),
            (inner, ISSUE),
        ] {
            stage.issue_of_number_is(5925, "OPEN");
            let gh = stage.gh_state().parent().expect("a directory").to_owned();
            let mut command = stage.rotates(1, &["--issue", ISSUE, "--consumers-ok"], &script);
            let said = says(command.env("GH", gh), 79);
            assert!(said.contains(&format!("REFUSED: {issue} is closed")), "{said}");
            assert!(!stage.is_there("ran"));
            for lease in stage.status() {
                silent(stage.locked(1).args([
                    "release",
                    lease["resource"].as_str().expect("a name"),
                    "--as",
                    "failed",
                ]));
            }
        }
    }
}

#[test]
fn a_secret_of_the_environment_alone_locks_nothing_and_that_is_said() {
    let stage = Stage::new();
    let script = ["sh", "-c", "echo \"$LOCKED_RESOURCES\""];
    let output = ends(stage.locked(1).args(script).env("LOCKED_SECRET", "API_KEY"), 0);
    assert_eq!(text(&output.stdout), "\n");
    let expected = "locked: no rule knows sh; it runs without a lease (LOCKED_SECRET alone locks nothing: name it with --secret \
                    NAME)\n";
    assert_eq!(text(&output.stderr), expected);
    let said = says(stage.locked(1).args(script), 0);
    assert!(said.ends_with("(name one with -r KIND:NAME)\n"), "{said}");
}

#[test]
fn what_was_asked_for_is_what_there_is_none_of() {
    for stage in Stage::both("none_of_it") {
        silent(stage.locked(1).args(["acquire", "server:a"]));
        assert_eq!(silent(stage.locked(1).args(["status", "--stalled", "1h"])), "nothing is stalled\n");
        assert_eq!(silent(stage.locked(1).args(["status", "server:b"])), "no live leases\n");
        let begin = ["session", "begin", "--name", "", "--domain", "x", "--task", "y"];
        let said = says(stage.locked(1).args(begin), 64);
        assert!(said.contains("there is nothing in it; say it in a few words") && !said.contains("why"), "{said}");
    }
}

/// What was typed is repeated as it was typed, and not as it would like to be read.
#[test]
fn what_was_typed_wrong_is_repeated_letter_by_letter() {
    let stage = Stage::new();
    let typed = "a\u{202e}b\nREFUSED: c";
    for words in [["--ttl", typed], ["-r", typed], ["status", typed], ["history", &format!("--{typed}")]] {
        let output = stage.locked(1).args(words).arg("true").output().expect("it runs");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(64), "{words:?}: {said}");
        assert!(!said.contains('\u{202e}') && !said.contains("\nREFUSED: c"), "{words:?}: {said}");
    }
}

/// What the shell opens counts once it is known what it is: a read is one wherever its complaints go, with the store down and
/// with a variable that is exported empty.
#[test]
fn what_is_written_to_nobody_s_file_waits_for_no_secret() {
    let stage = Stage::new();
    for script in ["ls 2>/dev/null", "ls >/dev/null 2>&1", "ls > list.txt"] {
        for secret in ["API_KEY", ""] {
            for words in [&["run"][..], &[]] {
                let mut command = stage.locked(1);
                command.args(["-q"]).args(words).args(["sh", "-c", script]);
                ends(command.env("LOCKED_SECRET", secret).env("LOCKED_STORE", "postgres://127.0.0.1:9/none"), 0);
            }
        }
        let explained =
            stage.locked(1).args(["explain", "--", "sh", "-c", script]).env("LOCKED_SECRET", "API_KEY").output();
        let said = text(&explained.expect("locked runs").stdout);
        assert!(said.starts_with("decision: pass\n"), "{script}: {said}");
    }
    // What is held anyway takes the secret along.
    let script = "docker compose -p shop ps; false && docker compose -p shop up -d; echo \"$LOCKED_RESOURCES\"";
    let output = stage.locked(1).args(["sh", "-c", script]).env("LOCKED_SECRET", "API_KEY").output().expect("it runs");
    assert!(text(&output.stdout).ends_with("container:shop rotation:API_KEY\n"), "{}", text(&output.stdout));
}
