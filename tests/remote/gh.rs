//! A workflow that is triggered, by the built-in rules and as the settings have it. `gh` is a stand-in: the real one needs
//! GitHub. (How a run is followed: `policy`.)
#![forbid(unsafe_code)]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::world::World;
use crate::world::board::in_front;
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
        assert_eq!((&lease["state"], &lease["takeable"]), (&"kept".into(), &false.into()), "{lease}");
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
    let list = "run list --workflow secrets-sync.yml --repo acme/infra --json databaseId,status,createdAt --limit 1";
    for trigger in [
        "workflow run secrets-sync.yml --repo acme/infra".to_owned(),
        "workflow run .github/workflows/secrets-sync.yml -R acme/infra".to_owned(),
        format!("api -X POST {DISPATCH} -f ref=main"),
        format!("api --method POST https://api.github.com/{DISPATCH} --input -"),
    ] {
        let stage = Stage::with("[gh]\nfollow = true\nhold_for = '1h'\n");
        let said = says(&mut stage.gh(1, &trigger), 0);
        assert!(said.starts_with("locked: waiting for the run of secrets-sync.yml to end, "), "{trigger}: {said}");
        assert_eq!(stage.calls(), [list, &trigger, list], "{trigger}");
        assert_eq!(stage.world.history()[0]["ended_as"], "completed", "{trigger}");
        assert_eq!(stage.world.status().len(), 0, "{trigger}: what was followed to its end is not held longer");
    }
}
