//! What is the embedded store's own: its file, many processes, what a poll costs, how it is named.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use locked::clock::SystemClock;
use locked::config::Places;
use locked::store::{Ended, Ending, HistoryFilter, Release, Renewal, Request, Settlement, SqliteStore, StoreError};
use locked::terms::GrantId;

use super::cast::{LIMIT, SILENCE, actor, busy, receipt, release, resource, take};
use super::child::{Task, child, said};
use super::contract::World as _;
use super::sqlite::Embedded;

/// Runs so many contenders at once; each must succeed.
fn processes(world: &Embedded, number: usize, task: Task) {
    let state = world.state();
    let running: Vec<_> = (0..number).map(|_| child(task, state.path()).spawn().expect("starts")).collect();
    for child in running {
        assert_eq!(said(&child.wait_with_output().expect("ends")), "ok");
    }
}

#[test]
fn many_processes_make_a_fresh_file_at_once() {
    let world = Embedded::new();
    processes(&world, 64, Task::Own);
    let filter = HistoryFilter { limit: Some(100), ..HistoryFilter::default() };
    assert_eq!(world.store().history(&filter, LIMIT).expect("answer").len(), 64);
}

#[test]
fn many_processes_take_turns() {
    let world = Embedded::new();
    processes(&world, 12, Task::Turn);
    let past = world.store().history(&HistoryFilter::default(), LIMIT).expect("answer");
    assert_eq!(past.len(), 12);
    assert!(past.windows(2).all(|pair| pair[0].token > pair[1].token), "one after the other");
}

#[test]
fn many_threads_make_a_fresh_file_at_once() {
    for _round in 0..5 {
        let world = Embedded::new();
        let start = std::sync::Barrier::new(32);
        std::thread::scope(|threads| {
            for number in 0..32 {
                let (world, start) = (&world, &start);
                threads.spawn(move || {
                    let mut store = world.store();
                    start.wait();
                    take(&mut *store, &actor("t").asks(&[&format!("r{number}")]));
                });
            }
        });
        assert_eq!(world.store().leases(None, LIMIT).expect("answer").len(), 32);
    }
}

#[test]
fn the_file_is_the_owner_s_alone_and_holds_no_key() {
    let world = Embedded::new();
    let request = actor("ana").asks(&["a"]);
    take(&mut *world.store(), &request);
    let directory = world.state();
    let file = directory.path().join("locked.db");
    assert_eq!(std::fs::metadata(&file).expect("file").permissions().mode() & 0o777, 0o600);
    let names: Vec<_> =
        std::fs::read_dir(directory.path()).expect("list").map(|it| it.expect("entry").file_name()).collect();
    assert_eq!(names, ["locked.db"], "no leftovers");
    let content = std::fs::read(&file).expect("file");
    let hash = request.key.hash();
    assert!(
        content.windows(hash.len()).any(|window| window == hash.as_bytes()),
        "the hash of the key is what it keeps"
    );
    let debug = format!("{:?}", SqliteStore::new(&directory, Arc::new(SystemClock::new())));
    assert!(!debug.contains(&hash), "{debug}");
}

#[cfg(target_os = "linux")]
#[test]
fn who_is_next_is_called_when_the_lease_is_free() {
    let world = Embedded::new();
    let held = take(&mut *world.store(), &actor("ana").asks(&["a"]));
    let (sender, said) = std::sync::mpsc::channel();
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let mut store = world.store();
            let waiting = actor("bob").waits_for(&["a"]);
            busy(&mut *store, &waiting);
            // The first wait opens the ear. The second one is longer than any test may take.
            store.await_change(&[resource("a")], 1, LIMIT);
            sender.send("waits").expect("listened to");
            store.await_change(&[resource("a")], 1, std::time::Duration::from_secs(3_600));
            take(&mut *store, &waiting);
            sender.send("has it").expect("listened to");
        });
        assert_eq!(said.recv_timeout(LIMIT), Ok("waits"));
        release(&mut *world.store(), &held);
        assert_eq!(said.recv_timeout(LIMIT), Ok("has it"));
    });
}

#[test]
fn a_blocked_poll_writes_only_to_refresh_its_ticket() {
    let world = Embedded::new();
    let (ana, bob) = (actor("ana"), actor("bob"));
    take(&mut *world.store(), &ana.asks(&["a"]));
    let file = world.state().path().join("locked.db");
    let content = || std::fs::read(&file).expect("file");
    let before = content();
    busy(&mut *world.store(), &bob.asks(&["a"]));
    assert_eq!(content(), before, "a single try writes nothing");
    let waiting = bob.waits_for(&["a"]);
    busy(&mut *world.store(), &waiting);
    let ticket = content();
    assert_ne!(ticket, before);
    let mut store = world.store();
    for _poll in 0..4 {
        world.pass(SILENCE / 10);
        busy(&mut *store, &waiting);
    }
    assert_eq!(content(), ticket);
    world.pass(SILENCE / 10);
    busy(&mut *store, &waiting);
    assert_ne!(content(), ticket, "after half of its silence it says that it is still there");
    // A poll needs no write lock: another's unfinished write does not stop it.
    let writer = world.raw();
    writer.execute_batch("begin immediate").expect("writes");
    busy(&mut *store, &waiting);
}

#[test]
fn a_long_history_does_not_slow_an_acquire() {
    let world = Embedded::new();
    let mut store = world.store();
    let held = take(&mut *store, &actor("ana").asks(&["a"]));
    release(&mut *store, &held);
    let raw = world.raw();
    let columns = "scope, name, token, grant_id, key_hash, session, label, host, host_id, operation, state, ttl_ms, boot, \
                   acquired_at, renewed_at, ended_at, ended_as";
    let past = format!(
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000) \
         insert into leases ({columns}) select scope, name, token - i, 'past-' || i, key_hash, session, label, host, \
         host_id, operation, state, ttl_ms, boot, acquired_at, renewed_at, ended_at - i, ended_as from leases, n"
    );
    assert_eq!(raw.execute(&past, []).expect("history"), 100_000);
    let size = std::fs::metadata(world.state().path().join("locked.db")).expect("file").len();
    assert!(size > 20_000_000, "{size}");
    // Counted in bytes that this thread reads, not in time: a scan of the history would read the file.
    let mut store = world.store();
    let before = bytes_read();
    let (bob, eve) = (actor("bob"), actor("eve"));
    let held = take(&mut *store, &bob.asks(&["a", "b"]));
    busy(&mut *store, &eve.waits_for(&["a"]));
    busy(&mut *store, &Request { gone: vec![GrantId::random()], ..eve.asks(&["a"]) });
    assert!(matches!(store.renew(&held, LIMIT), Ok(Renewal::Renewed(_))));
    let receipts = vec![receipt("a", "a.env", "1", "2")];
    let settlement = Settlement::whole(Ending::Release(Ended::Completed), receipts);
    assert_eq!(store.settle(&held, &settlement, LIMIT).expect("answer"), Release::Released);
    store.leases(None, LIMIT).expect("answer");
    let name = Some("sops:a".to_owned());
    for filter in [HistoryFilter::default(), HistoryFilter { name, ..HistoryFilter::default() }] {
        assert_eq!(store.history(&filter, LIMIT).expect("answer").len(), 50);
    }
    let read = bytes_read() - before;
    assert!(read < size / 20, "{read} of {size}");
}

/// What this thread has read so far (`proc(5)`, `rchar`).
fn bytes_read() -> u64 {
    let io = std::fs::read_to_string("/proc/thread-self/io").expect("proc");
    let line = io.lines().find_map(|line| line.strip_prefix("rchar: ")).expect("rchar");
    line.parse().expect("a number")
}

#[test]
fn every_store_has_an_identity_of_its_own_that_stays() {
    let (one, other) = (Embedded::new(), Embedded::new());
    let id = |world: &Embedded| {
        SqliteStore::new(&world.state(), Arc::new(SystemClock::new())).store_id(LIMIT).expect("answer")
    };
    assert_eq!(id(&one), id(&one));
    assert_ne!(id(&one), id(&other));
}

#[test]
fn an_unknown_store_is_refused_and_never_replaced() {
    let world = Embedded::new();
    let state = world.state();
    let open = |value: &str| {
        let value = OsString::from(value);
        let env = move |name: &str| (name == "LOCKED_STORE").then(|| value.clone());
        let setting = locked::config::store(&env, &Places::around(&env, &[])).expect("a setting");
        let outside = locked::store::advisory::Outside { say: Arc::new(|_| {}), end_rest: Arc::new(|_| true) };
        locked::store::open(&setting, &env, &state, Arc::new(SystemClock::new()), outside)
    };
    let foreign = "mysql://u:hunter2@db/x";
    let unreadable = "postgres://u:hunter2@db:port/x";
    for value in [foreign, unreadable, "sqlite:", "Embedded", "/some/file", "sqlit\u{e9}:x"] {
        let Err(error) = open(value) else { panic!("{value} was opened") };
        assert!(matches!(error, StoreError::Unknown { .. } | StoreError::Misnamed { .. }), "{value}: {error:?}");
        let text = format!("{error} {error:?}");
        assert!(text.contains("LOCKED_STORE") && !text.contains("hunter2"), "{text}");
    }
    let elsewhere = world.root().join("elsewhere");
    let named = format!("sqlite:{}/leases.db", elsewhere.display());
    for value in ["", "embedded", named.as_str()] {
        let mut store = open(value).expect(value);
        take(&mut *store, &actor("ana").asks(&[&format!("r{}", value.len())]));
    }
    assert_eq!(world.store().leases(None, LIMIT).expect("answer").len(), 2);
    assert!(elsewhere.join("leases.db").is_file());
}
