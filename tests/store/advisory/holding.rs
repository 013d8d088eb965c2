//! Who has a lock, and how long.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use locked::clock::{Clock as _, SystemClock};
use locked::state::LiveFile;
use locked::store::advisory::Outside;
use locked::store::{Acquisition, Ended, Ending, Holding, Release, Renewal, Request, Store, StoreError};
use locked::terms::LeaseKey;

use super::lab::{Machine, key, locked, sessions, state_at, until};
use crate::store::cast::{LIMIT, actor, busy, granted, release, resource, settle, take};
use crate::world::cluster::{self, Desk};

fn ours() -> Ending {
    Ending::Release(Ended::Completed)
}

#[test]
fn one_machine_holds_and_another_is_told_who_does() {
    let (here, there) = (Machine::new(), Machine::new());
    let (mut one, mut two) = (here.store(), there.store());
    let request = actor("ana@ws-1").asks(&["told"]);
    let held = take(&mut one, &request);
    let (blockers, ahead) = busy(&mut two, &actor("ben@ws-2").asks(&["told"]));
    let lease = &blockers[0].lease;
    assert_eq!(lease.session.short(), request.owner.session.short());
    assert_eq!((lease.label.as_str(), lease.operation.as_str()), ("ana@ws-1", "ana@ws-1's command"));
    assert!(lease.acquired_at > 1_600_000_000_000 && ahead.is_empty() && lease.expires_in.is_none());
    release(&mut one, &held);
    assert_eq!(locked("told"), 0);
    let again = take(&mut two, &actor("ben@ws-2").asks(&["told"]));
    release(&mut two, &again);
}

#[test]
fn other_clients_of_the_cluster_meet_us_on_the_same_key() {
    let machine = Machine::new();
    let mut store = machine.store();
    let desk = Desk::at(&cluster::shared().config("postgres")).expect("a client");
    let ask = |sql: String| desk.sql(&sql).expect("an answer")[0][0].clone();
    let key = key("shared-with-go");
    assert_eq!(ask(format!("set application_name = 'pgx'; select pg_try_advisory_lock({key})")), "t");
    let (blockers, _) = busy(&mut store, &actor("ana").asks(&["shared-with-go"]));
    assert_eq!(blockers[0].lease.label, "pgx");
    assert_eq!(ask(format!("select pg_advisory_unlock({key})")), "t");
    let held = take(&mut store, &actor("ana").asks(&["shared-with-go"]));
    assert_eq!(ask(format!("select pg_try_advisory_lock({key})")), "f");
    release(&mut store, &held);
    assert_eq!(ask(format!("select pg_try_advisory_lock({key})")), "t");
}

#[test]
fn a_set_is_locked_whole_or_not_at_all() {
    let machine = Machine::new();
    let (mut one, mut two) = (machine.store(), machine.store());
    let middle = take(&mut one, &actor("ana").asks(&["set-b"]));
    let set = actor("ben").waits_for(&["set-a", "set-b", "set-c"]);
    let (blockers, _) = busy(&mut two, &set);
    assert_eq!(blockers[0].lease.resource, resource("set-b"));
    assert_eq!((locked("set-a"), locked("set-c")), (0, 0), "nothing was taken");
    assert_eq!(sessions(&set), 1, "who waits keeps its session");
    release(&mut one, &middle);
    let held = take(&mut two, &set);
    assert_eq!((locked("set-a"), locked("set-b"), locked("set-c")), (1, 1, 1));
    release(&mut two, &held);
    assert_eq!((locked("set-a"), locked("set-b"), locked("set-c")), (0, 0, 0));
}

#[test]
fn a_try_and_a_waiter_that_gives_up_leave_no_session() {
    let machine = Machine::new();
    let (mut one, mut two) = (machine.store(), machine.store());
    let held = take(&mut one, &actor("ana").asks(&["given-up"]));
    let tries = actor("ben").asks(&["given-up"]);
    drop(busy(&mut two, &tries));
    until("the try is gone", || sessions(&tries) == 0);
    let waits = actor("cleo").waits_for(&["given-up"]);
    drop(busy(&mut two, &waits));
    assert_eq!(sessions(&waits), 1);
    two.leave_queue(waits.grant, LIMIT).expect("left");
    until("the waiter is gone", || sessions(&waits) == 0);
    release(&mut one, &held);
}

#[test]
fn many_heartbeats_prove_the_lock_and_one_release_ends_it() {
    let machine = Machine::new();
    let mut store = machine.store();
    let request = actor("ana").asks(&["beats"]);
    let held = take(&mut store, &request);
    for _ in 0..10 {
        assert_eq!(store.renew(&held, LIMIT).expect("an answer"), Renewal::Renewed(request.ttl));
    }
    // A granted request that is asked again is read back.
    drop(granted(&mut store, &request));
    release(&mut store, &held);
    assert_eq!(locked("beats"), 0);
    assert_eq!(settle(&mut store, &held, ours()), Release::Released, "settling twice is settling once");
    assert_eq!(store.renew(&held, LIMIT).expect("an answer"), Renewal::Gone);
}

#[test]
fn a_session_that_the_server_ended_is_lost_at_the_next_heartbeat() {
    let machine = Machine::new();
    let mut store = machine.store();
    let request = actor("ana").asks(&["ended"]);
    let held = take(&mut store, &request);
    let name = format!("locked {} ", request.owner.session.short());
    let ended = cluster::shared()
        .sql(&format!("select pg_terminate_backend(pid) from pg_stat_activity where application_name like '{name}%'"));
    assert_eq!(ended, [["t"]]);
    until("it is gone", || sessions(&request) == 0);
    assert_eq!(store.renew(&held, LIMIT).expect("an answer"), Renewal::Gone);
    assert_eq!(settle(&mut store, &held, ours()), Release::NotOurs);
}

#[test]
fn nobody_renews_or_settles_with_another_key_or_by_session() {
    let machine = Machine::new();
    let (mut store, mut other) = (machine.store(), machine.store());
    let held = take(&mut store, &actor("ana").asks(&["keyed"]));
    let Holding::Grant { grant, resources, .. } = held.clone() else { panic!("by grant") };
    let wrong = Holding::Grant { grant, resources, key: LeaseKey::random().expect("randomness") };
    for store in [&mut store, &mut other] {
        assert_eq!(store.renew(&wrong, LIMIT).expect("an answer"), Renewal::Gone);
    }
    assert_eq!(settle(&mut other, &wrong, ours()), Release::NotOurs);
    assert_eq!(settle(&mut other, &actor("ana").holding(&["keyed"]), ours()), Release::NotOurs);
    assert_eq!(locked("keyed"), 1);
    release(&mut store, &held);
}

/// A request of a command with a live file of this machine.
fn with_live(machine: &Machine, name: &str) -> (Request, LiveFile) {
    let mut request = actor("ana").asks(&[name]);
    let live = LiveFile::create(&machine.state, request.grant, SystemClock::new().now()).expect("a live file");
    request.live = Some(live.live());
    (request, live)
}

#[test]
fn the_keeper_goes_on_with_what_the_wrapper_locked() {
    let machine = Machine::new();
    let mut wrapper = machine.store();
    wrapper.prepare().expect("prepared");
    let (request, live) = with_live(&machine, "kept-on");
    let held = take(&mut wrapper, &request);
    let mut keeper = machine.store();
    assert_eq!(keeper.renew(&held, LIMIT).expect("an answer"), Renewal::Renewed(request.ttl));
    drop(wrapper);
    assert_eq!(keeper.renew(&held, LIMIT).expect("an answer"), Renewal::Renewed(request.ttl));
    assert_eq!(keeper.standing(&[request.grant], LIMIT).expect("an answer"), [request.grant]);
    assert_eq!(locked("kept-on"), 1);
    release(&mut keeper, &held);
    assert_eq!(locked("kept-on"), 0);
    assert!(keeper.standing(&[request.grant], LIMIT).expect("an answer").is_empty());
    live.remove();
}

#[test]
fn the_lock_falls_when_wrapper_and_keeper_are_gone() {
    let machine = Machine::new();
    let mut wrapper = machine.store();
    let (request, live) = with_live(&machine, "fallen");
    let held = take(&mut wrapper, &request);
    drop(wrapper);
    let mut keeper = machine.store();
    assert_eq!(keeper.renew(&held, LIMIT).expect("an answer"), Renewal::Renewed(request.ttl));
    // Whoever had the live file has it no more.
    drop(live);
    until("it is free", || locked("fallen") == 0);
}

#[test]
fn what_may_run_on_elsewhere_is_locked_for_one_more_ttl() {
    let machine = Machine::new();
    let (mut store, mut other) = (machine.store(), machine.store());
    let (mut request, live) = with_live(&machine, "remote");
    (request.remote, request.ttl) = (true, std::time::Duration::from_secs(3));
    let _held = take(&mut store, &request);
    drop(store);
    drop(live);
    drop(busy(&mut other, &actor("ben").asks(&["remote"])));
    until("its time is over", || locked("remote") == 0);
    let mut store = machine.store_with_rest();
    let (mut request, live) = with_live(&machine, "rest");
    request.ttl = std::time::Duration::from_secs(3);
    let _held = take(&mut store, &request);
    drop(store);
    drop(live);
    drop(busy(&mut other, &actor("ben").asks(&["rest"])));
    until("its time is over", || locked("rest") == 0);
    let mut request = actor("ana").asks(&["lingers"]);
    request.ttl = std::time::Duration::from_secs(3);
    let held = take(&mut other, &request);
    let may_run = Ending::Linger { reason: "process 7 could not be stopped".to_owned() };
    assert_eq!(settle(&mut other, &held, may_run), Release::Released);
    drop(busy(&mut other, &actor("ben").asks(&["lingers"])));
    until("its time is over", || locked("lingers") == 0);
}

const HOLDER: &str = "LOCKED_TEST_ADVISORY_HOLDER";

/// The holder's side; without the variable there is nothing to do.
#[test]
fn a_holder_in_a_process_of_its_own() {
    let Some(settings) = std::env::var_os(HOLDER) else { return };
    let settings = settings.into_string().expect("UTF-8");
    let (state, address) = settings.split_once('\n').expect("two lines");
    let machine_state = state_at(std::path::Path::new(state));
    let clock = std::sync::Arc::new(SystemClock::new());
    let outside = Outside { say: std::sync::Arc::new(|_| {}), end_rest: std::sync::Arc::new(|_| true) };
    let reach = super::lab::reach(address, None);
    let deny = locked::config::OnUnreachable::Deny;
    let mut store = locked::store::AdvisoryStore::new(reach, deny, &machine_state, clock, outside);
    let mut request = actor("victim").asks(&["killed"]);
    let live = LiveFile::create(&machine_state, request.grant, SystemClock::new().now()).expect("a live file");
    request.live = Some(live.live());
    let _held = take(&mut store, &request);
    println!("\nholder: ready");
    drop(std::io::read_to_string(std::io::stdin()));
}

#[test]
fn a_holder_that_is_killed_frees_its_lock() {
    let machine = Machine::new();
    let mut child = Command::new(std::env::current_exe().expect("this binary"))
        .args([
            "store::advisory::holding::a_holder_in_a_process_of_its_own",
            "--exact",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(HOLDER, format!("{}\n{}", machine.path().display(), super::lab::shared()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut said = std::io::BufReader::new(child.stdout.take().expect("its words"));
    let mut line = String::new();
    while !line.contains("holder: ready") {
        line.clear();
        assert_ne!(std::io::BufRead::read_line(&mut said, &mut line).expect("a line"), 0, "it never held");
    }
    assert_eq!(locked("killed"), 1);
    child.kill().expect("killed");
    child.wait().expect("reaped");
    until("it is free", || locked("killed") == 0);
}

#[test]
fn of_many_processes_never_two_hold() {
    let inside = AtomicBool::new(false);
    let grants = AtomicU32::new(0);
    let machines = [Machine::new(), Machine::new()];
    std::thread::scope(|scope| {
        for nth in 0..8 {
            let (machine, inside, grants) = (&machines[nth % 2], &inside, &grants);
            scope.spawn(move || {
                let mut store = machine.store();
                for _ in 0..4 {
                    let request = actor("many").waits_for(&["contended"]);
                    let end = std::time::Instant::now() + LIMIT;
                    while let Acquisition::Busy { .. } = store.acquire(&request, LIMIT).expect("an answer") {
                        assert!(std::time::Instant::now() < end, "never its turn");
                        store.await_change(&request.resources, 1, std::time::Duration::from_millis(10));
                    }
                    let held = take(&mut store, &request);
                    assert!(!inside.swap(true, Ordering::SeqCst), "two hold");
                    std::thread::sleep(std::time::Duration::from_millis(2));
                    assert!(inside.swap(false, Ordering::SeqCst));
                    grants.fetch_add(1, Ordering::SeqCst);
                    release(&mut store, &held);
                }
            });
        }
    });
    assert_eq!(grants.load(Ordering::SeqCst), 32);
    assert_eq!(locked("contended"), 0);
}

#[test]
fn views_show_what_this_machine_holds_and_for_a_name_what_anybody_does() {
    let (here, there) = (Machine::new(), Machine::new());
    let (mut one, mut two) = (here.store(), there.store());
    let held = take(&mut one, &actor("ana@ws-1").asks(&["seen"]));
    let of_here = one.leases(None, LIMIT).expect("an answer");
    assert_eq!((of_here.len(), of_here[0].label.as_str()), (1, "ana@ws-1"));
    assert!(two.leases(None, LIMIT).expect("an answer").is_empty());
    for store in [&mut one, &mut two] {
        let named = store.leases(Some(&[resource("unseen"), resource("seen")]), LIMIT).expect("an answer");
        assert_eq!((named.len(), &named[0].resource), (1, &resource("seen")));
    }
    assert!(matches!(one.history(&locked::store::HistoryFilter::default(), LIMIT), Err(StoreError::Misnamed { .. })));
    release(&mut one, &held);
}
