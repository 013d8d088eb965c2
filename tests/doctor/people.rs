//! Settings, variables, and who one is.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use uuid::Uuid;

use crate::run::stage::{ends, silent};
use crate::world::ends::until;

use super::bed::{Bed, wanted, wrong};

#[test]
fn settings_that_cannot_be_followed_or_do_not_count_are_found() {
    let bed = Bed::new();
    let file = bed.work().join(".locked.toml");
    for (text, (id, level, remedy)) in [
        ("waitt = \"30s\"\n", ("settings.wrong", "fault", "correct that line")),
        ("ttl = \"10m\"\n", ("settings.ignored", "warning", "locked config trust ")),
        ("store = { url = \"postgres://me:hunter2@h/x\" }\n", ("settings.wrong", "fault", "locked config trust ")),
        ("wait = \"60s\"\n", ("settings.untrusted", "note", "locked config trust ")),
    ] {
        fs::write(&file, text).expect("settings");
        bed.finds(&[], (id, level, remedy));
    }
    // One mistake is one finding, in all of the checks.
    fs::write(&file, "waitt = \"30s\"\n").expect("settings");
    let all = bed.findings(&["store", "settings"], &[]);
    assert_eq!(wrong(&all), ["settings.wrong"], "{all:#?}");
    wanted(&bed.findings(&["store"], &[]), ("store.setting", "fault", ""));
    fs::write(&file, "wait = \"60s\"\n").expect("settings");
    silent(bed.stage.world.locked().args(["config", "trust"]));
    assert!(bed.findings(&["settings"], &[]).iter().all(|it| it["level"] == "ok"));
    let git = bed.work().join(".git");
    fs::rename(&git, bed.work().join("git")).expect("away");
    fs::write(&git, "gitdir: /no/such/place\n").expect("broken");
    bed.finds(&[], ("settings.repository", "fault", "git worktree repair"));
}

#[test]
fn variables_that_do_nothing_or_were_left_set_are_found() {
    let bed = Bed::new();
    for (name, value, (id, level, remedy)) in [
        ("LOCKED_BYPASS", "hunter2", ("settings.bypass", "warning", "unset LOCKED_BYPASS")),
        ("LOCKED_SESION", "hunter2", ("settings.variable-unknown", "warning", "LOCKED_SESSION")),
        ("LOKED_STORE", "hunter2", ("settings.variable-unknown", "warning", "LOCKED_STORE")),
        ("LOCKED_HEART_BEAT", "5s", ("settings.variable-unknown", "warning", "LOCKED_HEARTBEAT")),
        ("LOCKED_FORCE", "1", ("settings.variable-idle", "warning", "unset LOCKED_FORCE")),
        ("LOCKED_TTL", "hunter2", ("settings.variable-value", "fault", "unset LOCKED_TTL")),
        ("LOCKED_STORE", "sqlite:/srv/l.db", ("settings.store-left-set", "note", "unset LOCKED_STORE")),
    ] {
        let found = bed.finds(&[(name, value)], (id, level, remedy));
        assert!(found["what"].as_str().expect("text").contains(name), "{found}");
    }
    let fine = [
        ("LOCKED_TTL", "10m"),
        ("LOCKED_LEASE", "x"),
        ("LOCK_FILE", "/x"),
        ("BLOCKED_STORE", "x"),
        ("LOCKED_NO_WAIT", "1"),
    ];
    let found = bed.findings(&["settings"], &fine);
    assert!(wrong(&found).is_empty(), "{found:#?}");
    fs::write(bed.work().join(".locked.toml"), "store = { url_env = \"LEASES\" }\n").expect("settings");
    let two = [("LEASES", "postgres://me:hunter2@192.0.2.1/x"), ("LOCKED_STORE", "embedded")];
    bed.finds(&two, ("settings.store-left-set", "warning", "unset LOCKED_STORE"));
}

#[test]
fn a_session_that_several_share_is_found() {
    let bed = Bed::new();
    bed.finds(&[("LOCKED_SESSION", "claude")], ("session.name", "fault", "export LOCKED_SESSION="));
    let value = Uuid::new_v4().to_string();
    // Two agents: perl is one to whoever looks, and what it starts is its tool.
    let agent = |up: &str| {
        let mut command = bed.stage.world.command("perl");
        let tool = format!("system('sh', '-c', 'echo up > {up}; read line')");
        command.args(["-e", &tool]).env("LOCKED_SESSION", &value).stdin(Stdio::piped());
        command.spawn().expect("perl runs")
    };
    let mut agents = [agent("one"), agent("two")];
    for up in ["one", "two"] {
        until("the agent is up", || fs::read_to_string(bed.work().join(up)).ok().filter(|text| !text.is_empty()));
    }
    let shared = bed.finds(&[("LOCKED_SESSION", &value)], ("session.shared", "warning", "export LOCKED_SESSION=$(cat"));
    assert!(
        shared["what"].as_str().expect("text").starts_with("LOCKED_SESSION names 2 that run at one time: perl ("),
        "{shared}"
    );
    for agent in &mut agents {
        drop(agent.stdin.take());
        agent.wait().expect("it ends");
    }
    let alone = bed.findings(&["session"], &[("LOCKED_SESSION", &value)]);
    assert!(wrong(&alone).is_empty(), "{alone:#?}");
}

/// The ledger knows it too, when they do not run at one time.
#[test]
fn a_session_that_had_several_names_is_found() {
    let bed = Bed::new();
    let value = Uuid::new_v4().to_string();
    let run = |command: &mut Command| ends(command.env("LOCKED_SESSION", &value), 0);
    let locked = env!("CARGO_BIN_EXE_locked");
    run(bed.stage.world.command(locked).args(["-q", "-r", "server:a", "true"]));
    let script = format!("system('{locked}', '-q', '-r', 'server:a', 'true')");
    run(bed.stage.world.command("perl").args(["-e", &script]));
    let found = bed.findings(&["session"], &[]);
    let several = wanted(&found, ("session.several", "warning", "export LOCKED_SESSION="));
    assert!(several["what"].as_str().expect("text").contains("perl@"), "{several}");
}

/// What was sent to the background has no caller any more that would give it a name: that is nobody else.
#[test]
fn a_session_whose_command_ran_in_the_background_is_one() {
    let bed = Bed::new();
    let value = Uuid::new_v4().to_string();
    let locked = env!("CARGO_BIN_EXE_locked");
    ends(bed.stage.world.command(locked).args(["-q", "-r", "server:a", "true"]).env("LOCKED_SESSION", &value), 0);
    let away = format!(
        "(setsid '{locked}' -q -r server:b sh -c 'until [ -e gone ]; do :; done; echo > done' < /dev/null > /dev/null 2>&1 &)"
    );
    ends(bed.stage.world.command("sh").args(["-c", &away]).env("LOCKED_SESSION", &value), 0);
    fs::write(bed.work().join("gone"), "").expect("its shell has gone");
    until("it has ended", || bed.work().join("done").exists().then_some(()));
    let labels = || {
        let past = serde_json::from_slice::<serde_json::Value>(
            &ends(bed.stage.world.command(locked).args(["history", "--json"]), 0).stdout,
        );
        past.expect("JSON").as_array().expect("a list").clone()
    };
    let past = until("it is told", || Some(labels()).filter(|past| past.len() == 2));
    assert!(
        past.iter().any(|row| row["label"].as_str().is_some_and(|label| label.starts_with("unknown@"))),
        "{past:?}"
    );
    let found = bed.findings(&["session"], &[]);
    assert!(found.iter().all(|it| it["id"] != "session.several"), "{found:#?}");
}

/// A shell that was there before the shims may remember where the real program is.
#[test]
fn a_shell_that_is_older_than_the_shims_is_told_to_forget() {
    let bed = Bed::new();
    let mut command = bed.stage.world.command("bash");
    command.env("LOCKED_SHIMS_DIR", bed.shims()).env("LOCKED", env!("CARGO_BIN_EXE_locked")).stdin(Stdio::piped());
    let mut shell = command.stdout(Stdio::piped()).spawn().expect("bash runs");
    fs::write(bed.shims().join(".touched"), "").expect("changed");
    let mut line = shell.stdin.take().expect("stdin");
    line.write_all(b"\"$LOCKED\" doctor path --json\n").expect("typed");
    drop(line);
    let output = shell.wait_with_output().expect("it ends");
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let found = told["findings"].as_array().expect("list");
    wanted(found, ("path.hash", "note", "hash -r"));
}
