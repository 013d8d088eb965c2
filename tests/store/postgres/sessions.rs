//! What a session does besides asking and settling, by the functions alone, as a worker that speaks only SQL.

use std::time::Duration;

use locked::store::{Acquisition, Ended, Ending, Renewal, Request, Store as _};
use serde_json::{Value, json};

use super::lab::{Lab, Way};
use crate::store::cast::{
    Actor, FIRST, LIMIT, TTL, actor, bad, busy, file, granted, kept, release, resource, settled, take,
};
use crate::store::contract::World as _;

/// Resources as the functions want them.
fn named(names: &[&str]) -> String {
    let resource = |name: &&str| json!({"scope": resource(name).scope.0, "name": resource(name).name.as_str()});
    Value::Array(names.iter().map(resource).collect()).to_string()
}

/// The answer of a function to a worker.
#[track_caller]
fn call(lab: &Lab, function: &str, arguments: &str) -> Value {
    let sql = format!("select {}.{function}({arguments})", lab.schema());
    let rows = lab.cluster().try_sql_as("worker", &sql).unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    serde_json::from_str(&rows[0][0]).expect("JSON")
}

fn check(lab: &Lab, who: &str, names: &[&str]) -> Value {
    call(lab, "check_v1", &format!("resources => '{}', {who}", named(names)))
}

fn by_grant(request: &Request) -> String {
    format!("grant_id => '{}', key => '{}'", request.grant, request.key.reveal())
}

fn by_session(who: &Actor) -> String {
    format!("session => '{}'", who.session.whole())
}

fn names(of: &Value) -> Vec<&str> {
    of.as_array().expect("a list").iter().map(|it| it["name"].as_str().expect("a name")).collect()
}

#[test]
fn check_says_ours_only_while_it_is() {
    let lab = Lab::new(Way::Client);
    let mut store = lab.contender();
    let (ana, bob) = (actor("ana"), actor("bob"));
    let request = ana.asks(&["a", "b"]);
    let held = take(&mut store, &request);
    let ours = check(&lab, &by_grant(&request), &["a", "b"]);
    assert_eq!((&ours["answer"], names(&ours["tokens"])), (&"ours".into(), vec!["sops:a", "sops:b"]));
    assert_eq!(ours["expires_in_ms"], u64::try_from(FIRST.as_millis()).expect("ms"));
    assert_eq!(check(&lab, &by_session(&ana), &["a"])["answer"], "ours");
    let more = check(&lab, &by_grant(&request), &["a", "c"]);
    assert_eq!((&more["answer"], names(&more["missing"])), (&"not ours".into(), vec!["sops:c"]));
    assert_eq!(check(&lab, &by_session(&bob), &["a"])["answer"], "not ours");
    let wrong = Request { key: bob.asks(&["a"]).key, ..request.clone() };
    assert_eq!(check(&lab, &by_grant(&wrong), &["a"])["answer"], "not ours", "the key guards it");
    // Below a holder, a command that joined has it too.
    let below = Request { within: Some(request.grant), ..bob.asks(&["a"]) };
    take(&mut store, &below);
    assert_eq!(check(&lab, &by_grant(&below), &["a"])["answer"], "ours");
    lab.pass(FIRST);
    assert_eq!(check(&lab, &by_grant(&request), &["a"])["answer"], "not ours", "expired");
    assert!(matches!(store.renew(&held, LIMIT).expect("answer"), Renewal::Renewed(_)));
    assert_eq!(check(&lab, &by_grant(&request), &["a"])["answer"], "ours");
    let nothing = lab
        .cluster()
        .try_sql_as("worker", &format!("select {}.check_v1('[]', session => gen_random_uuid())", lab.schema()));
    assert!(nothing.is_err(), "nothing is not all of it");
}

#[test]
fn adopt_takes_over_what_the_session_holds_and_nothing_else() {
    let lab = Lab::new(Way::Client);
    let mut store = lab.contender();
    let (ana, bob) = (actor("ana"), actor("bob"));
    let adopt = |who: &Actor, request: &Request, names: &[&str]| {
        let (grant, session) = (by_grant(request), by_session(who));
        call(&lab, "adopt_v1", &format!("{grant}, {session}, resources => '{}', ttl_ms => 60000", named(names)))
    };
    let first = ana.asks(&["a"]);
    assert_eq!(adopt(&ana, &first, &["a"])["answer"], "not ours", "what is free is not taken");
    take(&mut store, &ana.holds(&["a"]));
    assert_eq!(adopt(&bob, &bob.asks(&["a"]), &["a"])["answer"], "not ours");
    assert_eq!(adopt(&ana, &first, &["a", "b"])["answer"], "not ours", "all or none");
    let adopted = adopt(&ana, &first, &["a"]);
    assert_eq!((&adopted["answer"], names(&adopted["adopted"])), (&"granted".into(), vec!["sops:a"]));
    assert_eq!(adopt(&ana, &first, &["a"])["tokens"], adopted["tokens"], "a lost answer is read back");
    assert_eq!(adopt(&ana, &ana.asks(&["a"]), &["a"])["answer"], "not ours", "a running command has it");
    // Its end hands the hold back.
    let settle = format!("resources => '{}', ending => 'release', {}", adopted["tokens"], by_grant(&first));
    assert_eq!(call(&lab, "settle_v1", &settle)["answer"], "released");
    let live = store.leases(None, LIMIT).expect("answer");
    assert!(live.len() == 1 && live[0].explicit && live[0].session == ana.session, "{live:?}");
}

fn revoke(lab: &Lab, names: &[&str], more: &str) -> Value {
    call(
        lab,
        "revoke_v1",
        &format!(
            "resources => '{}', reason => 'it hangs', label => 'eve', session => gen_random_uuid(){more}",
            named(names)
        ),
    )
}

#[test]
fn a_running_victim_is_told_and_the_thief_waits_for_it() {
    let lab = Lab::new(Way::Client);
    let mut store = lab.contender();
    let (ana, eve) = (actor("ana"), actor("eve"));
    assert_eq!(revoke(&lab, &["a"], "")["answer"], "nothing");
    let held = take(&mut store, &ana.asks(&["a"]));
    let told = revoke(&lab, &["a"], "");
    assert_eq!((&told["answer"], &told["leases"][0]["became"]), (&"revoked".into(), &"told".into()));
    busy(&mut store, &eve.asks(&["a"]));
    assert_eq!(store.renew(&held, LIMIT).expect("answer"), Renewal::Revoked);
    assert_eq!(check(&lab, &by_session(&ana), &["a"])["answer"], "not ours");
    settled(&mut store, &held, Ending::Release(Ended::Stolen));
    granted(&mut store, &eve.asks(&["a"]));
    let past = store.history(&locked::store::HistoryFilter::default(), LIMIT).expect("answer");
    assert_eq!(past[0].ended_as, Ended::Stolen);
    assert!(past[0].note.as_deref().is_some_and(|note| note.contains("it hangs") && note.contains("eve")), "{past:?}");
}

#[test]
fn at_once_waits_for_nobody_and_what_was_written_is_owed() {
    let lab = Lab::new(Way::Client);
    let mut store = lab.contender();
    let (ana, eve) = (actor("ana"), actor("eve"));
    let request = Request { files: vec![file("a.env", "1")], remote: true, ..ana.asks(&["a"]) };
    let held = take(&mut store, &request);
    assert_eq!(revoke(&lab, &["a"], ", at_once => true")["leases"][0]["became"], "free to take");
    assert_eq!(store.renew(&held, LIMIT).expect("answer"), Renewal::Revoked, "the victim cannot take it back");
    let taken = granted(&mut store, &eve.asks(&["a"]));
    assert_eq!(taken.unsettled.len(), 1, "{taken:?}");
    assert_eq!(store.renew(&held, LIMIT).expect("answer"), Renewal::Gone);
}

#[test]
fn what_rests_is_taken_at_once_and_a_quarantine_by_nobody() {
    let lab = Lab::new(Way::Client);
    let mut store = lab.contender();
    let (ana, eve) = (actor("ana"), actor("eve"));
    take(&mut store, &ana.holds(&["a"]));
    let failed = take(&mut store, &Request { files: vec![file("b.env", "1")], ..ana.asks(&["b"]) });
    settled(&mut store, &failed, kept(false));
    let told = revoke(&lab, &["a", "b"], "");
    let became: Vec<_> = told["leases"].as_array().expect("a list").iter().map(|it| &it["became"]).collect();
    assert_eq!(became, ["ended", "free to take"]);
    let taken = granted(&mut store, &eve.asks(&["a", "b"]));
    assert_eq!(taken.unsettled.len(), 1, "what was written under b is proven first");
    let bad_one = take(&mut store, &ana.asks(&["c"]));
    settled(&mut store, &bad_one, bad());
    assert_eq!(revoke(&lab, &["a", "c"], ", at_once => true")["answer"], "quarantined");
    assert_eq!(store.leases(Some(&[resource("a")]), LIMIT).expect("answer")[0].session, eve.session, "all or none");
    let silent = format!("select {}.revoke_v1('{}', ' ')", lab.schema(), named(&["a"]));
    assert!(lab.cluster().try_sql_as("worker", &silent).is_err(), "why must be said");
}

#[test]
fn a_session_that_ends_leaves_what_must_stay_and_names_it() {
    let lab = Lab::new(Way::Client);
    let mut store = lab.contender();
    let (ana, bob) = (actor("ana"), actor("bob"));
    take(&mut store, &ana.holds(&["a"]));
    let failed = take(&mut store, &ana.asks(&["b"]));
    settled(&mut store, &failed, kept(false));
    take(&mut store, &ana.asks(&["c"]));
    let broken = take(&mut store, &ana.asks(&["d"]));
    settled(&mut store, &broken, bad());
    take(&mut store, &Request { files: vec![file("e.env", "1")], ..ana.holds(&["e"]) });
    take(&mut store, &bob.holds(&["f"]));
    busy(&mut store, &ana.waits_for(&["f"]));
    let ended = call(&lab, "end_session_v1", &by_session(&ana));
    assert_eq!((&ended["answer"], names(&ended["released"])), (&"ended".into(), vec!["sops:a", "sops:b"]));
    let because: Vec<_> = ended["stayed"].as_array().expect("a list").iter().map(|it| &it["because"]).collect();
    assert_eq!(names(&ended["stayed"]), ["sops:c", "sops:d", "sops:e"]);
    assert_eq!(because, ["running", "quarantined", "open edit"]);
    assert_eq!(store.leases(Some(&[resource("f")]), LIMIT).expect("answer")[0].waiters, 0, "its places are gone");
    granted(&mut store, &bob.asks(&["a", "b"]));
    let again = call(&lab, "end_session_v1", &by_session(&ana));
    assert_eq!((names(&again["released"]).len(), names(&again["stayed"]).len()), (0, 3));
    let stranger = call(&lab, "end_session_v1", "session => gen_random_uuid()");
    assert_eq!((&stranger["released"], &stranger["stayed"]), (&json!([]), &json!([])));
}

/// What a command set off elsewhere does not end with the session; what was left for another reason does, and so does it when
/// its time has passed. The function knows it by what the program says of it.
#[test]
fn what_a_session_set_off_elsewhere_stays_for_its_time() {
    let lab = Lab::new(Way::Client);
    let mut store = lab.contender();
    let ana = actor("ana");
    let triggered = "secrets-sync was triggered and may still be running";
    assert!(locked::settle::is_of_what_goes_on(triggered));
    let keep_for = TTL + TTL;
    for (name, ending) in [
        ("a", Ending::Elsewhere { reason: triggered.to_owned(), keep_for }),
        ("b", Ending::Keep { reason: "it may still be running, or not".to_owned(), keep_for, takeable: false }),
    ] {
        take(&mut store, &ana.holds(&[name]));
        let command = take(&mut store, &ana.asks(&[name]));
        settled(&mut store, &command, ending);
    }
    let end = || call(&lab, "end_session_v1", &by_session(&ana));
    let ended = end();
    assert_eq!((names(&ended["released"]), names(&ended["stayed"])), (vec!["sops:b"], vec!["sops:a"]), "{ended}");
    assert_eq!(ended["stayed"][0]["because"], "may still be running");
    busy(&mut store, &actor("bob").asks(&["a"]));
    lab.pass(keep_for);
    let ended = end();
    assert_eq!((names(&ended["released"]), names(&ended["stayed"]).len()), (vec!["sops:a"], 0), "its time has passed");
    granted(&mut store, &actor("bob").asks(&["a", "b"]));
}

/// Each request that stood in line leaves how long, granted or not.
#[test]
fn who_waited_leaves_how_long() {
    let lab = Lab::new(Way::Client);
    let mut store = lab.contender();
    let (ana, bob, eve) = (actor("ana"), actor("bob"), actor("eve"));
    let held = take(&mut store, &ana.asks(&["a"]));
    let (first, second) = (bob.waits_for(&["a"]), eve.waits_for(&["a"]));
    busy(&mut store, &first);
    busy(&mut store, &second);
    store.leave_queue(second.grant, LIMIT).expect("answer");
    release(&mut store, &held);
    match store.acquire(&first, LIMIT).expect("answer") {
        Acquisition::Granted(_) => {}
        Acquisition::Busy { blockers, .. } => panic!("{blockers:?}"),
    }
    let seen = format!("select resource, granted, waited_ms >= 0 from {}.waited order by granted", lab.schema());
    let rows = lab.cluster().try_sql_as("looker", &seen).expect("a reader may look");
    assert_eq!(rows, [["sops:a", "f", "t"], ["sops:a", "t", "t"]]);
    let live = store.leases(None, LIMIT).expect("answer");
    assert_eq!(live[0].idle, Duration::ZERO);
    lab.pass(TTL);
    assert_eq!(store.leases(None, LIMIT).expect("answer")[0].idle, TTL, "by the store's clock");
}
