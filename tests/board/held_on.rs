//! What is kept alive is one hold: told from another of the same name, from what its commands left, and from its session's
//! own doings; and renewed from wherever the store is named.
#![forbid(unsafe_code)]

use std::fs;

use rustix::process::Signal;
use serde_json::Value;

use super::kept::{Agent, has_left, is_renewed_for, keeper_of, lease};
use crate::rotation::stage::{APP, N8N, Stage};
use crate::run::stage::{DOTENV, ends, json, says, silent, text, uuid};
use crate::world::apart::{PIDS, USER_PIDS, first_that_runs, this_test};
use crate::world::cluster;
use crate::world::ends::{left_out, so};
use crate::world::held::Held;
use crate::world::processes::{lives, signal};
use crate::world::real_sops;

/// The keeper works in another directory than the one that the address and the variables were meant from.
#[test]
fn files_of_an_address_may_be_relative() {
    let stage = Stage::on_server("kept_from_here");
    let server = cluster::shared();
    let (socket, port) = (server.socket().display(), server.port());
    let service = format!("[here]\nhost={socket}\nport={port}\nuser=postgres\ndbname=kept_from_here\n");
    fs::write(stage.world.work().join("services.conf"), service).expect("written");
    let mut agent = Agent::new(&stage);
    let way = "LOCKED_STORE='postgres:///?service=here' PGSERVICEFILE=services.conf";
    let said = agent.runs(&format!("{way} \"$me\" acquire server:a --keep-alive --ttl 1s"));
    assert!(said.contains("renewed in the background"), "{said}");
    is_renewed_for(&stage, "server:a", 1_100);
}

/// Its session has lost it to a thief, elsewhere, and holds one of the same name again, elsewhere.
#[test]
fn another_hold_of_the_same_name_is_not_its_own_in_the_embedded_store() {
    another_hold(&Stage::new());
}

#[test]
fn another_hold_of_the_same_name_is_not_its_own_on_a_server() {
    another_hold(&Stage::on_server("another_hold"));
}

fn another_hold(stage: &Stage) {
    let mut agent = Agent::of(stage, 1);
    let keeper = agent.keeps("server:a --ttl 2s");
    signal(keeper, Signal::STOP);
    // As from another machine: nobody there knows of the keeper.
    let posts = stage.world.state().join("keep");
    let away = stage.world.state().join("kept-elsewhere");
    fs::rename(&posts, &away).expect("away");
    silent(stage.locked(2).args(["steal", "server:a", "--reason", "it hangs", "--approved-by", "Maria"]));
    ends(stage.locked(2).args(["release", "server:a"]), 0);
    let told = says(stage.locked(1).args(["acquire", "server:a", "--ttl", "10m"]), 0);
    assert!(told.ends_with("took it away: it hangs (approved by Maria)\n"), "{told}");
    let _none_usually = fs::remove_dir_all(&posts);
    fs::rename(&away, &posts).expect("back");
    let before = lease(stage, "server:a").expect("held");
    signal(keeper, Signal::CONT);
    has_left(keeper);
    let after = lease(stage, "server:a").expect("neither released nor taken");
    for same in ["token", "renewed_at", "state", "holder"] {
        assert_eq!(before[same], after[same], "{same}");
    }
    assert!(after["expires_in_ms"].as_i64().expect("ms") > 60_000, "nor shortened: {after}");
}

/// A command left it kept: nobody has given it back by its own word, and what was begun may go on.
#[test]
fn what_a_command_left_is_left_to_its_time_when_the_agent_ends() {
    for stage in Stage::both("left_to_its_time") {
        let mut agent = Agent::new(&stage);
        let keeper = agent.keeps("server:k server:e --ttl 2s");
        agent.runs("\"$me\" --keep -r server:k false");
        let left = |name: &str| lease(&stage, name).expect("kept")["expires_in_ms"].as_i64().expect("ms");
        assert!(left("server:k") > 60_000, "keep_for");
        is_renewed_for(&stage, "server:e", 1_100);
        assert!(left("server:k") > 60_000, "a renew by a shorter TTL takes nothing away");
        agent.is_killed();
        has_left(keeper);
        assert_eq!(lease(&stage, "server:e"), None, "what was held by its own word is given back");
        let kept = lease(&stage, "server:k").expect("it stays");
        assert_eq!((&kept["state"], &kept["kept_alive_by"]), (&"kept".into(), &Value::Null), "{kept}");
        assert!(left("server:k") > 60_000);
    }
}

/// A failure that changed nothing is nothing that could be gone on with: it keeps nobody out when nobody is there any more.
/// Where an earlier command of the session had changed the file it is left to its time.
#[test]
fn a_failure_that_changed_nothing_is_given_back_when_the_agent_ends() {
    for stage in Stage::both("nothing_changed") {
        let mut agent = Agent::new(&stage);
        let keeper = agent.keeps("sops:app sops:n8n --ttl 10m");
        let state =
            |name: &str| lease(&stage, name).map(|lease| (lease["state"].to_string(), lease["reason"].to_string()));
        let then_fails = stage.world.script("sops", &format!("'{}' \"$@\"; exit 3", real_sops().display()));
        let wrote = format!("PATH='{}':\"$PATH\" \"$me\" sops set {N8N} '[\"new\"]' '\"x\"'", then_fails.display());
        agent.runs(&wrote);
        assert!(state("sops:n8n").expect("kept").1.contains("after it had written"), "{:?}", state("sops:n8n"));
        for failing in [format!("{} {APP}", DOTENV.join(" ")), N8N.to_owned()] {
            agent.runs(&format!("\"$me\" sops set {failing} '[\"new\"]' 'no JSON'"));
        }
        assert_eq!(state("sops:app").expect("held").0, "\"held\"", "it is the hold again");
        let (kept, reason) = state("sops:n8n").expect("kept");
        assert!(kept == "\"kept\"" && reason.contains("after it had written"), "{kept}: {reason}");
        agent.is_killed();
        has_left(keeper);
        assert_eq!(state("sops:app"), None, "nobody is kept out");
        let past: Vec<Value> = json(stage.locked(9).args(["history", "sops:app", "--json"]));
        let note = past[0]["note"].as_str().expect("a note");
        assert!(note.starts_with("its session's process ended: perl") && note.contains("; ran sops set"), "{note}");
        assert_eq!(state("sops:n8n").expect("it stays").0, "\"kept\"");
    }
}

#[test]
fn beats_are_no_sign_of_the_session() {
    for stage in Stage::both("no_sign") {
        let mut agent = Agent::of(&stage, 1);
        ends(stage.locked(1).args(["session", "begin", "--name", "PWA"]), 0);
        agent.keeps("server:a --ttl 1s");
        let heard = || {
            let list: Vec<Value> = json(stage.locked(2).args(["session", "list", "--json"]));
            let own = list.iter().find(|entry| entry["name"] == "PWA").expect("listed");
            own["idle_ms"].as_i64().expect("ms")
        };
        is_renewed_for(&stage, "server:a", 1_500);
        assert!(heard() >= 1_400, "nothing was heard of it: {}", heard());
        let idle = lease(&stage, "server:a").expect("held")["idle_ms"].as_i64().expect("ms");
        assert!(idle >= 1_400, "nor does the lease look busy: {idle}");
    }
}

#[test]
fn who_is_in_the_way_of_what_is_kept_alive_is_told_no_time() {
    let stage = Stage::new();
    let mut agent = Agent::of(&stage, 1);
    agent.keeps("server:a --ttl 2s");
    let said = says(stage.locked(2).args(["acquire", "server:a", "-n"]), 75);
    assert!(said.contains(", renewed in the background while its session lives, for 2 h at most\n"), "{said}");
    assert!(said.contains("\nretry: yes, when its session releases it or ends\n"), "{said}");
    let said = says(stage.locked(2).args(["-n", "-r", "server:a", "true"]), 75);
    assert!(said.contains("renewed in the background"), "{said}");
    agent.locked("release server:a");
    silent(stage.locked(1).args(["acquire", "server:a"]));
    let said = says(stage.locked(2).args(["acquire", "server:a", "-n"]), 75);
    assert!(said.contains(" unless its session renews it\n") && !said.contains("at the latest"), "{said}");
}

#[test]
fn what_nobody_was_told_of_is_given_back() {
    let stage = Stage::new();
    let mut agent = Agent::of(&stage, 1);
    for words in ["acquire server:a", "acquire server:a --keep-alive", "acquire server:a --json"] {
        let said = agent.runs(&format!("\"$me\" {words} >/dev/full; echo $?"));
        assert!(said.contains("locked: server:a is given back, since nobody was told of it"), "{words}: {said}");
        assert!(said.ends_with("\n70\n"), "{words}: {said}");
        assert_eq!(stage.status().len(), 0, "{words}");
    }
    silent(stage.locked(1).args(["acquire", "server:a"]));
    let said = agent.runs("\"$me\" acquire server:a server:b >/dev/full; echo $?");
    assert!(said.contains("server:b is given back") && said.contains("server:a is held as before"), "{said}");
    assert_eq!(stage.status().len(), 1);
    silent(stage.locked(2).args(["acquire", "server:c"]));
    let said = agent.runs("\"$me\" steal server:c --reason x --approved-by Maria >/dev/full; echo $?");
    assert!(said.contains("server:c is given back"), "{said}");
    assert_eq!(lease(&stage, "server:c"), None);
    let said = agent.runs("\"$me\" session begin --name PWA >/dev/full; echo $?");
    assert!(said.contains("PWA has begun all the same") && said.ends_with("\n70\n"), "{said}");
}

/// This session stands in line for these, as `acquire` does; it has begun to.
pub(super) fn in_line(stage: &Stage, session: u32, names: &[&str]) -> Held {
    let mut command = stage.world.command("sh");
    let model = stage.locked(session);
    command.envs(model.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.args(["-c", "echo begun; exec \"$me\" acquire \"$@\" --wait 60s >/dev/null", "sh"]).args(names);
    let held = Held::start(command.env("me", env!("CARGO_BIN_EXE_locked")));
    let short = uuid(session)[..8].to_owned();
    so("it is seen in line", || {
        let waiting: Vec<Value> = json(stage.locked(9).args(["status", "--waiting", "--json"]));
        waiting.iter().any(|it| it["holder"] == *short)
    });
    held
}

/// Two stand in line, one of them for what nobody holds.
#[test]
fn the_line_is_seen_with_whom_each_waits_for() {
    for stage in Stage::both("the_line") {
        assert_eq!(silent(stage.locked(9).args(["status", "--waiting"])), "nobody stands in line\n");
        assert_eq!(silent(stage.locked(9).args(["status", "--waiting", "--json"])), "[]\n");
        silent(stage.locked(1).args(["acquire", "server:1"]));
        let first = in_line(&stage, 3, &["server:1", "server:2"]);
        let second = in_line(&stage, 4, &["server:2"]);
        let shown = silent(stage.locked(9).arg("status"));
        assert!(shown.ends_with(&silent(stage.locked(9).args(["status", "--waiting"]))), "{shown}");
        let line = |shown: &str, of: &str| shown.lines().find(|it| it.starts_with(of)).expect("listed").to_owned();
        let head: Vec<_> = line(&shown, "WAITING").split_whitespace().map(str::to_owned).collect();
        assert_eq!(head, ["WAITING", "PLACE", "SINCE", "FOR", "BEHIND"]);
        let cells = |of: &str| line(&shown, of).split("  ").map(|it| it.trim().to_owned()).collect::<Vec<_>>();
        let cells = |of: &str| cells(of).into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>();
        let (third, fourth) = (cells("03030303"), cells("04040404"));
        assert_eq!((&*third[1], &*third[3]), ("1", "server:1 server:2"), "{shown}");
        assert_eq!((&*fourth[1], &*fourth[3]), ("2", "server:2"), "{shown}");
        for since in [&third[2], &fourth[2]] {
            assert!(since.len() == 8 && since.split(':').all(|part| part.parse::<u8>().is_ok()), "{shown}");
        }
        assert!(third[4].starts_with("01010101 (") && third[4].ends_with("), who holds server:1"), "{shown}");
        assert!(fourth[4].starts_with("03030303 (") && fourth[4].ends_with("), who asked first"), "{shown}");
        // What is not asked for is in the way all the same.
        let narrowed = silent(stage.locked(9).args(["status", "server:2"]));
        assert!(narrowed.starts_with("no live leases\n") && narrowed.contains("04040404"), "{narrowed}");
        assert!(line(&narrowed, "03030303").ends_with("), who holds server:1"), "{narrowed}");
        let as_json = |words: &[&str]| -> Vec<Value> { json(stage.locked(9).arg("status").args(words).arg("--json")) };
        let waits = as_json(&["--waiting"]);
        let part = |wait: &Value| (wait["holder"].clone(), wait["place"].clone(), wait["behind"].clone());
        assert_eq!(part(&waits[0]), ("03030303".into(), 1.into(), "01010101".into()));
        assert_eq!(part(&waits[1]), ("04040404".into(), 2.into(), "03030303".into()));
        let names = |wait: &Value| {
            let wants = wait["wants"].as_array().expect("a list").iter();
            wants.map(|it| it["resource"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(
            (names(&waits[0]), names(&waits[1])),
            (vec!["server:1".into(), "server:2".into()], vec!["server:2".to_owned()])
        );
        let lease = as_json(&[]).remove(0);
        assert_eq!(lease["waiting"], Value::Array(vec![waits[0].clone()]), "each lease has those who wait for it");
        assert!(waits[0]["since"].as_i64() >= lease["acquired_at"].as_i64() && waits[0]["since"].is_i64(), "{waits:?}");
        assert_eq!(as_json(&["--waiting", "server:2"]), waits);
        assert_eq!(as_json(&["--waiting", "server:1"]), waits[..1]);
        ends(stage.locked(1).args(["release", "server:1"]), 0);
        first.let_go();
        ends(stage.locked(3).args(["release", "server:1", "server:2"]), 0);
        second.let_go();
    }
}

/// It came from a shell that is gone, so what its own session holds is in its way: that is said.
#[test]
fn a_command_that_nothing_names_is_told_so() {
    let stage = Stage::new();
    let Some(apart) = first_that_runs(&[&PIDS, &USER_PIDS]) else {
        return left_out(this_test!(), "this user may not make a pid namespace");
    };
    silent(stage.locked(1).args(["acquire", "server:a"]));
    let mut inside = stage.world.command(apart[0]);
    inside.args(&apart[1..]).args(["sh", "-c", "\"$me\" -n -r server:a true; exit $?"]);
    let said = says(inside.env("me", env!("CARGO_BIN_EXE_locked")).env_remove("LOCKED_SESSION"), 75);
    assert!(said.contains("; nothing names this command's session (LOCKED_SESSION would)"), "{said}");
    let mut inside = stage.world.command(apart[0]);
    inside.args(&apart[1..]).args(["sh", "-c", "\"$me\" -n -r server:a true; exit $?"]);
    inside.env("me", env!("CARGO_BIN_EXE_locked")).env("LOCKED_SESSION", uuid(1));
    ends(&mut inside, 0);
}

/// What has become of it is said, by every verb that minds.
#[test]
fn what_is_not_held_any_more_says_why() {
    let stage = Stage::new();
    silent(stage.locked(1).args(["acquire", "server:a", "--ttl", "1s"]));
    stage.world.has_expired("server:a");
    let said = says(stage.locked(1).args(["check", "server:a"]), 77);
    assert!(said.starts_with("REFUSED: server:a is this session's, but its time has run out"), "{said}");
    assert!(said.ends_with("next:  locked renew server:a\n"), "{said}");
    ends(stage.locked(1).args(["renew", "server:a"]), 0);
    silent(stage.locked(1).args(["acquire", "server:b"]));
    let said = says(stage.locked(1).args(["check", "server:b", "--token", "5"]), 77);
    assert!(
        said.contains("server:b is this session's under the token ") && said.contains(", not 5: another hold"),
        "{said}"
    );
    silent(stage.locked(2).args(["steal", "server:b", "--reason", "it hangs", "--approved-by", "Maria"]));
    for verb in ["check", "renew", "release"] {
        let said = says(stage.locked(1).args([verb, "server:b"]), 77);
        assert!(said.contains("server:b is held by 02020202 ("), "{verb}: {said}");
        assert!(said.contains("now; this session's ended as stolen (") && said.contains("it hangs"), "{verb}: {said}");
    }
    ends(stage.locked(2).args(["release", "server:b"]), 0);
    let said = says(stage.locked(1).args(["renew", "server:b"]), 77);
    assert!(said.contains("server:b is not this session's any more: it ended as stolen ("), "{said}");
}

/// Every verb of a session that speaks to the store is a sign of it; and nothing that others do is.
#[test]
fn every_command_of_a_session_counts_as_its_activity() {
    let stage = Stage::new();
    ends(stage.locked(1).args(["session", "begin", "--name", "PWA"]), 0);
    silent(stage.locked(1).args(["acquire", "server:a"]));
    let mut agent = Agent::of(&stage, 1);
    let heard = || {
        let list: Vec<Value> = json(stage.locked(2).args(["session", "list", "--json", "--all"]));
        let own = list.iter().find(|entry| entry["name"] == "PWA").expect("listed");
        own["idle_ms"].as_i64().expect("ms")
    };
    let hours_pass = || {
        let database = stage.world.database();
        database.execute("update sessions set seen_at = seen_at - 7200000", []).expect("changed");
        let past = "update leases set acquired_at = acquired_at - 7200000, renewed_at = renewed_at - 7200000, \
                    ended_at = ended_at - 7200000";
        database.execute(past, []).expect("changed");
    };
    for words in [
        "-r server:x true",
        "status",
        "status server:a",
        "status --json",
        "check server:a",
        "renew server:a",
        "session list",
        "acquire server:b",
        "release server:b",
        "session begin --name PWA",
        "history",
        "status --ping server:a",
    ] {
        hours_pass();
        ends(stage.locked(2).args(["status"]), 0);
        assert!(heard() >= 7_000_000, "others do not count: {words}");
        agent.runs(&format!("\"$me\" {words}"));
        assert!(heard() < 3_600_000, "{words}");
    }
    assert!(lives(agent.pid()) && keeper_of(&stage, "server:a").is_none());
}

/// For the change-over the repository must be known.
#[test]
fn the_old_tables_are_printed_for_a_repository_alone() {
    let world = crate::world::World::new();
    let said = says(world.locked().args(["store", "print-sql", "--compat"]), 64);
    assert!(said.starts_with("REFUSED: no repository is here"), "{said}");
    assert!(said.contains("next:  locked store print-sql --compat --scope "), "{said}");
    let printed = ends(world.locked().args(["store", "print-sql", "--compat", "--scope", "example.org/a/b"]), 0);
    assert!(text(&printed.stdout).contains("when 'sops' then 'example.org/a/b'"));
}
