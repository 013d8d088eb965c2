//! The store and the state directory, with what is wrong planted there.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use crate::run::stage::{ends, silent};
use crate::world::apart::{first_that_runs, this_test};
use crate::world::ends::left_out;

use super::bed::{Bed, findings, mode, wanted};

#[test]
fn a_store_that_cannot_be_had_is_found_and_its_address_not_shown() {
    let bed = Bed::new();
    let store = |address: &str| bed.findings(&["store"], &[("LOCKED_STORE", address)]);
    let silent = store("postgres://me:hunter2@127.0.0.1:1/x?connect_timeout=1");
    wanted(&silent, ("store.reachable", "fault", "check host and port"));
    wanted(&store("mysql://me:hunter2@db/x"), ("store.setting", "fault", "postgres://"));
    let garbage = bed.stage.world.state().join("garbage.db");
    fs::write(&garbage, "no database".repeat(1000)).expect("file");
    mode(&garbage, 0o600);
    wanted(&store(&format!("sqlite:{}", garbage.display())), ("store.damaged", "fault", "move "));
    let plain = store("postgres://me:hunter2@192.0.2.1:1/x?connect_timeout=1&sslmode=disable");
    wanted(&plain, ("store.tls", "warning", "sslmode=verify-full"));
    bed.stage.world.git(&bed.work(), &["config", "core.pager", "cat"]);
    fs::write(bed.work().join(".locked.toml"), "store = { url_env = \"NO_SUCH_URL\" }\n").expect("settings");
    bed.finds(&[], ("store.setting", "fault", "set NO_SUCH_URL to the store's address, postgres://"));
}

#[test]
fn checkouts_that_look_at_two_stores_are_found() {
    let bed = Bed::with_receipt();
    let other = bed.stage.world.root().join("other");
    bed.stage.world.git(&bed.work(), &["worktree", "add", "-q", "-b", "side", &other.display().to_string()]);
    assert!(bed.findings(&["checkouts"], &[]).iter().all(|it| it["level"] == "ok"));
    let elsewhere = format!("sqlite:{}", bed.stage.world.state().join("second.db").display());
    let noted = bed.finds(&[("LOCKED_STORE", &elsewhere)], ("checkouts.last-store", "warning", "same store"));
    assert!(noted["what"].as_str().expect("text").contains("locked.db"), "{noted}");
    fs::write(other.join(".locked.toml"), format!("store = {{ url = \"{elsewhere}\" }}\n")).expect("settings");
    let trust = bed.stage.world.root().display().to_string();
    let trust = format!("{trust}/work:{trust}/other");
    let found = bed.finds(&[("LOCKED_TRUST", &trust)], ("checkouts.other-store", "fault", "locked config show store"));
    assert!(found["what"].as_str().expect("text").contains("/other"), "{found}");
}

#[test]
fn a_state_directory_that_others_may_read_is_found_and_closed() {
    let bed = Bed::with_receipt();
    let state = bed.stage.world.state();
    for (bits, level) in [(0o755, "warning"), (0o777, "fault")] {
        mode(&state, bits);
        mode(&state.join("copies"), 0o750);
        let found = bed.finds(&[], ("state.modes", level, "chmod -R go= "));
        assert_eq!(found["fixable"], true);
        let fixed = bed.finds_fixed("state.modes");
        assert_eq!(fixed["fix"], "took the rights of group and others away");
        assert_eq!(fs::metadata(&state).expect("state").permissions().mode() & 0o777, 0o700);
        assert!(bed.findings(&["state"], &[]).iter().all(|it| it["level"] == "ok"));
    }
    // What is not ours is not for us to close.
    let home = bed.home().display().to_string();
    mode(&bed.home(), 0o777);
    let wrong = bed.finds(&[("LOCKED_STATE_DIR", &home)], ("state.modes", "fault", "set LOCKED_STATE_DIR"));
    assert_eq!(wrong["fixable"], false);
    fs::rename(&state, bed.stage.world.root().join("moved")).expect("moved");
    std::os::unix::fs::symlink(bed.stage.world.root().join("moved"), &state).expect("link");
    bed.finds(&[], ("state.directory", "fault", "LOCKED_STATE_DIR"));
}

/// A place where the first lease could not make it is a fault now, not then; and looking makes nothing.
#[test]
fn a_state_directory_that_cannot_be_made_is_found() {
    let bed = Bed::new();
    let at = |name: &str| bed.stage.world.root().join(name);
    fs::write(at("file"), "").expect("file");
    std::os::unix::fs::symlink("nowhere", at("link")).expect("link");
    let names = || fs::read_dir(bed.stage.world.root()).expect("root").count();
    let before = names();
    for (path, why) in [
        (at("file"), "file"),
        (at("file").join("below"), "file"),
        (at("link"), "link"),
        (at("link").join("below/and/below"), "leads nowhere"),
        ("/proc/locked/state".into(), "/proc: "),
        ("/sys/locked".into(), "/sys: "),
    ] {
        let path = path.to_str().expect("UTF-8");
        let found = bed.findings(&["state", "store"], &[("LOCKED_STATE_DIR", path)]);
        let one = wanted(&found, ("state.directory", "fault", "set LOCKED_STATE_DIR to a directory of your own"));
        assert!(one["what"].as_str().expect("text").contains(why) || why == "file", "{one:#}");
        wanted(&found, ("store.place", "fault", "LOCKED_STATE_DIR"));
        let base = bed.findings(&["state"], &[("LOCKED_STATE_DIR", ""), ("XDG_STATE_HOME", path)]);
        wanted(&base, ("state.directory", "fault", "LOCKED_STATE_DIR"));
    }
    assert_eq!(names(), before, "nothing is made to find out");
    let fine = bed.findings(&["state", "store"], &[("LOCKED_STATE_DIR", at("new/and/newer").to_str().expect("UTF-8"))]);
    assert!(fine.iter().all(|it| it["level"] == "ok"), "{fine:#?}");
    assert_eq!(names(), before);
}

/// Whatever the store is, looking at it makes nothing that stays; and what its first lease would meet is found.
#[test]
fn looking_makes_no_store() {
    let bed = Bed::new();
    let at = |name: &str| bed.stage.world.root().join(name).display().to_string();
    fs::write(at("file"), "").expect("file");
    fs::remove_dir(bed.stage.world.state()).expect("state");
    let names = |of: &str| fs::read_dir(at(of)).expect("directory").count();
    let before = (names("."), names("tmp"));
    for (store, level, remedy) in [
        ("embedded".to_owned(), "ok", ""),
        (format!("sqlite:{}", at("new/store.db")), "ok", ""),
        (format!("sqlite:{}", at("file/store.db")), "fault", "name the store's file in a directory of your own"),
        ("sqlite:store.db".to_owned(), "fault", "name the store's file in a directory of your own"),
        ("postgres://127.0.0.1:1/x?connect_timeout=1".to_owned(), "fault", "check host and port"),
    ] {
        let found = bed.findings(&["store", "state", "spool", "leases", "files"], &[("LOCKED_STORE", &store)]);
        let one = found.iter().find(|it| it["check"] == "store").expect("the store");
        assert_eq!(one["level"], level, "{store}: {one:#}");
        assert!(one["remedy"].as_str().unwrap_or_default().contains(remedy), "{store}: {one:#}");
        assert_eq!((names("."), names("tmp")), before, "{store}");
    }
}

/// Without `/proc` nobody could tell a lease from an expired one: that is found before the first one is refused.
#[test]
fn a_machine_that_does_not_name_its_boots_is_found() {
    let bed = Bed::new();
    let apart = ["unshare", "--mount", "sh", "-c"];
    if first_that_runs(&[&["unshare", "--mount", "true"]]).is_none() {
        left_out(this_test!(), "this user may make no mounts of its own");
        return;
    }
    let mut doctor = bed.doctor(&[]);
    let script = format!("umount -l /proc && exec '{}' doctor store --json", env!("CARGO_BIN_EXE_locked"));
    let mut shell = bed.stage.world.command(apart[0]);
    shell.args(&apart[1..]).arg(script);
    for (name, value) in doctor.env("X", "1").get_envs() {
        shell.env(name, value.unwrap_or_default());
    }
    wanted(&findings(&mut shell), ("store.place", "fault", "mount -t proc proc /proc"));
    assert_eq!(fs::read_dir(bed.stage.world.state()).expect("state").count(), 0);
}

#[test]
fn what_dead_commands_left_is_found_and_swept_but_no_proof() {
    let bed = Bed::with_receipt();
    let live = bed.stage.world.state().join("live");
    fs::create_dir_all(&live).expect("live");
    mode(&live, 0o700);
    #[allow(clippy::disallowed_methods, reason = "a file's own time is of the wall clock")]
    let then = std::time::SystemTime::now() - Duration::from_secs(3600);
    for number in 1..=3 {
        let path = live.join(format!("{number:08x}-0000-4000-8000-000000000000"));
        fs::write(&path, "1 1").expect("file");
        mode(&path, 0o600);
        fs::File::options().write(true).open(path).expect("file").set_modified(then).expect("time");
    }
    let found = bed.finds(&[], ("state.litter", "note", "locked doctor --fix state"));
    assert!(found["what"].as_str().expect("text").starts_with("3 live files"), "{found}");
    assert_eq!(bed.finds_fixed("state.litter")["fix"], "removed 3");
    assert_eq!(fs::read_dir(&live).expect("live").count(), 0);
}

#[test]
fn what_the_store_has_not_heard_is_found_and_told() {
    let bed = Bed::with_receipt();
    let state = bed.stage.world.state();
    let (store, away) = (state.join("locked.db"), state.join("away.db"));
    fs::rename(&store, &away).expect("away");
    fs::create_dir(&store).expect("in the way");
    let words = ["--force", "--reason", "night fix", "-r", "server:a", "true"];
    ends(bed.stage.world.locked().args(words), 0);
    fs::remove_dir(&store).expect("out of the way");
    fs::rename(&away, &store).expect("back");
    let found = bed.finds(&[], ("spool.waiting", "warning", "locked doctor --fix spool"));
    assert!(found["what"].as_str().expect("text").contains("1 of commands that ran without a lease"), "{found}");
    // What is for this store no other may hear of, and no --fix promises to tell it.
    let other = format!("sqlite:{}", state.join("other.db").display());
    silent(bed.stage.world.locked_as(1).args(["-q", "-r", "server:b", "true"]).env("LOCKED_STORE", &other));
    let elsewhere = bed.finds(&[("LOCKED_STORE", &other)], ("spool.elsewhere", "warning", "with that store set"));
    assert!(
        elsewhere["fixable"] == false && elsewhere["remedy"].as_str().expect("text").contains("rm "),
        "{elsewhere}"
    );
    assert_eq!(bed.finds_fixed("spool.waiting")["fix"], "told the store of 1");
    let told = bed.finds(&[], ("spool.told", "note", "locked history"));
    assert!(told["what"].as_str().expect("text").contains(" 1 runs by --force and 0 by LOCKED_BYPASS"), "{told}");
    fs::write(state.join("spool/x.json"), "{").expect("garbage");
    bed.finds(&[], ("spool.unreadable", "warning", "spool/*.json"));
}

#[test]
fn leases_that_nobody_works_under_are_found() {
    let bed = Bed::with_receipt();
    let acquire = |name: &str| silent(bed.stage.world.locked_as(1).args(["acquire", name]));
    for name in ["server:expired", "server:held"] {
        acquire(name);
    }
    bed.stage
        .world
        .database()
        .execute("update leases set expires_ms = 0 where name = 'server:expired'", [])
        .expect("expired");
    let breaks = bed.stage.world.script("sops", ": > secrets/monitoring.env.sops");
    let mut set = bed.stage.set(1, &[], "SECOND", "hunter2");
    ends(set.env("PATH", crate::run::stage::in_front(&breaks)), 72);
    ends(bed.stage.world.locked_as(1).args(["-q", "--keep", "-r", "server:forgotten", "false"]), 1);
    ends(bed.stage.world.locked_as(1).args(["-q", "--keep", "-r", "server:kept-just-now", "false"]), 1);
    let older = "update leases set renewed_at = renewed_at - 7200000 where name = 'server:forgotten'";
    bed.stage.world.database().execute(older, []).expect("two hours older");
    let found = bed.findings(&["leases"], &[]);
    wanted(&found, ("leases.kept", "warning", "in that session `locked release server:forgotten`"));
    wanted(&found, ("leases.expired", "warning", "in that session `locked release server:expired`"));
    // What is said mends it.
    ends(bed.stage.world.locked_as(1).args(["release", "server:expired"]), 0);
    assert!(bed.findings(&["leases"], &[]).iter().all(|it| it["id"] != "leases.expired"));
    wanted(&found, ("leases.quarantined", "fault", "locked restore secrets/monitoring.env.sops"));
    let told = format!("{found:?}");
    assert!(!told.contains("server:held") && !told.contains("server:kept"), "{found:#?}");
}
