//! A lease for a piece of code: exclusive, renewed, released whatever happens, and lost out loud. On both stores.

use std::ffi::OsString;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use locked::seam::{LeaseOptions, SeamError, with_lease};
use locked::store::{Initialised, PostgresStore, Schema, With};
use locked::terms::{Resource, ResourceName, Scope};
use tokio_postgres::NoTls;

use crate::store::cast::LIMIT;
use crate::store::postgres::lab::{Lab, Way};
use crate::world::World;
use crate::world::cluster;
use crate::world::ends::{so, until};

fn resource(name: &str) -> Resource {
    Resource { name: ResourceName::of("job", name.as_bytes()), scope: Scope::global() }
}

/// The environment of a world whose store is the embedded one, or this.
fn env(world: &World, store: Option<String>) -> impl Fn(&str) -> Option<OsString> {
    let (state, home) = (world.state(), world.root().join("home"));
    move |name| match name {
        "LOCKED_STATE_DIR" => Some(state.clone().into()),
        "LOCKED_STORE" => store.clone().map(OsString::from),
        "HOME" => Some(home.clone().into()),
        _ => None,
    }
}

fn soon(options: LeaseOptions<'_>) -> LeaseOptions<'_> {
    options.wait(LIMIT)
}

fn one_at_a_time(env: &(dyn Fn(&str) -> Option<OsString> + Sync)) {
    let (inside, most, done) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0));
    std::thread::scope(|threads| {
        for _ in 0..6 {
            threads.spawn(|| {
                let env = |name: &str| env(name);
                let options = soon(LeaseOptions::from_env(&env));
                with_lease(&[resource("b"), resource("a")], &options, |held| {
                    let names: Vec<_> = held.tokens().iter().map(|(it, _)| it.name.to_string()).collect();
                    assert_eq!(names, ["job:a", "job:b"]);
                    most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::yield_now();
                    inside.fetch_sub(1, Ordering::SeqCst);
                    done.fetch_add(1, Ordering::SeqCst);
                })
                .expect("its turn comes");
            });
        }
    });
    assert_eq!((most.into_inner(), done.into_inner()), (1, 6));
}

#[test]
fn of_many_threads_one_is_inside() {
    let world = World::new();
    one_at_a_time(&env(&world, None));
    assert_eq!(world.history().len(), 12);
}

#[test]
fn of_many_threads_one_is_inside_on_a_server() {
    drop(Lab::running(Way::Direct));
    let server = cluster::shared();
    server.sql("create database of_the_seam");
    let mut config = server.config("postgres");
    config.dbname("of_the_seam");
    let mut admin = PostgresStore::new(config, Box::new(With(NoTls)), Schema::default());
    assert_eq!(admin.init(LIMIT).expect("made"), Initialised::Applied);
    let socket = server.socket().display().to_string().replace('/', "%2F");
    let address = format!("postgres://worker@{socket}:{}/of_the_seam", server.port());
    one_at_a_time(&env(&World::new(), Some(address)));
}

#[test]
fn who_has_it_is_named_to_who_does_not_wait() {
    let world = World::new();
    let env = env(&world, None);
    let options = LeaseOptions::from_env(&env).operation("nightly backup").label("cron@db");
    let inner = LeaseOptions::from_env(&env).wait(Duration::ZERO);
    let refused = with_lease(&[resource("a")], &options, |held| {
        assert!(held.is_ours());
        with_lease(&[resource("a")], &inner, |_| unreachable!("it is held"))
    });
    let Err(SeamError::Busy(who)) = refused.expect("ours to the end") else { panic!("busy") };
    assert!(who.contains("job:a") && who.contains("cron@db") && who.contains("nightly backup"), "{who}");
    assert!(matches!(with_lease(&[], &inner, |_| ()), Err(SeamError::Misused(_))));
}

#[test]
fn work_may_ask_a_person_before_what_it_left_behind_is_taken_over() {
    let world = World::new();
    let env = env(&world, None);
    for asks in [false, true] {
        let options = LeaseOptions::from_env(&env).ask_when_stale(asks);
        with_lease(&[resource("a")], &options, |_| assert_eq!(world.status()[0]["ask"], asks)).expect("ours");
    }
}

#[test]
fn a_panic_releases_as_failed_and_goes_on() {
    let world = World::new();
    let env = env(&world, None);
    let options = LeaseOptions::from_env(&env);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        with_lease(&[resource("a")], &options, |_| -> () { std::panic::resume_unwind(Box::new("it broke")) })
    }));
    assert_eq!(panicked.expect_err("it goes on").downcast_ref::<&str>(), Some(&"it broke"));
    assert_eq!(world.status().len(), 0);
    assert_eq!(world.history()[0]["ended_as"], "failed");
}

#[test]
fn long_work_is_renewed() {
    let world = World::new();
    let env = env(&world, None);
    let options = LeaseOptions::from_env(&env).ttl(Duration::from_secs(6));
    with_lease(&[resource("a")], &options, |held| {
        for _ in 0..2 {
            let end = world.ends_at("job:a");
            so("it is renewed", || world.ends_at("job:a") > end);
        }
        assert!(held.is_ours());
    })
    .expect("ours to the end");
    assert_eq!(world.history()[0]["ended_as"], "completed");
}

#[test]
fn a_lease_that_was_taken_is_lost_to_the_work_and_to_its_caller() {
    let world = World::new();
    let env = env(&world, None);
    let options = LeaseOptions::from_env(&env).ttl(Duration::from_secs(6));
    let lost = with_lease(&[resource("a")], &options, |held| {
        let taken = "update leases set ended_at = 1, ended_as = 'stolen' where ended_at is null";
        assert_eq!(world.database().execute(taken, []).expect("taken"), 1);
        so("it learns that", || !held.is_ours());
        "what it thinks it did"
    });
    assert!(matches!(lost, Err(SeamError::Lost)), "{lost:?}");
    assert_eq!(world.history()[0]["ended_as"], "stolen");
}

/// The store goes away in the middle: the work is told at its deadline, not later, and its caller too.
#[test]
fn without_an_answer_it_is_lost_at_the_deadline() {
    let world = World::new();
    let env = env(&world, None);
    let options = LeaseOptions::from_env(&env).ttl(Duration::from_secs(3));
    let lost = with_lease(&[resource("a")], &options, |held| {
        let in_the_way = world.database();
        in_the_way.execute_batch("begin exclusive").expect("nobody else writes or reads");
        so("its deadline comes", || !held.is_ours());
    });
    assert!(matches!(lost, Err(SeamError::Lost)), "{lost:?}");
    until("the lease is over", || world.status().is_empty().then_some(()));
}
