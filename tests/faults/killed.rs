//! kill -9 in every phase. Afterwards nothing of the tree lives, and the next one gets in long before the TTL of half
//! an hour.
#![forbid(unsafe_code)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::differential::random::Random;
use crate::world::apart::{sees_every_process, this_test};
use crate::world::ends::so;
use crate::world::processes::{children, kill, lives};
use crate::world::real_sops;

use super::log;
use super::stage::{Run, Stage};

const LONG: [&str; 2] = ["-r", "test:x"];

#[derive(Debug, Clone, Copy, PartialEq)]
enum Whom {
    Wrapper,
    Keeper,
    Both,
    Child,
}

impl Whom {
    const ALL: [Self; 4] = [Self::Wrapper, Self::Keeper, Self::Both, Self::Child];

    /// As much of it as there is now.
    fn kill(self, run: &Run) {
        let keeper = run.keeper_now();
        match self {
            Self::Wrapper => kill(run.wrapper()),
            Self::Keeper => keeper.into_iter().for_each(kill),
            Self::Both => {
                // The wrapper first: it would take over.
                kill(run.wrapper());
                keeper.into_iter().for_each(kill);
            }
            Self::Child => keeper.into_iter().flat_map(children).for_each(kill),
        }
    }
}

fn is_clean(stage: &Stage, what: &str) {
    stage.is_empty_soon();
    stage.next_gets_in("next", &["--wait", "50s", "-r", "test:x"]);
    assert_eq!((stage.leases(), stage.tickets()), (0, 0), "{what}");
    log::check(&stage.log());
}

#[test]
fn whoever_is_killed_while_the_child_runs_nothing_is_left_and_the_next_one_gets_in() {
    // Both at once: see `leftovers`.
    for whom in [Whom::Wrapper, Whom::Keeper, Whom::Child] {
        let stage = Stage::new();
        let one = stage.start_shell("one", &LONG, "setsid $ME & sh -c '$ME & exit' & wait; $ME");
        so("the tree lives", || stage.lives().len() == 2);
        whom.kill(&one);
        let _whatever_it_says = one.ends();
        is_clean(&stage, &format!("{whom:?}"));
    }
}

#[test]
fn a_killed_wrappers_tree_hears_term_first_and_is_not_given_the_usual_grace() {
    let stage = Stage::new();
    // No wait of ours would outlast such a grace.
    let options = ["--ttl", "30m", "--grace", "8m", "-r", "test:x"];
    let stubborn = "trap '' TERM; setsid $ME & trap ': > heard' TERM; while :; do wait; done";
    let one = stage.start_shell("one", &options, stubborn);
    let child = stage.alive("one");
    kill(one.wrapper());
    so("the child is gone", || !lives(child));
    so("the keeper has settled and gone", || stage.inhabitants().is_empty());
    assert!(stage.world.work().join("heard").exists());
    assert_eq!(stage.leases(), 0, "settled by the keeper");
}

#[test]
fn what_a_killed_program_was_doing_is_stopped_and_what_it_left_on_purpose_lives_on() {
    for (line, code, stays) in [("kill -KILL $$", None, false), ("exit 3", Some(3), true)] {
        let stage = Stage::new();
        let line = format!("setsid $ME 2> /dev/null & {line}");
        let one = stage.start_shell("one", &LONG, &line);
        let ended = one.ends();
        assert_eq!(ended.code, code, "{line}: {}", ended.said);
        assert_eq!(!stage.inhabitants().is_empty(), stays, "{line}");
        assert_eq!(stage.leases(), 0, "{line}: and holds nothing");
    }
}

#[test]
fn a_killed_waiter_leaves_no_place_in_the_queue() {
    if !sees_every_process(this_test!()) {
        return;
    }
    for whom in [Whom::Wrapper, Whom::Both] {
        let stage = Stage::new();
        let one = stage.start("one", &LONG);
        stage.alive("one");
        let waiter = stage.start("waiter", &["--wait", "50s", "-r", "test:x"]);
        so("the waiter stands in line", || stage.tickets() == 1);
        whom.kill(&waiter);
        let _killed = waiter.ends();
        stage.raise("one");
        assert_eq!(one.ends().code, Some(0));
        is_clean(&stage, &format!("{whom:?}"));
    }
}

/// A random moment is what this test is about: it waits for nothing, and nothing rests on its length.
fn moment(span: Duration) {
    std::thread::sleep(span);
}

#[test]
fn killed_at_any_moment_nothing_is_left_and_the_next_one_gets_in() {
    if !sees_every_process(this_test!()) {
        return;
    }
    let rounds = std::env::var("LOCKED_KILLS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(60);
    let seed = std::env::var("LOCKED_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(42);
    println!("seed {seed}, {rounds} rounds");
    let stage = Stage::new();
    stage.next_gets_in("warm", &LONG);
    for round in 0..rounds {
        let mut random = Random::new(seed, round);
        let whom = random.pick(&Whom::ALL);
        let after = Duration::from_micros(random.below(60_000) as u64);
        let name = format!("r{round}");
        let one = stage.start(&name, &LONG);
        moment(after);
        whom.kill(&one);
        stage.raise(&name);
        let _whatever_it_says = one.ends();
        let what = format!("seed {seed} round {round}: {whom:?} after {after:?}");
        so(&format!("{what}: nothing is left"), || stage.inhabitants().is_empty());
        stage.next_gets_in(&format!("n{round}"), &["--wait", "50s", "-r", "test:x"]);
        assert_eq!((stage.leases(), stage.tickets()), (0, 0), "{what}");
    }
    log::check(&stage.log());
}

/// A world with a sops that does what the real one does, and stands still where it is told to.
struct Sops {
    stage: Stage,
    file: PathBuf,
}

impl Sops {
    fn new() -> Self {
        let stage = Stage::new();
        let file = stage.world.encrypted("m.env.sops", "A=1\n", "dotenv");
        let bin = stage.world.root().join("bin");
        std::fs::create_dir(&bin).expect("bin");
        let (root, real) = (stage.world.root().display(), real_sops());
        // `stays` is where the named sub-command stands still: before its work, or after it.
        let script = format!(
            "#!/bin/sh\nstays() {{ : > {root}/at-$1; while [ -e {root}/stay-$1 ]; do sleep 0.01; done; }}\n\
             case $1 in set) verb=set;; *) verb=decrypt;; esac\n\
             echo \"$verb $LOCKED_TOKENS\" >> {root}/sops.log\n\
             stays before-$verb\n{real} \"$@\"; status=$?\nstays after-$verb\nexit $status\n",
            real = real.display()
        );
        std::fs::write(bin.join("sops"), script).expect("script");
        std::fs::set_permissions(bin.join("sops"), std::fs::Permissions::from_mode(0o755)).expect("mode");
        Self { stage, file }
    }

    fn stay(&self, place: &str) {
        std::fs::write(self.stage.world.root().join(format!("stay-{place}")), "").expect("flag");
    }

    fn go_on(&self, place: &str) {
        let _not_there = std::fs::remove_file(self.stage.world.root().join(format!("stay-{place}")));
    }

    fn came_to(&self, place: &str) {
        let flag = self.stage.world.root().join(format!("at-{place}"));
        so(&format!("sops comes to {place}"), || flag.exists());
        std::fs::remove_file(flag).expect("flag");
    }

    fn set(&self, options: &[&str], key: &str, value: &str) -> Command {
        let path = std::env::var("PATH").expect("PATH");
        let mut command = self.stage.world.locked();
        command
            .env("PATH", format!("{}:{path}", self.stage.world.root().join("bin").display()))
            .args(options)
            .args(["sops", "set", "--input-type", "dotenv", "--output-type", "dotenv"])
            .arg(&self.file)
            .args([format!("[\"{key}\"]"), format!("\"{value}\"")]);
        self.stage.prepare(&mut command, key);
        command
    }

    fn plain(&self) -> String {
        self.stage.world.decrypted(&self.file, "dotenv")
    }

    fn words(&self) -> String {
        std::fs::read_to_string(self.stage.world.root().join("sops.log")).unwrap_or_default()
    }

    /// A write that was done and never settled: wrapper and keeper are killed after it.
    fn unsettled_write(&self) {
        self.stay("after-set");
        let one = Run::of(self.set(&[], "B", "2"));
        self.came_to("after-set");
        Whom::Both.kill(&one);
        let _killed = one.ends();
        self.go_on("after-set");
        self.stage.is_empty_soon();
    }
}

#[test]
fn killed_during_the_canary_the_files_are_proven_and_the_next_one_gets_in() {
    if !sees_every_process(this_test!()) {
        return;
    }
    for whom in [Whom::Wrapper, Whom::Keeper, Whom::Both] {
        let sops = Sops::new();
        sops.stay("before-decrypt");
        let one = Run::of(sops.set(&[], "B", "2"));
        sops.came_to("before-decrypt");
        whom.kill(&one);
        sops.go_on("before-decrypt");
        let _whatever_it_says = one.ends();
        sops.stage.is_empty_soon();
        let next = Run::of(sops.set(&["--wait", "50s"], "C", "3")).ends();
        assert_eq!((next.code, next.said.as_str()), (Some(0), ""), "{whom:?}");
        assert_eq!(sops.plain(), "A=1\nB=2\nC=3\n", "{whom:?}");
        let chain = sops.stage.number("select count(*) from receipts");
        assert_eq!(chain, 2, "{whom:?}: both writes have a receipt, whoever left it");
    }
}

#[test]
fn an_unsettled_write_is_proven_before_the_next_one_starts() {
    if !sees_every_process(this_test!()) {
        return;
    }
    let sops = Sops::new();
    sops.unsettled_write();
    let next = Run::of(sops.set(&["--wait", "50s"], "C", "3")).ends();
    assert_eq!((next.code, next.said.as_str()), (Some(0), ""));
    let words = sops.words();
    let order: Vec<&str> = words.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(order, ["set", "decrypt", "set", "decrypt"], "proof, write, canary");
    assert_eq!(sops.stage.number("select count(*) from receipts where kind = 'recovered'"), 1);
}

#[test]
fn a_proof_that_outlasts_the_grant_starts_nothing_when_the_lease_was_lost_meanwhile() {
    if !sees_every_process(this_test!()) {
        return;
    }
    let sops = Sops::new();
    sops.unsettled_write();
    sops.stay("before-decrypt");
    let slow = Run::of(sops.set(&["--ttl", "3s", "--on-lost", "echo told: $LOCKED_LOST_CAUSE"], "C", "3"));
    sops.came_to("before-decrypt");
    // Its first grant ends while it proves, and another takes the lease and proves too.
    let next = Run::of(sops.set(&["--wait", "50s"], "D", "4"));
    sops.came_to("before-decrypt");
    sops.stay("before-set");
    sops.go_on("before-decrypt");
    sops.came_to("before-set");
    let ended = slow.ends();
    assert_eq!(ended.code, Some(77), "{}", ended.said);
    assert!(ended.said.contains("told: gone"), "{}", ended.said);
    sops.go_on("before-set");
    assert_eq!(next.ends().code, Some(0));
    assert_eq!(sops.plain(), "A=1\nB=2\nD=4\n");
    assert_eq!(sops.words().lines().filter(|line| line.starts_with("set ")).count(), 2, "the loser was not started");
    sops.stage.is_empty_soon();
}

#[test]
fn a_proof_that_outlasts_the_grant_is_no_reason_to_stop_when_nobody_came() {
    if !sees_every_process(this_test!()) {
        return;
    }
    let sops = Sops::new();
    sops.unsettled_write();
    sops.stay("before-decrypt");
    let slow = Run::of(sops.set(&["--ttl", "3s"], "C", "3"));
    sops.came_to("before-decrypt");
    let board = sops.stage.world.status();
    sops.stage.world.has_expired(board[0]["resource"].as_str().expect("the file's name"));
    sops.go_on("before-decrypt");
    let ended = slow.ends();
    assert_eq!((ended.code, ended.said.as_str()), (Some(0), ""));
    assert_eq!(sops.plain(), "A=1\nB=2\nC=3\n");
}
