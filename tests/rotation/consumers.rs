//! Who else has the secret.
#![forbid(unsafe_code)]

use std::fs;

use super::stage::{APP, N8N, ROTATION, Stage, ends, says, silent, text};

#[test]
fn a_rotation_is_not_completed_before_every_file_with_its_key_is_written() {
    for stage in [Stage::new(), Stage::on_server("consumers")] {
        let release = |words: &[&str]| {
            let mut command = stage.locked(1);
            command.args(["release", ROTATION]).args(words);
            command
        };
        // Written before: that is not under this one.
        silent(&mut stage.writes(1, N8N));
        silent(stage.locked(1).args(["acquire", ROTATION]));
        let said = says(&mut release(&[]), 64);
        assert!(
            said.starts_with(&format!(
                "REFUSED: {ROTATION} is not completed: {APP}, {N8N} have the same key and were not written under it\n"
            )),
            "{said}"
        );
        let next = format!("next:  locked sops edit --input-type dotenv --output-type dotenv {APP}\n");
        assert!(format!("{said}\n").contains(&next), "{said}");
        silent(&mut stage.writes(1, APP));
        // Another one's write is not ours.
        silent(&mut stage.writes(2, N8N));
        let output = ends(&mut release(&["--json"]), 64);
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(answer["consumers"], serde_json::json!([N8N]));
        assert_eq!(stage.status().len(), 1, "it is held on");
        silent(&mut stage.writes(1, N8N));
        silent(&mut release(&[]));
        let last = &stage.history()[0];
        assert_eq!((&last["resource"], &last["ended_as"]), (&ROTATION.into(), &"completed".into()));
        assert!(last["note"].is_null(), "{last}");
    }
}

#[test]
fn a_command_that_forgets_a_consumer_keeps_its_rotation() {
    for stage in Stage::both("a_forgotten_consumer") {
        let locked = env!("CARGO_BIN_EXE_locked");
        let set = |file: &str, types: &str, key: &str| format!("'{locked}' sops set {types} {file} '{key}' '\"new\"'");
        let app = set(APP, "--input-type dotenv --output-type dotenv", "[\"API_KEY\"]");
        let n8n = set(N8N, "", "[\"env\"][0][\"API_KEY\"]");
        let said = says(&mut stage.rotates(1, &[], &app), 0);
        assert!(
            said.starts_with(&format!(
                "locked: {ROTATION} is not completed and stays with this session for 30m: {N8N} has"
            )),
            "{said}"
        );
        assert_eq!((&stage.status()[0]["resource"], &stage.status()[0]["state"]), (&ROTATION.into(), &"kept".into()));
        let said = says(&mut stage.rotates(2, &[], "true"), 75);
        assert!(said.contains("other files have the same key and were not written"), "{said}");
        // Its session goes on, and is done.
        assert_eq!(says(&mut stage.rotates(1, &[], &n8n), 0), "");
        assert_eq!(stage.status().len(), 0);
        assert_eq!(stage.history()[0]["ended_as"], "completed");
        // All at once, or by somebody's word.
        let both = format!("{app} && {n8n}").replace("new", "newer");
        assert_eq!(says(&mut stage.rotates(2, &[], &both), 0), "");
        assert_eq!(says(&mut stage.rotates(2, &["--consumers-ok"], "true"), 0), "");
        let last = &stage.history()[0];
        let left = format!("not written: {APP}, {N8N}");
        assert_eq!((&last["ended_as"], &last["note"]), (&"completed".into(), &left.into()), "somebody's word is noted");
        // What failed is not completed anyhow.
        assert_eq!(says(&mut stage.rotates(2, &[], "exit 3"), 3), "");
        assert_eq!(stage.status().len(), 0);
    }
}

/// What people paste is one word of a shell and no option; what programs read is the name itself.
#[test]
fn odd_names_of_consumers_can_be_pasted_and_read() {
    let stage = Stage::new();
    stage.world.encrypted("secrets/-dash.env.sops", "ODD=1\n", "dotenv");
    stage.world.encrypted("secrets/a b.yaml", "ODD: 1\n", "yaml");
    stage.world.git(&stage.world.work(), &["add", "-A"]);
    let below = stage.world.work().join("secrets");
    silent(stage.locked(1).args(["acquire", "rotation:ODD"]));
    let release = |words: &[&str]| {
        let mut command = stage.locked(1);
        command.args(["release", "rotation:ODD"]).args(words).current_dir(&below);
        ends(&mut command, 64)
    };
    let said = text(&release(&[]).stderr);
    assert!(said.starts_with("REFUSED: rotation:ODD is not completed: ./-dash.env.sops, 'a b.yaml' have"), "{said}");
    let line = said.lines().find_map(|line| line.strip_prefix("next:  ")).expect("a line").to_owned();
    assert_eq!(line, "locked sops edit --input-type dotenv --output-type dotenv ./-dash.env.sops");
    let answer: serde_json::Value = serde_json::from_slice(&release(&["--json"]).stdout).expect("JSON");
    assert_eq!(answer, serde_json::json!({"refused": "rotation:ODD", "consumers": ["-dash.env.sops", "a b.yaml"]}));
    // The line does what it says.
    let line = line.replacen("locked", &format!("'{}'", env!("CARGO_BIN_EXE_locked")), 1);
    let mut shell = stage.world.command("sh");
    shell.args(["-c", &line]).current_dir(&below).env("LOCKED_SESSION", crate::world::board::uuid(1));
    ends(shell.env("EDITOR", "sed -i s/1/2/"), 0);
    let said = text(&release(&[]).stderr);
    assert!(said.contains("next:  locked sops edit 'a b.yaml'\n"), "{said}");
}

#[test]
fn a_step_of_a_rotation_that_was_acquired_is_not_its_end() {
    for stage in Stage::both("a_step") {
        silent(stage.locked(1).args(["acquire", ROTATION]));
        assert_eq!(says(&mut stage.rotates(1, &[], "true"), 0), "");
        silent(&mut stage.writes(1, APP));
        assert_eq!(says(&mut stage.rotates(1, &[], "true"), 0), "");
        silent(&mut stage.writes(1, N8N));
        assert_eq!(stage.status()[0]["explicit"], true);
        // What was written before the last step counts as well.
        let output = ends(stage.locked(1).args(["release", ROTATION]), 0);
        assert_eq!(text(&output.stderr), "");
    }
}

#[test]
fn only_keys_of_sops_files_that_git_keeps_are_consumers() {
    let stage = Stage::new();
    // A key with a longer name, a value that says the name, plaintext, and a file that git does not keep.
    stage.world.encrypted("secrets/new.env", "NOTES=1\n", "dotenv");
    for (secret, files) in [("API_KEY_2", "secrets/other.json"), ("OTHER", APP)] {
        let rotation = format!("rotation:{secret}");
        silent(stage.locked(1).args(["acquire", &rotation]));
        let said = says(stage.locked(1).args(["release", &rotation]), 64);
        assert!(said.contains(&format!("is not completed: {files} has the same key")), "{said}");
        silent(stage.locked(1).args(["release", &rotation, "--as", "failed"]));
    }
    for secret in ["NOTES", "NOWHERE", "sops", "env", "KEY"] {
        let rotation = format!("rotation:{secret}");
        silent(stage.locked(1).args(["acquire", &rotation]));
        if secret == "env" {
            // A key above others is a key.
            says(stage.locked(1).args(["release", &rotation]), 64);
            continue;
        }
        silent(stage.locked(1).args(["release", &rotation]));
    }
}

/// Nobody has said that it is done: a session's end does not either.
#[test]
fn the_end_of_a_session_completes_no_rotation_whose_files_were_not_written() {
    for stage in Stage::both("the_end_completes_none") {
        let end = |words: &[&str]| {
            let mut command = stage.locked(1);
            command.args(words).args(["session", "end"]);
            command
        };
        silent(stage.locked(1).args(["acquire", ROTATION, "server:z"]));
        let said = says(&mut end(&[]), 64);
        let what = format!("REFUSED: {ROTATION} is not completed: {APP}, {N8N} have the same key");
        assert!(said.starts_with(&what), "{said}");
        assert_eq!(stage.status().len(), 2, "nothing was released");
        silent(&mut end(&["--consumers-ok"]));
        let ended = |stage: &Stage| {
            let past = stage.history().into_iter().find(|it| it["resource"] == ROTATION).expect("ended");
            format!("{}: {}", past["ended_as"], past["note"])
        };
        assert_eq!(ended(&stage), format!("\"completed\": \"not written: {APP}, {N8N}\""));
        // From elsewhere nobody can look.
        silent(stage.locked(1).args(["acquire", ROTATION]));
        silent(end(&[]).current_dir(stage.world.root()));
        assert_eq!(ended(&stage), "\"failed\": \"its session ended elsewhere: its files were not looked at\"");
        // An agent that goes has nobody who could be told.
        let mut acquire = stage.locked(1);
        silent(
            acquire.env_remove("LOCKED_SESSION").env("CLAUDE_CODE_SESSION_ID", "gone-1").args(["acquire", ROTATION]),
        );
        let call = stage.world.root().join("call.json");
        let work = stage.world.work().display().to_string();
        let input = serde_json::json!({"hook_event_name": "SessionEnd", "session_id": "gone-1", "cwd": work});
        std::fs::write(&call, input.to_string()).expect("a call");
        let mut hook = stage.locked(1);
        hook.env_remove("LOCKED_SESSION").args(["agents", "check", "claude"]);
        ends(hook.stdin(std::fs::File::open(&call).expect("a call")), 0);
        assert_eq!(ended(&stage), format!("\"failed\": \"not written: {APP}, {N8N}\""));
        assert_eq!(stage.status().len(), 0);
        // Written, it is completed.
        silent(stage.locked(1).args(["acquire", ROTATION]));
        for file in [APP, N8N] {
            silent(&mut stage.writes(1, file));
        }
        silent(&mut end(&[]));
        assert_eq!(ended(&stage), "\"completed\": null");
    }
}

/// What the store has still after it was given back is not given back again.
#[test]
fn the_end_of_a_session_comes_to_an_end_where_files_are_not_proven() {
    for stage in Stage::both("the_end_ends") {
        silent(stage.locked(1).args(["acquire", "server:a", "server:b"]));
        stage.owes();
        silent(stage.locked(1).args(["acquire", "server:c"]));
        silent(stage.locked(1).args(["release", "server:b"]));
        for again in [false, true] {
            let said = silent(stage.locked(1).args(["session", "end", "-n"]));
            let stays = |name: &str| {
                let why =
                    "its holder is done; files that another one left are not proven: who takes it next proves them";
                format!("{name} stays: {why}\n")
            };
            let first = if again { "" } else { "released server:c\n" };
            let expected =
                format!("{first}{}{}this session was not on the board\n", stays("server:b"), stays("server:a"));
            assert_eq!(said, expected);
        }
        // Another host's files are proven there: who takes it here owes them on.
        silent(stage.locked(2).args(["acquire", "server:a", "server:c"]));
        silent(stage.locked(2).args(["release", "server:a", "server:c"]));
        let left: Vec<_> = stage.status().iter().map(|it| it["resource"].clone()).collect();
        assert_eq!(left, ["server:a", "server:b"]);
    }
}

/// Both have a new value under the rotation, and then this happens.
fn written_and_then(stage: &Stage, session: u32, then: impl FnOnce()) -> String {
    silent(stage.locked(session).args(["acquire", ROTATION]));
    silent(&mut stage.writes(session, APP));
    silent(&mut stage.writes(session, N8N));
    then();
    let said = text(&stage.locked(session).args(["release", ROTATION]).output().expect("it runs").stderr);
    if !said.is_empty() {
        silent(stage.locked(session).args(["release", ROTATION, "--as", "failed"]));
    }
    said
}

#[track_caller]
fn names(said: &str, files: &str) {
    let (have, were) = if files.contains(", ") { ("have", "were") } else { ("has", "was") };
    let what = format!("{ROTATION} is not completed: {files} {have} the same key and {were} not written under it\n");
    assert!(said.starts_with(&format!("REFUSED: {what}")), "{said}");
}

#[test]
fn a_write_that_was_taken_back_or_written_over_is_none() {
    for stage in Stage::both("taken_back") {
        let work = stage.world.work();
        assert_eq!(written_and_then(&stage, 1, || {}), "");
        let over = || {
            silent(&mut stage.writes(2, APP));
        };
        names(&written_and_then(&stage, 3, over), APP);
        // The same value once more is no new one.
        names(&written_and_then(&stage, 2, || {}), APP);
        stage.world.git(&work, &["commit", "-qam", "new"]);
        let back = || {
            stage.world.git(&work, &["checkout", "-q", "HEAD", "--", N8N]);
        };
        names(&written_and_then(&stage, 4, back), N8N);
    }
}

#[test]
fn another_key_of_a_file_may_be_written_by_anybody_and_is_no_new_value() {
    for stage in Stage::both("another_key") {
        let other = |session: u32| {
            let mut command = stage.locked(session);
            command.args(["sops", "set", "--input-type", "dotenv", "--output-type", "dotenv", APP, "[\"OTHER\"]"]);
            silent(command.arg(format!("\"by {session}\"")));
        };
        silent(stage.locked(1).args(["acquire", ROTATION]));
        silent(&mut stage.writes(1, N8N));
        other(1);
        names(&says(stage.locked(1).args(["release", ROTATION]), 64), APP);
        // The value is the new one still where somebody writes another key behind us.
        silent(&mut stage.writes(1, APP));
        other(1);
        other(2);
        silent(stage.locked(1).args(["release", ROTATION]));
        assert_eq!(stage.history()[0]["ended_as"], "completed");
    }
}

#[test]
fn what_git_keeps_and_the_work_tree_has_not_is_a_consumer() {
    for stage in Stage::both("not_in_the_tree") {
        let work = stage.world.work();
        let release = || says(stage.locked(1).args(["release", ROTATION]), 64);
        silent(stage.locked(1).args(["acquire", ROTATION]));
        silent(&mut stage.writes(1, APP));
        fs::remove_file(work.join(N8N)).expect("removed");
        let said = release();
        names(&said, N8N);
        let next = format!("next:  git checkout --ignore-skip-worktree-bits -- {N8N}");
        assert!(said.contains(&next), "{said}");
        stage.world.git(&work, &["checkout", "-q", "--", N8N]);
        stage.world.git(&work, &["mv", N8N, "n8n.yaml"]);
        stage.world.git(&work, &["commit", "-q", "-m", "moved", "--", N8N, "n8n.yaml"]);
        fs::create_dir_all(work.join("apps")).expect("a directory");
        stage.world.git(&work, &["mv", "n8n.yaml", "apps/n8n.yaml"]);
        stage.world.git(&work, &["commit", "-q", "-m", "moved", "-a"]);
        stage.world.git(&work, &["sparse-checkout", "set", "secrets"]);
        assert!(!work.join("apps").exists(), "left out");
        names(&release(), "apps/n8n.yaml");
        // What is not kept any more is none.
        stage.world.git(&work, &["sparse-checkout", "disable"]);
        stage.world.git(&work, &["rm", "-q", "-f", "apps/n8n.yaml"]);
        silent(stage.locked(1).args(["release", ROTATION]));
    }
}

#[test]
fn a_large_file_is_a_consumer_and_what_cannot_be_read_is_not_taken_for_none() {
    for stage in Stage::both("a_large_file") {
        let work = stage.world.work();
        let content = format!("API_KEY=old\nBULK={}\n", "x".repeat(1_500_000));
        stage.world.encrypted("secrets/large.env.sops", &content, "dotenv");
        assert!(fs::metadata(work.join("secrets/large.env.sops")).expect("file").len() > 1_900_000);
        // Large, and no SOPS file.
        fs::write(work.join("secrets/dump.sql"), "API_KEY sops\n".repeat(200_000) + &"y".repeat(300_000))
            .expect("dump");
        stage.world.git(&work, &["add", "-A"]);
        stage.world.git(&work, &["commit", "-q", "-m", "large"]);
        silent(stage.locked(1).args(["acquire", ROTATION]));
        silent(&mut stage.writes(1, APP));
        silent(&mut stage.writes(1, N8N));
        let release = || says(stage.locked(1).args(["release", ROTATION]), 64);
        names(&release(), "secrets/large.env.sops");
        // Its metadata are there, and it can be read as nothing.
        let broken = format!("API_KEY: ENC[AES256_GCM,data:x\n\t- [{}\nsops:\n    mac: x\n", "]");
        fs::write(work.join("secrets/large.env.sops"), broken).expect("broken");
        let said = release();
        assert!(said.contains("not completed: not every file was looked at (secrets/large.env.sops"), "{said}");
        assert!(said.contains(&format!("next:  locked release {ROTATION} --consumers-ok")), "{said}");
        silent(stage.locked(1).args(["release", ROTATION, "--consumers-ok"]));
        let note = stage.history()[0]["note"].to_string();
        assert!(note.contains("not every file was looked at: "), "{note}");
    }
}

/// A command that has done its part of it is kept for the rest, and its session's end says so.
#[test]
fn the_end_of_a_session_does_not_free_a_rotation_that_waits_for_its_consumers() {
    for stage in Stage::both("the_end_frees_none") {
        let end = |words: &[&str]| {
            let mut command = stage.locked(1);
            command.args(words).args(["session", "end"]);
            command
        };
        says(&mut stage.rotates(1, &[], "true"), 0);
        names(&says(&mut end(&[]), 64), &format!("{APP}, {N8N}"));
        assert_eq!(stage.status()[0]["state"], "kept");
        silent(&mut end(&["--consumers-ok"]));
        let is_noted = |ended: &str| {
            let last = &stage.history()[0];
            let note = last["note"].as_str().expect("a note");
            assert!(last["ended_as"] == ended && note.starts_with(&format!("not written: {APP}, {N8N}")), "{last}");
        };
        is_noted("completed");
        // Written by then, it is completed; what is kept after a failure is not.
        says(&mut stage.rotates(1, &[], "true"), 0);
        silent(&mut stage.writes(1, APP));
        silent(&mut stage.writes(1, N8N));
        silent(&mut end(&[]));
        assert_eq!(stage.history()[0]["ended_as"], "completed");
        says(&mut stage.rotates(1, &["--keep"], "exit 3"), 3);
        silent(&mut end(&[]));
        assert_eq!(stage.history()[0]["ended_as"], "failed");
        // An agent that goes has nobody who could be told: the ledger is.
        let agent = |command: &mut std::process::Command| {
            command.env_remove("LOCKED_SESSION").env("CLAUDE_CODE_SESSION_ID", "gone-2");
        };
        let mut rotates = stage.rotates(1, &[], "true");
        agent(&mut rotates);
        says(&mut rotates, 0);
        let call = stage.world.root().join("call.json");
        let work = stage.world.work().display().to_string();
        let input = serde_json::json!({"hook_event_name": "SessionEnd", "session_id": "gone-2", "cwd": work});
        fs::write(&call, input.to_string()).expect("a call");
        let mut hook = stage.locked(1);
        agent(&mut hook);
        ends(hook.args(["agents", "check", "claude"]).stdin(fs::File::open(&call).expect("a call")), 0);
        is_noted("failed");
        assert_eq!(stage.status().len(), 0);
    }
}

/// What runs by force is told by its own writes, and by those that were forced for it.
#[test]
fn a_rotation_by_force_is_not_completed_while_others_have_the_old_value() {
    let stage = Stage::new();
    let file = stage.world.state().join("locked.db");
    let away = file.with_extension("away");
    let locked = env!("CARGO_BIN_EXE_locked");
    let force = "--force --reason inc-43";
    let set =
        |file: &str, types: &str, key: &str| format!("'{locked}' {force} sops set {types} {file} '{key}' '\"new\"'");
    let app = set(APP, "--input-type dotenv --output-type dotenv", "[\"API_KEY\"]");
    let n8n = set(N8N, "", "[\"env\"][0][\"API_KEY\"]");
    for (options, script, ended, note) in [
        (&[][..], "true", "failed", format!("forced: inc-43; not written: {APP}, {N8N}")),
        (&["--consumers-ok"], "true", "completed", format!("forced: inc-43; not written: {APP}, {N8N}")),
        (&[], &app, "failed", format!("forced: inc-43; not written: {N8N}")),
        (&[], &format!("{app} && {n8n}").replace("new", "newer"), "completed", "forced: inc-43".to_owned()),
    ] {
        fs::rename(&file, &away).ok();
        fs::create_dir(&file).expect("in the way");
        let said = says(&mut stage.rotates(2, &[&["--force", "--reason", "inc-43"], options].concat(), script), 0);
        let is_told = said.contains(&format!("{ROTATION} is not completed, and the ledger will say so: "));
        assert_eq!(is_told, ended == "failed", "{said}");
        fs::remove_dir(&file).expect("out of the way");
        fs::rename(&away, &file).ok();
        ends(stage.locked(3).args(["-r", "server:x", "true"]), 0);
        let row = stage.history().into_iter().find(|row| row["resource"] == ROTATION).expect("recorded");
        assert_eq!((&row["ended_as"], &row["note"]), (&ended.into(), &note.clone().into()), "{row}");
    }
}
