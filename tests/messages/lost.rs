//! What was ours and is not any more.
#![forbid(unsafe_code)]

use super::table::Chapter;
use crate::run::stage::{Held, RESOURCE, Stage, silent, until};

pub(super) fn played() -> Chapter {
    let mut told = Chapter::new("What is lost");
    stolen(&mut told);
    expired(&mut told);
    told
}

fn stolen(told: &mut Chapter) {
    let stage = Stage::new();
    let mut held = stage.locked(1);
    held.args(["--ttl", "20s", "--heartbeat", "300ms", "-r", RESOURCE, "sh", "-c", "echo up; cat"]);
    let victim = Held::start(&mut held);
    let mut steals = stage.locked(2);
    steals.args(["steal", RESOURCE, "--reason", "its host is gone", "--approved-by", "Maria"]);
    told.plays(&stage.world, "a person has it taken away", &mut steals);
    told.heard(&stage.world, "what its command says then", &held, &victim.ended());
    told.plays(
        &stage.world,
        "what was stolen is checked by its old session",
        stage.locked(1).args(["check", RESOURCE]),
    );
    silent(stage.locked(2).args(["release", RESOURCE]));
    told.plays(&stage.world, "steal of what nobody holds", steals.args(["--wait", "1s"]));
    silent(stage.locked(2).args(["release", RESOURCE]));
    let mut held = stage.locked(1);
    held.args(["-r", RESOURCE, "sh", "-c", "echo up; cat"]);
    let victim = Held::start(&mut held);
    told.plays(&stage.world, "it is taken at once", steals.arg("--now"));
    told.heard(&stage.world, "what its command says at its end", &held, &victim.finish());
    silent(stage.locked(1).args(["acquire", "server:b"]));
    let mut steals = stage.locked(2);
    steals.args(["steal", "server:b", "--reason", "its host is gone", "--approved-by", "Maria"]);
    told.plays(&stage.world, "what rests with its session is taken", &mut steals);
    let mut next = stage.locked(1);
    told.plays(
        &stage.world,
        "what that session is told at its next command",
        next.args(["-n", "-r", "server:x", "true"]),
    );
}

fn expired(told: &mut Chapter) {
    let stage = Stage::new();
    silent(stage.locked(1).args(["acquire", RESOURCE]));
    stage.let_leases_expire();
    told.plays(&stage.world, "its time is over, and nobody has taken it", stage.locked(1).args(["check", RESOURCE]));
    silent(stage.locked(2).args(["-n", "-r", RESOURCE, "true"]));
    told.plays(
        &stage.world,
        "its time is over, and somebody has had it since",
        stage.locked(1).args(["check", RESOURCE]),
    );
    told.plays(&stage.world, "renew of it", stage.locked(1).args(["renew", RESOURCE]));
    told.plays(&stage.world, "release of it", stage.locked(1).args(["release", RESOURCE]));
    let mut held = stage.locked(1);
    held.args(["-r", RESOURCE, "sh", "-c", "echo up; cat"]);
    let victim = Held::start(&mut held);
    until("it is held", || stage.state().map(drop));
    stage.world.database().execute("update leases set ended_at = 1, ended_as = 'expired', note = 'reclaimed by 02020202 (claude@ws-1)' where ended_at is null", []).expect("ended");
    told.heard(&stage.world, "it was lost while the command ran", &held, &victim.finish());
}
