//! A write over there holds the machine, whoever reads meanwhile; a failure keeps it for its time.
#![forbid(unsafe_code)]

use super::host::{Host, RESOURCE};
use crate::world::ends::{ends, says, text};
use crate::world::held::Held;

#[test]
fn a_write_over_there_holds_the_machine_and_gives_it_back() {
    let host = Host::new();
    let env = host.env();
    host.put("A=1\n");
    // sed puts another file in its place.
    assert_eq!(says(&mut host.ssh(1, &["-n"], &format!("sed -i s/A=1/A=2/ {env} && echo B=1 >> {env}")), 0), "");
    assert_eq!(host.text(), "A=2\nB=1\n");
    assert_eq!(host.endings(), ["completed"]);
    assert_eq!(host.world.status(), Vec::<serde_json::Value>::new());

    // What stands for the shell over there is read as it reads it.
    let held = Held::start(&mut host.ssh(1, &[], &format!("cd {} && echo up; cat > .env", host.path(""))));
    let board = host.world.status();
    assert_eq!((board.len(), &board[0]["resource"], &board[0]["state"]), (1, &RESOURCE.into(), &"held".into()));
    let refusal = says(&mut host.ssh(2, &["-n"], &format!("echo C=1 >> {env}")), 75);
    assert!(refusal.starts_with(&format!("BLOCKED: {RESOURCE} is held by ")), "{refusal}");
    let read = ends(&mut host.ssh(2, &["-n"], &format!("cat {env}; grep A {env} | sort")), 0);
    assert_eq!((text(&read.stdout), text(&read.stderr)), (String::new(), String::new()), "the file is empty just now");
    held.let_go();
    assert_eq!(host.endings(), ["completed", "completed"]);
    assert_eq!(host.text(), "");
}

#[test]
fn a_failure_over_there_keeps_the_machine_for_five_minutes() {
    let host = Host::new();
    let said = says(&mut host.ssh(1, &[], &format!("sed -i s/A/B/ {}", host.path("none/.env"))), 2);
    assert!(said.contains(&format!("locked: the command failed; {RESOURCE} stays with this session for 5m")), "{said}");
    let lease = &host.world.status()[0];
    assert_eq!((&lease["state"], &lease["takeable"]), (&"kept".into(), &false.into()), "{lease}");
    let left = lease["expires_in_ms"].as_u64().expect("ms");
    assert!((120_000..=300_000).contains(&left), "{left}");
    let write = format!("echo A=1 > {}", host.env());
    says(&mut host.ssh(2, &["-n"], &write), 75);
    assert!(!std::path::Path::new(&host.env()).exists(), "it was refused before anything was sent");
    assert_eq!(says(&mut host.ssh(1, &["-n"], &write), 0), "", "its own session goes on at once");
    assert_eq!(says(&mut host.ssh(2, &["-n"], &write), 0), "");
}

#[test]
fn a_rule_of_one_s_own_keeps_it_for_another_time() {
    let host = Host::with(
        "[[rule]]\nname = 'server.env'\non = 'remote'\nwrites = ['.env']\nresource = 'server:{host}'\nkeep_for = '1s'\n",
    );
    let said = says(&mut host.ssh(1, &[], &format!("sed -i s/A/B/ {}", host.path("none/.env"))), 2);
    assert!(said.contains("stays with this session for 1s"), "{said}");
    host.world.has_expired(RESOURCE);
    assert_eq!(says(&mut host.ssh(2, &["-n"], &format!("echo A=1 > {}", host.env())), 0), "");
    assert_eq!(host.endings().first().map(String::as_str), Some("completed"));
}
