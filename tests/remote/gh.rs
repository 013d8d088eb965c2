//! A workflow that is triggered, by the built-in rules and as the settings have it. `gh` is a stand-in: the real one needs
//! GitHub. (How a run is followed: `policy`.)
#![forbid(unsafe_code)]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::world::World;
use crate::world::board::{in_front, json};
use crate::world::ends::says;

const SYNC: &str = "workflow:secrets-sync";
/// The endpoint that triggers it.
const DISPATCH: &str = "repos/acme/infra/actions/workflows/secrets-sync.yml/dispatches";

/// Notes what it is asked. The newest run is 6; once something was triggered it is 7, and over.
const GH: &str = r#"
echo "$*" >> calls
case "$1 $2" in
  'run list') [ -e triggered ] && n=7 || n=6
    echo "[{\"databaseId\":$n,\"status\":\"completed\",\"createdAt\":\"2026-03-01T10:00:00Z\"}]" ;;
  *) touch triggered ;;
esac"#;

struct Stage {
    world: World,
    programs: PathBuf,
}

impl Stage {
    fn with(settings: &str) -> Self {
        let world = World::new();
        let programs = world.script("gh", GH);
        let directory = world.root().join("home/.config/locked");
        fs::create_dir_all(&directory).expect("directory");
        fs::write(directory.join("config.toml"), settings).expect("settings");
        Self { world, programs }
    }

    fn gh(&self, session: u32, words: &str) -> Command {
        let mut command = self.world.locked_as(session);
        command.env("PATH", in_front(&self.programs)).args(["-n", "gh"]).args(words.split(' '));
        command
    }

    fn calls(&self) -> Vec<String> {
        fs::read_to_string(self.world.work().join("calls")).expect("calls").lines().map(str::to_owned).collect()
    }

    /// For how many minutes the lease stays, rounded up; none when it does not.
    fn minutes(&self, resource: &str) -> Option<u64> {
        let lease = self.world.status().into_iter().find(|lease| lease["resource"] == resource)?;
        assert_eq!((&lease["state"], &lease["takeable"]), (&"remote".into(), &false.into()), "{lease}");
        lease["expires_in_ms"].as_u64().map(|ms| ms.div_ceil(60_000))
    }
}

#[test]
fn a_second_sync_is_refused_while_the_first_may_be_running() {
    let ways = ["workflow run secrets-sync.yml", &format!("api -X POST {DISPATCH} -f ref=main")];
    for (first, second) in [(ways[0], ways[1]), (ways[1], ways[0])] {
        let stage = Stage::with("");
        assert_eq!(says(&mut stage.gh(1, first), 0), "");
        assert!(stage.minutes(SYNC).is_some_and(|minutes| (1..=2).contains(&minutes)), "{:?}", stage.world.status());
        let refusal = says(&mut stage.gh(2, second), 75);
        assert!(
            refusal.contains(
                "secrets-sync was triggered and may still be running; that run started before your change and does not \
                 carry it"
            ),
            "{refusal}"
        );
        // An agent's own second trigger is a double sync as well.
        let own = says(&mut stage.gh(1, second), 75);
        assert!(
            own.starts_with(&format!("BLOCKED: {SYNC} is held by "))
                && own.contains("that run started before your change"),
            "{own}"
        );
        assert_eq!(stage.calls(), [first], "the second was not sent");
        assert_eq!(says(&mut stage.gh(2, "workflow run ci.yml"), 0), "", "another workflow");
        assert_eq!(says(&mut stage.gh(2, "workflow view secrets-sync.yml"), 0), "", "a look");
    }
}

#[test]
fn the_settings_say_which_workflows_and_for_how_long() {
    let stage = Stage::with("[gh]\nworkflows = ['deploy*', 'Sync keys']\nhold_for = '1h'\n");
    assert_eq!(says(&mut stage.gh(1, "workflow run secrets-sync.yml"), 0), "");
    assert_eq!(stage.minutes(SYNC), None, "others stand in the place of the built-in ones");
    assert_eq!(says(&mut stage.gh(1, "workflow run .github/workflows/Deploy-all.yaml --ref main"), 0), "");
    assert!(stage.minutes("workflow:deploy-all").is_some_and(|minutes| (30..=60).contains(&minutes)));
    let api = "api -X POST repos/acme/infra/actions/workflows/deploy-all.yaml/dispatches";
    says(&mut stage.gh(2, api), 75);
    let mut named = stage.gh(1, "workflow run");
    assert_eq!(says(named.arg("Sync keys"), 0), "");
    assert!(stage.minutes("workflow:sync-keys").is_some());
    // Nothing stays.
    let brief = Stage::with("[gh]\nhold_for = '0s'\n");
    assert_eq!(says(&mut brief.gh(1, "workflow run secrets-sync.yml"), 0), "");
    assert_eq!(brief.world.status(), Vec::<serde_json::Value>::new());
}

#[test]
fn a_run_is_followed_by_the_name_of_its_workflow_s_file_whoever_triggered_it() {
    let list =
        "run list --workflow secrets-sync.yml --repo acme/infra --json databaseId,status,createdAt,event --limit 30";
    let followed = |trigger: &str| {
        let stage = Stage::with("[gh]\nfollow = true\nhold_for = '1h'\n");
        let said = says(&mut stage.gh(1, trigger), 0);
        assert!(said.starts_with("locked: waiting for the run of secrets-sync.yml to end, "), "{trigger}: {said}");
        let calls = stage.calls();
        assert_eq!(calls[..2], [list, trigger], "{trigger}");
        assert!(calls.len() > 2 && calls[2..].iter().all(|call| call == list), "{trigger}: {calls:?}");
        assert_eq!(stage.world.history()[0]["ended_as"], "completed", "{trigger}");
        assert_eq!(stage.world.status().len(), 0, "{trigger}: what was followed to its end is not held longer");
    };
    let triggers = [
        "workflow run secrets-sync.yml --repo acme/infra".to_owned(),
        "workflow run .github/workflows/secrets-sync.yml -R acme/infra".to_owned(),
        format!("api -X POST {DISPATCH} -f ref=main"),
        format!("api --method POST https://api.github.com/{DISPATCH} --input -"),
    ];
    // At once: each looks for the runs of others for a while.
    std::thread::scope(|scope| {
        for trigger in &triggers {
            scope.spawn(|| followed(trigger));
        }
    });
}

/// The resources and the notes of a line of gh, as `explain` has them.
fn explained(stage: &Stage, words: &[&str]) -> (Vec<String>, String) {
    let mut command = stage.world.locked_as(1);
    let answer: serde_json::Value = json(command.args(["explain", "--json", "--"]).args(words));
    let texts = |key: &str| -> Vec<String> {
        answer[key].as_array().expect("a list").iter().map(|it| it.as_str().expect("text").to_owned()).collect()
    };
    (texts("resources"), texts("notes").join("\n"))
}

#[test]
fn one_workflow_is_one_resource_by_its_file_and_by_its_display_name() {
    let stage = Stage::with("");
    let place = stage.world.work().join(".github/workflows");
    fs::create_dir_all(&place).expect("place");
    for (file, text) in [
        ("sync.yml", "name: Secrets Sync\non: workflow_dispatch\n"),
        ("secret-scan.yml", "name: \"Look around\"\n"),
        ("ci.yml", "name: CI\n"),
    ] {
        fs::write(place.join(file), text).expect("workflow");
    }
    stage.world.git(&stage.world.work(), &["init", "-q"]);
    stage.world.git(&stage.world.work(), &["remote", "add", "origin", "https://github.com/acme/infra.git"]);
    let api = |workflow: &str| format!("repos/acme/infra/actions/workflows/{workflow}/dispatches");
    for (words, resource) in [
        (vec!["workflow", "run", "Secrets Sync"], Some("workflow:sync")),
        (vec!["workflow", "run", "secrets sync"], Some("workflow:sync")),
        (vec!["workflow", "run", "sync.yml"], Some("workflow:sync")),
        (vec!["workflow", "run", ".github/workflows/sync.yml", "-R", "Acme/infra"], Some("workflow:sync")),
        (vec!["api", "-X", "POST", &api("sync.yml")], Some("workflow:sync")),
        (vec!["api", "-X", "POST", &api(".github%2Fworkflows%2Fsync.yml")], Some("workflow:sync")),
        (vec!["workflow", "run", "Look around"], Some("workflow:secret-scan")),
        (vec!["workflow", "run", "CI"], None),
        (vec!["workflow", "run", "ci.yml"], None),
        // Of another repository nothing is known here.
        (vec!["workflow", "run", "sync.yml", "-R", "acme/other"], None),
        (vec!["workflow", "run", "Secrets Sync", "-R", "acme/other"], Some("workflow:secrets-sync")),
        (vec!["workflow", "run", "Secrets Elsewhere"], Some("workflow:secrets-elsewhere")),
        (vec!["api", &api(".github%2Fworkflows%2Fsecrets-other.yml")], Some("workflow:secrets-other")),
    ] {
        let line = [&["gh"], words.as_slice()].concat();
        assert_eq!(explained(&stage, &line).0, resource.into_iter().collect::<Vec<_>>(), "{line:?}");
    }
    // The directory is the command's.
    let elsewhere = stage.world.root().join("elsewhere");
    fs::create_dir(&elsewhere).expect("directory");
    let script = format!("cd {} && gh workflow run sync.yml", elsewhere.display());
    assert_eq!(explained(&stage, &["sh", "-c", &script]).0, Vec::<String>::new());
    assert_eq!(
        explained(&stage, &["env", "GH_REPO=acme/other", "gh", "workflow", "run", "sync.yml"]).0,
        Vec::<String>::new()
    );
    // A number may be each of those here.
    for line in [["gh", "workflow", "run", "12345"], ["gh", "api", "-XPOST", &api("12345")]] {
        let (resources, notes) = explained(&stage, &line);
        assert_eq!(resources, ["workflow:secret-scan", "workflow:sync"], "{line:?}");
        assert_eq!(
            notes,
            "only GitHub knows which workflow has the number 12345: those here that it may be are held; name its file"
        );
    }
    let (resources, notes) = explained(&stage, &["gh", "workflow", "run", "12345", "-R", "acme/other"]);
    assert_eq!(resources, ["workflow:12345"]);
    assert!(notes.ends_with("it is held by that alone; name its file"), "{notes}");
    assert_eq!(explained(&stage, &["gh", "workflow", "run", "12345", "--help"]), (Vec::new(), String::new()));
    for file in ["sync.yml", "secret-scan.yml"] {
        fs::remove_file(place.join(file)).expect("removed");
    }
    let (resources, notes) = explained(&stage, &["gh", "workflow", "run", "12345"]);
    assert_eq!(resources, [""; 0]);
    assert!(notes.ends_with("of those here none locks, and nothing is held for it; name its file"), "{notes}");
}
