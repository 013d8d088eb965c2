//! `LOCKED_BYPASS`: through a shim without a lease, and never in silence.
#![forbid(unsafe_code)]

use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use locked::clock::SystemClock;
use locked::config::StoreSetting;
use locked::run::{Bypasses, bypasses, spooled_bypasses};
use locked::state::StateDir;

use crate::world::board::uuid;
use crate::world::ends::{ends, says, text};
use crate::world::held::Held;

use super::Place;

const DOWN: [&str; 4] = ["compose", "-p", "shop", "down"];
const WHY: &str = "the store moves today";

/// A shim of docker, and a docker that says what is held for it.
fn place() -> Place {
    let place = Place::new();
    place.shim("shims", "docker");
    place.script("real/docker", "echo \"${LOCKED_RESOURCES-nothing}, ${LOCKED_BYPASS-no reason}\"");
    place
}

fn docker(place: &Place, words: &[&str]) -> Command {
    let mut command = place.world.command(place.at("shims/docker"));
    command
        .env("PATH", place.path(&["shims", "real", "=/usr/bin", "=/bin"]))
        .env("LOCKED_SESSION", uuid(1))
        .args(words);
    command
}

fn state(place: &Place) -> StateDir {
    let path = place.world.state().into_os_string();
    StateDir::open(&|name| (name == "LOCKED_STATE_DIR").then(|| path.clone())).expect("state")
}

fn counted(place: &Place) -> Bypasses {
    let state = state(place);
    let setting = StoreSetting::default();
    let outside = locked::run::outside(&state);
    let mut store =
        locked::store::open(&setting, &|_| None, &state, Arc::new(SystemClock::new()), outside).expect("store");
    bypasses(&state, store.as_mut(), None, Duration::from_secs(10)).expect("counted")
}

#[test]
fn the_program_runs_as_it_is_and_the_ledger_knows_why() {
    let place = place();
    assert_eq!(text(&ends(&mut docker(&place, &DOWN), 0).stdout), "container:shop, no reason\n");
    let output = ends(docker(&place, &DOWN).env("LOCKED_BYPASS", format!(" {WHY} ")), 0);
    assert_eq!(text(&output.stdout), format!("nothing,  {WHY} \n"), "its environment is its caller's");
    let said = text(&output.stderr);
    assert_eq!(said.lines().count(), 1, "{said}");
    assert_eq!(
        said,
        format!("locked: docker runs without a lease on container:shop, bypassed ({WHY}); the ledger knows\n")
    );
    let past = &place.world.history()[0];
    assert_eq!((&past["resource"], &past["ended_as"]), (&"container:shop".into(), &"human-action".into()));
    assert_eq!(past["note"], format!("forced: bypass: {WHY}"));
    let shown = text(&ends(place.world.locked().arg("history"), 0).stdout);
    assert!(shown.contains(WHY), "{shown}");
    assert_eq!(counted(&place), Bypasses { recorded: 1, spooled: 0 });
}

#[test]
fn nobody_who_holds_it_is_in_the_way_or_disturbed() {
    let place = place();
    let mut holder = place.world.locked_as(2);
    let held = Held::start(holder.args(["-r", "server:x", "sh", "-c", "echo up; cat"]));
    place.script("real/docker", "echo ran");
    let mut other = place.world.locked_as(3);
    let shop = Held::start(other.args(["-r", "container:shop", "sh", "-c", "echo up; cat"]));
    assert_eq!(text(&ends(docker(&place, &DOWN).env("LOCKED_BYPASS", WHY), 0).stdout), "ran\n");
    for held in [held, shop] {
        assert!(held.finish().status.success(), "they held it to their own end");
    }
    assert_eq!(counted(&place).recorded, 1);
}

#[test]
fn a_read_says_nothing_and_touches_nothing() {
    let place = place();
    let output = ends(docker(&place, &["compose", "-p", "shop", "ps"]).env("LOCKED_BYPASS", ""), 0);
    assert_eq!((&*text(&output.stdout), &*text(&output.stderr)), ("nothing, \n", ""));
    let output = ends(docker(&place, &["ps"]).env("LOCKED_BYPASS", WHY), 0);
    assert_eq!(text(&output.stderr), "");
    assert_eq!(super::names(&place.world.state()), [""; 0], "no store was made");
}

#[test]
fn a_reason_must_say_something() {
    let place = place();
    let long = "x".repeat(201);
    for wrong in ["", "  ", "two\nlines", "\u{1b}[2J", &long] {
        let output = ends(docker(&place, &DOWN).env("LOCKED_BYPASS", wrong), 64);
        assert_eq!(text(&output.stdout), "", "{wrong:?}: nothing runs");
        assert!(text(&output.stderr).contains("LOCKED_BYPASS does not say why"), "{wrong:?}");
    }
    assert_eq!(place.world.history().len(), 0);
}

/// Whatever else we are told to keep to ourselves.
#[test]
fn no_silence_is_kept_about_it() {
    let place = place();
    let output = ends(docker(&place, &DOWN).env("LOCKED_BYPASS", WHY).env("LOCKED_QUIET", "1"), 0);
    let said = text(&output.stderr);
    assert!(said.lines().count() == 1 && said.contains(&format!("bypassed ({WHY}); the ledger knows")), "{said:?}");
    let output = ends(docker(&place, &DOWN).env("LOCKED_QUIET", "1"), 0);
    assert_eq!(text(&output.stderr), "");
}

/// Who types `locked` asks for the lease.
#[test]
fn it_speaks_to_shims_alone() {
    let place = place();
    let mut typed = place.world.locked_as(1);
    typed.env("PATH", place.path(&["shims", "real", "=/usr/bin", "=/bin"])).env("LOCKED_BYPASS", WHY);
    let output = ends(typed.arg("docker").args(DOWN), 0);
    assert_eq!(text(&output.stdout), format!("container:shop, {WHY}\n"));
    let mut exec = place.shims(&["exec", "docker"]);
    exec.args(DOWN).env("PATH", place.path(&["real", "=/usr/bin", "=/bin"])).env("LOCKED_BYPASS", WHY);
    assert_eq!(text(&ends(&mut exec, 0).stdout), format!("nothing, {WHY}\n"), "exec is the shim");
}

#[test]
fn shims_below_are_bypassed_too_and_each_is_counted() {
    let place = place();
    place.script(
        "real/docker",
        "[ \"$3\" = inner ] || exec docker compose -p inner down; echo \"${LOCKED_LEASE-bare}\"",
    );
    let output = ends(docker(&place, &DOWN).env("LOCKED_BYPASS", WHY), 0);
    assert_eq!(text(&output.stdout), "bare\n");
    assert_eq!(text(&output.stderr).matches(WHY).count(), 2);
    assert_eq!(counted(&place).recorded, 2);
}

#[test]
fn a_store_that_cannot_be_had_is_no_hindrance_and_hears_of_it_later() {
    let place = place();
    let away = place.world.root().join("away");
    let address = format!("sqlite:{}", away.join("locked.db").display());
    fs::write(&away, "in the way of the directory").expect("in the way");
    let mut down = docker(&place, &DOWN);
    down.env("LOCKED_STORE", &address).env("LOCKED_BYPASS", WHY);
    let output = ends(&mut down, 0);
    assert_eq!(text(&output.stdout), format!("nothing, {WHY}\n"));
    assert!(text(&output.stderr).contains("the ledger will be told"), "{}", text(&output.stderr));
    assert_eq!(spooled_bypasses(&state(&place)), 1);
    fs::remove_file(&away).expect("out of the way");
    ends(docker(&place, &DOWN).env("LOCKED_STORE", &address), 0);
    assert_eq!(spooled_bypasses(&state(&place)), 0);
    let told = text(&ends(place.world.locked().env("LOCKED_STORE", &address).arg("history"), 0).stdout);
    assert!(told.contains(WHY), "{told}");
}

#[test]
fn nothing_else_that_would_stop_a_leased_command_stops_it() {
    let place = place();
    let config = place.directory("config/locked");
    for (wrong, name, value) in [
        ("ttl = \"never\"", "LOCKED_X", "1"),
        ("[[rule]]\nname = 3", "LOCKED_X", "1"),
        ("", "LOCKED_SESSION", "no uuid"),
        ("", "LOCKED_STATE_DIR", "relative"),
        ("", "LOCKED_TTL", "never"),
    ] {
        fs::write(config.join("config.toml"), wrong).expect("settings");
        let mut down = docker(&place, &DOWN);
        down.env("XDG_CONFIG_HOME", place.at("config")).env(name, value);
        let stopped = down.output().expect("it runs");
        assert!(!stopped.status.success(), "{wrong} {name}: without a reason it is stopped");
        let said = says(down.env("LOCKED_BYPASS", WHY), 0);
        assert!(said.contains(WHY) && said.lines().count() == 1, "{wrong} {name}: {said}");
    }
}
