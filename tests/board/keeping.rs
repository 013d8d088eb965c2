//! `locked acquire --keep-alive`: renewed while the agent lives, and not a heartbeat longer.
#![forbid(unsafe_code)]

use std::fs;
use std::process::Command;

use rustix::process::Signal;
use serde_json::Value;

use super::kept::{Agent, ended, has_left, is_renewed_for, keeper_of, lease, open_files};
use crate::rotation::stage::Stage;
use crate::run::stage::{DOTENV, ends, json, says, silent, text, uuid};
use crate::world::apart::{PIDS, USER_PIDS, first_that_runs, this_test};
use crate::world::board::uuid as session_name;
use crate::world::ends::{left_out, so, until};
use crate::world::processes::{kill, lives, signal};

#[test]
fn what_is_kept_alive_lives_as_long_as_its_agent_in_the_embedded_store() {
    lives_with_its_agent(&Stage::new());
}

#[test]
fn what_is_kept_alive_lives_as_long_as_its_agent_on_a_server() {
    lives_with_its_agent(&Stage::on_server("kept_alive"));
}

fn lives_with_its_agent(stage: &Stage) {
    let mut agent = Agent::new(stage);
    // In a command substitution, from a shell that ends; and its output ends with it.
    let said = agent.runs("out=$(\"$me\" acquire server:a server:b --keep-alive --ttl 2s); echo \"$out\"");
    let pid = agent.pid();
    assert_eq!(
        said,
        format!(
            "acquired server:a for 2s\nacquired server:b for 2s\nrenewed in the background while perl ({pid}) lives, for 2 h at \
             most\n"
        )
    );
    let keeper = u32::try_from(keeper_of(stage, "server:a").expect("kept")).expect("a process id");
    let board = lease(stage, "server:b").expect("held");
    assert_eq!((&board["kept_alive_by"], &board["holder_alive"]), (&keeper.into(), &"yes".into()), "{board}");
    let table = silent(stage.locked(9).arg("status"));
    assert!(table.contains("held, kept alive"), "{table}");
    // Nothing of its caller's: no pipe, no directory, no terminal, no session.
    // (While it speaks to the store it has a connection.)
    so("nothing is open between two beats", || {
        let open = open_files(keeper, &stage.world.state());
        open.iter().all(|name| name == "/dev/null" || name.starts_with("anon_inode:"))
    });
    assert_eq!(fs::read_link(format!("/proc/{keeper}/cwd")).expect("it lives").to_str(), Some("/"));
    let stat = fs::read_to_string(format!("/proc/{keeper}/stat")).expect("it lives");
    let fields: Vec<&str> = stat.rsplit_once(") ").expect("a stat").1.split(' ').collect();
    assert_eq!((fields[3], fields[4]), (keeper.to_string().as_str(), "0"), "leads a session, without a terminal");
    for ignored in [Signal::HUP, Signal::INT, Signal::TERM, Signal::QUIT] {
        signal(keeper, ignored);
    }
    is_renewed_for(stage, "server:a", 2_200);
    is_renewed_for(stage, "server:b", 2_200);
    says(stage.locked(2).args(["acquire", "server:b", "-n"]), 75);
    agent.is_killed();
    for resource in ["server:a", "server:b"] {
        let past = ended(stage, resource);
        assert_eq!(past["ended_as"], "failed", "{past}");
        let note = past["note"].as_str().expect("a note");
        assert_eq!(note, format!("its session's process ended: perl ({})", agent.pid()));
    }
    has_left(keeper);
    let posts: Vec<_> = fs::read_dir(stage.world.state().join("keep")).expect("there").collect();
    assert!(posts.is_empty(), "{posts:?}");
}

#[test]
fn one_keeper_for_a_lease_and_none_when_it_is_over_in_the_embedded_store() {
    one_keeper(&Stage::new());
}

#[test]
fn one_keeper_for_a_lease_and_none_when_it_is_over_on_a_server() {
    one_keeper(&Stage::on_server("one_keeper"));
}

fn one_keeper(stage: &Stage) {
    let mut agent = Agent::new(stage);
    let first = agent.keeps("server:a server:b");
    let second = agent.keeps("server:a server:b");
    has_left(first);
    assert!(lives(second) && keeper_of(stage, "server:b") == Some(second.into()));
    // A keeper of a part takes over that part alone.
    let third = agent.keeps("server:a");
    assert_eq!((keeper_of(stage, "server:a"), keeper_of(stage, "server:b")), (Some(third.into()), Some(second.into())));
    // Acquired anew with a TTL far below the keeper's heartbeat: it is told, and renews by that.
    agent.locked("acquire server:a --ttl 1s");
    assert_eq!(keeper_of(stage, "server:a"), Some(third.into()));
    is_renewed_for(stage, "server:a", 1_100);
    // A command of the session adopts it and gives it back, and one that fails leaves it kept: it is renewed on.
    agent.runs("\"$me\" -r server:a sh -c 'sleep 0.4'");
    agent.runs("\"$me\" --keep -r server:a false");
    assert_eq!(lease(stage, "server:a").expect("held")["state"], "kept");
    agent.runs("\"$me\" -r server:a true");
    is_renewed_for(stage, "server:a", 1_100);
    assert_eq!(keeper_of(stage, "server:a"), Some(third.into()));
    // Given back, it is kept no longer; and what is acquired after that is another hold.
    agent.locked("release server:a");
    has_left(third);
    agent.locked("acquire server:a");
    assert_eq!(keeper_of(stage, "server:a"), None);
    // One of two is given back, and the other is kept.
    let fourth = agent.keeps("server:c server:d --ttl 1s");
    agent.locked("release server:c");
    is_renewed_for(stage, "server:d", 1_100);
    assert!(lives(fourth));
    // Stolen on this machine; and behind its back, as from another.
    silent(stage.locked(2).args(["steal", "server:d", "--reason", "it hangs", "--approved-by", "Maria"]));
    has_left(fourth);
    assert!(agent.runs("\"$me\" session list").contains(") about server:d at "), "and its session is told");
    let fifth = agent.keeps("server:e --ttl 1s");
    stage.taken();
    has_left(fifth);
    // The session's end.
    let sixth = agent.keeps("server:f server:g");
    agent.locked("session end");
    has_left(sixth);
    assert_eq!(lease(stage, "server:f"), None);
    agent.is_killed();
}

/// Its command has a keeper of its own: nothing is given back under it, and all when it has ended.
#[test]
fn a_command_that_outlives_its_agent_is_waited_for() {
    let stage = Stage::new();
    let gate = stage.world.work().join("gate");
    assert!(Command::new("mkfifo").arg(&gate).status().expect("mkfifo runs").success());
    let mut agent = Agent::of(&stage, 1);
    let keeper = agent.keeps("server:a server:b --ttl 2s");
    agent.begins("\"$me\" -r server:a sh -c 'cat <gate'");
    until("it runs", || lease(&stage, "server:a").filter(|lease| lease["explicit"] == false));
    agent.is_killed();
    assert_eq!(ended(&stage, "server:b")["ended_as"], "failed", "nothing runs under that one");
    assert!(lives(keeper) && lease(&stage, "server:a").is_some());
    fs::write(&gate, "").expect("it goes on");
    let past = ended(&stage, "server:a");
    assert!(past["note"].as_str().is_some_and(|note| note.contains("its session's process ended")), "{past}");
    has_left(keeper);
}

/// Bad and plaintext files are looked after by others, and are never let go of.
#[test]
fn an_open_edit_is_quarantined_and_not_let_go() {
    let stage = crate::run::stage::Stage::new();
    let place = Stage::over(stage.world);
    let mut agent = Agent::new(&place);
    let keeper = agent.keeps("sops:monitoring --ttl 2s");
    let said = agent.runs(&format!("\"$me\" sops decrypt -i {} {}", DOTENV.join(" "), crate::run::stage::FILE));
    assert!(said.contains("is plaintext now; sops:monitoring stays with this session"), "{said}");
    agent.is_killed();
    has_left(keeper);
    so("it is quarantined", || {
        let lease = lease(&place, "sops:monitoring").expect("it is not let go");
        lease["state"] == "quarantined"
    });
}

#[test]
fn where_nothing_lasts_it_is_refused_before_anything_is_held() {
    let stage = Stage::new();
    let Some(apart) = first_that_runs(&[&PIDS, &USER_PIDS]) else {
        return left_out(this_test!(), "this user may not make a pid namespace");
    };
    // Below the first process: as in a job of cron. A name alone tells nobody when it is over.
    let script = "\"$me\" acquire server:a server:b --keep-alive; exit $?";
    let mut inside = stage.world.command(apart[0]);
    inside.args(&apart[1..]).args(["sh", "-c", script]).env("me", env!("CARGO_BIN_EXE_locked"));
    let said = says(inside.env("LOCKED_SESSION", session_name(1)), 64);
    assert!(said.starts_with("REFUSED: server:a server:b cannot be kept alive from here\n"), "{said}");
    assert!(
        said.ends_with(
            "retry: no; without --keep-alive yes, and locked renew from time to time\n\
             next:  locked -r server:a -r server:b COMMAND\n"
        ),
        "{said}"
    );
    let said = says(inside.env_remove("LOCKED_SESSION"), 64);
    assert!(said.contains("retry: no; nor without --keep-alive, unless LOCKED_SESSION names the session\n"), "{said}");
    assert_eq!(stage.status().len(), 0);
}

#[test]
fn a_keeper_that_is_killed_leaves_the_lease_to_its_ttl() {
    let stage = Stage::new();
    let mut agent = Agent::new(&stage);
    let keeper = agent.keeps("server:a --ttl 1s");
    kill(keeper);
    has_left(keeper);
    let left = lease(&stage, "server:a").expect("held");
    assert_eq!((&left["kept_alive_by"], &left["holder_alive"]), (&Value::Null, &"unknown".into()), "{left}");
    stage.world.has_expired("server:a");
    let again = agent.keeps("server:a --ttl 1s");
    is_renewed_for(&stage, "server:a", 1_100);
    assert_eq!(keeper_of(&stage, "server:a"), Some(again.into()));
}

/// What is ours still will not be for long: who is about to write is told.
#[test]
fn who_asks_whether_it_is_theirs_learns_that_nobody_keeps_it_alive_any_more() {
    for stage in Stage::both("deserted") {
        let mut agent = Agent::new(&stage);
        let keeper = agent.keeps("server:a --ttl 10m");
        let check = "\"$me\" check server:a 2>&1; echo $?";
        assert_eq!(agent.runs(check), "0\n");
        kill(keeper);
        has_left(keeper);
        let said = agent.runs(check);
        let told = "locked: nobody keeps server:a alive any more, whose keeper was killed: it ends in ";
        assert!(said.starts_with(told), "{said}");
        assert!(said.ends_with("; locked acquire server:a --keep-alive keeps it again\n0\n"), "{said}");
        agent.keeps("server:a --ttl 10m");
        assert_eq!(agent.runs(check), "0\n");
    }
}

/// It is tried again until it answers, and nobody has taken it meanwhile: it is held on. What ends while the store is away
/// ends there by itself.
#[test]
fn a_store_that_comes_back_after_the_ttl_finds_it_kept() {
    let stage = Stage::new();
    let mut agent = Agent::new(&stage);
    let keeper = agent.keeps("server:a --ttl 1s");
    let file = stage.world.state().join("locked.db");
    let away = file.with_extension("away");
    let leaves = || {
        fs::rename(&file, &away).expect("away");
        fs::create_dir(&file).expect("in the way");
    };
    let comes_back = || {
        fs::remove_dir(&file).expect("out of the way");
        fs::rename(&away, &file).expect("back");
    };
    leaves();
    let database = rusqlite::Connection::open(&away).expect("database");
    let over = crate::world::board::ends_at(&database, "server:a");
    drop(database);
    until("its time is over", || {
        let now: f64 = fs::read_to_string("/proc/uptime").ok()?.split(' ').next()?.parse().ok()?;
        (now * 1_000.0 > over as f64).then_some(())
    });
    comes_back();
    is_renewed_for(&stage, "server:a", 1_100);
    assert_eq!(lease(&stage, "server:a").expect("held")["state"], "held");
    leaves();
    agent.is_killed();
    has_left(keeper);
    comes_back();
    stage.world.has_expired("server:a");
}

#[test]
fn after_max_hold_it_is_left_to_its_ttl_and_its_session_is_told() {
    let stage = Stage::new();
    let settings = stage.world.root().join("home/.config/locked");
    fs::create_dir_all(&settings).expect("made");
    fs::write(settings.join("config.toml"), "max_hold = \"1s\"\n").expect("written");
    let mut agent = Agent::new(&stage);
    let keeper = agent.keeps("server:a --ttl 10m");
    has_left(keeper);
    let left = lease(&stage, "server:a").expect("held");
    assert_eq!((&left["state"], &left["kept_alive_by"]), (&"held".into(), &Value::Null), "{left}");
    let heard = agent.runs("\"$me\" -r server:a true");
    assert!(
        heard.contains(") about server:a at ")
            && heard.contains("it was kept alive for 1 s, the most that max_hold allows"),
        "{heard}"
    );
}

/// What a command under a lease has acquired and kept is not of that lease.
#[test]
fn kept_from_below_a_command_it_outlives_that_and_is_not_taken_for_a_part_of_it() {
    let stage = Stage::new();
    let mut agent = Agent::new(&stage);
    let said = agent.runs("\"$me\" -r server:x sh -c '\"$me\" acquire server:y --keep-alive --ttl 6s --json'");
    let said: Value = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"));
    let keeper = u32::try_from(said["kept_alive"]["keeper"].as_u64().expect("a keeper")).expect("a process id");
    assert_eq!(lease(&stage, "server:x"), None, "its command has ended");
    is_renewed_for(&stage, "server:y", 6_200);
    let environment = fs::read(format!("/proc/{keeper}/environ")).expect("it lives");
    assert!(!text(&environment).contains("LOCKED_LEASE="), "{}", text(&environment));
    let line = fs::read(format!("/proc/{keeper}/cmdline")).expect("it lives");
    assert!(!text(&line).contains("server:y"), "what was typed may hold a secret: {}", text(&line));
    agent.is_killed();
    ended(&stage, "server:y");
}

#[test]
fn of_many_who_keep_one_lease_at_once_one_stays() {
    let stage = Stage::new();
    let mut agent = Agent::of(&stage, 1);
    let said = agent.runs(
        "for n in 1 2 3 4 5 6; do \"$me\" acquire server:a --keep-alive --wait 60s --json >kept.$n & done; wait; echo over",
    );
    assert_eq!(said, "over\n");
    let keepers: Vec<u32> = (1..=6)
        .map(|n| {
            let said = fs::read_to_string(stage.world.work().join(format!("kept.{n}"))).expect("said");
            let said: Value = serde_json::from_str(&said).expect("JSON");
            u32::try_from(said["kept_alive"]["keeper"].as_u64().expect("a keeper")).expect("a process id")
        })
        .collect();
    let stays = u32::try_from(keeper_of(&stage, "server:a").expect("kept")).expect("a process id");
    assert!(keepers.contains(&stays));
    keepers.into_iter().filter(|&keeper| keeper != stays).for_each(has_left);
    assert!(lives(stays));
    let busy = says(stage.locked(2).args(["acquire", "server:a", "-n", "--keep-alive"]), 75);
    assert!(busy.starts_with(&format!("BLOCKED: server:a is held by {} (", &uuid(1)[..8])), "{busy}");
    ends(stage.locked(1).args(["release", "server:a"]), 0);
    has_left(stays);
    let list: Vec<Value> = json(stage.locked(9).args(["status", "--json"]));
    assert!(list.is_empty(), "{list:?}");
}
