//! Session locks of one server for two machines: what a cut wire does to them.
#![forbid(unsafe_code)]

use std::process::{Command, Stdio};

use super::wire::Machine;
use crate::world::World;
use crate::world::apart::{as_root, this_test};
use crate::world::cluster::Cluster;
use crate::world::ends::{left_out, so, text};
use crate::world::held::Held;
use crate::world::processes::lives;

/// Everybody may come over the wires.
const RULES: &str = "local all all trust\nhost all all 10.0.0.0/8 trust\nhost all all 127.0.0.1/32 trust\n";

fn locked(world: &World, machine: &str, address: &str, args: &[&str]) -> Command {
    let mut command = world.locked();
    command
        .env("LOCKED_STATE_DIR", world.root().join(machine))
        .env("LOCKED_STORE", address)
        .arg("--advisory")
        .args(args);
    command
}

/// Nobody tells either side: the holder stops its program by its own deadline, and only then does the server let the lock
/// go, by its own.
#[test]
fn a_holder_whose_packets_are_lost_has_stopped_before_the_server_lets_its_lock_go_where_possible() {
    if !as_root(this_test!()) {
        return;
    }
    let server = Cluster::start(&["-c", "fsync=off", "-c", "listen_addresses=*"]);
    std::fs::write(server.socket().join("data/pg_hba.conf"), RULES).expect("rules");
    server.sql("select pg_reload_conf()");
    let Some(machine) = Machine::facing(server.port()) else {
        return left_out(this_test!(), "this machine has no network namespaces (ip netns)");
    };
    let world = World::new();
    let over_the_wire = format!("postgres://postgres@{}:{}/postgres", machine.server, machine.port);
    let times = ["--ttl", "10s", "--heartbeat", "1s", "--grace", "500ms", "-r", "server:web-1"];
    let holds = [&times[..], &["sh", "-c", "echo $$; exec sleep 600"]].concat();
    let held = Held::start(&mut machine.runs(&locked(&world, "cut-off", &over_the_wire, &holds)));
    let child: u32 = held.line.parse().expect("a process id");
    // One that is dead and not yet waited for writes nothing either.
    let is_dead = format!("! grep -s '^State:' /proc/{child}/status | grep -qv 'Z (zombie)'");
    let direct = format!("postgres://postgres@127.0.0.1:{}/postgres", server.port());
    let other = ["--wait", "170s", "-r", "server:web-1", "sh", "-c", &is_dead];
    let mut other = locked(&world, "well", &direct, &other);
    let waiting = other.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    machine.lose_packets();
    let lost = held.ended();
    assert_eq!(lost.status.code(), Some(77), "{}", text(&lost.stderr));
    assert!(text(&lost.stderr).contains("could not be renewed before its deadline"), "{}", text(&lost.stderr));
    so("the program is gone", || !lives(child));
    let next = waiting.wait_with_output().expect("waited");
    assert!(next.status.success(), "the first one's program lived on: {}", text(&next.stderr));
}
