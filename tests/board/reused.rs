//! A pid that is given out again: the kernel of a pid namespace of our own gives the dead agent's to the next one.
#![forbid(unsafe_code)]

use crate::run::stage::text;
use crate::world::World;
use crate::world::apart::{PIDS, USER_PIDS, first_that_runs, this_test};
use crate::world::ends::left_out;

/// The first agent takes a lease and ends; the second one gets its pid, a tick of the clock later, and asks for it. perl is the
/// agent. Ends with 3 where the next pid cannot be chosen.
const STORY: &str = r#"
agent() { perl -e 'system("sh", "-c", $ARGV[0])' "$1"; }
now() { read -r up _ </proc/uptime; echo "$up"; }
agent '$ME acquire server:x >&2; $ME session --json >one' & first=$!
wait "$first"
started=$(now)
while [ "$(now)" = "$started" ]; do :; done
echo "$((first - 1))" >/proc/sys/kernel/ns_last_pid || exit 3
agent '$ME session --json >two; $ME check server:x; echo $? >checked; $ME release server:x; echo $? >released; $ME -n -r server:x true; echo $? >run' & second=$!
wait "$second"
echo "$first $second"
"#;

#[test]
fn who_gets_the_pid_of_a_dead_agent_gets_nothing_else_of_it_where_possible() {
    let Some(apart) = first_that_runs(&[&PIDS, &USER_PIDS]) else {
        return left_out(this_test!(), "this user may not make a pid namespace");
    };
    let world = World::new();
    let mut story = world.command(apart[0]);
    story.args(&apart[1..]).args(["sh", "-c", STORY]).env("ME", env!("CARGO_BIN_EXE_locked"));
    let output = story.output().expect("it runs");
    if output.status.code() == Some(3) {
        return left_out(this_test!(), "the next pid cannot be chosen (/proc/sys/kernel/ns_last_pid)");
    }
    let said = text(&output.stdout);
    let pids: Vec<&str> = said.split_whitespace().collect();
    assert!(output.status.success() && pids.len() == 2 && pids[0] == pids[1], "{said}{}", text(&output.stderr));
    let read = |name: &str| std::fs::read_to_string(world.work().join(name)).expect("it was told");
    let [one, two] = ["one", "two"].map(|name| serde_json::from_str::<serde_json::Value>(&read(name)).expect("JSON"));
    assert_eq!(one["named_by"], two["named_by"], "the same process, as far as its number goes");
    assert_ne!(one["session"], two["session"]);
    assert_eq!(["checked", "released", "run"].map(|name| read(name).trim().to_owned()), ["77", "77", "75"]);
    assert_eq!(
        world.status()[0]["holder"],
        one["session"].as_str().expect("a name")[..8],
        "it is the dead one's still"
    );
}
