//! One lease for two machines.
#![forbid(unsafe_code)]

use std::process::{Command, Stdio};

use locked::store::{Initialised, PostgresStore, Schema, With};
use tokio_postgres::{Config, NoTls};

use super::wire::Machine;
use crate::dsn::cluster::Cluster;
use crate::world::World;
use crate::world::apart::{as_root, this_test};
use crate::world::ends::{LIMIT, left_out, so, text};
use crate::world::held::Held;
use crate::world::processes::lives;

const FILE: &str = "secrets/app.yaml";
const WRITERS: u32 = 16;

/// `LOCKED_MACHINES=10` runs ten rounds.
fn rounds() -> u32 {
    std::env::var("LOCKED_MACHINES").map_or(1, |text| text.parse().expect("a number"))
}

/// A server that proves itself by a certificate and asks for a password, with our schema; two machines that reach it.
struct Team {
    server: Cluster,
    machines: [Machine; 2],
    world: World,
}

impl Team {
    fn gathered(test: &str) -> Option<Self> {
        if !as_root(test) {
            return None;
        }
        let server = Cluster::start();
        let (Some(one), Some(other)) = (Machine::joined_to(server.port), Machine::joined_to(server.port)) else {
            left_out(test, "this machine has no network namespaces (ip netns)");
            return None;
        };
        let mut config = Config::new();
        config.host(server.socket()).port(server.port).user("postgres").dbname("postgres");
        let mut admin = PostgresStore::new(config, Box::new(With(NoTls)), Schema::default());
        assert_eq!(admin.init(LIMIT).expect("made"), Initialised::Applied);
        server.ask("grant locked_client to scram").expect("granted");
        let world = World::new();
        world.git(&world.work(), &["init", "-q"]);
        Some(Self { server, machines: [one, other], world })
    }

    /// `locked` on one of the machines: with its own state directory, as they would have it.
    fn locked(&self, machine: usize, session: u32, args: &[&str]) -> Command {
        let at = &self.machines[machine];
        let mut command = self.world.locked_as(session);
        let state = self.world.root().join(format!("state-{machine}"));
        let store = format!(
            "postgres://scram:hunter2@{}/postgres?hostaddr={}&port={}&sslmode=verify-full&sslrootcert={}",
            crate::dsn::authority::HOST,
            at.server,
            at.port,
            self.server.authority.file("ca.crt"),
        );
        command.env("LOCKED_STATE_DIR", state).env("LOCKED_STORE", store).args(args);
        at.runs(&command)
    }
}

#[test]
fn sixteen_writers_on_two_machines_lose_no_key_where_possible() {
    let Some(team) = Team::gathered(this_test!()) else { return };
    team.world.encrypted(FILE, "first: one\n", "yaml");
    for round in 0..rounds() {
        let start = |writer: u32| {
            let index = format!("[\"key_{round}_{writer}\"]");
            let value = format!("\"value-{round}-{writer}\"");
            let words = ["--wait", "170s", "sops", "set", FILE, &index, &value];
            let mut command = team.locked(writer as usize % 2, writer + 1, &words);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
        };
        let children: Vec<_> = (0..WRITERS).map(start).collect();
        for child in children {
            let output = child.wait_with_output().expect("waited");
            assert!(output.status.success(), "{}", text(&output.stderr));
        }
        let plain = team.world.decrypted(&team.world.work().join(FILE), "yaml");
        let found = (0..WRITERS).filter(|writer| plain.contains(&format!("value-{round}-{writer}\n"))).count();
        assert_eq!(found, WRITERS as usize, "round {round}: {plain}");
    }
    for machine in 0..2 {
        assert!(!team.world.root().join(format!("state-{machine}/locked.db")).exists(), "the embedded store was asked");
    }
}

#[test]
fn a_machine_that_is_cut_off_has_stopped_its_program_before_another_is_let_in_where_possible() {
    let Some(team) = Team::gathered(this_test!()) else { return };
    let times = ["--ttl", "10s", "--heartbeat", "1s", "--grace", "500ms", "-r", "server:web-1"];
    let holds = [&times[..], &["sh", "-c", "echo $$; exec sleep 600"]].concat();
    let held = Held::start(&mut team.locked(0, 1, &holds));
    let child: u32 = held.line.parse().expect("a process id");
    // One that is dead and not yet waited for writes nothing either.
    let is_dead = format!("! grep -s '^State:' /proc/{child}/status | grep -qv 'Z (zombie)'");
    let other = ["--wait", "170s", "-r", "server:web-1", "sh", "-c", &is_dead];
    let waiting = team.locked(1, 2, &other).stdin(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    team.machines[0].cut();
    let lost = held.ended();
    assert_eq!(lost.status.code(), Some(77), "{}", text(&lost.stderr));
    assert!(text(&lost.stderr).contains("could not be renewed before its deadline"), "{}", text(&lost.stderr));
    so("the program is gone", || !lives(child));
    let next = waiting.wait_with_output().expect("waited");
    assert!(next.status.success(), "the first one's program lived on: {}", text(&next.stderr));
}
