//! kill -9 in every phase. Afterwards nothing of the tree lives, and the next one gets in long before the TTL of half
//! an hour.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::differential::random::Random;
use crate::world::apart::{sees_every_process, this_test};
use crate::world::ends::so;
use crate::world::processes::{children, kill, lives};

use super::log;
use super::stage::{Run, Stage};

const LONG: [&str; 2] = ["-r", "test:x"];

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Whom {
    Wrapper,
    Keeper,
    Both,
    Child,
}

impl Whom {
    const ALL: [Self; 4] = [Self::Wrapper, Self::Keeper, Self::Both, Self::Child];

    /// As much of it as there is now.
    pub(crate) fn kill(self, run: &Run) {
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
