//! The long run, which `tests/faults/run` asks for: round after round on both stores at once, each round in a world of its
//! own, until the time is over.
#![forbid(unsafe_code)]

use std::time::{Duration, Instant};

use super::arena::{Arena, SETS};
use super::hand::Plan;
use super::place::Disk;
use super::tally::{Tally, table};
use super::{far_server, round};

const ROUND: Duration = Duration::from_secs(15);

fn number(name: &str) -> Option<u64> {
    Some(std::env::var(name).ok()?.parse().expect("a number"))
}

fn plan(seed: u64, round: u64) -> Plan {
    Plan { seed, round, span: ROUND, runs: 0, holders: 8, faults: 12, wait: "20s", sets: &SETS, sops: 35 }
}

/// Rounds from the first on, until the time is over; one at least.
fn rounds(seed: u64, first: u64, until: Instant, mut arena: impl FnMut(u64) -> Arena) -> Tally {
    let mut tally = Tally::default();
    for number in first.. {
        tally.add(round(&arena(number), plan(seed, number)).0);
        if Instant::now() >= until {
            break;
        }
    }
    tally
}

/// `LOCKED_CAMPAIGN` says for how many seconds; without it there is nothing to do. `LOCKED_SEED` and `LOCKED_FIRST` lead to
/// one round again, `LOCKED_CAMPAIGN_RESULT` names a file for the table.
#[test]
fn a_long_campaign_on_both_stores_breaks_no_promise() {
    let Some(seconds) = number("LOCKED_CAMPAIGN") else { return };
    let (seed, first) = (number("LOCKED_SEED").unwrap_or(1), number("LOCKED_FIRST").unwrap_or(0));
    let until = Instant::now() + Duration::from_secs(seconds);
    let (embedded, server) = std::thread::scope(|scope| {
        let embedded = scope.spawn(|| rounds(seed, first, until, |_| Arena::embedded(Disk::new())));
        let server = scope.spawn(|| {
            let (server, wire) = far_server();
            rounds(seed, first, until, |number| Arena::server(server.clone(), wire.clone(), &format!("round_{number}")))
        });
        (embedded.join().expect("its end"), server.join().expect("its end"))
    });
    let table = table(&[("embedded", &embedded), ("PostgreSQL", &server)]);
    println!("{table}");
    if let Some(file) = std::env::var_os("LOCKED_CAMPAIGN_RESULT") {
        std::fs::write(file, table).expect("written");
    }
    let broken: u64 = [&embedded, &server].iter().flat_map(|tally| tally.findings.values()).sum();
    assert_eq!(broken, 0, "promises were broken");
}
