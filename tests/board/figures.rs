//! Figures for Prometheus, and what the board says in words.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::run::stage::{ends, says, silent, text};
use crate::world::World;
use crate::world::apart::this_test;
use crate::world::ends::left_out;

/// The value of a sample.
fn sample(text: &str, name: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{name}: {text}")).parse().expect("a number")
}

#[test]
fn what_may_still_be_running_says_so_and_the_host_is_there() {
    let world = World::new();
    silent(world.locked_as(1).args(["acquire", "server:a"]));
    world.database().execute("update leases set state = 'remote', explicit = 0", []).expect("changed");
    let shown = silent(world.locked().arg("status"));
    let head: Vec<&str> = shown.lines().next().expect("a head").split_whitespace().collect();
    assert_eq!(head, ["RESOURCE", "HOLDER", "HOST", "STATE", "SINCE", "EXPIRES", "ALIVE", "WAITING", "OPERATION"]);
    assert!(shown.contains("  may still be running  "), "{shown}");
}

#[test]
fn figures_for_prometheus_are_well_formed_and_true() {
    let world = World::new();
    silent(world.locked_as(1).args(["-r", "server:done", "true"]));
    silent(world.locked_as(1).args(["acquire", "server:a"]));
    ends(world.locked_as(2).args(["acquire", "--wait", "1ms", "server:a"]), 75);
    let told = silent(world.locked().args(["status", "--format", "prometheus"]));
    for (name, value) in [
        ("locked_store_up", 1.0),
        ("locked_leases{state=\"held\"}", 1.0),
        ("locked_leases{state=\"quarantined\"}", 0.0),
        ("locked_leases_ended_total{how=\"completed\"}", 1.0),
        ("locked_leases_ended_total{how=\"stolen\"}", 0.0),
        ("locked_waits_total", 1.0),
        ("locked_waiting_requests", 0.0),
        ("locked_canary_failures_total", 0.0),
    ] {
        assert!((sample(&told, name) - value).abs() < 0.1, "{name}: {told}");
    }
    assert!(sample(&told, "locked_lease_idle_seconds{resource=\"server:a\",scope=\"global\",state=\"held\"}") < 3600.0);
    assert!(sample(&told, "locked_oldest_lease_age_seconds") < 3600.0);
    // Each sample belongs to the family before it, no family comes twice, counters are named as such.
    let (mut family, mut families) = (String::new(), BTreeSet::new());
    for line in told.lines() {
        match line.strip_prefix("# TYPE ").and_then(|rest| rest.split_once(' ')) {
            Some((name, kind)) => {
                assert!(families.insert(name.to_owned()), "{name} twice");
                assert_eq!(name.ends_with("_total"), kind == "counter", "{line}");
                name.clone_into(&mut family);
            }
            None if line.starts_with("# HELP ") => {}
            None => assert_eq!(line.split(['{', ' ']).next(), Some(family.as_str()), "{line}"),
        }
    }
    promtool(this_test!(), &["check", "metrics"], Some(&told));
}

/// A scraper takes a counter that falls for one that began anew.
#[test]
fn a_duty_that_is_done_stays_counted_as_one() {
    for world in World::both("counted_duties") {
        for name in ["server:a", "server:b"] {
            silent(world.locked_as(1).args(["acquire", name]));
            silent(world.locked_as(1).args(["release", name, "--as", "human-action"]));
        }
        let counted = || {
            let told = silent(world.locked().args(["status", "--format", "prometheus"]));
            ["human-action", "completed", "failed"]
                .map(|how| sample(&told, &format!("locked_leases_ended_total{{how=\"{how}\"}}")))
        };
        let before = counted();
        assert_eq!(before, [2.0, 0.0, 0.0]);
        silent(world.locked_as(2).args(["release", "server:a", "--duty"]));
        silent(world.locked_as(2).args(["release", "server:b", "--duty", "--as", "failed"]));
        assert_eq!(counted(), before, "it has not ended once more");
    }
}

#[test]
fn a_store_that_is_down_is_a_figure_too() {
    let world = World::new();
    let mut command = world.locked();
    command.env("LOCKED_STORE", "postgres://nobody@127.0.0.1:1/none").args(["status", "--format", "prometheus"]);
    assert_eq!(text(&ends(&mut command, 69).stdout).lines().last(), Some("locked_store_up 0"));
    for wrong in [&["--format", "xml"][..], &["--format", "prometheus", "--watch"], &["--format", "table", "--json"]] {
        says(world.locked().arg("status").args(wrong), 64);
    }
}

/// The example's alerts speak of figures that there are, and ring when they should.
#[test]
fn the_example_s_alerts_are_about_figures_that_are_told() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("install/prometheus");
    let rules = std::fs::read_to_string(directory.join("locked.rules.yml")).expect("rules");
    let world = World::new();
    silent(world.locked_as(1).args(["acquire", "server:a"]));
    let told = silent(world.locked().args(["status", "--format", "prometheus"]));
    let words = rules.split(|c: char| !c.is_ascii_lowercase() && c != '_').filter(|word| word.starts_with("locked_"));
    let spoken_of: BTreeSet<&str> = words.collect();
    assert!(spoken_of.len() > 5, "{spoken_of:?}");
    for name in spoken_of {
        assert!(told.contains(&format!("# TYPE {name} ")), "{name} is not told");
    }
    let path = |name: &str| directory.join(name).display().to_string();
    promtool(this_test!(), &["check", "rules", &path("locked.rules.yml")], None);
    promtool(this_test!(), &["test", "rules", &path("locked.rules.test.yml")], None);
}

/// Prometheus' own judge, where it is.
fn promtool(test: &str, words: &[&str], input: Option<&str>) {
    use std::io::Write as _;
    let mut command = Command::new("promtool");
    let Ok(mut child) = command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
    else {
        return left_out(test, "no promtool on PATH (Debian's package prometheus)");
    };
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(input.unwrap_or_default().as_bytes()).expect("written");
    drop(stdin);
    let output = child.wait_with_output().expect("ends");
    assert!(output.status.success(), "promtool {words:?}: {}{}", text(&output.stdout), text(&output.stderr));
}
