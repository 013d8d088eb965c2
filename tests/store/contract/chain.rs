//! Chains of receipts, as those see them who ask for a file or for a content.

use locked::store::{
    Contents, Ended, Ending, MOST_CONTENTS, Receipt, ReceiptKind, Release, Request, Settlement, Store,
};
use locked::terms::{Digest, Scope};

use super::World;
use crate::store::cast::{LIMIT, actor, file, granted, receipt, release, resource, take};

fn writes(store: &mut dyn Store, names: &[&str], receipts: Vec<Receipt>) {
    let held = take(store, &actor("ana").asks(names));
    let settlement = Settlement::whole(Ending::Release(Ended::Completed), receipts);
    assert_eq!(store.settle(&held, &settlement, LIMIT).expect("answer"), Release::Released);
}

fn digest(content: &str) -> Digest {
    Digest::of(content.as_bytes())
}

pub(crate) fn who_is_granted_a_file_is_told_its_newest_version(world: &dyn World) {
    let (mut store, bob) = (world.store(), actor("bob"));
    let elsewhere = Receipt { scope: Scope("elsewhere".to_owned()), ..receipt("a", "a.env", "1", "4") };
    writes(&mut *store, &["a"], vec![receipt("a", "a.env", "1", "2"), receipt("a", "a.env", "2", "3"), elsewhere]);
    let told = |store: &mut dyn Store, names: &[&str], files: &[&str]| {
        let files = files.iter().map(|path| file(path, "1")).collect();
        let asked = Request { files, ..bob.asks(names) };
        let told = granted(store, &asked);
        let held = locked::store::Holding::Grant { grant: asked.grant, key: asked.key, resources: told.tokens };
        release(store, &held);
        told.heads.expect("it says so")
    };
    assert_eq!(told(&mut *store, &["a"], &["a.env"]), [Some(digest("3"))]);
    assert_eq!(told(&mut *store, &["a"], &[]), []);
    // A set, in the request's own order of files.
    let set = told(&mut *store, &["a", "b"], &["b.env", "a.env", "c.env"]);
    assert_eq!(set, [None, Some(digest("3")), None]);
    writes(&mut *store, &["b"], vec![receipt("b", "b.env", "8", "9")]);
    let set = told(&mut *store, &["a", "b"], &["b.env", "a.env", "c.env"]);
    assert_eq!(set, [Some(digest("9")), Some(digest("3")), None]);
}

pub(crate) fn a_lost_answer_tells_the_newest_versions_as_well(world: &dyn World) {
    let (mut store, bob) = (world.store(), actor("bob"));
    writes(&mut *store, &["a"], vec![receipt("a", "a.env", "1", "2")]);
    let asked = Request { files: vec![file("a.env", "1")], ..bob.asks(&["a"]) };
    for _sent in 0..2 {
        assert_eq!(granted(&mut *store, &asked).heads, Some(vec![Some(digest("2"))]));
    }
}

pub(crate) fn what_has_a_receipt_is_found_by_either_name_under_whatever_path(world: &dyn World) {
    let mut store = world.store();
    let scope = resource("a").scope;
    let named = |receipt: Receipt, blob: &str| Receipt { blob: Some(blob.to_owned()), ..receipt };
    let moved = named(receipt("a", "old/a.env", "1", "2"), "b2");
    writes(&mut *store, &["a"], vec![moved, named(receipt("a", "a.env", "1", "2"), "b2")]);
    writes(&mut *store, &["a"], vec![receipt("a", "a.env", "2", "3")]);
    writes(&mut *store, &["a"], vec![named(receipt("a", "a.env", "3", "2"), "b2")]);
    writes(
        &mut *store,
        &["a"],
        vec![Receipt { scope: Scope("elsewhere".to_owned()), ..receipt("a", "a.env", "1", "7") }],
    );
    let word = Receipt { kind: ReceiptKind::Accepted, ..receipt("a", "a.env", "2", "6") };
    writes(&mut *store, &["a"], vec![word]);
    let mut asked = |digests: &[&str], blobs: &[&str]| {
        let digests = digests.iter().map(|it| digest(it)).collect();
        let contents = Contents { digests, blobs: blobs.iter().map(|it| (*it).to_owned()).collect() };
        let mut found = store.receipts_of(&scope, &contents, LIMIT).expect("answer");
        found.sort_by(|one, other| (&one.path, one.token).cmp(&(&other.path, other.token)));
        found.into_iter().map(|it| (it.path, it.base.expect("a base"), it.new)).collect::<Vec<_>>()
    };
    let link = |path: &str, base: &str, new: &str| (path.to_owned(), digest(base), digest(new));
    // Twice written: the newest receipt tells.
    let two = [link("a.env", "3", "2"), link("old/a.env", "1", "2")];
    assert_eq!(asked(&["2", "9"], &[]), two);
    assert_eq!(asked(&[], &["b2", "b9"]), two);
    assert_eq!(asked(&["2"], &["b2"]), two, "once, by whichever name");
    assert_eq!(asked(&["3"], &["b2"]), [link("a.env", "2", "3"), two[0].clone(), two[1].clone()]);
    assert_eq!(asked(&["1", "6", "7"], &["b3", ""]), [], "a base is no result, and another scope is another matter");
    assert_eq!(asked(&[], &[]), []);
}

pub(crate) fn more_than_one_question_may_hold_is_refused(world: &dyn World) {
    let mut store = world.store();
    let digests: Vec<_> = (0..MOST_CONTENTS).map(|number| digest(&number.to_string())).collect();
    let most = Contents { digests, blobs: Vec::new() };
    assert!(store.receipts_of(&resource("a").scope, &most, LIMIT).expect("answer").is_empty());
    let more = Contents { blobs: vec!["b".to_owned()], ..most };
    assert!(store.receipts_of(&resource("a").scope, &more, LIMIT).is_err());
}

pub(crate) fn the_chains_of_many_paths_come_with_one_question(world: &dyn World) {
    let mut store = world.store();
    let scope = resource("a").scope;
    let elsewhere = Receipt { scope: Scope("elsewhere".to_owned()), ..receipt("a", "a.env", "1", "7") };
    writes(&mut *store, &["a"], vec![receipt("a", "a.env", "1", "2"), elsewhere]);
    writes(&mut *store, &["a"], vec![receipt("a", "a.env", "2", "3"), receipt("a", "b c\n.env", "1", "2")]);
    let none: Vec<String> = (0..5000).map(|number| format!("none/{number}")).collect();
    let mut asked = vec!["b c\n.env", "a.env"];
    asked.extend(none.iter().map(String::as_str));
    let told = |paths: &[&str], store: &mut dyn Store| -> Vec<(String, Digest)> {
        let links = store.chains(&scope, paths, LIMIT).expect("answer");
        links.into_iter().map(|link| (link.path, link.new)).collect()
    };
    let link = |path: &str, new: &str| (path.to_owned(), digest(new));
    assert_eq!(told(&asked, &mut *store), [link("b c\n.env", "2"), link("a.env", "3"), link("a.env", "2")]);
    assert_eq!(told(&[], &mut *store), []);
}

pub(crate) fn any_number_of_resources_is_asked_about(world: &dyn World) {
    let mut store = world.store();
    let held = take(&mut *store, &actor("ana").asks(&["a", "n4999"]));
    let names: Vec<String> = (0..5000).map(|number| format!("n{number}")).collect();
    let asked: Vec<_> = names.iter().map(|name| resource(name)).collect();
    let live = store.leases(Some(&asked), LIMIT).expect("answer");
    assert_eq!(live.iter().map(|lease| &lease.resource).collect::<Vec<_>>(), [&resource("n4999")]);
    release(&mut *store, &held);
}
