//! Settings that cannot be followed, or not yet.
#![forbid(unsafe_code)]

use std::fs;

use super::table::Chapter;
use crate::run::stage::{FILE, Stage};

pub(super) fn played() -> Chapter {
    let mut told = Chapter::new("Settings");
    let stage = Stage::new();
    let settings = |text: &str| fs::write(stage.world.work().join(".locked.toml"), text).expect("settings");
    settings("wait = \"soon\"\n");
    told.plays(&stage.world, "a value that is none", &mut stage.set(1, &[], "A", "1"));
    settings("wiat = \"30s\"\n");
    told.plays(&stage.world, "a key that is none", &mut stage.set(1, &[], "A", "1"));
    settings("wait = \"30s\nttl = \"5m\"\n");
    told.plays(&stage.world, "no TOML", &mut stage.set(1, &[], "A", "1"));
    settings("store = \"postgres://locked@db.example.org/leases\"\n");
    told.plays(&stage.world, "a value of another type", &mut stage.set(1, &[], "A", "1"));
    settings("store = { url = \"postgres://locked@db.example.org/leases\" }\n");
    told.plays(&stage.world, "a store that nobody has vouched for", &mut stage.set(1, &[], "A", "1"));
    settings("store = { url_env = \"DATABASE_URL\" }\n");
    told.plays(&stage.world, "a variable that is not set", &mut stage.set(1, &[], "A", "1"));
    settings("ttl = \"2h\"\n");
    told.plays(&stage.world, "a setting that counts only when it is trusted", &mut stage.set(1, &[], "A", "1"));
    told.plays(&stage.world, "it is trusted", stage.locked(1).args(["config", "trust", ".locked.toml"]));
    told.plays(&stage.world, "what is trusted", stage.locked(1).args(["config", "trust", "--list"]));
    told.plays(&stage.world, "one setting", stage.locked(1).args(["config", "show", "ttl"]));
    settings("");
    told.plays(
        &stage.world,
        "a heartbeat that is too slow for its TTL",
        &mut stage.set(1, &["--ttl", "30s", "--heartbeat", "40s"], "A", "1"),
    );
    let mut rotates = stage.locked(1);
    rotates.args(["sops", "rotate", "-i", FILE]).env("LOCKED_TTL", "soon");
    told.plays(&stage.world, "a variable with a value that is none", &mut rotates);
    told
}
