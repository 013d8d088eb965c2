//! Servers that end, come back, and are replaced.

use std::time::{Duration, Instant};

use locked::store::{
    Acquisition, Granted, Holding, PostgresStore, Renewal, Request, Schema, Store as _, StoreError, With,
};
use tokio_postgres::NoTls;

use super::lab::furnish;
use crate::store::cast::{LIMIT, actor, busy, granted, release, take};
use crate::world::cluster::Cluster;

const SHORT: Duration = Duration::from_millis(500);

fn server() -> Cluster {
    let server = Cluster::start(&["-c", "fsync=off"]);
    furnish(&server);
    server
}

fn at(server: &Cluster) -> PostgresStore {
    PostgresStore::new(server.config("worker"), Box::new(With(NoTls)), Schema::default())
}

fn holding(request: &Request, granted: &Granted) -> Holding {
    Holding::Grant { grant: request.grant, key: request.key.clone(), resources: granted.tokens.clone() }
}

/// As the keeper does it: an outage says nothing about the lease.
fn renewed_in_the_end(store: &mut PostgresStore, held: &Holding) {
    let until = Instant::now() + LIMIT;
    loop {
        match store.renew(held, LIMIT) {
            Ok(renewal) => return assert!(matches!(renewal, Renewal::Renewed(_)), "{renewal:?}"),
            Err(StoreError::Unreachable(_)) if Instant::now() < until => std::thread::sleep(SHORT / 10),
            Err(error) => panic!("{error:?}"),
        }
    }
}

#[test]
fn a_restart_costs_nobody_a_lease_and_a_crash_neither() {
    let server = server();
    let mut store = at(&server);
    let held = take(&mut store, &actor("ana").asks(&["a"]));
    for how in ["fast", "immediate"] {
        server.stop(how);
        let down = store.renew(&held, SHORT).expect_err("it is down");
        assert!(matches!(down, StoreError::Unreachable(_)), "{how}: {down:?}");
        std::thread::scope(|threads| {
            let renewal = threads.spawn(|| renewed_in_the_end(&mut store, &held));
            server.go_on();
            renewal.join().expect("renewed");
        });
        assert!(matches!(at(&server).acquire(&actor("bob").asks(&["a"]), LIMIT), Ok(Acquisition::Busy { .. })));
    }
    release(&mut store, &held);
}

#[test]
fn a_standby_is_no_place_for_a_lease_but_may_be_looked_at() {
    let server = server();
    let held = take(&mut at(&server), &actor("ana").asks(&["a"]));
    let standby = server.standby();
    let mut store = at(&standby);
    let named = |error: StoreError| {
        let remedy = error.remedy();
        assert!(matches!(&error, StoreError::Refused { why, .. } if why.contains("standby")), "{error:?}");
        assert!(remedy.contains("primary"), "{remedy}");
    };
    named(store.acquire(&actor("bob").asks(&["b"]), LIMIT).expect_err("free, and not to be had here"));
    named(store.acquire(&actor("bob").waits_for(&["a"]), LIMIT).expect_err("no queue here"));
    named(store.renew(&held, LIMIT).expect_err("no beat here"));
    assert_eq!(store.leases(None, LIMIT).expect("a look").len(), 1);
    release(&mut at(&server), &held);
}

/// The last grants of an asynchronous primary are lost with it. Who had one is told so at the next beat, and the token of
/// the next grant is above the lost one all the same.
#[test]
fn after_a_failover_lost_grants_are_gone_and_tokens_still_grow() {
    let server = server();
    let (ana, bob, cid) = (actor("ana"), actor("bob"), actor("cid"));
    let kept = take(&mut at(&server), &ana.asks(&["a"]));
    let standby = server.standby();
    standby.sql("alter system set primary_conninfo = ''");
    standby.sql("select pg_reload_conf()");
    let until = Instant::now() + LIMIT;
    while server.sql("select count(*) from pg_stat_replication where application_name = 'walreceiver'") != [["0"]] {
        assert!(Instant::now() < until, "it still follows");
        std::thread::sleep(Duration::from_millis(10));
    }
    let request = bob.asks(&["b"]);
    let lost = granted(&mut at(&server), &request);
    server.stop("immediate");
    assert_eq!(standby.sql("select pg_promote()"), [["t"]]);

    let mut store = at(&standby);
    assert!(matches!(store.renew(&kept, LIMIT), Ok(Renewal::Renewed(_))), "what had come over lives on");
    busy(&mut store, &cid.asks(&["a"]));
    assert_eq!(store.renew(&holding(&request, &lost), LIMIT).expect("answer"), Renewal::Gone);
    let next = granted(&mut store, &cid.asks(&["b"]));
    assert!(next.tokens[0].1 > lost.tokens[0].1, "{:?} after {:?}", next.tokens, lost.tokens);
    release(&mut store, &kept);
}
