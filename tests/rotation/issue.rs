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
        // Who never had it means none that is known.
        let words = says(stage.locked(2).args(["check", ROTATION, "--comment"]), 77);
        assert!(words.contains("which issue is meant is not known"), "{words}");
    }
}

/// The lost race is what the comment is for: whoever lost it has no live lease that would say for which issue it was.
#[test]
fn the_advice_is_put_on_the_issue_of_what_was_lost() {
    for stage in Stage::both("of_what_was_lost") {
        let comments = |stage: &Stage, number: &str| {
            let asked = stage.asked();
            asked.iter().filter(|words| words.starts_with(&format!("issue comment {number} "))).count()
        };
        let check = |stage: &Stage| says(stage.locked(1).args(["check", ROTATION, "--comment"]), 77);
        silent(stage.locked(1).args(["acquire", ROTATION, "--issue", ISSUE]));
        stage.back_date();
        silent(stage.locked(2).args(["acquire", ROTATION, "--issue", "acme/infra#7"]));
        let words = check(&stage);
        assert!(!words.contains("no comment"), "{words}");
        assert_eq!((comments(&stage, "5925"), comments(&stage, "7")), (1, 0));
        // By a person's word as well.
        silent(stage.locked(2).args(["release", ROTATION, "--as", "failed"]));
        silent(stage.locked(1).args(["acquire", ROTATION, "--issue", "acme/infra#8"]));
        ends(stage.locked(2).args(["steal", ROTATION, "--reason", "quicker", "--approved-by", "Ana"]), 0);
        check(&stage);
        assert_eq!((comments(&stage, "5925"), comments(&stage, "8")), (1, 1), "the last that it had");
        // What was given back is no race that was lost.
        silent(stage.locked(2).args(["release", ROTATION, "--as", "failed"]));
        silent(stage.locked(1).args(["acquire", ROTATION, "--issue", "acme/infra#9"]));
        silent(stage.locked(1).args(["release", ROTATION, "--as", "failed"]));
        let words = check(&stage);
        assert!(words.contains("which issue is meant is not known"), "{words}");
        assert_eq!(comments(&stage, "9"), 0);
    }
}

/// Who has the resource instead has an issue of their own, and nobody tells that one.
#[test]
fn the_advice_is_put_on_no_issue_of_somebody_else() {
    for stage in Stage::both("of_somebody_else") {
        silent(stage.locked(2).args(["acquire", ROTATION, "--issue", "acme/infra#7"]));
        ends(stage.locked(1).args(["check", ROTATION, "--comment", "--issue", ISSUE]), 77);
        let asked = stage.asked();
        let of =
            |number: &str| asked.iter().filter(|words| words.starts_with(&format!("issue comment {number} "))).count();
        assert_eq!((of("5925"), of("7")), (1, 0), "{asked:?}");
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

/// The same where nothing is run: the issue first, the lease last.
#[test]
fn what_is_taken_while_gh_is_asked_is_not_said_to_be_held() {
    for stage in Stage::both("while_gh_is_asked") {
        stage.gh_waits();
        let mut said = Vec::new();
        for words in [&["acquire", ROTATION, "--issue", ISSUE][..], &["check", ROTATION]] {
            if words[0] == "check" {
                stage.issue_is("OPEN");
                silent(stage.locked(1).args(["acquire", ROTATION, "--issue", ISSUE]));
                stage.issue_is("wait");
            }
            let before = stage.asked().len();
            let mut command = stage.locked(1);
            command.args(words);
            let run = std::thread::spawn(move || says(&mut command, 77));
            until("gh is asked", || (stage.asked().len() > before).then_some(()));
            stage.taken();
            stage.answer("OPEN");
            said.push(run.join().expect("it ends"));
        }
        for said in said {
            let what = format!("REFUSED: {ROTATION} is not this session's any more: it ended as expired");
            assert!(said.starts_with(&what), "{said}");
        }
        assert_eq!(stage.status().len(), 0);
    }
}

#[test]
fn every_issue_of_what_is_checked_is_asked_about() {
    for stage in Stage::both("every_issue") {
        let others = ["rotation:A", "rotation:B"];
        silent(stage.locked(1).args(["acquire", others[0], "--issue", "acme/infra#1"]));
        silent(stage.locked(1).args(["acquire", others[1], "--issue", "acme/infra#2"]));
        let answer = silent(stage.locked(1).args(["check", "--json"]).args(others));
        let answer: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
        assert_eq!(answer["issues"], serde_json::json!(["acme/infra#1", "acme/infra#2"]), "{answer}");
        stage.issue_of_number_is(2, "CLOSED");
        // One that is named is asked about as well, not instead.
        for more in [&[][..], &["--issue", "acme/infra#3"]] {
            let said = says(stage.locked(1).arg("check").args(others).args(more).arg("--comment"), 79);
            assert!(said.starts_with("REFUSED: acme/infra#2 is closed"), "{said}");
        }
        let comments = stage.asked().into_iter().filter(|words| words.starts_with("issue comment"));
        assert!(comments.clone().count() == 2 && comments.clone().all(|it| it.starts_with("issue comment 2 ")));
    }
}

#[test]
fn an_issue_is_not_lost_by_another_acquire_or_behind_a_long_operation() {
    for stage in Stage::both("an_issue_is_kept") {
        let long = "x".repeat(190);
        let ways: [&[&[&str]]; 4] = [
            &[&["acquire", ROTATION, "--issue", ISSUE], &["acquire", ROTATION]],
            &[&["acquire", ROTATION, "--issue", ISSUE, "--operation", &long]],
            &[&["acquire", ROTATION, "--issue", ISSUE], &["-r", ROTATION, "true"]],
            &[&["acquire", ROTATION, "--issue", ISSUE], &["-r", ROTATION, "true"], &["acquire", ROTATION]],
        ];
        for way in ways {
            stage.issue_is("OPEN");
            for words in way {
                silent(stage.locked(1).args(*words));
            }
            stage.issue_is("CLOSED");
            let said = says(stage.locked(1).args(["check", ROTATION]), 79);
            assert!(said.starts_with(&format!("REFUSED: {ISSUE} is closed")), "{way:?}: {said}");
            silent(stage.locked(1).args(["release", ROTATION, "--as", "failed"]));
        }
        // What was given back was for it, and what is held anew is for none.
        silent(stage.locked(1).args(["acquire", ROTATION]));
        silent(stage.locked(1).args(["check", ROTATION]));
    }
}

#[test]
fn what_a_session_holds_is_not_given_away_for_an_issue() {
    for stage in Stage::both("not_given_away") {
        silent(stage.locked(1).args(["acquire", ROTATION]));
        for (state, status) in [("login", 80), ("CLOSED", 79)] {
            stage.issue_is(state);
            let said = says(stage.locked(1).args(["acquire", ROTATION, "server:x", "--issue", ISSUE]), status);
            assert!(said.contains(&format!("; {ROTATION} is held as before")) || status == 79, "{said}");
            assert!(said.contains("is held as before") && !said.contains("nothing is held"), "{said}");
            let board = stage.status();
            assert_eq!((board.len(), &board[0]["resource"]), (1, &ROTATION.into()), "{board:?}");
        }
        // It is for no issue, so none is asked about.
        let asked = stage.asked().len();
        silent(stage.locked(1).args(["check", ROTATION]));
        assert_eq!(stage.asked().len(), asked);
    }
}

/// What is held for an issue is run under for that issue, whoever names it again or another one.
#[test]
fn a_command_under_a_hold_asks_about_the_issue_of_the_hold() {
    for stage in Stage::both("issue_of_a_hold") {
        silent(stage.locked(1).args(["acquire", ROTATION, "--issue", ISSUE]));
        silent(stage.locked(1).args(["acquire", "server:x", "--issue", ISSUE]));
        let output = ends(&mut stage.rotates(1, &["--consumers-ok"], "echo $LOCKED_ISSUE"), 0);
        assert_eq!(super::stage::text(&output.stdout), format!("{ISSUE}\n"));
        stage.issue_is("CLOSED");
        stage.issue_of_number_is(7, "OPEN");
        for issue in [&[][..], &["--issue", "acme/infra#7"]] {
            let options = [&["--consumers-ok"][..], issue].concat();
            let said = says(&mut stage.rotates(1, &options, "touch ran"), 79);
            assert!(said.starts_with(&format!("REFUSED: {ISSUE} is closed\n")), "{options:?}: {said}");
        }
        let said = says(stage.locked(1).args(["-r", "server:x", "touch", "ran"]), 79);
        assert!(said.starts_with(&format!("REFUSED: {ISSUE} is closed\n")), "{said}");
        assert!(!stage.is_there("ran"));
        let states: Vec<_> = stage.status().into_iter().map(|lease| lease["state"].clone()).collect();
        assert_eq!(states, ["held", "held"], "the holds stay");
    }
}
