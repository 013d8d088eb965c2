//! What was typed wrong, what cannot be run, and what runs without a lease.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::table::Chapter;
use crate::run::stage::{FILE, Stage};

pub(super) fn played() -> Chapter {
    let mut told = Chapter::new("The command line");
    let stage = Stage::new();
    let world = &stage.world;
    told.plays(world, "no rule knows the program", stage.locked(1).args(["true"]));
    told.plays(world, "there is no such program", stage.locked(1).args(["no-such-program"]));
    let directory = world.script("deploy", "true");
    fs::set_permissions(directory.join("deploy"), fs::Permissions::from_mode(0o644)).expect("mode");
    fs::rename(directory.join("deploy"), world.work().join("deploy.sh")).expect("moved");
    told.plays(world, "the program cannot be executed", stage.locked(1).args(["./deploy.sh"]));
    told.plays(world, "nothing was typed", &mut stage.locked(1));
    told.plays(world, "an option that is none", stage.locked(1).args(["--no-wiat", "sops", "edit", FILE]));
    told.plays(world, "a verb that is none", stage.locked(1).args(["stauts"]));
    told.plays(world, "a duration without a unit", stage.locked(1).args(["--ttl", "5", "sops", "edit", FILE]));
    told.plays(world, "a resource without a kind", stage.locked(1).args(["-r", "monitoring", "true"]));
    told.plays(world, "a session that is no UUID", stage.set(1, &[], "A", "1").env("LOCKED_SESSION", "me"));
    told.plays(world, "nothing to acquire", stage.locked(1).args(["acquire"]));
    told.plays(
        world,
        "a token for two resources",
        stage.locked(1).args(["check", "server:a", "server:b", "--token", "1"]),
    );
    told.plays(world, "history of what is no name", stage.locked(1).args(["history", "monitoring"]));
    told.plays(world, "the answer cannot be written", lost(&stage).args(["-c", "locked status >/dev/full"]));
    told.plays(
        world,
        "what would a write lock?",
        stage.locked(1).args(["explain", "--", "sops", "set", FILE, "[\"A\"]", "\"1\""]),
    );
    told.plays(world, "what would a read lock?", stage.locked(1).args(["explain", "--", "sops", "decrypt", FILE]));
    told.plays(world, "-N", stage.locked(1).args(["-N", "sops", "set", FILE, "[\"A\"]", "\"1\""]));
    told.plays(world, "explain of a program that no rule knows", stage.locked(1).args(["explain", "--", "true"]));
    told
}

/// A shell in which `locked` is ours.
fn lost(stage: &Stage) -> std::process::Command {
    let mut shell = stage.world.command("sh");
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_locked")).parent().expect("bin");
    shell.env("PATH", crate::run::stage::in_front(bin));
    shell
}
