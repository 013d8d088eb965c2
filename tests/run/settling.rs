//! What becomes of the lease after the command, and who may go on.
#![forbid(unsafe_code)]

use std::process::Stdio;

use super::stage::{FILE, RESOURCE, Stage, ends, says, silent, text, until};

#[test]
fn a_success_gives_the_lease_back_and_leaves_one_receipt() {
    let stage = Stage::new();
    assert_eq!(silent(&mut stage.set(1, &[], "A", "1")), "", "sops says nothing, nor do we");
    assert_eq!(stage.state(), None);
    let history = stage.history();
    assert_eq!(history.len(), 1);
    assert_eq!((&history[0]["ended_as"], &history[0]["resource"]), (&"completed".into(), &RESOURCE.into()));
    assert_eq!(history[0]["operation"], format!("sops set {FILE}"));
    assert_eq!(stage.receipts(), ["proven"]);
}

#[test]
fn a_failure_that_changed_nothing_is_in_nobodys_way() {
    let stage = Stage::new();
    let path = stage.stand_in("exit 3");
    assert_eq!(
        says(stage.set(1, &[], "A", "1").env("PATH", &path), 3),
        "",
        "the program has said what there is to say"
    );
    let status = stage.status();
    assert_eq!((&status[0]["state"], &status[0]["takeable"]), (&"kept".into(), &true.into()), "{status:?}");
    silent(&mut stage.set(2, &["-n"], "B", "1"));
    assert_eq!(stage.state(), None);
    let ended: Vec<String> = stage.history().iter().map(|lease| lease["ended_as"].to_string()).collect();
    assert_eq!(ended, ["\"completed\"", "\"failed\""]);
}

#[test]
fn what_anybody_may_take_is_neither_checked_nor_renewed_but_acquired() {
    for stage in Stage::both("neither_checked_nor_renewed") {
        says(stage.set(1, &[], "A", "1").env("PATH", stage.stand_in("exit 3")), 3);
        for verb in ["check", "renew"] {
            let said = says(stage.locked(1).args([verb, RESOURCE]), 77);
            let what = format!("REFUSED: {RESOURCE} is kept for this session, but anybody may take it");
            assert!(said.starts_with(&what), "{verb}: {said}");
            assert!(said.ends_with(&format!("next:  locked acquire {RESOURCE}\n")), "{verb}: {said}");
        }
        silent(stage.locked(1).args(["acquire", RESOURCE]));
        for verb in ["check", "renew", "release"] {
            silent(stage.locked(1).args([verb, RESOURCE]));
        }
    }
}

/// A stand-in that does the real write and then fails.
fn writes_and_fails(stage: &Stage, status: i32) -> std::ffi::OsString {
    stage.stand_in(&format!("\"$real\" \"$@\"; exit {status}"))
}

#[test]
fn a_failure_that_changed_something_stays_with_its_session() {
    let stage = Stage::new();
    let path = writes_and_fails(&stage, 5);
    let said = says(stage.set(1, &[], "A", "1").env("PATH", &path), 5);
    assert_eq!(
        said,
        format!(
            "locked: the command failed after it had written; {RESOURCE} stays with this session for 30m, run it again to go on\n"
        )
    );
    assert_eq!(stage.state().as_deref(), Some("kept"));
    let said = says(&mut stage.set(2, &["-n"], "B", "1"), 75);
    assert!(said.starts_with(&format!("BLOCKED: {RESOURCE} is held by 01010101 (")), "{said}");
    assert!(
        said.contains("\nwhy:   kept since ") && said.contains("it failed with status 5 after it had written"),
        "{said}"
    );
    silent(&mut stage.set(1, &["-n"], "A", "2"));
    silent(&mut stage.set(2, &["-n"], "B", "1"));
    assert_eq!(stage.receipts(), ["proven"; 3]);
}

#[test]
fn a_second_failure_that_changed_nothing_does_not_give_away_what_the_first_changed() {
    let stage = Stage::new();
    ends(stage.set(1, &[], "A", "1").env("PATH", writes_and_fails(&stage, 5)), 5);
    ends(stage.set(1, &[], "A", "1").env("PATH", stage.stand_in("exit 3")), 3);
    ends(&mut stage.set(2, &["-n"], "B", "1"), 75);
    silent(&mut stage.set(1, &[], "A", "2"));
    silent(&mut stage.set(2, &["-n"], "B", "1"));
}

#[test]
fn a_program_that_dies_by_a_signal_takes_us_along_by_the_same() {
    use std::os::unix::process::ExitStatusExt as _;
    let stage = Stage::new();
    let output = stage.locked(1).args(["-r", "test:x", "sh", "-c", "kill -TERM $$"]).output().expect("runs");
    assert_eq!((output.status.code(), output.status.signal()), (None, Some(15)));
    assert_eq!(stage.state(), None);
}

#[test]
fn what_is_named_by_hand_is_kept_only_when_asked() {
    let stage = Stage::new();
    assert_eq!(says(stage.locked(1).args(["-r", "x:y", "false"]), 1), "");
    assert_eq!(stage.state(), None);
    let said = says(stage.locked(1).args(["--keep", "-r", "x:y", "false"]), 1);
    assert_eq!(said, "locked: the command failed; x:y stays with this session for 5m, run it again to go on\n");
    ends(stage.locked(2).args(["-n", "-r", "x:y", "true"]), 75);
    silent(stage.locked(1).args(["--keep", "-r", "x:y", "true"]));
    assert_eq!(stage.state(), None, "a success is not kept");
    ends(stage.locked(1).env("LOCKED_KEEP", "1").args(["-r", "x:y", "false"]), 1);
    silent(stage.locked(1).args(["release", "x:y"]));
    silent(stage.locked(2).args(["-n", "-r", "x:y", "true"]));
}

#[test]
fn a_program_that_cannot_be_started_holds_nothing() {
    let stage = Stage::new();
    let said = says(stage.locked(1).args(["-r", "x:y", "no-such-program"]), 127);
    assert!(said.contains("no-such-program"), "{said}");
    let directory = stage.world.script("broken", "true");
    std::fs::write(directory.join("broken"), "#!/no/such/interpreter\n").expect("script");
    let said = says(stage.locked(1).args(["-r", "x:y"]).arg(directory.join("broken")), 127);
    assert!(said.starts_with("locked: "), "{said}");
    assert_eq!(stage.state(), None);
}

#[test]
fn the_options_about_waiting_and_speaking_do_what_they_say() {
    let stage = Stage::new();
    let held = stage.hold(1, &["-r", RESOURCE, "--operation", "the big move"]);
    let said = says(&mut stage.set(2, &["-n"], "A", "1"), 75);
    assert!(
        said.starts_with(&format!("BLOCKED: {RESOURCE} is held by ")) && said.contains(", the big move\n"),
        "{said}"
    );
    ends(&mut stage.set(2, &["--no-wait", "--conflict-exit-code", "9"], "A", "1"), 9);
    ends(stage.set(2, &["--wait", "0s"], "A", "1").env("LOCKED_CONFLICT_EXIT_CODE", "10"), 10);
    ends(&mut stage.set(2, &["--wait", "50ms"], "A", "1"), 75);
    ends(stage.set(2, &[], "A", "1").env("LOCKED_NO_WAIT", "1"), 75);
    let quiet = says(&mut stage.set(2, &["-q", "-n"], "A", "1"), 75);
    assert_eq!(quiet, "", "-q says nothing of our own");
    // One line after a second, and the place in the queue in it.
    let said = says(&mut stage.set(2, &["--wait", "1200ms"], "A", "1"), 75);
    let first = said.lines().next().expect("a line");
    assert!(first.starts_with(&format!("locked: waiting 1 s for {RESOURCE}, held by 01010101 (")), "{said}");
    assert!(first.ends_with(", place 1"), "{said}");
    assert_eq!(says(&mut stage.set(2, &["-q", "--wait", "1200ms"], "A", "1"), 75), "");
    held.let_go();
    // A waiter goes as soon as it can, without a word when that took less than a second.
    let dry = silent(stage.locked(2).args(["-N", "sops", "rotate", "-i", FILE]));
    assert!(dry.starts_with("decision: lock\n") && dry.contains(RESOURCE), "{dry}");
    assert_eq!(stage.history().len(), 1, "a dry run runs nothing");
}

#[test]
fn more_is_said_when_asked() {
    let stage = Stage::new();
    let said = says(&mut stage.set(1, &["-v"], "A", "1"), 0);
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with(&format!("locked: holding {RESOURCE} (token ")), "{said}");
    assert!(lines[0].ends_with("): sops set rewrites the file in place"), "{said}");
    assert_eq!(lines[1..], [format!("locked: {RESOURCE} released as completed, one receipt")], "{said}");
    assert_eq!(says(stage.set(1, &[], "A", "2").env("LOCKED_VERBOSE", "yes"), 0).lines().count(), 2);
    assert_eq!(says(stage.set(1, &[], "A", "2").env("LOCKED_VERBOSE", "no"), 0), "");
}

/// The store breaks while the program runs and is mended later: the status is the program's, and the keeper settles.
#[test]
fn a_store_that_fails_at_settling_is_asked_again_by_the_keeper() {
    let stage = Stage::new();
    let held = stage.hold(1, &["-r", RESOURCE]);
    let database = stage.world.state().join("locked.db");
    let good = std::fs::read(&database).expect("database");
    // Renamed over: a file that is empty for a moment would be a new store to the keeper.
    let replace = |content: &[u8]| {
        std::fs::write(stage.world.root().join("other.db"), content).expect("file");
        std::fs::rename(stage.world.root().join("other.db"), &database).expect("renamed");
    };
    replace(&vec![0xA5; good.len()]);
    held.let_go();
    replace(&good);
    super::stage::until("the keeper has settled", || stage.status().is_empty().then_some(()));
    assert_eq!(stage.history()[0]["ended_as"], "completed");
}

#[test]
fn without_the_canary_nothing_is_looked_at() {
    let stage = Stage::new();
    let path = stage.stand_in("sed -i s/FIRST=/OTHER=/ \"$file\"");
    let said = says(stage.set(1, &["--no-canary"], "A", "1").env("PATH", &path), 0);
    assert!(said.contains("--no-canary"), "what was not proven is said: {said}");
    assert_eq!(stage.state(), None);
    assert_eq!(stage.receipts(), ["unverified"]);
}

#[test]
fn two_requests_are_served_in_the_order_they_came() {
    let stage = Stage::new();
    let held = stage.hold(1, &["-r", RESOURCE]);
    let start = |session: u32, waiters: usize| {
        let word = format!("echo {session}");
        let mut command = stage.locked(session);
        command.args(["--wait", "10m", "-r", RESOURCE, "sh", "-c", &format!("{word} >> order")]).stderr(Stdio::null());
        let child = command.spawn().expect("starts");
        super::stage::until("it waits", || (stage.status().first()?["waiters"] == waiters).then_some(()));
        child
    };
    let children = [start(2, 1), start(3, 2), start(4, 3)];
    held.let_go();
    for mut child in children {
        assert!(child.wait().expect("waited").success());
    }
    let order = std::fs::read(stage.world.work().join("order")).expect("order");
    assert_eq!(text(&order), "2\n3\n4\n");
}

/// A stand-in that does this and then takes the store away.
fn takes_the_store_away(stage: &Stage, does: &str) -> std::ffi::OsString {
    let store = stage.world.state().join("locked.db");
    let away = format!("mv '{0}' '{0}.away' && mkdir '{0}'", store.display());
    stage.stand_in(&format!("{does}; {away}"))
}

/// The entry in the spool; not the draft of one.
fn spooled(stage: &Stage) -> Option<std::path::PathBuf> {
    let entries = std::fs::read_dir(stage.world.state().join("spool")).ok()?;
    entries.map(|entry| entry.expect("entry").path()).find(|path| path.extension().is_some_and(|it| it == "json"))
}

/// Runs a write that finds the store down at its end, and puts the store back when the keeper has given up.
fn settled_without_a_store(stage: &Stage, does: &str, status: i32) {
    let path = takes_the_store_away(stage, does);
    let said = says(stage.set(1, &["--ttl", "2s"], "A", "1").env("PATH", path), status);
    assert!(said.contains("could not be released yet"), "{said}");
    until("the keeper has given up", || spooled(stage));
    let store = stage.world.state().join("locked.db");
    std::fs::remove_dir(&store).expect("out of the way");
    std::fs::rename(stage.world.state().join("locked.db.away"), &store).expect("back");
}

#[test]
fn what_could_not_be_settled_while_the_store_was_down_is_settled_by_whoever_finds_it_up() {
    let stage = Stage::new();
    settled_without_a_store(&stage, "\"$real\" \"$@\"", 0);
    assert_eq!(stage.state(), None, "told by the look itself");
    assert_eq!(stage.receipts(), ["proven"], "what was proven then needs no second proof");
    assert_eq!(stage.history()[0]["ended_as"], "completed");
    assert_eq!(std::fs::read_dir(stage.world.state().join("spool")).expect("spool").count(), 0);
    silent(&mut stage.set(2, &["-n"], "B", "1"));
}

#[test]
fn a_file_found_bad_while_the_store_was_down_is_quarantined_by_whoever_finds_it_up() {
    let stage = Stage::new();
    settled_without_a_store(&stage, ": > \"$file\"", 72);
    let said = says(&mut stage.set(2, &["-n"], "B", "1"), 72);
    assert!(said.contains("the file is empty") && said.ends_with(&format!("next:  locked restore {FILE}\n")), "{said}");
    silent(stage.locked(3).args(["restore", FILE]));
    silent(&mut stage.set(2, &["-n"], "B", "1"));
}

#[test]
fn what_somebody_took_over_meanwhile_is_not_settled_a_second_time() {
    let stage = Stage::new();
    settled_without_a_store(&stage, "\"$real\" \"$@\"", 0);
    let entry = spooled(&stage).expect("one");
    let kept = stage.world.root().join("entry.json");
    std::fs::rename(&entry, &kept).expect("hidden");
    // The keeper counts from when it asked, the store from when it answered.
    stage.world.has_expired(RESOURCE);
    silent(&mut stage.set(2, &["-n"], "B", "1"));
    assert_eq!(stage.receipts(), ["recovered", "proven"]);
    std::fs::rename(&kept, &entry).expect("back");
    silent(&mut stage.set(3, &["-n"], "C", "1"));
    assert_eq!(stage.receipts(), ["recovered", "proven", "proven"]);
    // What could not be told in time is told by the next one.
    until("it is told", || {
        silent(stage.world.locked().arg("status"));
        (!entry.exists()).then_some(())
    });
    assert_eq!(stage.receipts(), ["recovered", "proven", "proven"]);
}

#[test]
fn a_bad_file_that_another_machine_could_not_see_is_quarantined_when_that_can_be_told() {
    let stage = Stage::new();
    settled_without_a_store(&stage, ": > \"$file\"", 72);
    let entry = spooled(&stage).expect("one");
    let kept = stage.world.root().join("entry.json");
    std::fs::rename(&entry, &kept).expect("hidden");
    // The keeper counts from when it asked, the store from when it answered.
    stage.world.has_expired(RESOURCE);
    // Seen from another machine the file is elsewhere, and nobody there can prove it.
    stage.world.database().execute("update leases set host = 'elsewhere' where ended_at is null", []).expect("moved");
    silent(stage.locked(2).args(["-n", "-r", RESOURCE, "true"]));
    assert_eq!(stage.state(), None);
    std::fs::rename(&kept, &entry).expect("back");
    let said = says(&mut stage.set(3, &["-n"], "C", "1"), 72);
    assert!(said.contains("the file is empty"), "{said}");
    silent(stage.locked(3).args(["restore", FILE]));
    silent(&mut stage.set(3, &["-n"], "C", "1"));
}
