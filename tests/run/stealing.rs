//! `locked steal`: a person takes what somebody else holds, and whoever held it has stopped before.
#![forbid(unsafe_code)]

use std::process::Command;

use super::server::database;
use super::stage::{Held, RESOURCE, Stage, ends, json, says, silent, text, until, uuid};
use crate::supervise::terminal::Terminal;
use crate::supervise::ways::{Way, Ways};
use crate::world::processes::{child_of, freeze, kill, lives};

/// Where the leases live: the embedded store, or a server.
struct Place {
    stage: Stage,
}

impl Place {
    fn embedded() -> Self {
        Self { stage: Stage::new() }
    }

    /// Each of them.
    fn all(name: &str) -> [Self; 2] {
        Stage::both(name).map(|stage| Self { stage })
    }

    fn locked(&self, session: u32) -> Command {
        self.stage.locked(session)
    }

    /// A command that holds until it is let go, or stopped. Its line is the number of its shell.
    fn holds(&self, options: &[&str]) -> Held {
        let mut command = self.locked(1);
        Held::start(command.args(options).args(["-r", RESOURCE, "sh", "-c", "echo $$; cat"]))
    }

    fn steal(&self, more: &[&str]) -> Command {
        let mut command = self.locked(2);
        command.args(["steal", RESOURCE, "--reason", "its host is gone", "--approved-by", "Maria"]).args(more);
        command
    }

    fn history(&self) -> Vec<serde_json::Value> {
        json(self.locked(3).args(["history", "--json"]))
    }

    fn status(&self) -> Vec<serde_json::Value> {
        json(self.locked(3).args(["status", "--json"]))
    }
}

#[test]
fn the_victim_has_stopped_before_the_thief_holds_it() {
    for place in Place::all("of_a_theft") {
        let victim = place.holds(&["--ttl", "20s", "--heartbeat", "300ms"]);
        let shell = victim.line.parse().expect("a number");
        let said = silent(&mut place.steal(&["--ttl", "10m"]));
        assert!(!lives(shell), "it runs no more when the thief is told");
        let expected = format!("acquired {RESOURCE} for 10m (taken from 01010101 (");
        assert!(said.starts_with(&expected), "{said}");
        let status = place.status();
        assert_eq!((&status[0]["holder"], &status[0]["explicit"]), (&"02020202".into(), &true.into()), "{status:?}");
        let ended = victim.ended();
        let said = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(77), "{said}");
        let lost = format!("LOST: the lease of {RESOURCE} was revoked by 02020202 (");
        assert!(said.starts_with(&lost), "{said}");
        assert!(said.contains("): its host is gone (approved by Maria)"), "who, and why: {said}");
        let past = &place.history()[0];
        let note = past["note"].as_str().expect("a note");
        assert_eq!((&past["holder"], &past["ended_as"]), (&"01010101".into(), &"stolen".into()), "{past}");
        for word in ["02020202", "its host is gone", "approved by Maria"] {
            assert!(note.contains(word), "{word}: {note}");
        }
        // It is held as by `acquire`: this session's next command goes on with it, and it is given back.
        silent(place.locked(2).args(["-n", "-r", RESOURCE, "true"]));
        ends(place.locked(1).args(["-n", "-r", RESOURCE, "true"]), 75);
        silent(place.locked(2).args(["release", RESOURCE]));
    }
}

#[test]
fn a_victim_that_has_not_stopped_yet_is_shown_and_its_own_end_counts() {
    let place = Place::embedded();
    // Its next heartbeat is far away.
    let victim = place.holds(&[]);
    let mut thief = place.steal(&["--json"]).stdout(std::process::Stdio::piped()).spawn().expect("it starts");
    let reason = until("the mark is seen", || {
        let status = place.status();
        (status[0]["state"] == "revoked").then(|| status[0]["reason"].to_string())
    });
    assert!(reason.contains("its host is gone") && reason.contains("02020202"), "{reason}");
    let said = says(place.locked(3).args(["-n", "-r", RESOURCE, "true"]), 75);
    assert!(said.contains("why:   revoked by 02020202") && said.contains("its command has not stopped yet"), "{said}");
    // One who came before the thief is not let in before it.
    assert!(thief.try_wait().expect("waited").is_none(), "it waits");
    victim.let_go();
    let output = thief.wait_with_output().expect("it ends");
    assert!(output.status.success());
    let stolen: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(stolen["stolen"][0]["taken_from"].as_str().expect("a holder").starts_with("01010101"), "{stolen}");
    assert_eq!(place.history()[0]["ended_as"], "completed", "it was faster");
}

#[test]
fn without_waiting_it_is_said_that_two_may_be_writing_and_recorded() {
    for place in Place::all("theft_at_once") {
        let victim = place.holds(&[]);
        let said = says(&mut place.steal(&["--now"]), 0);
        assert!(said.starts_with("locked: 01010101 (") && said.contains("two may be writing"), "{said}");
        let past = &place.history()[0];
        let note = past["note"].as_str().expect("a note");
        assert!(past["ended_as"] == "stolen" && note.contains("revoked at once by 02020202"), "{past}");
        assert!(lives(victim.line.parse().expect("a number")), "it was not waited for");
        let ended = victim.finish();
        assert_eq!(ended.status.code(), Some(77), "{}", text(&ended.stderr));
        assert_eq!(place.status()[0]["holder"], "02020202", "and takes nothing back");
    }
}

#[test]
fn a_thief_does_not_wait_longer_than_it_says_and_the_mark_stays() {
    for place in Place::all("theft_unwaited") {
        let victim = place.holds(&[]);
        let said = says(&mut place.steal(&["--wait", "0s"]), 75);
        assert!(said.starts_with(&format!("BLOCKED: {RESOURCE} is held by 01010101 (")), "{said}");
        assert_eq!(place.status()[0]["state"], "revoked");
        assert_eq!(place.status()[0]["waiters"], 0, "it has left the line");
        victim.let_go();
    }
}

#[test]
fn what_rests_with_its_session_is_taken_at_once() {
    for place in Place::all("theft_of_rest") {
        silent(place.locked(1).args(["acquire", RESOURCE]));
        silent(&mut place.steal(&[]));
        // Whoever had it is told at its next command, whatever that is.
        let said = says(place.locked(1).args(["-r", "server:other", "true"]), 0);
        assert!(said.starts_with("locked: 02020202 (") && said.lines().count() == 1, "{said}");
        let why = format!(") about {RESOURCE} at ");
        assert!(
            said.contains(&why) && said.ends_with("took it away: its host is gone (approved by Maria)\n"),
            "{said}"
        );
        assert!(!says(place.locked(1).args(["check", RESOURCE]), 77).contains("took it away"), "once");
        let taken = place.history().into_iter().find(|past| past["resource"] == RESOURCE).expect("ended");
        assert_eq!(taken["ended_as"], "stolen");
        silent(place.locked(2).args(["release", RESOURCE]));
        let said = silent(&mut place.steal(&[]));
        assert!(said.contains("(nobody held it any more)"), "{said}");
    }
}

#[test]
fn what_cannot_be_stolen_is_refused_with_the_reason() {
    for place in Place::all("theft_refused") {
        let steal = |session: u32, more: &[&str]| {
            let mut command = place.locked(session);
            command.args(["steal", RESOURCE, "--reason", "it hangs"]).args(more);
            command
        };
        let said = says(&mut steal(2, &[]), 64);
        assert!(said.contains("nobody can be asked here") && said.contains("--approved-by NAME"), "{said}");
        silent(place.locked(1).args(["acquire", RESOURCE]));
        let said = says(&mut steal(1, &["--approved-by", "Maria"]), 64);
        assert!(said.contains("by this session already") && said.contains("locked release"), "{said}");
        silent(place.locked(1).args(["release", RESOURCE]));
        let own = place.holds(&[]);
        let said = says(&mut steal(1, &["--approved-by", "Maria"]), 64);
        assert!(said.contains("a running command of this session, sh"), "{said}");
        own.let_go();
        ends(place.stage.set(1, &[], "A", "1").env("PATH", place.stage.stand_in(": > \"$file\"")), 72);
        let said = says(&mut steal(2, &["--approved-by", "Maria", "--now"]), 72);
        assert!(said.starts_with("QUARANTINED: "), "a bad file is no holder: {said}");
        assert_eq!(place.status()[0]["state"], "quarantined");
        for words in [&["--reason", " "][..], &[]] {
            ends(place.locked(2).args(["steal", "server:x", "--approved-by", "Maria"]).args(words), 64);
        }
    }
    let said = says(
        Place::embedded()
            .locked(2)
            .args(["--advisory", "steal", RESOURCE, "--reason", "x", "--approved-by", "y"])
            .env("LOCKED_STORE", database("of_no_theft")),
        78,
    );
    assert!(said.contains("no table") && said.contains("taking a live lock from its holder"), "{said}");
}

/// Its time would last for half an hour.
#[test]
fn a_victim_that_is_gone_is_not_waited_for_and_asks_all_the_same() {
    let place = Place::embedded();
    let victim = place.holds(&[]);
    place.stage.world.database().execute("update leases set ask = 1", []).expect("marked");
    let (wrapper, keeper) = (victim.pid(), child_of(victim.pid()));
    // Neither may see the other's end.
    freeze(keeper);
    freeze(wrapper);
    kill(wrapper);
    kill(keeper);
    let _by_the_signal = victim.ended();
    until("what it ran is gone", || (!lives(keeper)).then_some(()));
    let said = says(place.locked(3).args(["-n", "-r", RESOURCE, "true"]), 75);
    assert!(said.contains("why:   expired, proven gone by 03030303 ("), "{said}");
    silent(&mut place.steal(&[]));
    let note = place.history()[0]["note"].to_string();
    assert!(note.contains("proven gone by 03030303") && note.contains("its host is gone"), "{note}");
}

/// What nobody takes over by himself: only the library sets the mark so far, so the test does.
#[test]
fn what_asks_a_person_stays_until_one_has_said_so() {
    let place = Place::embedded();
    silent(place.locked(1).args(["acquire", RESOURCE]));
    place.stage.world.database().execute("update leases set ask = 1", []).expect("marked");
    place.stage.let_leases_expire();
    let status = place.status();
    assert_eq!((&status[0]["state"], &status[0]["ask"]), (&"expired".into(), &true.into()), "{status:?}");
    let board = silent(place.locked(3).arg("status"));
    assert!(board.contains("expired, asks a person"), "{board}");
    let said = says(place.locked(3).args(["-n", "-r", RESOURCE, "true"]), 75);
    assert!(
        said.contains("why:   expired, place 1 in the queue, free when a person has said that it is stale"),
        "{said}"
    );
    assert!(said.contains("retry: no, a person must say so first") && !said.contains("steal"), "{said}");
    silent(&mut place.steal(&[]));
    assert_eq!(place.history()[0]["ended_as"], "stolen");
    silent(place.locked(2).args(["release", RESOURCE]));
    silent(place.locked(3).args(["-n", "-r", RESOURCE, "true"]));
}

#[test]
fn at_a_terminal_the_person_is_asked() {
    let stage = Stage::new();
    silent(stage.locked(1).args(["acquire", RESOURCE]));
    let ways = Ways { world: stage.world };
    let session = uuid(2);
    let words =
        [env!("CARGO_BIN_EXE_locked"), "--session", &session, "steal", RESOURCE, "--reason", "its host is gone"];
    for (answer, status, holder) in [("", 64, "01010101"), ("n", 64, "01010101"), ("y", 0, "02020202")] {
        let mut terminal = Terminal::new(&ways, Way::Itself, &words);
        let asked = terminal.see("[y/N] ");
        assert!(asked.contains(&format!("{RESOURCE} is held by 01010101 (")), "{asked}");
        terminal.line(answer);
        assert_eq!(terminal.end(), status, "{answer}");
        assert_eq!(ways.world.status()[0]["holder"], holder, "{answer}");
    }
    let note = ways.world.history()[0]["note"].to_string();
    assert!(note.contains("its host is gone") && !note.contains("approved"), "{note}");
}

/// While the person thinks, who was shown gives it back, and somebody else has it.
#[test]
fn nothing_is_taken_from_who_was_not_shown() {
    for (place, at_first) in Place::all("theft_of_another").into_iter().zip([true, false]) {
        let locked = |session: u32| place.locked(session);
        if at_first {
            silent(locked(1).args(["acquire", RESOURCE]));
        }
        silent(locked(1).args(["acquire", "server:z"]));
        let ways = Ways { world: place.stage.world };
        let session = uuid(2);
        let words = [env!("CARGO_BIN_EXE_locked"), "--session", &session, "steal"];
        let words = [&words[..], &[RESOURCE, "server:z", "--reason", "its host is gone"]].concat();
        let mut terminal = Terminal::new(&ways, Way::Itself, &words);
        let asked = terminal.see("[y/N] ");
        assert_eq!(asked.contains(&format!("{RESOURCE} is held by 01010101 (")), at_first, "{asked}");
        if at_first {
            silent(ways.world.locked_as(1).args(["release", RESOURCE]));
        }
        silent(ways.world.locked_as(3).args(["acquire", RESOURCE]));
        terminal.line("y");
        let asked = terminal.see("[y/N] ");
        assert!(asked.contains("it has another holder by now, and nothing was taken"), "{asked}");
        assert!(asked.contains(&format!("{RESOURCE} is held by 03030303 (")), "asked again: {asked}");
        let held = |resource: &str| {
            let board: Vec<serde_json::Value> = ways.world.status();
            let lease = board.into_iter().find(|lease| lease["resource"] == resource).expect("held");
            format!("{} {}", lease["holder"], lease["state"])
        };
        assert_eq!(held(RESOURCE), "\"03030303\" \"held\"");
        assert_eq!(held("server:z"), "\"01010101\" \"held\"", "all or none");
        terminal.line("y");
        assert_eq!(terminal.end(), 0);
        assert_eq!(held(RESOURCE), "\"02020202\" \"held\"");
    }
}

/// Between the mark and the stop nothing untrue is told to the victim, and nothing new begins under what is taken away.
#[test]
fn what_is_being_taken_away_is_said_to_be_and_lets_nothing_in() {
    for place in Place::all("being_taken") {
        let locked = env!("CARGO_BIN_EXE_locked");
        let script = format!("echo up; cat; '{locked}' -n -r {RESOURCE} touch nested 2> said; echo $? > status");
        let victim = Held::start(place.locked(1).args(["-r", RESOURCE, "sh", "-c", &script]));
        let _it_does_not_wait = says(&mut place.steal(&["--wait", "0s"]), 75);
        for words in [["renew", RESOURCE], ["check", RESOURCE], ["release", RESOURCE]] {
            let said = says(place.locked(1).args(words), 77);
            let what = format!("REFUSED: {RESOURCE} was taken away from this session's running command, ");
            assert!(said.starts_with(&what) && said.contains("revoked by 02020202 ("), "{words:?}: {said}");
        }
        victim.let_go();
        let file = |name: &str| std::fs::read_to_string(place.stage.world.work().join(name)).unwrap_or_default();
        assert_eq!(file("status"), "77\n", "{}", file("said"));
        let said = file("said");
        assert!(
            said.starts_with(&format!("LOST: {RESOURCE} was taken away from the command that this runs")),
            "{said}"
        );
        assert!(!place.stage.world.work().join("nested").exists());
    }
}

/// Also by who is known for a child of the victim by the process tree alone.
#[test]
fn a_theft_that_is_refused_takes_nothing() {
    for place in Place::all("theft_from_below") {
        let (locked, thief) = (env!("CARGO_BIN_EXE_locked"), uuid(2));
        for bare in ["", "env -u LOCKED_LEASE -u LOCKED_RESOURCES -u LOCKED_TOKENS"] {
            let script = format!(
                "{bare} '{locked}' --session {thief} steal {RESOURCE} --reason x --approved-by Maria 2> said; echo $? > status"
            );
            ends(place.locked(1).args(["-r", RESOURCE, "sh", "-c", &script]), 0);
            let file = |name: &str| std::fs::read_to_string(place.stage.world.work().join(name)).unwrap_or_default();
            assert_eq!(file("status"), "75\n", "{bare}: {}", file("said"));
            let past = &place.history()[0];
            assert_eq!((&past["ended_as"], &past["note"]), (&"completed".into(), &serde_json::Value::Null), "{bare}");
        }
    }
}

/// However long the reason is, the history and the victim hear of who approved it.
#[test]
fn who_is_robbed_without_waiting_is_told_by_whom_and_who_approved() {
    for place in Place::all("theft_with_a_long_reason") {
        let victim = Held::start(place.locked(1).args(["-r", "server:y", "sh", "-c", "echo up; cat"]));
        let reason = "x".repeat(190);
        let steal = ["steal", "server:y", "--now", "--reason", &reason, "--approved-by", "Maria"];
        says(place.locked(2).args(steal), 0);
        let ended = victim.finish();
        let said = text(&ended.stderr);
        let why = format!("{reason} (approved by Maria)");
        assert!(ended.status.code() == Some(77) && said.contains("revoked at once by 02020202 ("), "{said}");
        assert!(said.contains(&why), "{said}");
        assert!(said.contains("after a look at what it had done so far"), "no file is looked at: {said}");
        assert!(place.history()[0]["note"].as_str().is_some_and(|note| note.contains(&why)));
        // Who had it without a command hears it at the next one.
        silent(place.locked(1).args(["acquire", "server:z"]));
        silent(place.locked(2).args(["steal", "server:z", "--reason", &reason, "--approved-by", "Maria"]));
        let heard = text(&ends(place.locked(1).args(["session", "list"]), 0).stderr);
        assert!(heard.ends_with(&format!("took it away: {why}\n")), "{heard}");
    }
}

/// What an earlier command wrote is not as before, whatever a later one has failed to do.
#[test]
fn the_first_reason_stays_where_a_later_failure_changed_nothing() {
    for stage in Stage::both("the_first_reason") {
        for (body, status) in [("\"$real\" \"$@\"; exit 5", 5), ("exit 6", 6), ("exit 7", 7)] {
            ends(stage.set(1, &[], "A", "1").env("PATH", stage.stand_in(body)), status);
            let lease = &stage.status()[0];
            assert_eq!(lease["reason"], "it failed with status 5 after it had written", "{body}");
            assert_eq!((&lease["state"], &lease["takeable"]), (&"kept".into(), &false.into()));
        }
        // Nor does it matter what the session has acquired of it meanwhile, which has no reason of its own.
        let resource = stage.status()[0]["resource"].as_str().expect("a name").to_owned();
        says(stage.locked(1).args(["acquire", &resource]), 0);
        ends(stage.set(1, &[], "A", "1").env("PATH", stage.stand_in("exit 8")), 8);
        let lease = &stage.status()[0];
        assert_eq!(lease["reason"], "it failed with status 5 after it had written", "{lease}");
    }
}
