//! A world with programs of our own and a rule for each.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::Command;

use locked::terms::Digest;
use serde_json::Value;

use crate::world::World;
use crate::world::board::json;
pub(super) use crate::world::board::{in_front, write_program};
pub(super) use crate::world::ends::{ends, says, so, text, until};
pub(super) use crate::world::held::Held;

/// What the rules of most tests name.
pub(super) const RESOURCE: &str = "server:web-1";

/// The place. Programs of ours lie in one directory at the front of PATH.
pub(super) struct Stage {
    pub(super) world: World,
    pub(super) programs: PathBuf,
}

impl Stage {
    /// A world whose `deploy` is this script.
    pub(super) fn with(script: &str) -> Self {
        let world = World::new();
        let programs = world.script("deploy", script);
        Self { world, programs }
    }

    /// Another program.
    pub(super) fn add(&self, name: &str, script: &str) {
        write_program(&self.programs.join(name), &format!("#!/bin/sh\n{script}\n"));
    }

    /// `locked` as this session, under this rule.
    pub(super) fn locked(&self, session: u32, rule: &str) -> Command {
        // Settings of the user's own; the same rule is the same file.
        let home = self.world.root().join(format!("settings-{}", Digest::of(rule.as_bytes())));
        let file = home.join("locked/config.toml");
        if !file.exists() {
            std::fs::create_dir_all(home.join("locked")).expect("directory");
            std::fs::write(&file, format!("[[rule]]\n{rule}")).expect("settings");
        }
        let mut command = self.world.locked_as(session);
        command.env("PATH", in_front(&self.programs)).env("XDG_CONFIG_HOME", home);
        command
    }

    /// `locked deploy` as this session under a rule for it with these terms on [`RESOURCE`].
    pub(super) fn deploy(&self, session: u32, terms: &str) -> Command {
        self.deploy_with(session, terms, &[])
    }

    /// The same with options of ours before the program.
    pub(super) fn deploy_with(&self, session: u32, terms: &str, options: &[&str]) -> Command {
        let rule = format!("name = 'deploy'\nprogram = 'deploy'\nresource = ['{RESOURCE}']\n{terms}");
        let mut command = self.locked(session, &rule);
        command.args(options).arg("deploy");
        command
    }

    /// One try of another session to have the resource: its exit status is 0 when it may.
    pub(super) fn others_try(&self) -> Command {
        let mut command = self.world.locked_as(9);
        command.args(["-n", "-r", RESOURCE, "true"]);
        command
    }

    /// The one lease there is, as `status` shows it; none when there is none.
    pub(super) fn lease(&self) -> Option<Value> {
        let mut status = self.world.status();
        assert!(status.len() <= 1, "{status:?}");
        status.pop()
    }

    /// How the leases that have ended did, newest first.
    pub(super) fn endings(&self) -> Vec<String> {
        self.world.history().iter().map(|past| past["ended_as"].as_str().expect("word").to_owned()).collect()
    }

    /// `explain --json` under this rule.
    pub(super) fn explained(&self, rule: &str, options: &[&str]) -> Value {
        json(self.locked(1, rule).args(options).args([
            "explain",
            "--json",
            "--",
            "deploy",
            "sync",
            "--repo=acme/infra",
        ]))
    }
}
