//! Sessions, and what they hold over several commands.
#![forbid(unsafe_code)]

use super::table::Chapter;
use crate::run::stage::{RESOURCE, Stage, silent};

pub(super) fn played() -> Chapter {
    let mut told = Chapter::new("Sessions and what they hold");
    let stage = Stage::new();
    let world = &stage.world;
    told.plays(world, "which session is this?", stage.locked(1).arg("session"));
    told.plays(world, "nobody is there", stage.locked(1).args(["session", "list"]));
    let begin = ["session", "begin", "--name", "PWA", "--domain", "/srv/pwa", "--task", "the menu"];
    told.plays(world, "the first says what it does", stage.locked(1).args(begin));
    told.plays(
        world,
        "acquire",
        stage.locked(1).args(["acquire", RESOURCE, "server:web-1", "--operation", "new SMTP password"]),
    );
    told.plays(world, "acquire of what is held already", stage.locked(1).args(["acquire", RESOURCE]));
    let begin = ["session", "begin", "--name", "OC", "--task", "contacts"];
    told.plays(world, "the second hears of the first", stage.locked(2).args(begin));
    told.plays(world, "who is active", stage.locked(2).args(["session", "list"]));
    told.plays(
        world,
        "a word for a holder",
        stage.locked(2).args(["status", "--ping", RESOURCE, "--message", "I need it for the certificates"]),
    );
    told.plays(world, "how the holder hears it", stage.locked(1).args(["-r", "server:x", "true"]));
    told.plays(world, "a word about what nobody holds", stage.locked(2).args(["status", "--ping", "server:none"]));
    told.plays(world, "a word for oneself", stage.locked(1).args(["status", "--ping", RESOURCE]));
    told.plays(world, "renew", stage.locked(1).args(["renew", RESOURCE]));
    told.plays(world, "check of what was never held", stage.locked(2).args(["check", "server:none"]));
    told.plays(world, "release of what was never held", stage.locked(2).args(["release", "server:none"]));
    told.plays(world, "renew of what was never held", stage.locked(2).args(["renew", "server:none"]));
    told.plays(world, "who holds what", stage.locked(2).arg("status"));
    told.plays(world, "the session ends", stage.locked(1).args(["session", "end"]));
    told.plays(world, "one ends that had not begun", stage.locked(3).args(["session", "end"]));
    told.plays(world, "what was before", stage.locked(2).args(["history"]));
    silent(stage.locked(2).args(["session", "end"]).stdout(std::process::Stdio::null()));
    told
}
