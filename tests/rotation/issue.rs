//! The issue that a rotation is for: who asks, when, and what is said on it.
#![forbid(unsafe_code)]

use super::stage::{APP, ISSUE, ROTATION, Stage, ends, says, silent, until};

const VIEW: &str = "issue view 5925 --repo acme/infra --json state";

#[test]
fn the_advice_is_put_on_the_issue_when_that_is_asked_for() {
    for stage in Stage::both("the_advice") {
        let comments = |stage: &Stage| {
            let asked = stage.asked();
            asked.into_iter().filter(|words| words.starts_with("issue comment")).collect::<Vec<_>>()
        };
        silent(stage.locked(1).args(["acquire", ROTATION, "--issue", ISSUE]));
        silent(stage.locked(1).args(["check", ROTATION, "--comment"]));
        assert_eq!(comments(&stage), [""; 0], "nothing speaks against it");
        stage.issue_is("CLOSED");
        ends(stage.locked(1).args(["check", ROTATION]), 79);
        assert_eq!(comments(&stage), [""; 0], "nobody asked for it");
        ends(stage.locked(1).args(["check", ROTATION, "--comment"]), 79);
        stage.taken();
        stage.issue_is("OPEN");
        ends(stage.locked(1).args(["check", ROTATION, "--comment", "--issue", ISSUE]), 77);
        let said = comments(&stage);
        let advice = "so the write was not made. Next: reconcile: locked history rotation:API_KEY; compare the live value \
                  with the one in the files before any write.";
        assert_eq!(
            said,
            [
                format!(
                    "issue comment 5925 --repo acme/infra --body `locked check`: this issue was closed before \
                 `rotation:API_KEY` was written, {advice}"
                ),
                format!(
                    "issue comment 5925 --repo acme/infra --body `locked check`: `rotation:API_KEY` is not held any more by \
                 the session that was about to write, {advice}"
                ),
            ]
        );
        // A comment that cannot be left changes nothing else.
        stage.issue_is("login");
        let words = says(stage.locked(1).args(["check", ROTATION, "--comment", "--issue", ISSUE]), 77);
        assert!(
            words.ends_with(&format!("no comment could be left on {ISSUE}: gh is not logged in (gh auth login)\n")),
            "{words}"
        );
        let words = says(stage.locked(1).args(["check", ROTATION, "--comment"]), 77);
        assert!(words.contains("which issue is meant is not known"), "{words}");
    }
}

#[test]
fn work_below_a_rotation_goes_on_to_its_end_when_the_issue_is_closed_in_the_middle() {
    for stage in Stage::both("work_below") {
        let locked = env!("CARGO_BIN_EXE_locked");
        // The issue is closed by the first of them, and a second new value is not made.
        let script = format!(
            "echo $LOCKED_ISSUE; printf CLOSED > \"$GH_STATE\"; \
         '{locked}' sops set --input-type dotenv --output-type dotenv {APP} '[\"API_KEY\"]' '\"new\"' || exit 1; \
         '{locked}' check {ROTATION}; echo $?; '{locked}' --secret API_KEY true; echo $?"
        );
        let state = stage.gh_state();
        let mut command = stage.rotates(1, &["--issue", ISSUE, "--consumers-ok"], &script);
        let output = ends(command.env("GH_STATE", state), 0);
        assert_eq!(super::stage::text(&output.stdout), format!("{ISSUE}\n79\n79\n"));
        assert!(stage.world.decrypted(&stage.world.work().join(APP), "dotenv").contains("API_KEY=new"));
        assert_eq!(stage.asked(), [VIEW; 3], "once before the program, and for the two that would write anew");
    }
}

#[test]
fn what_is_no_issue_is_refused_where_it_would_count() {
    let stage = Stage::new();
    for words in [&["--issue", "5925", "-r", "server:x", "true"][..], &["acquire", ROTATION, "--issue", "5925"]] {
        let said = says(stage.locked(1).args(words), 64);
        assert!(said.contains("an issue is written OWNER/REPO#NUMBER"), "{said}");
    }
    ends(stage.locked(1).arg("true").env("LOCKED_ISSUE", "5925"), 0);
    ends(stage.locked(1).args(["-r", "server:x", "true"]).env("LOCKED_ISSUE", "5925"), 64);
    assert_eq!(stage.asked(), [""; 0]);
}

/// What happens while gh is asked is found by the look at the lease, which comes last.
#[test]
fn what_is_taken_at_the_last_moment_is_not_run_under() {
    for stage in Stage::both("at_the_last_moment") {
        stage.gh_waits();
        let mut rotates = stage.rotates(1, &["--issue", ISSUE], "touch ran");
        let run = std::thread::spawn(move || says(&mut rotates, 77));
        until("gh is asked", || (stage.asked().len() == 1).then_some(()));
        stage.taken();
        stage.answer("OPEN");
        let said = run.join().expect("it ends");
        assert!(
            said.starts_with(&format!("LOST: {ROTATION} was taken by somebody else before the program was started\n")),
            "{said}"
        );
        assert!(said.contains("next:  locked history rotation:API_KEY"), "{said}");
        assert!(!stage.is_there("ran"));
    }
}
