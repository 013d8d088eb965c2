//! What is left to a person.
#![forbid(unsafe_code)]

use super::table::Chapter;
use crate::rotation::stage::{ROTATION, Stage, silent};

pub(super) fn played() -> Chapter {
    let mut told = Chapter::new("What is left to a person");
    let stage = Stage::new();
    silent(stage.locked(1).args(["acquire", ROTATION]));
    silent(stage.locked(1).args(["release", ROTATION, "--as", "human-action", "--note", "Maria: revoke the old key"]));
    told.plays(&stage.world, "the board", stage.locked(2).arg("status"));
    told.plays(&stage.world, "who takes the same secret up next", stage.locked(2).args(["acquire", ROTATION]));
    silent(stage.locked(2).args(["release", ROTATION, "--as", "failed"]));
    told.plays(&stage.world, "all that is left", stage.locked(2).args(["status", "--duties"]));
    silent(stage.locked(3).args(["release", ROTATION, "--duty", "--note", "revoked"]));
    told.plays(&stage.world, "a duty that is done already", stage.locked(3).args(["release", ROTATION, "--duty"]));
    told.plays(&stage.world, "nothing is left", stage.locked(2).args(["status", "--duties"]));
    told.plays(&stage.world, "the history", stage.locked(2).args(["history"]));
    told
}
