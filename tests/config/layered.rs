//! Who has the last word, and what `config show` says of it.
#![forbid(unsafe_code)]

use std::process::Command;

use serde_json::Value;

use crate::run::stage::{DOTENV, FILE, RESOURCE, Stage, ends, json, says, silent, text};

use super::{config, leased, repository, user};

/// The value and the source of a key, as `config show --json` has them.
fn shown(command: &mut Command, key: &str) -> (Value, String) {
    let answer: Value = json(command.arg("--json"));
    let row = &answer["settings"][key];
    (row["value"].clone(), row["from"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn the_later_word_counts_from_the_built_in_to_the_option() {
    let stage = Stage::new();
    let home = user(&stage, "wait = \"1s\"\nttl = \"20m\"\n");
    repository(&stage, "wait = \"40s\"\n");
    let at = |path: &str, line| format!("\"{path}\" line {line}");
    let work = std::fs::canonicalize(stage.world.work()).expect("work");
    let (of_user, of_repository) = (home.join("locked/config.toml"), work.join(".locked.toml"));
    let show = |words: &[&str]| {
        let mut command = stage.world.locked();
        command.args(words).args(["config", "show"]).env("XDG_CONFIG_HOME", &home);
        command
    };
    assert_eq!(shown(&mut show(&[]), "ttl"), ("20m".into(), at(&of_user.display().to_string(), 2)));
    assert_eq!(shown(&mut show(&[]), "wait"), ("40s".into(), at(&of_repository.display().to_string(), 1)));
    assert_eq!(shown(&mut show(&[]), "grace"), ("10s".into(), "built in".to_owned()));
    assert_eq!(shown(show(&[]).env("LOCKED_WAIT", "2s"), "wait"), ("2s".into(), "LOCKED_WAIT".to_owned()));
    assert_eq!(shown(show(&["--wait", "3s"]).env("LOCKED_WAIT", "2s"), "wait"), ("3s".into(), "--wait".to_owned()));
    assert_eq!(shown(show(&["-n"]).env("LOCKED_WAIT", "2s"), "wait"), ("0s".into(), "--no-wait".to_owned()));
    assert_eq!(shown(show(&[]).env("LOCKED_NO_CANARY", "1"), "canary"), (false.into(), "LOCKED_NO_CANARY".to_owned()));
    assert_eq!(shown(show(&[]).env("LOCKED_TTL", "30s"), "ttl"), ("30s".into(), "LOCKED_TTL".to_owned()));
    assert_eq!(shown(show(&[]).env("LOCKED_TTL", "30s"), "heartbeat"), ("5s".into(), "built in".to_owned()));
}

#[test]
fn what_is_shown_is_toml_that_sets_the_same() {
    let stage = Stage::new();
    let settings = "wait = \"7s\"\nttl = \"11m\"\nunknown_base = \"refuse\"\ncanary = false\n[session]\nenv = [\"A\", \"B\"]\n\
         [hosts]\nprod = \"web-1.example.org\"\n[gh]\nworkflows = [\"a \\\"b\\\"\"]\nfollow = true\n[ssh]\nask = true\n";
    let home = user(&stage, settings);
    let said = silent(config(&stage, &["show"]).env("XDG_CONFIG_HOME", &home));
    for line in ["wait = \"7s\"  # ", "canary = false  # ", "session.env = [\"A\", \"B\"]  # ", "# [[rule]]: 0"] {
        assert!(said.contains(line), "{line}: {said}");
    }
    let again = user(&stage, &said);
    let values =
        |said: &str| said.lines().map(|line| line.split("  # ").next().expect("a part").to_owned()).collect::<Vec<_>>();
    assert_eq!(values(&silent(config(&stage, &["show"]).env("XDG_CONFIG_HOME", again))), values(&said));
}

#[test]
fn one_key_or_one_table_can_be_asked_for() {
    let stage = Stage::new();
    repository(&stage, "wait = \"40s\"\nttl = \"1m\"\n");
    let said = silent(&mut config(&stage, &["show", "wait"]));
    assert!(said.starts_with("wait = \"40s\"  # ") && !said.contains("ttl"), "{said}");
    let said = silent(&mut config(&stage, &["show", "ttl"]));
    assert!(said.starts_with("ttl = \"30m\"  # built in\n# ttl in ") && said.contains("does not count"), "{said}");
    let said = silent(&mut config(&stage, &["show", "gh"]));
    assert!(said.contains("gh.follow = false") && said.contains("gh.hold_for") && !said.contains("wait"), "{said}");
    let said = says(&mut config(&stage, &["show", "hartbeat"]), 64);
    assert!(said.contains("next:  locked config show heartbeat"), "{said}");
}

#[test]
fn an_address_is_shown_without_its_password() {
    let stage = Stage::new();
    let home = user(
        &stage,
        "store = { url = \"postgres://zoe:hunter2@db.example.org/leases\", via = \"ssh://u:hunter2@gate\" }",
    );
    for json in [&[][..], &["--json"]] {
        let mut show = config(&stage, &[&["show"], json].concat());
        let said = silent(show.env("XDG_CONFIG_HOME", &home));
        assert!(said.contains("the database leases at db.example.org:5432") && said.contains("gate"), "{said}");
        assert!(!said.contains("hunter2") && !said.contains("zoe"), "{said}");
        let said = silent(show.env("LOCKED_STORE", "postgres://zoe:hunter2@other.example.org/x"));
        assert!(
            said.contains("other.example.org") && said.contains("LOCKED_STORE") && !said.contains("hunter2"),
            "{said}"
        );
    }
    repository(&stage, "store = { url_env = \"SOME_SECRET\" }");
    let said = silent(config(&stage, &["show", "store"]).env("SOME_SECRET", "hunter2"));
    assert!(said.contains("SOME_SECRET") && !said.contains("hunter2"), "{said}");
}

#[test]
fn the_ttl_of_a_file_is_the_lease_s_and_an_option_s_is_stronger() {
    let stage = Stage::new();
    let home = user(&stage, "ttl = \"4m\"\nheartbeat = \"30s\"\n");
    let ttl = |command: &mut Command| -> Value {
        let answer: Value = json(command.env("XDG_CONFIG_HOME", &home));
        answer["ttl_ms"].clone()
    };
    let explain = |options: &[&str]| {
        let mut command = stage.locked(1);
        command
            .args(options)
            .args(["explain", "--json", "--", "sops", "set"])
            .args(DOTENV)
            .args([FILE, "[\"A\"]", "\"1\""]);
        command
    };
    assert_eq!(ttl(&mut explain(&[])), 240_000);
    assert_eq!(ttl(explain(&[]).env("LOCKED_TTL", "3m")), 180_000);
    // The heartbeat was meant for the file's TTL: it does not fit, and follows from this one.
    assert_eq!(ttl(&mut explain(&["--ttl", "30s"])), 30_000);
    silent(leased(&stage, &["--ttl", "30s"], "true").env("XDG_CONFIG_HOME", &home));
    let status: Value = {
        silent(stage.locked(1).args(["acquire", RESOURCE]).env("XDG_CONFIG_HOME", &home));
        json(stage.locked(1).args(["status", "--json"]))
    };
    let left = status[0]["expires_in_ms"].as_u64().expect("a time");
    assert!(left <= 240_000, "{left}");
}

#[test]
fn times_of_files_that_do_not_fit_are_refused_with_their_lines_and_options_with_64() {
    let stage = Stage::new();
    let home = user(&stage, "ttl = \"1m\"\n\nheartbeat = \"5m\"\n");
    let said = says(leased(&stage, &[], "echo ran > ran").env("XDG_CONFIG_HOME", &home), 78);
    assert!(said.contains("config.toml\" line 1, ") && said.contains("config.toml\" line 3"), "{said}");
    says(leased(&stage, &["--ttl", "1m", "--heartbeat", "5m"], "echo ran > ran").env("XDG_CONFIG_HOME", &home), 64);
    says(leased(&stage, &["--grace", "5m"], "echo ran > ran").env("XDG_CONFIG_HOME", &home), 64);
    assert!(!stage.world.work().join("ran").exists());
    says(config(&stage, &["show"]).env("XDG_CONFIG_HOME", &home), 78);
}

#[test]
fn the_wait_of_a_file_is_waited_and_minus_n_does_not_wait() {
    let stage = Stage::new();
    let home = user(&stage, "wait = \"10m\"\n");
    let held = stage.hold(2, &["-r", "server:web-1"]);
    // A wait of ten minutes would run into the limit of every test.
    ends(leased(&stage, &["-n"], "true").env("XDG_CONFIG_HOME", &home), 75);
    ends(leased(&stage, &[], "true").env("XDG_CONFIG_HOME", &home).env("LOCKED_WAIT", "1ms"), 75);
    let short = user(&stage, "wait = \"1ms\"\n");
    ends(leased(&stage, &[], "true").env("XDG_CONFIG_HOME", &short), 75);
    ends(stage.locked(1).args(["acquire", "server:web-1"]).env("XDG_CONFIG_HOME", &short), 75);
    held.let_go();
}

#[test]
fn a_canary_that_the_user_has_switched_off_does_not_look() {
    let stage = Stage::new();
    let home = user(&stage, "canary = false\n");
    let with = stage.stand_in(": > \"$file\"");
    ends(stage.set(1, &[], "A", "1").env("PATH", &with).env("XDG_CONFIG_HOME", &home), 0);
    assert_eq!(stage.content(), b"");
}

#[test]
fn a_failed_program_s_lease_is_kept_as_long_as_the_settings_say() {
    let stage = Stage::new();
    let home = user(&stage, "keep_for = \"9m\"\n");
    let output = ends(leased(&stage, &["--keep"], "exit 3").env("XDG_CONFIG_HOME", &home), 3);
    assert!(text(&output.stderr).contains("for 9m"), "{}", text(&output.stderr));
}

#[test]
fn an_open_edit_is_kept_as_long_as_the_settings_say() {
    let stage = Stage::new();
    let home = user(&stage, "max_hold = \"9m\"\n");
    let with = |words: &[&str]| {
        let mut command = stage.locked(1);
        command.args(words).args(DOTENV).args(["-i", FILE]).env("XDG_CONFIG_HOME", &home);
        command
    };
    let left = || stage.status()[0]["expires_in_ms"].as_u64().expect("a time");
    ends(&mut with(&["sops", "decrypt"]), 0);
    assert!(left() <= 540_000, "{}", left());
    ends(&mut with(&["sops", "encrypt"]), 0);
    assert!(stage.status().is_empty());
}

/// The room of settings tells them, the rooms that go by them have them: they are the same.
#[test]
fn the_ready_values_are_those_of_the_rooms_that_go_by_them() {
    use locked::config::{Key, Settings, Value};
    let settings = Settings::default();
    for (key, ready) in [
        (Key::Ttl, locked::terms::Times::READY_TTL),
        (Key::KeepFor, locked::settle::KEEP_FOR),
        (Key::MaxHold, locked::settle::MAX_HOLD),
    ] {
        assert_eq!(settings.length_or_ready(key), ready);
        assert_eq!(key.ready(), Some(Value::Length(ready)));
    }
}
