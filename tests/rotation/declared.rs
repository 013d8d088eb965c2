//! `[[rotation]]`: what has to learn of the new value is held with it.
#![forbid(unsafe_code)]

use std::fs;

use super::stage::{APP, N8N, ROTATION, Stage, ends, says, silent, text};

const HELD: [&str; 4] = ["rotation:API_KEY", "sops:app", "sops:n8n", "workflow:secrets-sync"];

fn stage() -> Stage {
    declared(Stage::new())
}

fn declared(stage: Stage) -> Stage {
    let settings = format!(
        "[[rotation]]\nsecret = 'API_KEY'\nfiles = ['{N8N}', '{APP}']\nworkflows = ['.github/workflows/Secrets-Sync.yml']\n"
    );
    fs::write(stage.world.work().join(".locked.toml"), settings).expect("settings");
    stage
}

/// One workflow is one resource, by whichever of its names the settings have it.
#[test]
fn a_workflow_that_is_declared_by_its_display_name_is_held_by_its_file() {
    let stage = Stage::new();
    let place = stage.world.work().join(".github/workflows");
    fs::create_dir_all(&place).expect("place");
    fs::write(place.join("push-keys.yml"), "name: Secrets Sync\non: workflow_dispatch\n").expect("workflow");
    let settings = "[[rotation]]\nsecret = 'API_KEY'\nworkflows = ['Secrets Sync', 'other.yml']\n";
    fs::write(stage.world.work().join(".locked.toml"), settings).expect("settings");
    let mut command = stage.locked(1);
    let line = ["--secret", "API_KEY", "--consumers-ok", "sh", "-c", "echo $LOCKED_RESOURCES"];
    let expected = [ROTATION, "workflow:other", "workflow:push-keys"];
    assert_eq!(silent(command.args(line)), format!("{}\n", expected.join(" ")));
    silent(stage.locked(1).args(["acquire", ROTATION]));
    assert_eq!(held(&stage), expected);
}

fn held(stage: &Stage) -> Vec<String> {
    let name = |lease: &serde_json::Value| lease["resource"].as_str().expect("a name").to_owned();
    stage.status().iter().map(name).collect()
}

#[test]
fn files_and_workflows_are_held_with_the_rotation_all_or_none() {
    for stage in Stage::both("held_with_it").map(declared) {
        let explained = ends(stage.locked(1).args(["--secret", "API_KEY", "-N", "true"]), 0);
        for name in HELD {
            assert!(text(&explained.stdout).contains(name), "{}", text(&explained.stdout));
        }
        let script = "echo $LOCKED_RESOURCES";
        // From anywhere in the repository.
        for directory in [stage.world.work(), stage.world.work().join("secrets")] {
            let mut command = stage.rotates(1, &["--consumers-ok"], script);
            assert_eq!(silent(command.current_dir(directory)), format!("{}\n", HELD.join(" ")));
        }
        // One of them is another's: none is taken.
        silent(stage.locked(2).args(["acquire", "sops:n8n"]));
        for mut command in [stage.rotates(1, &[], "touch ran"), stage.locked(1)] {
            if command.get_args().next().is_none() {
                command.args(["acquire", ROTATION]);
            }
            let said = says(&mut command, 75);
            assert!(said.starts_with("BLOCKED: sops:n8n is held by 02020202 ("), "{said}");
        }
        assert_eq!(held(&stage), ["sops:n8n"]);
        assert!(!stage.is_there("ran"));
        silent(stage.locked(2).args(["release", "sops:n8n"]));
        silent(stage.locked(1).args(["acquire", ROTATION]));
        assert_eq!(held(&stage), HELD);
        says(stage.writes(2, APP).env("LOCKED_NO_WAIT", "1"), 75);
        // Its own session writes under it; what it gives back early stays given back.
        silent(&mut stage.writes(1, APP));
        silent(&mut stage.writes(1, N8N));
        silent(stage.locked(1).args(["release", "workflow:secrets-sync"]));
        silent(stage.locked(1).args(["renew", ROTATION]));
        silent(stage.locked(1).args(["check", ROTATION]));
        silent(stage.locked(1).args(["release", ROTATION]));
        assert_eq!(held(&stage), [""; 0]);
    }
}

/// Nobody had to write `locked` into the script.
#[test]
fn a_script_that_writes_the_files_itself_has_them_proven() {
    for stage in Stage::both("a_script").map(declared) {
        let sops = crate::world::real_sops().display().to_string();
        let app = format!("{sops} set --input-type dotenv --output-type dotenv {APP} '[\"API_KEY\"]' '\"new\"'");
        let n8n = format!("{sops} set {N8N} '[\"env\"][0][\"API_KEY\"]' '\"new\"'");
        let said = says(&mut stage.rotates(1, &[], &app), 0);
        assert!(said.contains(&format!("{N8N} has the same key and was not written under it")), "{said}");
        assert_eq!(held(&stage), [ROTATION], "the others are free");
        assert_eq!(says(&mut stage.rotates(1, &[], &n8n), 0), "");
        assert_eq!(held(&stage), [""; 0]);
        // One that breaks a file is told by the canary, and the rotation is over all the same.
        let said = says(&mut stage.rotates(1, &["--consumers-ok"], &format!(": > {APP}")), 72);
        assert!(said.starts_with(&format!("QUARANTINED: sops:app: {APP}: ")), "{said}");
        assert_eq!(held(&stage), ["sops:app"]);
    }
}

#[test]
fn another_secret_takes_nothing_along() {
    let stage = stage();
    assert_eq!(
        silent(stage.locked(1).args(["--secret", "OTHER", "--consumers-ok", "sh", "-c", "echo $LOCKED_RESOURCES"])),
        "rotation:OTHER\n"
    );
}
