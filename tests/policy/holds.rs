//! `hold_for`: what a command has set off goes on elsewhere, and the lease stays for that long.
#![forbid(unsafe_code)]

use super::stage::{RESOURCE, Stage, ends, says, text};

const SYNC: &str = "workflow:secrets-sync";

fn rule(hold_for: &str) -> String {
    format!("name = 'own'\nprogram = 'trigger'\nresource = ['{SYNC}']\nelsewhere = true\nhold_for = '{hold_for}'")
}

fn stage() -> Stage {
    let stage = Stage::with("exit 0");
    stage.add("trigger", "exit 0");
    stage
}

#[test]
fn it_stays_with_its_session_and_others_are_told_why() {
    let stage = stage();
    let trigger = |session: u32| {
        let mut command = stage.locked(session, &rule("1h"));
        command.args(["-n", "trigger"]);
        command
    };
    assert_eq!(says(&mut trigger(1), 0), "", "all went well");
    let lease = stage.lease().expect("kept");
    assert_eq!((&lease["state"], &lease["takeable"]), (&"remote".into(), &false.into()), "{lease}");
    let left = lease["expires_in_ms"].as_u64().expect("ms");
    assert!((1_800_000..=3_600_000).contains(&left), "{left}");
    let refusal = says(&mut trigger(2), 75);
    let lines: Vec<&str> = refusal.lines().collect();
    assert_eq!(lines.len(), 4, "{refusal}");
    assert!(
        lines[1].contains(
            "; secrets-sync was triggered and may still be running; that run started before your change and does \
             not carry it, place 1 in the queue, free by "
        ),
        "{refusal}"
    );
    // To the same session it is said as well: its second trigger is a double sync too.
    assert_eq!(says(&mut trigger(1), 75), refusal);
    assert_eq!(stage.lease().expect("held")["expires_in_ms"].as_u64().map(|ms| ms <= left), Some(true));
}

#[test]
fn it_does_not_end_with_its_session() {
    let stage = stage();
    ends(stage.locked(1, &rule("1h")).arg("trigger"), 0);
    let said = text(&ends(stage.world.locked_as(1).args(["session", "end"]), 0).stdout);
    assert!(said.starts_with(&format!("{SYNC} stays: something of it may still be running")), "{said}");
    assert_eq!(stage.lease().expect("it stays")["state"], "remote");
}

#[test]
fn it_is_free_when_the_time_has_passed() {
    let stage = stage();
    ends(stage.locked(1, &rule("1s")).arg("trigger"), 0);
    stage.world.has_expired(SYNC);
    let board = text(&ends(stage.world.locked_as(1).arg("status"), 0).stdout);
    let row = board.lines().find(|line| line.starts_with(SYNC)).expect("its row");
    assert!(row.contains("expired") && row.contains(" s ago "), "{board}");
    assert_eq!(says(stage.locked(1, &rule("1s")).args(["-n", "trigger"]), 0), "", "its own session too");
    stage.world.has_expired(SYNC);
    assert_eq!(says(stage.locked(2, &rule("1s")).args(["-n", "trigger"]), 0), "");
}

#[test]
fn what_a_session_holds_by_its_own_word_goes_on_with_it() {
    let stage = stage();
    ends(stage.locked(1, &rule("1h")).args(["acquire", SYNC]), 0);
    ends(stage.locked(1, &rule("1h")).args(["-n", "trigger"]), 0);
    assert_eq!(stage.lease().expect("kept")["state"], "kept");
    ends(stage.locked(1, &rule("1h")).args(["release", SYNC]), 0);
    assert_eq!(stage.lease(), None);
}

#[test]
fn only_the_voice_says_it_and_only_the_rule_s_own_stays() {
    let stage = stage();
    let said = says(stage.locked(1, &rule("1h")).args(["-v", "-r", RESOURCE, "trigger"]), 0);
    assert!(said.contains(&format!("{SYNC} held against everybody for 1h, this session too")), "{said}");
    assert!(said.contains(&format!("{RESOURCE} released as completed")), "{said}");
    assert_eq!(stage.lease().expect("one alone")["resource"], SYNC);
    assert_eq!(stage.endings(), ["completed"]);
}

#[test]
fn a_failure_is_kept_as_a_failure() {
    let stage = stage();
    stage.add("trigger", "exit 4");
    let said = says(stage.locked(1, &rule("1h")).arg("trigger"), 4);
    assert!(said.starts_with(&format!("locked: the command failed; {SYNC} stays with this session for 5m")), "{said}");
}

#[test]
fn the_report_says_that_it_is_kept_and_why() {
    let stage = stage();
    let output = ends(stage.locked(1, &rule("1h")).args(["--report", "r.json", "trigger"]), 0);
    assert_eq!(text(&output.stderr), "");
    let told = std::fs::read_to_string(stage.world.work().join("r.json")).expect("written");
    let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!(told["ended"], "kept", "{told}");
    assert_eq!(told["reason"], "secrets-sync was triggered and may still be running", "{told}");
}

#[test]
fn a_store_that_keeps_nothing_is_refused_before_the_command_runs() {
    let stage = stage();
    stage.add("trigger", "touch ran");
    let mut command = stage.locked(1, &rule("1h"));
    // Nobody is there to be asked, and nobody is.
    command.args(["--advisory", "--store", "postgres://127.0.0.1:9/none", "trigger"]);
    let said = says(&mut command, 78);
    assert!(said.contains(&format!("and {SYNC}, which stays for a while after success, needs one")), "{said}");
    assert!(!stage.world.work().join("ran").exists());
}

#[test]
fn the_ready_rule_for_gh_does_so_for_two_minutes() {
    let stage = stage();
    stage.add("gh", "exit 0");
    let trigger = |session: u32| {
        let mut command = stage.locked(session, &rule("1h"));
        command.args(["-n", "gh", "workflow", "run", "secrets-sync.yml"]);
        command
    };
    assert_eq!(says(&mut trigger(1), 0), "");
    let lease = stage.lease().expect("kept");
    let left = lease["expires_in_ms"].as_u64().expect("ms");
    assert!((60_000..=120_000).contains(&left), "{lease}");
    let refusal = says(&mut trigger(2), 75);
    assert!(refusal.contains("that run started before your change and does not carry it"), "{refusal}");
}
