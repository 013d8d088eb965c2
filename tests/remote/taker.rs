//! One who takes sets of zones, each in an order of its own, in a process of its own: the test binary runs itself with a
//! task in its environment.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use locked::clock::SystemClock;
use locked::seam::{LeaseOptions, with_lease};
use locked::store::{Acquisition, Holding, Owner, PostgresStore, Request, Schema, SqliteStore, Store, With};
use locked::terms::{FencingToken, Resource, ResourceName, Scope};
use tokio_postgres::NoTls;

use crate::differential::random::Random;
use crate::store::cast::{Actor, LIMIT, actor, release};
use crate::store::child::state_at;
use crate::world::World;

const ZONES: [&str; 4] = ["DB_GRANTS", "DNS", "GATEWAY", "SECRETS"];
const TASK: &str = "LOCKED_TEST_ZONES";

/// How it takes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// Of the store itself, asking again after a few milliseconds. The set is sorted, as every store wants it.
    Store,
    /// As a piece of code does, by `with_lease`, in whatever order.
    Code,
    /// Not at all.
    Bare,
}

/// The command of one; `line` makes it another one.
pub(super) fn taker(world: &World, how: How, line: u64, rounds: usize, witness: &Path) -> Command {
    let mut command = world.command(std::env::current_exe().expect("this binary"));
    command.args(["remote::taker::one_in_a_process_of_its_own", "--exact", "--nocapture"]);
    command.env(TASK, format!("{how:?} {line} {rounds} {}", witness.display()));
    command
}

/// Some of the zones, at least one, in some order.
pub(super) fn some(random: &mut Random) -> Vec<&'static str> {
    let mut left = ZONES.to_vec();
    let count = 1 + random.below(ZONES.len());
    (0..count).map(|_| left.swap_remove(random.below(left.len()))).collect()
}

/// The zones of a set as one word, sorted: what the board shows as the operation.
pub(super) fn word<'a>(zones: impl IntoIterator<Item = &'a str>) -> String {
    zones.into_iter().collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join("+")
}

/// The process's side; without a task there is nothing to do.
#[test]
fn one_in_a_process_of_its_own() {
    let Ok(task) = std::env::var(TASK) else { return };
    let words: Vec<&str> = task.splitn(4, ' ').collect();
    let [how, line, rounds, witness] = words[..] else { panic!("{task}") };
    let (mut random, witness) = (Random::new(22, line.parse().expect("a line")), Witness(witness.into()));
    let (mut store, actor) = (store(), actor(line));
    for _ in 0..rounds.parse().expect("rounds") {
        let zones = some(&mut random);
        match how {
            "Store" => of_store(store.as_mut(), &actor, &zones, &witness),
            "Code" => by_code(&zones, &witness),
            _ => witness.visit(&zones, &[]),
        }
    }
}

/// The one that the environment names.
fn store() -> Box<dyn Store> {
    let clock = Arc::new(SystemClock::new());
    let Ok(address) = std::env::var("LOCKED_STORE") else {
        let state = PathBuf::from(std::env::var_os("LOCKED_STATE_DIR").expect("a world"));
        return Box::new(SqliteStore::new(&state_at(&state).expect("state"), clock));
    };
    Box::new(PostgresStore::new(address.parse().expect("address"), Box::new(With(NoTls)), Schema::default()))
}

fn resources(zones: &[&str]) -> Vec<Resource> {
    let scope = Scope("example.org/acme/infra".to_owned());
    let one = |zone: &&str| Resource { name: ResourceName::of("zone", zone.as_bytes()), scope: scope.clone() };
    zones.iter().map(one).collect()
}

fn of_store(store: &mut dyn Store, actor: &Actor, zones: &[&str], witness: &Witness) {
    let mut resources = resources(zones);
    resources.sort();
    let request = actor.waits_for(&[]);
    let owner = Owner { operation: word(zones.iter().copied()), ..request.owner };
    let request = Request { resources, owner, ..request };
    let until = Instant::now() + LIMIT;
    let granted = loop {
        match store.acquire(&request, LIMIT).expect("answer") {
            Acquisition::Granted(granted) => break granted,
            Acquisition::Busy { deadlock, .. } => assert!(!deadlock && Instant::now() < until, "nobody waits for ever"),
        }
        std::thread::sleep(Duration::from_millis(3));
    };
    assert_eq!(granted.tokens.len(), zones.len());
    witness.visit(zones, &granted.tokens);
    release(store, &Holding::Grant { grant: request.grant, key: request.key, resources: granted.tokens });
}

fn by_code(zones: &[&str], witness: &Witness) {
    let env = |name: &str| std::env::var_os(name);
    let options = LeaseOptions::from_env(&env).operation(&word(zones.iter().copied())).wait(LIMIT);
    let done = with_lease(&resources(zones), &options, |held| {
        assert_eq!(held.tokens().len(), zones.len());
        witness.visit(zones, held.tokens());
    });
    done.expect("its turn comes");
}

/// Where everybody leaves a file for each zone that he is in, and the last token of it.
struct Witness(PathBuf);

impl Witness {
    /// Goes in and out again, and notes whom it met.
    fn visit(&self, zones: &[&str], tokens: &[(Resource, FencingToken)]) {
        let enters = |zone: &&&str| fs::File::create_new(self.0.join(zone)).is_ok();
        let (own, met): (Vec<&str>, Vec<&str>) = zones.iter().partition(enters);
        for zone in met {
            println!("\nnoted: overlap {zone}");
        }
        for (resource, token) in tokens {
            let last = self.0.join(format!("token of {}", resource.name.as_str()));
            let before = fs::read_to_string(&last).ok().and_then(|text| text.parse().ok()).unwrap_or(i64::MIN);
            if before >= token.0 {
                println!("\nnoted: the token of {resource} fell from {before} to {}", token.0);
            }
            fs::write(&last, token.0.to_string()).expect("written");
        }
        std::thread::sleep(Duration::from_micros(300));
        for zone in own {
            fs::remove_file(self.0.join(zone)).expect("removed");
        }
    }
}
