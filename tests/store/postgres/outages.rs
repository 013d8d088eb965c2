//! What goes wrong between us and the server: what is found out, what is believed, and what it is called.

use std::time::Duration;

use locked::store::{
    Acquisition, Ended, Ending, PostgresStore, Renewal, Request, Schema, Store as _, StoreError, With,
};
use tokio_postgres::{Config, NoTls};

use super::lab::{Lab, Way};
use crate::store::cast::{LIMIT, TTL, actor, busy, release, settle, take};
use crate::world::cluster::Desk;
use crate::world::relay::Relay;

/// Longer than any answer takes, shorter than anybody's patience.
const SHORT: Duration = Duration::from_millis(500);

fn at(config: Config, schema: &Schema) -> PostgresStore {
    PostgresStore::new(config, Box::new(With(NoTls)), schema.clone())
}

/// A contender over a wire in our hand.
fn over_a_wire(lab: &Lab) -> (Relay, PostgresStore) {
    let relay = Relay::to(lab.cluster().socket(), lab.cluster().port());
    let mut config = Config::new();
    config.host_path(relay.socket()).port(lab.cluster().port()).user("worker").dbname("postgres");
    let store = at(config, lab.schema());
    (relay, store)
}

#[test]
fn each_verb_is_one_round_trip() {
    let lab = Lab::running(Way::Client);
    let (relay, mut store) = over_a_wire(&lab);
    store.standing(&[], LIMIT).expect("a connection");
    println!("the connection and one call: {} round trips", relay.turns());
    let (ana, bob) = (actor("ana"), actor("bob"));
    let request = ana.asks(&["a", "b", "c"]);
    let held = take(&mut store, &request);
    assert_eq!(relay.turns(), 1, "granted");
    busy(&mut store, &bob.waits_for(&["c"]));
    assert_eq!(relay.turns(), 1, "busy");
    busy(&mut store, &Request { gone: vec![locked::terms::GrantId::random()], ..bob.asks(&["c"]) });
    assert_eq!(relay.turns(), 1, "busy, with proofs");
    assert!(matches!(store.renew(&held, LIMIT), Ok(Renewal::Renewed(_))));
    assert_eq!(relay.turns(), 1, "renewed");
    release(&mut store, &held);
    assert_eq!(relay.turns(), 1, "released");
}

#[test]
fn a_lost_answer_is_read_back_over_a_new_connection() {
    let lab = Lab::running(Way::Client);
    let (relay, mut store) = over_a_wire(&lab);
    store.standing(&[], LIMIT).expect("a connection");
    relay.lose_one();
    let asked = actor("ana").asks(&["a"]);
    let (grant, held) = (asked.grant, take(&mut store, &asked));
    let live = store.leases(None, LIMIT).expect("answer");
    assert_eq!(live.len(), 1, "granted once");
    relay.lose_one();
    assert!(matches!(store.renew(&held, LIMIT), Ok(Renewal::Renewed(TTL))));
    let below = Request { within: Some(grant), ..actor("ana").asks(&["a"]) };
    relay.lose_one();
    let joined = take(&mut store, &below);
    relay.lose_one();
    release(&mut store, &joined);
    relay.lose_one();
    release(&mut store, &held);
    let rows = lab.cluster().sql(&format!("select count(*) from {}.leases", lab.schema()));
    assert_eq!(rows, [["1"]]);
}

#[test]
fn a_session_that_the_server_ended_meanwhile_costs_nothing() {
    let lab = Lab::running(Way::Client);
    let mut store = lab.contender();
    let held = take(&mut store, &actor("ana").asks(&["a"]));
    lab.cluster().sql(&format!(
        "select pg_terminate_backend(pid, 10000) from pg_stat_activity
          where usename = 'worker' and query like '%\"{}\".%' and pid <> pg_backend_pid()",
        lab.schema()
    ));
    assert_eq!(settle(&mut store, &held, Ending::Release(Ended::Completed)), locked::store::Release::Released);
}

#[test]
fn a_silent_wire_is_an_outage_after_the_limit_and_nothing_is_believed() {
    let lab = Lab::running(Way::Client);
    let (relay, mut store) = over_a_wire(&lab);
    let request = actor("ana").asks(&["a"]);
    let held = take(&mut store, &request);
    relay.silence(true);
    for _ in 0..2 {
        let error = store.renew(&held, SHORT).expect_err("nobody answers");
        assert!(matches!(error, StoreError::Unreachable(_)), "{error:?}");
    }
    relay.silence(false);
    assert!(matches!(store.renew(&held, LIMIT), Ok(Renewal::Renewed(_))), "and back again");
}

/// Two that would deadlock by hand wait in the server's order: the functions take their locks in byte order.
#[test]
fn a_lock_that_somebody_holds_by_hand_delays_and_does_not_wedge() {
    let lab = Lab::running(Way::Client);
    let mut store = lab.contender();
    let held = take(&mut store, &actor("ana").asks(&["a"]));
    let desk = Desk::at(&lab.cluster().config("postgres")).expect("a session");
    desk.sql(&format!("begin; select 1 from {}.resources for update", lab.schema())).expect("locked");
    assert!(matches!(store.renew(&held, SHORT), Err(StoreError::Unreachable(_))));
    assert!(
        matches!(store.acquire(&actor("bob").asks(&["a"]), LIMIT), Ok(Acquisition::Busy { .. })),
        "a look waits for nobody"
    );
    desk.sql("rollback").expect("unlocked");
    assert!(matches!(store.renew(&held, LIMIT), Ok(Renewal::Renewed(_))));
}

#[test]
fn too_many_at_once_try_again_until_the_limit() {
    let lab = Lab::running(Way::Client);
    lab.cluster().sql("create role narrow login connection limit 1 in role locked_client");
    let config = lab.cluster().config("narrow");
    let mut first = at(config.clone(), lab.schema());
    first.standing(&[], LIMIT).expect("the one connection");
    let mut second = at(config, lab.schema());
    let error = second.standing(&[], SHORT).expect_err("no room");
    assert!(error.to_string().contains("too many connections") && error.remedy().contains("pooler"), "{error}");
    std::thread::scope(|threads| {
        let waiting = threads.spawn(|| second.standing(&[], LIMIT));
        drop(first);
        waiting.join().expect("no panic").expect("room");
    });
}

#[test]
fn each_refusal_of_a_server_has_its_cause_and_its_remedy_and_never_a_password() {
    let lab = Lab::running(Way::Client);
    let server = lab.cluster();
    server.sql(
        "create role outsider login; create role still login in role locked_client;
         alter role still set default_transaction_read_only = on;
         create role strict login in role locked_client;
         alter role strict set default_transaction_isolation = serializable",
    );
    let absent = Schema::named("absent").expect("a name");
    let config = |user: &str| {
        let mut config = server.config(user);
        config.password("hunter2");
        config
    };
    let mut nowhere = config("worker");
    nowhere.dbname("nowhere");
    let mut down = Config::new();
    down.host_path("/nonexistent").user("worker").password("hunter2").dbname("postgres");
    let cases: [(Config, &Schema, &str, &str); 7] = [
        (config("worker"), &absent, "has no schema of locked: ", "locked store init"),
        (config("nobody"), lab.schema(), "nobody", "user and password"),
        (nowhere, lab.schema(), "nowhere", "existing database"),
        (config("outsider"), lab.schema(), "permission denied", "grant locked_client to outsider"),
        (config("still"), lab.schema(), "read-only", "primary"),
        (config("strict"), lab.schema(), "read committed", "alter role strict"),
        (down, lab.schema(), "cannot be reached", "try again"),
    ];
    for (config, schema, cause, remedy) in cases {
        let mut store = at(config, schema);
        let error = store.acquire(&actor("ana").asks(&["a"]), LIMIT).expect_err(cause);
        let text = format!("{error} | {}", error.remedy());
        assert!(text.contains(cause) && text.contains(remedy), "{cause}: {text}");
        assert!(!format!("{text}{error:?}{store:?}").contains("hunter2"), "{cause}");
    }
}
