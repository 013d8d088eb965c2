//! A store that does not answer, and looking after one.
#![forbid(unsafe_code)]

use super::table::Chapter;
use crate::run::stage::{RESOURCE, Stage, ends, silent};

/// Nobody listens there.
const NOWHERE: &str = "postgres://locked@127.0.0.1:1/leases?connect_timeout=1";

pub(super) fn played() -> Chapter {
    let mut told = Chapter::new("The store");
    down(&mut told);
    looked_after(&mut told);
    told
}

fn down(told: &mut Chapter) {
    let stage = Stage::new();
    let key = stage.world.root().join("key.txt");
    let mut set = stage.set(1, &[], "A", "1");
    told.plays(&stage.world, "the state directory is none", set.env("LOCKED_STATE_DIR", key));
    let mut set = stage.set(1, &[], "A", "1");
    told.plays(&stage.world, "the server does not answer", set.env("LOCKED_STORE", NOWHERE));
    let mut status = stage.locked(1);
    told.plays(&stage.world, "status when it does not answer", status.arg("status").env("LOCKED_STORE", NOWHERE));
    let mut check = stage.locked(1);
    told.plays(
        &stage.world,
        "check when it does not answer",
        check.args(["check", RESOURCE]).env("LOCKED_STORE", NOWHERE),
    );
    let mut checks = stage.locked(1);
    told.plays(
        &stage.world,
        "store check when it does not answer",
        checks.args(["store", "check"]).env("LOCKED_STORE", NOWHERE),
    );
    let mut forced = stage.set(1, &["--force", "--reason", "the server is down"], "A", "1");
    told.plays(&stage.world, "by force, while it does not answer", forced.env("LOCKED_STORE", NOWHERE));
    let mut forced = stage.set(1, &["--force"], "A", "1");
    told.plays(&stage.world, "by force without a reason", &mut forced);
    let mut set = stage.set(1, &[], "A", "1");
    told.plays(&stage.world, "an address that is none", set.env("LOCKED_STORE", "mysql://db.example.org/leases"));
    let held = stage.hold(1, &["-r", RESOURCE]);
    let mut forced = stage.set(2, &["-n", "--force", "--reason", "in a hurry"], "A", "1");
    told.plays(&stage.world, "force is no answer to a holder", &mut forced);
    held.let_go();
}

fn looked_after(told: &mut Chapter) {
    let stage = Stage::new();
    told.plays(&stage.world, "set it up", stage.locked(1).args(["store", "init"]));
    told.plays(&stage.world, "is it as it should be?", stage.locked(1).args(["store", "check"]));
    ends(stage.locked(1).args(["-r", "server:a", "true"]), 0);
    told.plays(&stage.world, "forget what is old", stage.locked(1).args(["store", "prune"]));
    told.plays(&stage.world, "after a restored backup", stage.locked(1).args(["store", "epoch"]));
    silent(stage.locked(1).args(["acquire", "server:a"]));
    told.plays(
        &stage.world,
        "move it while something is held",
        stage.locked(1).args(["store", "move", "--to", "sqlite:/srv/leases.db"]),
    );
    told.plays(&stage.world, "nothing is held", stage.locked(1).args(["status", "server:b"]));
    told.plays(&stage.world, "nothing is stalled", stage.locked(1).args(["status", "--stalled", "1h"]));
    stage.world.database().execute("update leases set renewed_at = renewed_at - 7200000", []).expect("changed");
    told.plays(&stage.world, "something is stalled", stage.locked(1).args(["status", "--stalled", "1h"]));
}
