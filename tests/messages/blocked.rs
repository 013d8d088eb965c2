//! Somebody else has it.
#![forbid(unsafe_code)]

use super::table::Chapter;
use crate::run::stage::{Held, RESOURCE, Stage, ends, in_front, silent, until};
use crate::world::processes::kill;

pub(super) fn played() -> Chapter {
    let mut told = Chapter::new("Somebody else has it");
    running(&mut told);
    resting(&mut told);
    asking(&mut told);
    in_line(&mut told);
    deadlock(&mut told);
    elsewhere(&mut told);
    told
}

fn running(told: &mut Chapter) {
    let stage = Stage::new();
    let held = stage.hold(1, &["-r", RESOURCE, "--operation", "sops edit secrets/monitoring.env.sops"]);
    told.plays(&stage.world, "somebody writes the same file at this moment", &mut stage.set(2, &["-n"], "A", "1"));
    told.plays(&stage.world, "the same after a wait", &mut stage.set(2, &["--wait", "1100ms"], "A", "1"));
    told.plays(&stage.world, "who holds what", stage.locked(2).arg("status"));
    told.plays(&stage.world, "acquire of it", stage.locked(2).args(["acquire", "--wait", "0s", RESOURCE]));
    told.plays(&stage.world, "release of what another session has", stage.locked(2).args(["release", RESOURCE]));
    told.plays(&stage.world, "renew of what another session has", stage.locked(2).args(["renew", RESOURCE]));
    told.plays(&stage.world, "check of what another session has", stage.locked(2).args(["check", RESOURCE]));
    told.plays(&stage.world, "a word for its holder", stage.locked(2).args(["status", "--ping", RESOURCE]));
    told.plays(&stage.world, "its own session would end", stage.locked(1).args(["session", "end", "--wait", "1s"]));
    told.plays(&stage.world, "its own session would release it", stage.locked(1).args(["release", RESOURCE]));
    told.plays(&stage.world, "an agent steals it", stage.locked(2).args(["steal", RESOURCE, "--reason", "it hangs"]));
    let mut thief = stage.locked(2);
    let word = ["steal", RESOURCE, "--reason", "it hangs", "--approved-by", "Maria", "--wait", "0s"];
    told.plays(&stage.world, "a person steals it, and its command has not stopped yet", thief.args(word));
    told.plays(&stage.world, "it is being stolen", &mut stage.set(3, &["-n"], "A", "1"));
    held.let_go();
}

fn resting(told: &mut Chapter) {
    let stage = Stage::new();
    silent(stage.locked(1).args(["acquire", RESOURCE, "--operation", "new SMTP password"]));
    told.plays(&stage.world, "somebody holds it between two commands", &mut stage.set(2, &["-n"], "A", "1"));
    silent(stage.locked(1).args(["release", RESOURCE]));
    ends(stage.set(1, &[], "A", "1").env("PATH", stage.stand_in("\"$real\" \"$@\"; exit 5")), 5);
    told.plays(&stage.world, "kept for the session whose command failed", &mut stage.set(2, &["-n"], "A", "1"));
    told.plays(&stage.world, "its own session would end", stage.locked(1).args(["session", "end"]));
}

fn asking(told: &mut Chapter) {
    let stage = Stage::new();
    silent(stage.locked(1).args(["acquire", "zone:TRAEFIK"]));
    stage.world.database().execute("update leases set ask = 1", []).expect("marked");
    let wants = || {
        let mut command = stage.locked(2);
        command.args(["-n", "-r", "zone:TRAEFIK", "true"]);
        command
    };
    told.plays(&stage.world, "a zone that only a person frees", &mut wants());
    stage.let_leases_expire();
    told.plays(&stage.world, "the same when its time is over", &mut wants());
}

fn in_line(told: &mut Chapter) {
    let stage = Stage::new();
    let held = stage.hold(1, &["-r", "server:b"]);
    let mut waits = stage.locked(2);
    waits.args(["--wait", "10m", "-r", "server:a", "-r", "server:b", "true"]);
    let waiter = std::thread::spawn(move || ends(&mut waits, 0));
    until("it waits in line", || (stage.status().first()?["waiters"] == 1).then_some(()));
    let mut younger = stage.locked(3);
    told.plays(&stage.world, "free, but an older request comes first", younger.args(["-n", "-r", "server:a", "true"]));
    held.let_go();
    waiter.join().expect("it ends");
}

/// Whoever has `a` must not wait for `b`, below whose holder somebody waits for `a`.
fn deadlock(told: &mut Chapter) {
    let stage = Stage::new();
    let locked = env!("CARGO_BIN_EXE_locked");
    let mut first = stage.locked(1);
    let nested = format!("echo up; read -r gate; '{locked}' -r server:b true");
    let first = Held::start(first.args(["-r", "server:a", "sh", "-c", &nested]));
    let mut second = stage.locked(2);
    second.args(["-r", "server:b", "sh", "-c", &format!("echo up; '{locked}' --wait 10m -r server:a true")]);
    let second = Held::start(&mut second);
    until("it waits", || stage.status().iter().any(|lease| lease["waiters"] == 1).then_some(()));
    let mut inner = stage.locked(1);
    inner.args(["-r", "server:b", "true"]);
    let what = "inside of a command that holds server:a, which the holder of server:b waits for";
    told.heard(&stage.world, what, &inner, &first.finish());
    second.let_go();
}

/// What was stopped here may go on beyond sudo.
fn elsewhere(told: &mut Chapter) {
    let stage = Stage::new();
    let mut beyond = stage.locked(1);
    let sudo = in_front(&stage.world.script("sudo", "exec \"$@\""));
    beyond.env("PATH", sudo).args(["-r", "server:web-1", "sudo", "sh", "-c", "echo up; exec sleep 600"]);
    let held = Held::start(&mut beyond);
    kill(held.pid());
    until("its keeper has settled", || (stage.status().first()?["state"] == "remote").then_some(()));
    let mut wants = stage.locked(2);
    told.plays(
        &stage.world,
        "its command was killed, and may still run elsewhere",
        wants.args(["-n", "-r", "server:web-1", "true"]),
    );
    let _by_the_signal = held.ended();
}
