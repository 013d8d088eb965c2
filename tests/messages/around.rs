//! Setting up, and the doctor.
#![forbid(unsafe_code)]

use std::fs;

use super::table::Chapter;
use crate::run::stage::{FILE, RESOURCE, Stage};
use crate::world::World;

pub(super) fn played() -> Chapter {
    let mut told = Chapter::new("Setting up, and the doctor");
    let stage = Stage::new();
    let world = &stage.world;
    told.plays(world, "a repository is set up", stage.locked(1).args(["init"]));
    told.plays(world, "and once more", stage.locked(1).args(["init"]));
    told.plays(world, "nothing is wrong", stage.locked(1).args(["doctor", "leases"]));
    fs::write(world.work().join(FILE), "").expect("as a killed sops leaves it");
    told.plays(world, "the doctor finds an empty file", stage.locked(1).args(["doctor", "files"]));
    told.plays(world, "there is no such part", stage.locked(1).args(["doctor", "everything"]));
    told.plays(world, "there is nothing in the history", stage.locked(1).args(["history", RESOURCE]));
    let outside = World::new();
    told.plays(&outside, "hooks outside of a repository", outside.locked_as(1).args(["hooks", "install"]));
    told.plays(&outside, "audit outside of a repository", outside.locked_as(1).args(["audit"]));
    told.plays(&outside, "what completions are there?", outside.locked_as(1).args(["completions", "tcsh"]));
    told
}
