//! kill -9 of wrapper and keeper: what they had sent to the machine goes on there, so the machine is held for its time. (How
//! long that is, the contract of the stores says by a clock in the hand.)
#![forbid(unsafe_code)]

use std::path::Path;

use super::host::{Host, RESOURCE};
use crate::world::ends::{says, so};
use crate::world::held::Held;
use crate::world::processes::{children, freeze, kill};

#[test]
fn what_was_sent_may_be_running_on_and_others_wait_until_its_time_is_over() {
    let host = Host::new();
    let (env, over, done) = (host.env(), host.path("over"), host.path("done"));
    let script = format!("echo up; echo A=1 > {env}; while [ ! -e {over} ]; do sleep 0.05; done; touch {done}");
    let held = Held::start(&mut host.ssh(1, &["--ttl", "10s"], &script));
    let keeper = *children(held.pid()).first().expect("the keeper");
    // Neither sees the other go.
    for pid in [held.pid(), keeper] {
        freeze(pid);
    }
    for pid in [held.pid(), keeper] {
        kill(pid);
    }
    assert_eq!(held.ended().status.code(), None, "killed");

    let next = format!("echo B=1 >> {env}");
    let refusal = says(&mut host.ssh(2, &["-n"], &next), 75);
    assert!(refusal.starts_with(&format!("BLOCKED: {RESOURCE} is held by ")), "{refusal}");
    assert!(refusal.contains("may still be running"), "{refusal}");
    let board = host.world.status();
    assert_eq!((board.len(), &board[0]["state"]), (1, &"remote".into()), "{board:?}");

    // It is running on, which is what the time is for.
    assert!(!Path::new(&done).exists());
    std::fs::write(&over, "").expect("written");
    so("it goes on to its end over there", || Path::new(&done).exists());

    assert_eq!(says(&mut host.ssh(2, &["-q", "--wait", "2m"], &next), 0), "");
    assert_eq!(host.text(), "A=1\nB=1\n");
    assert_eq!(host.endings(), ["completed", "expired"]);
}
