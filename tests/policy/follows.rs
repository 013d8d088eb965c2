//! `follow`: the lease is held until the workflow run that the command triggered has ended. `gh` is a stand-in here: the
//! real one needs GitHub.
#![forbid(unsafe_code)]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use rustix::process::Signal;

use super::stage::{Held, Stage, ends, in_front, says, so, text, until};
use crate::world::processes::{children, kill, lives, signal};

const SYNC: &str = "workflow:secrets-sync";

/// Notes what it is asked. The newest run is 6 and old; once triggered it is 7, which ends when `over` is there.
const GH: &str = r#"
echo "$*" >> calls
case "$1 $2" in
  'workflow run') touch triggered; echo up; exit 0 ;;
  'run list')
    [ -e triggered ] && set -- 7 in_progress || set -- 6 completed
    [ -e over ] && [ $1 = 7 ] && set -- 7 completed
    echo "[{\"databaseId\":$1,\"status\":\"$2\",\"createdAt\":\"2026-03-01T10:00:00Z\",\"event\":\"workflow_dispatch\"}]" ;;
  'run watch') echo $$ > watching.new; mv watching.new watching; while [ ! -e over ]; do sleep 0.05; done ;;
esac"#;

struct Sync {
    stage: Stage,
}

impl Sync {
    fn new() -> Self {
        let stage = Stage::with("exit 0");
        stage.add("gh", GH);
        Self { stage }
    }

    fn trigger(&self, session: u32, terms: &str) -> Command {
        let rule = format!(
            "name = 'gh.workflow'\nprogram = 'gh'\nsubcommand = 'workflow run'\nresource = ['{SYNC}']\nelsewhere = true\nttl = '2s'\nfollow = true\n{terms}"
        );
        let mut command = self.stage.locked(session, &rule);
        command.args(["-n", "gh", "workflow", "run", "secrets-sync", "--repo", "acme/infra"]);
        command
    }

    fn file(&self, name: &str) -> PathBuf {
        self.stage.world.work().join(name)
    }

    /// Triggered, and watched. The second answer is the process id of the watch.
    fn watched(&self, terms: &str) -> (Held, u32) {
        let held = Held::start(&mut self.trigger(1, terms));
        let pid = until("the run is watched", || fs::read_to_string(self.file("watching")).ok()?.trim().parse().ok());
        (held, pid)
    }

    fn calls(&self) -> Vec<String> {
        fs::read_to_string(self.file("calls")).expect("calls").lines().map(str::to_owned).collect()
    }

    /// The lease stays with session 1 and lets nobody else in.
    #[track_caller]
    fn is_kept(&self) {
        let lease = self.stage.lease().expect("kept");
        assert_eq!((&lease["state"], &lease["takeable"]), (&"remote".into(), &false.into()), "{lease}");
        let refusal = says(&mut self.trigger(2, ""), 75);
        assert!(refusal.contains("secrets-sync was triggered and may still be running; that run started"), "{refusal}");
    }
}

#[test]
fn the_lease_is_held_and_renewed_until_the_run_has_ended() {
    let sync = Sync::new();
    let (held, _) = sync.watched("hold_for = '1h'");
    sync.stage.world.is_renewed_for(SYNC, std::time::Duration::from_secs(3));
    let refusal = says(&mut sync.trigger(2, ""), 75);
    assert!(refusal.contains("that run started before your change and does not carry it"), "{refusal}");
    fs::write(sync.file("over"), "").expect("over");
    let output = held.finish();
    assert_eq!(output.status.code(), Some(0));
    let said = text(&output.stderr);
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.starts_with("locked: waiting for the run of secrets-sync to end, and holding "), "{said}");
    assert_eq!(sync.stage.lease(), None, "what was followed to its end is not held longer");
    assert_eq!(sync.stage.endings(), ["completed"]);
    let list = "run list --workflow secrets-sync --repo acme/infra --json databaseId,status,createdAt,event --limit 30";
    let calls = sync.calls();
    let begins = [list, "workflow run secrets-sync --repo acme/infra", list, "run watch 7 --repo acme/infra", list];
    assert_eq!(calls[..5], begins);
    assert!(calls[5..].iter().all(|call| call == list), "{calls:?}");
}

#[test]
fn a_run_that_has_ended_already_is_not_watched_and_an_old_one_is_not_taken_for_it() {
    let sync = Sync::new();
    // The new run is seen at the third look after the trigger only.
    let late =
        GH.replace("[ -e triggered ] && set -- 7 in_progress", "[ $(wc -l < calls) -ge 5 ] && set -- 7 completed");
    sync.stage.add("gh", &late);
    let output = ends(&mut sync.trigger(1, ""), 0);
    assert!(text(&output.stderr).starts_with("locked: waiting for "));
    assert!(sync.calls().len() >= 5 && !sync.calls().iter().any(|call| call.contains("watch")), "{:?}", sync.calls());
    assert_eq!(sync.stage.endings(), ["completed"]);
}

#[test]
fn keys_and_a_hang_up_end_the_wait_and_the_lease_stays() {
    for (number, name) in [(Signal::INT, "INT"), (Signal::TERM, "TERM"), (Signal::HUP, "HUP"), (Signal::TSTP, "TSTP")] {
        let sync = Sync::new();
        let (held, watch) = sync.watched("");
        signal(held.pid(), number);
        let output = held.ended();
        assert_eq!(output.status.code(), Some(0), "{name}: the exit status is the program's");
        let said = text(&output.stderr);
        assert!(
            said.contains("was not followed to its end (interrupted); ") && said.contains(" for 2m"),
            "{name}: {said}"
        );
        so("the watch is gone", || !lives(watch));
        sync.is_kept();
        let left = sync.stage.lease().expect("kept")["expires_in_ms"].as_u64().expect("ms");
        assert!((60_000..=120_000).contains(&left), "{name}: {left}");
    }
}

#[test]
fn what_was_ignored_at_the_start_ends_no_wait() {
    let sync = Sync::new();
    let command = sync.trigger(1, "");
    let words: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
    let mut nohup = Command::new("nohup");
    nohup.arg(command.get_program()).args(words).current_dir(sync.stage.world.work()).env_clear();
    nohup.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let held = Held::start(&mut nohup);
    so("the run is watched", || sync.file("watching").exists());
    signal(held.pid(), Signal::HUP);
    signal(held.pid(), Signal::USR1);
    sync.stage.world.is_renewed_for(SYNC, std::time::Duration::from_secs(1));
    fs::write(sync.file("over"), "").expect("over");
    held.let_go();
    assert_eq!(sync.stage.endings(), ["completed"]);
}

#[test]
fn whoever_of_us_dies_meanwhile_the_lease_stays() {
    // The wrapper: the keeper settles.
    let sync = Sync::new();
    let (held, watch) = sync.watched("hold_for = '1h'");
    kill(held.pid());
    assert_eq!(held.ended().status.code(), None);
    so("it is kept", || sync.stage.lease().is_some_and(|lease| lease["state"] == "remote"));
    sync.is_kept();
    kill(watch);
    // The keeper: the wrapper ends the wait.
    let sync = Sync::new();
    let (held, watch) = sync.watched("hold_for = '1h'");
    let keeper = *children(held.pid()).iter().find(|&&child| child != watch).expect("the keeper");
    kill(keeper);
    let output = held.ended();
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stderr).contains("(the keeper died)"), "{}", text(&output.stderr));
    sync.is_kept();
}

#[test]
fn a_lease_that_is_taken_meanwhile_ends_the_wait_and_takes_nothing_from_the_success() {
    let sync = Sync::new();
    let (held, watch) = sync.watched("");
    let taken = "update leases set ended_at = 1, ended_as = 'stolen' where ended_at is null";
    sync.stage.world.database().execute(taken, []).expect("taken");
    let output = held.ended();
    assert_eq!(output.status.code(), Some(0));
    let said = text(&output.stderr);
    assert!(said.contains(&format!("{SYNC} was lost after the command had ended")), "{said}");
    so("the watch is gone", || !lives(watch));
}

#[test]
fn a_trigger_that_fails_is_not_followed() {
    let sync = Sync::new();
    sync.stage.add("gh", "echo \"$*\" >> calls; [ \"$1\" != workflow ]");
    let said = says(&mut sync.trigger(1, ""), 1);
    assert!(!said.contains("waiting") && said.contains("the command failed"), "{said}");
    assert_eq!(sync.calls().len(), 2, "one look before it, and none after: {:?}", sync.calls());
}

#[test]
fn without_gh_the_lease_stays_for_the_time_it_would_take() {
    let stage = Stage::with("exit 0");
    let mut command = stage.deploy(1, "follow = true");
    command.arg("sync");
    let path = in_front(&stage.programs);
    command.env("PATH", std::env::split_paths(&path).next().expect("the first"));
    let said = says(&mut command, 0);
    assert!(said.contains("(gh could not be run)"), "{said}");
    assert_eq!(stage.lease().expect("kept")["state"], "remote");
}

/// Somebody else's run appears first, and is over at once; the command's own is there a little later, and goes on.
#[test]
fn a_run_of_somebody_else_is_not_taken_for_one_s_own() {
    let sync = Sync::new();
    let others = GH.replace(
        "    [ -e triggered ] && set -- 7 in_progress || set -- 6 completed\n",
        "    run() { printf '{\"databaseId\":%s,\"status\":\"%s\",\"createdAt\":\"2026-03-01T10:00:0%sZ\",\"event\":\"%s\"}' $1 $2 $3 $4; }\n\
         [ -e triggered ] || { echo \"[$(run 6 completed 0 workflow_dispatch)]\"; exit 0; }\n\
         looks=$(grep -c 'run list' calls); all=\"$(run 9 in_progress 3 push),$(run 8 completed 2 workflow_dispatch)\"\n\
         state=in_progress; [ -e over ] && state=completed\n\
         [ $looks -ge 4 ] && all=\"$all,$(run 7 $state 1 workflow_dispatch)\"\n\
         echo \"[$all]\"; exit 0\n",
    );
    assert_ne!(others, GH);
    sync.stage.add("gh", &others);
    let (held, _) = sync.watched("hold_for = '1h'");
    says(&mut sync.trigger(2, ""), 75);
    fs::write(sync.file("over"), "").expect("over");
    assert_eq!(held.finish().status.code(), Some(0));
    let watched: Vec<String> = sync.calls().into_iter().filter(|call| call.starts_with("run watch")).collect();
    assert_eq!(watched, ["run watch 7 --repo acme/infra"], "what a push set off is not waited for");
    assert_eq!(sync.stage.endings(), ["completed"]);
}

/// Each is asked for where the line sets it off, and as it sets it off.
#[test]
fn every_run_that_a_line_sets_off_is_followed_as_the_line_asked_for_it() {
    let sync = Sync::new();
    let gh = r#"
echo "$PWD repo=$GH_REPO $*" >> "$CALLS"
case "$1 $2" in
  'workflow run') touch "$CALLS.$3" ;;
  'run list') [ -e "$CALLS.$4" ] && id=7 || id=6
    echo "[{\"databaseId\":$id,\"status\":\"completed\",\"createdAt\":\"2026-03-01T10:00:00Z\",\"event\":\"workflow_dispatch\"}]" ;;
esac"#;
    sync.stage.add("gh", gh);
    fs::create_dir(sync.file("stack")).expect("directory");
    let rule = "name = 'gh.workflow'\nprogram = 'gh'\nsubcommand = 'workflow run'\nresource = 'workflow:{1|slug}'\nelsewhere = true\nfollow = true\n";
    let mut command = sync.stage.locked(1, rule);
    let script = "gh workflow run a.yml && cd stack && env GH_REPO=acme/other gh workflow run b.yml";
    command.env("CALLS", sync.file("calls")).args(["-n", "sh", "-c", script]);
    let said = says(&mut command, 0);
    assert!(said.starts_with("locked: waiting for the run of a.yml and b.yml to end, "), "{said}");
    let work = sync.stage.world.work().display().to_string();
    let list = "--json databaseId,status,createdAt,event --limit 30";
    let asked = |run: &str, place: &str, repository: &str| {
        format!("{work}{place} repo={repository} run list --workflow {run} {list}")
    };
    let calls = sync.calls();
    for one in [asked("a.yml", "", ""), asked("b.yml", "/stack", "acme/other")] {
        assert!(calls.iter().filter(|call| **call == one).count() >= 2, "{one}: {calls:?}");
    }
    assert_eq!(sync.stage.endings(), ["completed", "completed"]);
}

/// From here nobody can ask for it; the lease stays for the time that it would take, and that is said.
#[test]
fn a_run_that_another_host_sets_off_is_not_followed_and_its_lease_stays() {
    let sync = Sync::new();
    sync.stage.add("ssh", "exit 0");
    let rule = "name = 'gh.workflow'\nprogram = 'gh'\non = 'anywhere'\nsubcommand = 'workflow run'\nresource = 'workflow:{1|slug}'\nelsewhere = true\nfollow = true\n";
    let said = says(sync.stage.locked(1, rule).args(["-n", "ssh", "bms-4", "gh workflow run sync.yml"]), 0);
    assert!(said.contains("is not followed (it was set off on another machine); its lease stays for 2m"), "{said}");
    assert!(!sync.file("calls").exists(), "gh was not asked");
    assert_eq!(sync.stage.lease().expect("held")["state"], "remote");
}
