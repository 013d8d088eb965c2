//! Two processes that take overlapping sets of four zones, each in an order of its own, a thousand times: no deadlock, no
//! part of a set without the rest, and nobody beside anybody else. `LOCKED_ZONES=5000` for more rounds.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::Duration;

use locked::clock::SystemClock;
use locked::store::{PostgresStore, Schema, SqliteStore, Store, With};
use locked::terms::GrantId;
use tokio_postgres::NoTls;

use super::taker::{How, some, taker, word};
use crate::differential::random::Random;
use crate::store::cast::LIMIT;
use crate::store::child::state_at;
use crate::store::postgres::lab::{Lab, Way};
use crate::world::World;
use crate::world::board::uuid;
use crate::world::cluster;
use crate::world::ends::text;

const PROCESSES: u64 = 2;

fn rounds() -> usize {
    std::env::var("LOCKED_ZONES").map_or(1_000, |text| text.parse().expect("a number"))
}

/// What the processes noted, while `look` was asked again and again.
fn noted(world: &World, how: How, rounds: usize, store: Option<&str>, mut look: impl FnMut()) -> Vec<String> {
    let witness = tempfile::tempdir_in(world.root()).expect("directory");
    let start = |line: u64| {
        let mut command = taker(world, how, line, rounds / 2, witness.path());
        command.envs(store.map(|store| ("LOCKED_STORE", store))).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("it starts")
    };
    let mut children: Vec<Child> = (0..PROCESSES).map(start).collect();
    while children.iter_mut().any(|child| child.try_wait().expect("waited").is_none()) {
        look();
        std::thread::sleep(Duration::from_millis(5));
    }
    let outputs = children.into_iter().map(|child| child.wait_with_output().expect("ends"));
    let noted = outputs.flat_map(|output| {
        assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
        let said = text(&output.stdout);
        said.lines().filter_map(|line| line.strip_prefix("noted: ")).map(str::to_owned).collect::<Vec<_>>()
    });
    noted.collect()
}

/// Every grant that the store shows has all that it was asked for.
fn is_whole(store: &mut dyn Store, seen: &mut usize) {
    let mut grants: BTreeMap<GrantId, (String, Vec<String>)> = BTreeMap::new();
    for lease in store.leases(None, LIMIT).expect("the store answers") {
        let zone = lease.resource.name.as_str().trim_start_matches("zone:").to_owned();
        grants.entry(lease.grant).or_insert_with(|| (lease.operation.clone(), Vec::new())).1.push(zone);
    }
    *seen += grants.len();
    for (asked, held) in grants.values() {
        assert_eq!(*asked, word(held.iter().map(String::as_str)), "a part of a set");
    }
}

fn judged(world: &World, how: How, rounds: usize, address: Option<&str>, mut store: Box<dyn Store>) {
    let mut seen = 0;
    let noted = noted(world, how, rounds, address, || is_whole(store.as_mut(), &mut seen));
    assert_eq!(noted, Vec::<String>::new());
    assert!(seen > 0, "nobody was ever seen with a zone");
    assert_eq!(store.leases(None, LIMIT).expect("the store answers").len(), 0, "nothing is left");
}

fn judged_embedded(how: How, rounds: usize) {
    // A thousand grants on a disk are mostly waiting for it.
    let world = World::in_memory();
    let store = SqliteStore::new(&state_at(&world.state()).expect("state"), Arc::new(SystemClock::new()));
    judged(&world, how, rounds, None, Box::new(store));
    let all = "select count(distinct grant_id), sum(ended_as = 'completed') = count(*) from leases";
    let (grants, well): (u32, bool) =
        world.database().query_row(all, [], |row| Ok((row.get(0)?, row.get(1)?))).expect("a row");
    assert_eq!((grants as usize, well), (rounds / 2 * 2, true));
}

#[test]
fn a_thousand_rounds_over_the_embedded_store() {
    judged_embedded(How::Store, rounds());
}

#[test]
fn pieces_of_code_wait_for_their_turns_over_the_embedded_store() {
    judged_embedded(How::Code, rounds() / 10);
}

#[test]
fn a_thousand_rounds_over_a_server() {
    // The role of the processes comes with the first schema that a test makes there.
    drop(Lab::new(Way::Client));
    let server = cluster::shared();
    server.database("of_the_zones");
    let mut config = server.config("postgres");
    config.dbname("of_the_zones");
    let store = PostgresStore::new(config, Box::new(With(NoTls)), Schema::default());
    let socket = server.socket().display().to_string().replace('/', "%2F");
    let address = format!("postgres://worker@{socket}:{}/of_the_zones", server.port());
    judged(&World::new(), How::Store, rounds(), Some(&address), Box::new(store));
}

#[test]
fn without_a_lease_they_meet() {
    let noted = noted(&World::new(), How::Bare, rounds(), None, || ());
    assert!(noted.iter().any(|line| line.starts_with("overlap ")), "this look cannot tell: {noted:?}");
}

/// Makes a directory for each zone it is in; one that is there already is somebody else's.
const VISIT: &str = r#"
for zone in $LOCKED_RESOURCES; do mkdir "$0/$zone" || echo "met in $zone" >> "$0/faults"; done
echo "$LOCKED_RESOURCES" >> "$0/visits"
for zone in $LOCKED_RESOURCES; do rmdir "$0/$zone"; done"#;

#[test]
fn forty_whole_commands_name_them_in_any_order_and_take_them_in_one() {
    let world = World::new();
    let witness = world.work();
    let run = |line: u64| {
        let mut random = Random::new(40, line);
        for round in 0..20 {
            let zones = some(&mut random);
            let mut command = world.locked();
            command.env("LOCKED_SESSION", uuid(u32::try_from(line).expect("small") + 1)).args(["--wait", "1m"]);
            command.args(zones.iter().flat_map(|zone| ["-r".to_owned(), format!("zone:{zone}")]));
            let output = command.args(["sh", "-c", VISIT]).arg(&witness).output().expect("it runs");
            assert!(output.status.success(), "{line} {round} {zones:?}: {}", text(&output.stderr));
        }
    };
    std::thread::scope(|threads| {
        for line in 0..PROCESSES {
            let run = &run;
            threads.spawn(move || run(line));
        }
    });
    assert_eq!(fs::read_to_string(witness.join("faults")).unwrap_or_default(), "");
    let visits = fs::read_to_string(witness.join("visits")).expect("visits");
    assert_eq!(visits.lines().count(), 40);
    assert!(visits.lines().all(|line| line.split(' ').is_sorted()), "in byte order: {visits}");
    assert_eq!(world.status().len(), 0);
    assert!(world.history().iter().all(|past| past["ended_as"] == "completed"));
}
