//! Limits that the server or the role sets: each has its own name, and none is taken for an answer.

use std::time::{Duration, Instant};

use locked::store::{PostgresStore, Renewal, Store as _, StoreError, With};
use tokio_postgres::NoTls;

use super::lab::{Lab, Way};
use crate::store::cast::{LIMIT, actor, release, take};
use crate::world::cluster::{Cluster, Desk};
use crate::world::ward;

/// Waits until so many sessions of this user wait for a lock.
fn until_one_waits(server: &Cluster, user: &str) {
    let question =
        format!("select count(*) from pg_stat_activity where usename = '{user}' and wait_event_type = 'Lock'");
    let until = Instant::now() + LIMIT;
    while server.sql(&question) != [["1"]] {
        assert!(Instant::now() < until, "{user} does not wait");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A store of a role of its own, a lease of its, and a session that has that lease's lock by hand.
fn held_by_hand(lab: &Lab, user: &str, setting: &str) -> (PostgresStore, locked::store::Holding, Desk) {
    lab.cluster().sql(&format!("create role {user} login in role locked_client; alter role {user} set {setting}"));
    let mut store = PostgresStore::new(lab.cluster().config(user), Box::new(With(NoTls)), lab.schema().clone());
    let held = take(&mut store, &actor("ana").asks(&["a"]));
    let desk = Desk::at(&lab.cluster().config("postgres")).expect("a session");
    desk.sql(&format!("begin; select 1 from {}.resources for update", lab.schema())).expect("locked");
    (store, held, desk)
}

#[test]
fn a_statement_timeout_of_the_role_is_contention_and_the_lease_is_still_there() {
    let lab = Lab::running(Way::Client);
    let (mut store, held, desk) = held_by_hand(&lab, "hasty", "statement_timeout = '2s'");
    let error = store.renew(&held, LIMIT).expect_err("it had to wait");
    assert!(matches!(&error, StoreError::Contended(why) if why.contains("statement_timeout")), "{error:?}");
    desk.sql("rollback").expect("unlocked");
    assert!(matches!(store.renew(&held, LIMIT), Ok(Renewal::Renewed(_))));
}

#[test]
fn the_functions_own_lock_timeout_counts_and_not_the_role_s() {
    let lab = Lab::running(Way::Client);
    let (mut store, held, desk) = held_by_hand(&lab, "edgy", "lock_timeout = '1ms'");
    std::thread::scope(|threads| {
        let renewal = threads.spawn(|| store.renew(&held, LIMIT));
        until_one_waits(lab.cluster(), "edgy");
        desk.sql("rollback").expect("unlocked");
        assert!(matches!(renewal.join().expect("no panic"), Ok(Renewal::Renewed(_))));
    });
    lab.cluster().sql(&format!("alter function {}.renew_v1 set lock_timeout = '20ms'", lab.schema()));
    desk.sql(&format!("begin; select 1 from {}.resources for update", lab.schema())).expect("locked");
    let error = store.renew(&held, LIMIT).expect_err("it had to wait");
    assert!(matches!(&error, StoreError::Contended(why) if why.contains("55P03")), "{error:?}");
    desk.sql("rollback").expect("unlocked");
    release(&mut store, &held);
}

#[test]
fn a_session_that_is_ended_in_the_middle_of_a_call_asks_again() {
    let lab = Lab::running(Way::Client);
    let (mut store, held, desk) = held_by_hand(&lab, "doomed", "application_name = ''");
    std::thread::scope(|threads| {
        let renewal = threads.spawn(|| store.renew(&held, LIMIT));
        until_one_waits(lab.cluster(), "doomed");
        lab.cluster().sql("select pg_terminate_backend(pid, 10000) from pg_stat_activity where usename = 'doomed'");
        desk.sql("rollback").expect("unlocked");
        assert!(matches!(renewal.join().expect("no panic"), Ok(Renewal::Renewed(_))));
    });
    release(&mut store, &held);
}

/// A session whose files may not grow has a full disk of its own: the server finds the table's end and writes no further.
/// A disk that is full for everybody takes the server down with its log, which is an outage like others.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_named_and_nothing_is_granted() {
    let lab = Lab::running(Way::Client);
    let (server, schema) = (lab.cluster(), lab.schema());
    // More than a segment of the server's log, which this session writes too; rows so small that none fits between them.
    server.sql(&format!(
        "insert into {schema}.leases (scope, name, token, grant_id, key_hash, session, label, host, host_id, operation, state,
           ttl_ms, acquired_at, renewed_at, ended_at, ended_as)
         select 's', 'sops:past', 1, gen_random_uuid(), '', gen_random_uuid(), '', '', '', '', 'held', 1,
           now(), now(), now(), 'completed' from generate_series(1, 70000)"
    ));
    let mut config = lab.config();
    let mut store =
        PostgresStore::new(config.application_name("a full disk").clone(), Box::new(With(NoTls)), schema.clone());
    store.standing(&[], LIMIT).expect("a session");
    let found = server.sql(&format!(
        "select pid, pg_relation_size('{schema}.leases') from pg_stat_activity where application_name = 'a full disk'"
    ));
    let number = |at: usize| found[0][at].parse::<u64>().expect("a number");
    assert!(number(1) > 16 << 20, "{found:?}");
    // And a bit of a page: that it could not be written whole is how the server knows a full disk.
    let limited = ward::as_server("prlimit")
        .args([format!("--pid={}", number(0)), format!("--fsize={}:", number(1) + 512)])
        .output()
        .expect("prlimit runs");
    assert!(limited.status.success(), "{}", String::from_utf8_lossy(&limited.stderr));
    let (ana, mut granted) = (actor("ana"), 0);
    let (refused, error) = loop {
        let request = ana.asks(&[&format!("r{granted}")]);
        match store.acquire(&request, LIMIT) {
            Ok(_) => granted += 1,
            Err(error) => break (request, error),
        }
        assert!(granted < 1000, "the table grew");
    };
    assert!(matches!(error, StoreError::Refused { .. }) && error.remedy().contains("disk"), "{error:?}");
    assert_eq!(lab.contender().leases(None, LIMIT).expect("a look").len(), granted);
    let held = take(&mut lab.contender(), &refused);
    release(&mut lab.contender(), &held);
}
