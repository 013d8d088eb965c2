//! Files that a predecessor may have written and nobody has proven.

use locked::store::{Renewal, Request, Unsettled};

use super::World;
use crate::store::cast::{FIRST, LIMIT, TTL, actor, file, granted, kept, release, resource, settled, take};

/// Paths and digests before, of everything that is to be proven.
fn to_prove(unsettled: &[Unsettled]) -> Vec<(String, Option<locked::terms::Digest>)> {
    let files = unsettled.iter().flat_map(|it| it.files.iter());
    files.map(|file| (file.key.clone(), file.before.clone())).collect()
}

/// What a timeline expects to be told.
fn expected(files: &[(&str, &str)]) -> Vec<(String, Option<locked::terms::Digest>)> {
    files.iter().map(|(path, before)| ((*path).to_owned(), file(path, before).before)).collect()
}

pub(crate) fn the_successor_of_a_crash_is_told_what_to_prove(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = (actor("ana"), actor("bob"));
    let crashed = Request { files: vec![file("a.env", "1")], ..ana.asks(&["a"]) };
    let token = granted(&mut *store, &crashed).tokens[0].1;
    take(&mut *store, &ana.asks(&["b"]));
    world.pass(FIRST);
    let answer = granted(&mut *store, &bob.asks(&["a", "b"]));
    assert_eq!(answer.unsettled.len(), 1, "b had no files");
    let owed = &answer.unsettled[0];
    assert_eq!((owed.resource.clone(), owed.token, owed.host.as_str()), (resource("a"), token, "ws-1"));
    assert!(owed.holder.contains("ana") && owed.operation == "ana's command");
    assert_eq!(owed.files, [file("a.env", "1")]);
}

pub(crate) fn debts_outlive_two_crashes(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob, eve) = (actor("ana"), actor("bob"), actor("eve"));
    take(&mut *store, &Request { files: vec![file("a.env", "1")], ..ana.asks(&["a"]) });
    world.pass(FIRST);
    let second = Request { files: vec![file("a.env", "torn")], ..bob.asks(&["a"]) };
    take(&mut *store, &second);
    assert_eq!(to_prove(&granted(&mut *store, &second).unsettled), expected(&[("a.env", "1")]), "read back alike");
    world.pass(FIRST);
    for _crash in 0..3 {
        let next = Request { files: vec![file("a.env", "torn")], ..eve.asks(&["a"]) };
        let answer = granted(&mut *store, &next);
        assert_eq!(to_prove(&answer.unsettled), expected(&[("a.env", "1"), ("a.env", "torn")]), "and does not grow");
        world.pass(FIRST);
    }
    // Who gives it back without having proven what it owed leaves that to the next.
    let held = take(&mut *store, &ana.asks(&["a"]));
    release(&mut *store, &held);
    let held = take(&mut *store, &bob.asks(&["a"]));
    assert!(matches!(store.record_files(&held, &[], &[], LIMIT).expect("answer"), Renewal::Renewed(_)));
    release(&mut *store, &held);
    assert!(granted(&mut *store, &bob.asks(&["a"])).unsettled.is_empty(), "recorded anew is proven");
}

pub(crate) fn recording_files_pays_the_debt(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob, eve) = (actor("ana"), actor("bob"), actor("eve"));
    take(&mut *store, &Request { files: vec![file("a.env", "1")], ..ana.asks(&["a"]) });
    world.pass(FIRST);
    let held = take(&mut *store, &bob.asks(&["a"]));
    let answer = store.record_files(&held, &[file("a.env", "2"), file("b.env", "1")], &[], LIMIT).expect("answer");
    assert_eq!(answer, locked::store::Renewal::Renewed(FIRST), "it gives no time");
    world.pass(FIRST);
    let answer = granted(&mut *store, &eve.asks(&["a"]));
    assert_eq!(to_prove(&answer.unsettled), expected(&[("a.env", "2"), ("b.env", "1")]));
}

pub(crate) fn a_gone_holder_s_other_resources_keep_their_debt(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob, eve) = (actor("ana"), actor("bob"), actor("eve"));
    let crashed = Request { files: vec![file("a.env", "1")], ..ana.asks(&["a", "b"]) };
    take(&mut *store, &crashed);
    let answer = granted(&mut *store, &Request { gone: vec![crashed.grant], ..bob.asks(&["a"]) });
    assert_eq!(to_prove(&answer.unsettled), expected(&[("a.env", "1")]));
    let answer = granted(&mut *store, &eve.asks(&["b"]));
    assert_eq!(to_prove(&answer.unsettled), expected(&[("a.env", "1")]), "free at once, and not forgotten");
}

pub(crate) fn an_open_edit_that_expires_is_owed_and_a_takeable_one_is_not(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = (actor("ana"), actor("bob"));
    for (takeable, owed) in [(false, 1), (true, 0)] {
        let held = take(&mut *store, &Request { files: vec![file("a.env", "1")], ..ana.asks(&["a"]) });
        settled(&mut *store, &held, kept(takeable));
        if !takeable {
            world.pass(TTL);
        }
        let next = bob.asks(&["a"]);
        assert_eq!(granted(&mut *store, &next).unsettled.len(), owed, "takeable: {takeable}");
        let held = take(&mut *store, &next);
        assert!(matches!(store.record_files(&held, &[], &[], LIMIT).expect("answer"), Renewal::Renewed(_)));
        release(&mut *store, &held);
    }
}

pub(crate) fn what_a_session_adopts_is_owed_only_after_a_crash(world: &dyn World) {
    let mut store = world.store();
    let (ana, bob) = (actor("ana"), actor("bob"));
    let held = take(&mut *store, &Request { files: vec![file("a.env", "sealed")], ..ana.asks(&["a"]) });
    settled(&mut *store, &held, kept(false));
    let next = ana.asks(&["a"]);
    assert!(granted(&mut *store, &next).unsettled.is_empty(), "it knows what it does");
    assert!(granted(&mut *store, &next).unsettled.is_empty(), "read back alike");
    world.pass(FIRST);
    let answer = granted(&mut *store, &bob.asks(&["a"]));
    assert_eq!(to_prove(&answer.unsettled), expected(&[("a.env", "sealed")]));
}
