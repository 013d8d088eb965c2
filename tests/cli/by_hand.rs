//! What people name by hand is what a line of a program would hold: else each of the two would let the other in.
#![forbid(unsafe_code)]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::run::stage::{FILE, RESOURCE, Stage, ends, json, says, silent, text};

const SYNC: &str = ".github/workflows/sync.yml";

/// A repository with a workflow that has a display name, and a user who has another name for a host.
struct Desk {
    stage: Stage,
    home: PathBuf,
}

impl Desk {
    fn new() -> Self {
        let stage = Stage::new();
        let home = stage.world.root().join("config");
        fs::create_dir_all(home.join("locked")).expect("directory");
        let settings = "packs = [\"rotation\"]\n[hosts]\nprod = \"web-1\"\n";
        fs::write(home.join("locked/config.toml"), settings).expect("settings");
        let workflow = stage.world.work().join(SYNC);
        fs::create_dir_all(workflow.parent().expect("a directory")).expect("directory");
        fs::write(workflow, "name: \"Secrets: sync to servers\"\non: workflow_dispatch\n").expect("a workflow");
        Self { stage, home }
    }

    fn locked(&self, session: u32, words: &[&str]) -> Command {
        let mut command = self.stage.locked(session);
        command.args(words).env("XDG_CONFIG_HOME", &self.home);
        command
    }

    /// With containers on another machine.
    fn away(&self, session: u32, words: &[&str]) -> Command {
        let mut command = self.locked(session, words);
        command.env("DOCKER_HOST", "ssh://deploy@web-1");
        command
    }
}

#[test]
fn what_is_named_by_hand_is_what_a_line_holds() {
    let desk = Desk::new();
    let set: &[&str] = &["sops", "set", FILE, "[\"A\"]", "\"1\""];
    let absolute = format!("sops:{}", desk.stage.file().display());
    let table: [(&str, &[&str]); 15] = [
        ("server:prod", &["ssh", "prod", "reboot"]),
        ("server:WEB-2", &["ssh", "web-2", "reboot"]),
        ("server:root@web-1", &["ssh", "web-1", "reboot"]),
        ("server:web-1:22", &["ssh", "web-1", "reboot"]),
        ("server:ssh://me@web-1/", &["ssh", "web-1", "reboot"]),
        ("server:[::1]", &["ssh", "::1", "reboot"]),
        ("workflow:secrets-sync.yml", &["gh", "workflow", "run", "secrets-sync.yml"]),
        ("workflow:Secrets: sync to servers", &["gh", "workflow", "run", "sync.yml"]),
        ("sops:secrets/monitoring.env.sops", set),
        ("sops:monitoring.env.sops", set),
        ("sops:./secrets/monitoring.env.sops", set),
        (&absolute, set),
        ("container:web", &["docker", "compose", "-p", "web", "up", "-d"]),
        ("container:/web", &["docker", "compose", "-p", "web", "up", "-d"]),
        ("rotation:/secret/app/", &["vault", "kv", "put", "secret/app", "a=b"]),
    ];
    for (typed, line) in table {
        let acquired: Value = json(&mut desk.away(1, &["acquire", "--json", typed]));
        let explained: Value = json(desk.away(2, &["explain", "--json", "--"]).args(line));
        let (own, theirs) = (&acquired["acquired"][0], &explained["leases"][0]);
        assert_eq!((&own["resource"], &own["scope"]), (&theirs["resource"], &theirs["scope"]), "{typed}");
        let status: Value = json(&mut desk.away(2, &["status", "--json", typed]));
        assert_eq!(status[0]["resource"], theirs["resource"], "{typed}");
        ends(&mut desk.away(1, &["release", typed]), 0);
    }
}

/// Below the root a path is that from there, as for any program.
#[test]
fn a_file_is_named_from_where_one_stands() {
    let desk = Desk::new();
    let place = desk.stage.world.work().join("charts/web");
    fs::create_dir_all(&place).expect("directory");
    fs::copy(desk.stage.file(), place.join("values.sops.env")).expect("a file");
    for (typed, resource) in [
        ("sops:values.sops.env", "sops:charts/web/values"),
        ("sops:charts/web/values.sops.env", "sops:charts/web/values"),
        ("sops:values", "sops:values"),
        ("sops:../../secrets/monitoring.env.sops", RESOURCE),
        ("sops:secrets/monitoring.env.sops", RESOURCE),
        ("sops:monitoring", RESOURCE),
    ] {
        let acquired: Value = json(desk.locked(1, &["acquire", "--json", typed]).current_dir(&place));
        assert_eq!(acquired["acquired"][0]["resource"], resource, "{typed}");
        ends(desk.locked(1, &["release", typed]).current_dir(&place), 0);
    }
}

/// Every verb that takes a name means the same by it, and so do the options before a program.
#[test]
fn every_verb_means_the_same_by_a_name() {
    let desk = Desk::new();
    let typed = "server:deploy@PROD:22";
    let canonical = "server:web-1";
    let run = ["-n", "-r", typed, "sh", "-c", "echo \"$LOCKED_RESOURCES\""];
    assert_eq!(silent(&mut desk.locked(1, &run)), format!("{canonical}\n"));
    ends(&mut desk.locked(1, &["acquire", canonical]), 0);
    says(&mut desk.locked(2, &run), 75);
    for verb in ["renew", "check"] {
        ends(&mut desk.locked(1, &[verb, typed]), 0);
    }
    let told = text(&ends(&mut desk.locked(2, &["status", "--ping", typed, "--message", "soon done?"]), 0).stdout);
    assert!(told.contains(&format!("about {canonical}")), "{told}");
    let steal = ["steal", typed, "--reason", "gone", "--approved-by", "Maria", "--now", "--json"];
    let stolen: Value = json(&mut desk.locked(2, &steal));
    assert_eq!(stolen["stolen"][0]["resource"], canonical);
    let said = says(&mut desk.locked(1, &["check", typed]), 77);
    assert!(said.contains(canonical) && !said.contains("deploy@"), "{said}");
    ends(&mut desk.locked(2, &["release", typed, "--as", "human-action", "--note", "look at it"]), 0);
    let duties: Value = json(&mut desk.locked(1, &["status", "--duties", "--json", typed]));
    assert_eq!(duties[0]["resource"], canonical);
    let history: Value = json(&mut desk.locked(1, &["history", "--json", typed]));
    assert_eq!(history[0]["resource"], canonical);
    let secret = ["-n", "--secret", "/secret/app/", "sh", "-c", "echo \"$LOCKED_RESOURCES\""];
    assert_eq!(silent(&mut desk.locked(1, &secret)), "rotation:secret/app\n");
    let mut by_variable = desk.locked(1, &["-n", "-r", canonical, "sh", "-c", "echo \"$LOCKED_RESOURCES\""]);
    assert_eq!(silent(by_variable.env("LOCKED_SECRET", "/secret/app")), "rotation:secret/app server:web-1\n");
}

/// Who puts a value behind the name of a secret has not told it to anybody.
#[test]
fn a_value_behind_the_name_of_a_secret_is_dropped() {
    let desk = Desk::new();
    let acquired: Value = json(&mut desk.locked(1, &["acquire", "--json", "rotation:API_KEY=hunter2"]));
    assert_eq!(acquired["acquired"][0]["resource"], "rotation:API_KEY");
}

/// What is wrong with a table keeps nobody from giving back what they hold.
#[test]
fn a_broken_rule_keeps_nobody_from_giving_back() {
    let desk = Desk::new();
    ends(&mut desk.locked(1, &["acquire", "server:prod"]), 0);
    fs::write(desk.stage.world.work().join(".locked.toml"), "[[rule]]\nname = \"x\"\n").expect("settings");
    ends(&mut desk.locked(1, &["release", "server:prod"]), 0);
}
