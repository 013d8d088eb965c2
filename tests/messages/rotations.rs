//! Rotations: a new value for a secret.
#![forbid(unsafe_code)]

use super::table::Chapter;
use crate::rotation::stage::{APP, ISSUE, N8N, ROTATION, Stage, silent};

pub(super) fn played() -> Chapter {
    let mut told = Chapter::new("Rotations");
    busy(&mut told);
    consumers(&mut told);
    issues(&mut told);
    told
}

fn busy(told: &mut Chapter) {
    let stage = Stage::new();
    silent(stage.locked(1).args(["acquire", ROTATION, "--operation", "new key from the console"]));
    told.plays(&stage.world, "somebody else makes a new value", &mut stage.rotates(2, &["-n"], "./rotate.sh"));
    told.plays(&stage.world, "check by somebody else", stage.locked(2).args(["check", ROTATION]));
    stage.back_date();
    silent(stage.locked(2).args(["acquire", ROTATION]));
    told.plays(&stage.world, "check after somebody else has taken it over", stage.locked(1).args(["check", ROTATION]));
    stage.taken();
    told.plays(&stage.world, "check of what has run out and was taken", stage.locked(2).args(["check", ROTATION]));
}

fn consumers(told: &mut Chapter) {
    let stage = Stage::new();
    told.plays(&stage.world, "a rotation that has written nothing", &mut stage.rotates(1, &[], "true"));
    told.plays(&stage.world, "another session while it is kept", &mut stage.rotates(2, &["-n"], "true"));
    told.plays(&stage.world, "release of it", stage.locked(1).args(["release", ROTATION]));
    silent(&mut stage.writes(1, APP));
    told.plays(&stage.world, "release when one file is left", stage.locked(1).args(["release", ROTATION]));
    silent(&mut stage.writes(1, N8N));
    silent(stage.locked(1).args(["release", ROTATION]));
}

fn issues(told: &mut Chapter) {
    let stage = Stage::new();
    stage.issue_is("CLOSED");
    told.plays(&stage.world, "its issue is closed", &mut stage.rotates(1, &["--issue", ISSUE], "true"));
    stage.issue_is("login");
    told.plays(&stage.world, "gh is not logged in", &mut stage.rotates(1, &["--issue", ISSUE], "true"));
    stage.issue_is("none");
    told.plays(&stage.world, "there is no such issue", &mut stage.rotates(1, &["--issue", ISSUE], "true"));
    stage.issue_is("OPEN");
    silent(stage.locked(1).args(["acquire", ROTATION, "--issue", ISSUE]));
    stage.issue_is("CLOSED");
    told.plays(&stage.world, "check when its issue was closed meanwhile", stage.locked(1).args(["check", ROTATION]));
    stage.issue_is("login");
    told.plays(&stage.world, "check when nobody can say", stage.locked(1).args(["check", ROTATION, "--comment"]));
    told.plays(&stage.world, "an issue that is none", stage.locked(1).args(["acquire", ROTATION, "--issue", "5925"]));
}
