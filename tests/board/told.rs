//! What is told of a hold that is asked about from an odd place: from below one's own command, from outside of its repository,
//! in another session's name; and which commands its history names.
#![forbid(unsafe_code)]

use serde_json::Value;

use crate::rotation::stage::{APP, ROTATION, Stage};
use crate::run::stage::{ends, json, says, silent, text};
use crate::world::board::uuid;
use crate::world::held::Held;

/// The verb for this resource, as run from below `locked -r RESOURCE sh`: its status, and what it said.
fn below(stage: &Stage, outer: &str, line: &str) -> (i32, String) {
    let mut command = stage.locked(1);
    command.args(["-r", outer, "sh", "-c", &format!("{line}; echo \"$?\"")]).env("me", env!("CARGO_BIN_EXE_locked"));
    let output = ends(&mut command, 0);
    let status = text(&output.stdout).lines().last().and_then(|line| line.parse().ok());
    (status.expect("a status"), text(&output.stderr))
}

#[test]
fn what_the_command_above_holds_is_renewed_by_it_and_neither_acquired_nor_released() {
    for stage in Stage::both("below_one_s_own") {
        assert_eq!(below(&stage, "server:x", "\"$me\" renew server:x"), (0, String::new()), "its keeper renews it");
        // With what rests beside it, all the same.
        silent(stage.locked(1).args(["acquire", "server:y", "--ttl", "10m"]));
        assert_eq!(below(&stage, "server:x", "\"$me\" renew server:x server:y >/dev/null"), (0, String::new()));
        let (status, said) = below(&stage, "server:x", "\"$me\" renew server:x server:none");
        assert!(status == 77 && said.contains("holds no lease of server:none"), "{said}");
        let held = "server:x is held by the command that this runs under, sh\n";
        let last = "\nretry: no, not from below that command\nnext:  locked check server:x\n";
        for (line, why) in [
            (
                "acquire server:x",
                "what runs below it goes on with its lease, and need not acquire it; nothing was acquired",
            ),
            ("acquire server:x server:z --wait 5s", "what runs below it goes on with its lease, and need not"),
            ("release server:x", "it is given back when that command ends, and not under it; nothing was released"),
            ("release server:x server:y", "it is given back when that command ends, and not under it"),
        ] {
            // Also below another command that stands between.
            for inner in [format!("\"$me\" {line}"), format!("\"$me\" -r server:between \"$me\" {line}")] {
                let (status, said) = below(&stage, "server:x", &inner);
                let expected = format!("REFUSED: {held}why:   {why}");
                assert!(status == 75 && said.starts_with(&expected) && said.ends_with(last), "{inner}: {said}");
            }
        }
        assert_eq!(below(&stage, "server:x", "\"$me\" check server:x"), (0, String::new()), "the next step is one");
        assert_eq!(stage.status().len(), 1, "{:?}", stage.status());
        // Beside it, from another command of the session.
        let runs = Held::start(stage.locked(1).args(["-r", "server:x", "sh", "-c", "echo on; cat"]));
        silent(stage.locked(1).args(["renew", "server:x"]));
        let said = says(stage.locked(1).args(["release", "server:x"]), 75);
        assert!(
            said.starts_with("REFUSED: server:x is held by a running command of this session, sh\nwhy:   a lease"),
            "{said}"
        );
        assert!(said.ends_with("retry: yes, when it has ended\nnext:  locked release server:x\n"), "{said}");
        says(stage.locked(2).args(["release", "server:x"]), 77);
        runs.let_go();
    }
}

#[test]
fn a_name_that_is_held_in_another_repository_is_not_said_to_be_lost() {
    for stage in Stage::both("the_other_scope") {
        silent(stage.locked(1).args(["acquire", ROTATION, "server:a"]));
        let scope = stage.status()[0]["scope"].as_str().expect("a scope").to_owned();
        for verb in ["release", "renew", "check"] {
            let said = says(stage.locked(1).args([verb, ROTATION]).current_dir(stage.world.root()), 77);
            let what =
                format!("REFUSED: {ROTATION} is this session's in {scope}, and from here the name means another one");
            assert!(said.starts_with(&what) && !said.contains("do not write"), "{verb}: {said}");
            assert!(said.ends_with(&format!("next:  change to a checkout of {scope}, and say it again\n")), "{said}");
        }
        // Nor where another one, that nobody has, is named before it.
        let both = ["release", "server:none", ROTATION];
        let said = says(stage.locked(1).args(both).current_dir(stage.world.root()), 77);
        assert!(said.starts_with(&format!("REFUSED: {ROTATION} is this session's in {scope}")), "{said}");
        // What is the same everywhere is released from everywhere; nobody else is told anything.
        silent(stage.locked(1).args(["release", "server:a"]).current_dir(stage.world.root()));
        let said = says(stage.locked(2).args(["release", ROTATION]).current_dir(stage.world.root()), 77);
        assert!(said.contains("(02020202) holds no lease of"), "{said}");
        ends(stage.locked(1).args(["release", ROTATION, "--as", "failed"]), 0);
    }
}

#[test]
fn who_releases_in_another_s_name_is_in_the_history() {
    for stage in Stage::both("in_another_s_name") {
        let note = |resource: &str| {
            let past: Vec<Value> = json(stage.locked(9).args(["history", resource, "--json"]));
            past[0]["note"].as_str().unwrap_or_default().to_owned()
        };
        let whole = uuid(1);
        for (resource, words) in
            [("server:a", &["release", "server:a", "--note", "agreed"][..]), ("server:b", &["session", "end"])]
        {
            silent(stage.locked(1).args(["acquire", resource]));
            ends(stage.locked(2).args(["--session", &whole]).args(words), 0);
            let said = note(resource);
            assert!(said.contains("released by 02020202 (") && said.ends_with(") with --session"), "{words:?}: {said}");
            assert!(!said.contains(&whole), "{said}");
        }
        assert!(note("server:a").starts_with("agreed; released by "), "{}", note("server:a"));
        // One's own name, in whatever way it is said.
        silent(stage.locked(1).args(["acquire", "server:c"]));
        silent(stage.locked(1).args(["--session", &whole, "release", "server:c"]));
        assert_eq!(note("server:c"), "");
    }
}

#[test]
fn the_history_of_a_hold_names_the_commands_that_it_had() {
    for stage in Stage::both("commands_of_a_hold") {
        silent(stage.locked(1).args(["acquire", "sops:app", "--operation", "new keys"]));
        silent(&mut stage.writes(1, APP));
        silent(stage.locked(1).args(["-r", "sops:app", "true"]));
        assert_eq!(stage.status()[0]["operation"], "new keys", "it shows as the hold that it is");
        says(stage.locked(1).args(["--keep", "-r", "sops:app", "false"]), 1);
        ends(stage.locked(1).args(["release", "sops:app", "--note", "all done"]), 0);
        let past: Vec<Value> = json(stage.locked(9).args(["history", "sops:app", "--json"]));
        let rows: Vec<(&str, &str)> = past
            .iter()
            .map(|row| (row["operation"].as_str().expect("text"), row["note"].as_str().unwrap_or_default()))
            .collect();
        let ran = format!("ran sops set {APP}; adopted by its session");
        assert_eq!(
            rows[1..],
            [
                ("new keys", "ran true; adopted by its session"),
                ("new keys", ran.as_str()),
                ("new keys", "adopted by its session"),
            ]
        );
        assert!(rows[0].0 == "false" && rows[0].1.starts_with("all done; it failed"), "{rows:?}");
    }
}

/// A command that failed and changed nothing leaves the hold as it was: for as long, and by its own name.
#[test]
fn a_hold_is_as_before_after_a_failure_that_changed_nothing() {
    for stage in Stage::both("hold_as_before") {
        silent(stage.locked(1).args(["acquire", "sops:app", "--ttl", "20s", "--operation", "new keys"]));
        let set = ["sops", "set", "--input-type", "dotenv", "--output-type", "dotenv", APP, "no path", "1"];
        let status = stage.locked(1).args(set).output().expect("it runs").status;
        assert!(!status.success());
        let lease = &stage.status()[0];
        let told = (&lease["state"], &lease["operation"], &lease["explicit"]);
        assert_eq!(told, (&"held".into(), &"new keys".into(), &true.into()), "{lease}");
        assert!(lease["expires_in_ms"].as_u64().is_some_and(|left| left <= 20_000), "{lease}");
    }
}

#[test]
fn what_is_said_of_how_long_it_stays_is_what_the_board_shows() {
    for stage in Stage::both("how_long_it_stays") {
        silent(stage.locked(1).args(["acquire", "server:x", "--ttl", "59m"]));
        let said = says(stage.locked(1).args(["--keep", "-r", "server:x", "-r", "server:y", "false"]), 1);
        // What is left of it, which may be a second less by then.
        let told = said.split("server:x stays with this session for ").nth(1).and_then(|rest| rest.split(',').next());
        let told = told.and_then(|told| locked::terms::parse_duration(told).ok()).expect("a time").as_secs();
        assert_eq!(told.div_ceil(60), 59, "{said}");
        assert!(said.contains("server:y stays with this session for 5m,"), "{said}");
        let board = stage.status();
        let left = |name: &str| {
            let lease = board.iter().find(|lease| lease["resource"] == name).expect("held");
            lease["expires_in_ms"].as_u64().expect("a time").div_ceil(60_000)
        };
        assert_eq!((left("server:x"), left("server:y")), (59, 5));
    }
}

/// A refusal in another session's name is followed in that name.
#[test]
fn the_next_line_acts_for_the_session_that_was_named() {
    for stage in Stage::both("next_in_the_name") {
        let whole = uuid(1);
        let held = Held::start(stage.locked(1).args(["-r", "server:x", "sh", "-c", "echo up; cat"]));
        let cases: [(&[&str], String); 2] = [
            (&["release", "server:x"], format!("next:  locked --session {whole} release server:x\n")),
            (&["session", "end", "-n"], format!("next:  locked --session {whole} session end --wait 10m\n")),
        ];
        for (words, next) in cases {
            let before = says(stage.locked(2).args(["--session", &whole]).args(words), 75);
            assert!(before.ends_with(&next), "{before}");
            let behind = says(stage.locked(2).args(words).args(["--session", &whole]), 75);
            assert_eq!(before, behind, "it may stand behind the verb");
            let own = says(stage.locked(1).args(words), 75);
            assert!(!own.contains("--session"), "{own}");
        }
        held.let_go();
        silent(stage.locked(1).args(["acquire", ROTATION]));
        let said = says(stage.locked(2).args(["session", "end", "--session", &whole]), 64);
        assert!(
            said.contains("--consumers-ok") && said.contains(&format!("next:  locked --session {whole} ")),
            "{said}"
        );
        ends(stage.locked(2).args(["session", "end", "--session", &whole, "--consumers-ok"]), 0);
        assert_eq!(stage.status().len(), 0);
    }
}

/// Whoever names what others hold means that very one, and is not shown another of the same name as free.
#[test]
fn what_others_hold_in_another_repository_is_not_said_to_be_free() {
    for stage in Stage::both("held_elsewhere_by_others") {
        silent(stage.locked(1).args(["acquire", ROTATION]));
        let scope = stage.status()[0]["scope"].as_str().expect("a scope").to_owned();
        let from_outside = |words: &[&str], status: i32, whose: &str| {
            let said = says(stage.locked(2).args(words).current_dir(stage.world.root()), status);
            let what = format!("REFUSED: {ROTATION} {whose}");
            assert!(said.starts_with(&what), "{words:?}: {said}");
            assert!(said.contains(&format!("in {scope}, and from here the name means another one")), "{said}");
        };
        from_outside(&["steal", ROTATION, "--reason", "gone", "--approved-by", "Maria"], 64, "is held by 01010101 (");
        from_outside(&["status", "--ping", ROTATION], 64, "is held by 01010101 (");
        assert_eq!(stage.status()[0]["holder"], "01010101");
        silent(stage.locked(1).args(["release", ROTATION, "--as", "human-action", "--note", "Maria: revoke it"]));
        from_outside(&["release", ROTATION, "--duty"], 64, "was left to a person");
        silent(stage.locked(2).args(["release", ROTATION, "--duty"]));
    }
}
