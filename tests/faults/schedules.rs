//! Random schedules: contenders for one or two resources, and a hand that kills, freezes, thaws and ends wrappers,
//! keepers and children, and freezes the store, at random moments. Never two at once, tokens grow, everything ends.
//!
//! Left out by name, as the design excludes them: wrapper and keeper frozen at once while their child runs; both killed
//! with a descendant that hides. (Both killed without one is in.)
#![forbid(unsafe_code)]

use std::time::Duration;

use rustix::process::Signal;

use crate::differential::random::Random;
use crate::world::ends::so;
use crate::world::processes::{children, freeze, kill, signal, thaw};

use super::log;
use super::stage::{Run, Stage};

const SETS: [&[&str]; 3] = [&["-r", "test:x"], &["-r", "test:y"], &["-r", "test:x", "-r", "test:y"]];
const TTLS: [&str; 2] = ["1s", "2s"];

struct Contender {
    run: Run,
    /// Its wrapper or its keeper was frozen or killed already: the other one is spared from freezing.
    hurt: bool,
}

fn number(name: &str, ready: u64) -> u64 {
    std::env::var(name).ok().and_then(|number| number.parse().ok()).unwrap_or(ready)
}

fn contender(stage: &Stage, random: &mut Random, id: usize) -> Contender {
    let mut options = vec!["--wait", "20s", "--ttl", random.pick(&TTLS)];
    options.extend(random.pick(&SETS));
    let line = random.pick(&["exec $ME", "$ME & setsid $ME & wait", "trap '' TERM; $ME"]);
    let words = ["sh".to_owned(), "-c".to_owned(), line.to_owned()];
    let mut command = stage.command(&format!("c{id}"), &options, &words);
    command.env("ME", super::actor::words().join(" "));
    command.env(super::actor::FOR, (20 + random.below(900)).to_string());
    Contender { run: Run::of(command), hurt: false }
}

/// Random moments are what a schedule is made of: it waits for nothing, and nothing rests on the length.
fn pass(ms: usize) {
    std::thread::sleep(Duration::from_millis(ms as u64));
}

/// One blow.
fn strike(random: &mut Random, contender: &mut Contender, frozen: &mut Vec<u32>) -> String {
    let wrapper = contender.run.wrapper();
    let keeper = contender.run.keeper_now();
    let child = keeper.and_then(|keeper| children(keeper).first().copied());
    let mut on = |what: &str, pid: Option<u32>, freezes: bool| {
        let Some(pid) = pid else { return format!("{what}: nobody") };
        if freezes {
            freeze(pid);
            frozen.push(pid);
        } else {
            kill(pid);
        }
        format!("{what} {pid}")
    };
    match random.below(9) {
        0 => {
            signal(wrapper, Signal::TERM);
            "TERM to the wrapper".to_owned()
        }
        1 => on("kill child", child, false),
        2 => on("freeze child", child, true),
        3 => {
            // Both at once: their descendants do not hide.
            contender.hurt = true;
            let said = on("kill wrapper", Some(wrapper), false);
            said + &on(", kill keeper", keeper, false)
        }
        _ if contender.hurt => "spared".to_owned(),
        blow => {
            contender.hurt = true;
            match blow {
                4 => on("kill wrapper", Some(wrapper), false),
                5 => on("kill keeper", keeper, false),
                6 => on("freeze wrapper", Some(wrapper), true),
                7 => on("freeze keeper", keeper, true),
                _ => "nothing".to_owned(),
            }
        }
    }
}

fn schedule(seed: u64, round: u64) {
    let mut random = Random::new(seed, round);
    let stage = Stage::new();
    let mut story = format!("seed {seed} round {round}:");
    let count = 4 + random.below(3);
    let mut contenders: Vec<Contender> = (0..count).map(|id| contender(&stage, &mut random, id)).collect();
    let mut frozen = Vec::new();
    for _ in 0..4 + random.below(6) {
        pass(random.below(400));
        if random.percent(15) && stage.store().exists() {
            let hand = stage.world.database();
            let span = random.below(1_500);
            if hand.busy_timeout(Duration::from_millis(100)).is_ok() && hand.execute_batch("begin exclusive").is_ok() {
                story += &format!(" [store frozen for {span} ms]");
                pass(span);
            }
            continue;
        }
        let who = random.below(contenders.len());
        if !contenders[who].run.has_ended() {
            story += &format!(" [c{who} {}]", strike(&mut random, &mut contenders[who], &mut frozen));
        }
        if random.percent(30)
            && let Some(pid) = frozen.pop()
        {
            thaw(pid);
        }
    }
    pass(random.below(2_000));
    frozen.into_iter().for_each(thaw);
    for (id, contender) in contenders.into_iter().enumerate() {
        let ended = contender.run.ends();
        assert!(
            matches!(ended.code, Some(0 | 69 | 75 | 77) | None) || ended.code.is_some_and(|code| code > 128),
            "{story}\nc{id}: {ended:?}"
        );
    }
    so(&format!("{story}: nothing is left"), || stage.inhabitants().is_empty());
    // Every lease has ended, or ends within its TTL, or is proven gone.
    stage.next_gets_in("last", &["--wait", "50s", "-r", "test:x", "-r", "test:y"]);
    assert_eq!((stage.leases(), stage.tickets()), (0, 0), "{story}");
    println!("{story}");
    log::check(&stage.log());
}

#[test]
fn random_schedules_never_let_two_in_and_everything_ends() {
    let (seed, rounds) = (number("LOCKED_SEED", 7), number("LOCKED_SCHEDULES", 12));
    println!("seed {seed}, {rounds} schedules");
    let next = std::sync::atomic::AtomicU64::new(number("LOCKED_FIRST", 0));
    let last = next.load(std::sync::atomic::Ordering::Relaxed) + rounds;
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let round = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    if round >= last {
                        return;
                    }
                    schedule(seed, round);
                }
            });
        }
    });
}
