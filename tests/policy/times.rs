//! `ttl` and `wait` of a rule, where nobody said otherwise.
#![forbid(unsafe_code)]

use super::stage::{Held, RESOURCE, Stage, ends};

#[test]
fn a_rule_s_ttl_is_the_lease_s() {
    let stage = Stage::with("echo up; cat");
    for (options, expected) in [(&[][..], 600_000), (&["--ttl", "90s"][..], 90_000)] {
        let held = Held::start(&mut stage.deploy_with(1, "ttl = '10m'", options));
        let query = "select ttl_ms from leases where ended_at is null";
        let ttl: i64 = stage.world.database().query_row(query, [], |row| row.get(0)).expect("held");
        assert_eq!(ttl, expected, "{options:?}");
        held.let_go();
    }
    let rule = format!("name = 'own'\nprogram = 'deploy'\nresource = ['{RESOURCE}']\nttl = '10m'");
    assert_eq!(stage.explained(&rule, &[])["ttl_ms"], 600_000);
    assert_eq!(stage.explained(&rule, &["--ttl", "90s"])["ttl_ms"], 90_000);
}

#[test]
fn a_rule_s_wait_is_the_request_s() {
    let stage = Stage::with("exit 0");
    let held = Held::start(stage.world.locked_as(2).args(["-r", RESOURCE, "sh", "-c", "echo up; cat"]));
    // With the ready patience this would take half a minute; nothing here depends on how long it does take.
    let output = ends(&mut stage.deploy(1, "wait = '0s'"), 75);
    assert!(super::stage::text(&output.stderr).starts_with("BLOCKED: "));
    assert!(stage.world.status()[0]["waiters"] == 0, "one try leaves no place in the queue");
    held.let_go();
    ends(&mut stage.deploy(1, "wait = '0s'"), 0);
}
