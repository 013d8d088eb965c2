//! Nesting under fire.
#![forbid(unsafe_code)]

use crate::world::apart::{sees_every_process, this_test};
use crate::world::ends::{so, until};
use crate::world::processes::{children, kill};

use super::log;
use super::stage::{Run, Stage};

fn rounds() -> usize {
    std::env::var("LOCKED_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(8)
}

fn shell(stage: &Stage, id: &str, options: &[&str], line: &str) -> Run {
    let mut command = stage.command(id, options, &["sh".to_owned(), "-c".to_owned(), line.to_owned()]);
    command.env("LOCKED", env!("CARGO_BIN_EXE_locked")).env("ME", super::actor::words().join(" "));
    command.env("ACTOR", "sh -c 'exec $ME'");
    Run::of(command)
}

#[test]
fn siblings_below_one_holder_write_one_after_the_other() {
    let stage = Stage::new();
    for round in 0..rounds() {
        let file = stage.world.encrypted(&format!("m{round}.env"), "Z=0\n", "dotenv");
        let set = |key: &str| {
            let types = "--input-type dotenv --output-type dotenv";
            format!("$LOCKED sops set {types} {} '[\"{key}\"]' '\"1\"'", file.display())
        };
        let line = format!("{} & {} & wait", set("A"), set("B"));
        let ended = shell(&stage, "outer", &["-r", "test:x"], &line).ends();
        assert_eq!(ended.code, Some(0), "{}", ended.said);
        let unexpected = ended.said.lines().find(|line| !line.starts_with("locked: waiting "));
        assert_eq!(unexpected, None, "{}", ended.said);
        let plain = stage.world.decrypted(&file, "dotenv");
        let mut keys: Vec<&str> = plain.lines().collect();
        keys.sort_unstable();
        assert_eq!(keys, ["A=1", "B=1", "Z=0"], "round {round}");
    }
}

#[test]
fn a_killed_inner_command_lets_its_sibling_in_and_the_outer_one_settles() {
    if !sees_every_process(this_test!()) {
        return;
    }
    let stage = Stage::new();
    let inner = |flag: &str| {
        format!("FAULTS_ID={flag} FAULTS_UNTIL={} $LOCKED -r test:x sh -c 'exec $ME'", stage.flag(flag).display())
    };
    let line = format!("{} & {} & wait", inner("a"), inner("b"));
    let outer = shell(&stage, "outer", &["-r", "test:x"], &line);
    let first = until("one of them is in", || stage.lives().first().cloned());
    // Wrapper and keeper of the inner one: those of its name that are `locked`.
    for pid in stage.of_run(&first.id) {
        let is_locked = std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "locked");
        if is_locked {
            kill(pid);
        }
    }
    let other = if first.id == "a" { "b" } else { "a" };
    stage.alive(other);
    stage.raise(other);
    assert_eq!(outer.ends().code, Some(0));
    stage.is_empty_soon();
    assert_eq!(stage.leases(), 0);
    let lives = stage.lives();
    let of = |id: &str| lives.iter().find(|life| life.id == id).expect("it lived").clone();
    assert!(of(&first.id).last_ns < of(other).first_ns, "the second came after the first had gone");
}

#[test]
fn a_join_that_outlives_its_holder_keeps_everybody_out() {
    let stage = Stage::new();
    let inner =
        format!("FAULTS_ID=inner FAULTS_UNTIL={} $LOCKED -r test:x sh -c 'exec $ME'", stage.flag("inner").display());
    let line = format!("({inner}) & while ! grep -q inner $FAULTS_LOG; do sleep 0.01; done");
    let hammer = |id: &str| stage.start(id, &["--wait", "50s", "-r", "test:x"]);
    let outer = shell(&stage, "outer", &["-r", "test:x"], &line);
    stage.alive("inner");
    let waiting = hammer("hammer");
    stage.raise("hammer");
    assert_eq!(outer.ends().code, Some(0));
    so("it stands in line", || stage.tickets() == 1);
    assert_eq!(stage.start("now", &["-n", "-r", "test:x"]).ends().code, Some(75), "the join has the lease now");
    stage.raise("inner");
    assert_eq!(waiting.ends().code, Some(0));
    log::check(&stage.log());
    stage.is_empty_soon();
}

#[test]
fn of_two_that_nest_for_each_others_resource_exactly_one_is_refused() {
    let stage = Stage::new();
    for round in 0..rounds() {
        let meet = |name: &str| stage.world.root().join(format!("{name}-{round}")).display().to_string();
        let (x, y) = (meet("x"), meet("y"));
        let side = |mine: &str, others: &str, wants: &str| {
            format!(
                ": > {mine}; while [ ! -e {others} ]; do sleep 0.005; done; $LOCKED -r test:{wants} --wait 20s true"
            )
        };
        let one = shell(&stage, "one", &["-r", "test:x"], &side(&x, &y, "y"));
        let two = shell(&stage, "two", &["-r", "test:y"], &side(&y, &x, "x"));
        let (one, two) = (one.ends(), two.ends());
        let mut codes = [one.code, two.code];
        codes.sort_unstable();
        assert_eq!(codes, [Some(0), Some(75)], "round {round}: {}{}", one.said, two.said);
        let refused = if one.code == Some(75) { one } else { two };
        assert!(refused.said.contains("deadlock"), "{}", refused.said);
    }
}

#[test]
fn a_killed_outer_wrapper_takes_its_nested_commands_along() {
    let stage = Stage::new();
    let inner =
        format!("FAULTS_ID=inner FAULTS_UNTIL={} $LOCKED -r test:y sh -c 'exec $ME'", stage.flag("inner").display());
    let outer = shell(&stage, "outer", &["-r", "test:x"], &inner);
    stage.alive("inner");
    assert!(!children(outer.keeper()).is_empty());
    kill(outer.wrapper());
    let _killed = outer.ends();
    stage.is_empty_soon();
    stage.next_gets_in("next", &["--wait", "50s", "-r", "test:x", "-r", "test:y"]);
    assert_eq!(stage.leases(), 0);
}
