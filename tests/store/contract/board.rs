//! Sessions on the board, words for a holder, counts.

use std::time::Duration;

use locked::store::{Begun, Board, Ended, Ending, Holding, Renewal, SessionView, Store, WORDS, Word};

use super::World;
use crate::store::cast::{Actor, LIMIT, actor, bad, busy, granted, release, resource, settled, take};

fn board(store: &mut dyn Store) -> &mut dyn Board {
    store.board().expect("it has a board")
}

fn begins(store: &mut dyn Store, who: &Actor, name: &str, task: &str) {
    let begun = Begun {
        session: who.session,
        name: name.to_owned(),
        domain: "/srv/app".to_owned(),
        task: task.to_owned(),
        label: "claude@ws-1".to_owned(),
        host: "ws-1".to_owned(),
    };
    board(store).begin(&begun, LIMIT).expect("the store answers");
}

fn listed(store: &mut dyn Store) -> Vec<SessionView> {
    board(store).sessions(LIMIT).expect("the store answers")
}

fn word(text: &str) -> Word {
    Word { holder: "0badc0de (bob@ws-2)".to_owned(), about: resource("a").to_string(), text: text.to_owned(), at: 0 }
}

pub(crate) fn a_session_says_what_it_does_until_it_ends(world: &dyn World) {
    let (mut store, ana, bob) = (world.store(), actor("ana"), actor("bob"));
    assert_eq!(listed(&mut *store), []);
    assert!(!board(&mut *store).end(ana.session, LIMIT).expect("answer"), "it had not begun");
    begins(&mut *store, &ana, "PWA", "the tour");
    world.pass(Duration::from_secs(60));
    begins(&mut *store, &bob, "OC", "contacts");
    let seen = listed(&mut *store);
    assert_eq!(seen.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["OC", "PWA"], "last heard of first");
    assert_eq!(
        (seen[1].session, seen[1].task.as_str(), seen[1].domain.as_str()),
        (ana.session, "the tour", "/srv/app")
    );
    assert_eq!((seen[1].idle, seen[1].ended_at), (Duration::from_secs(60), None));
    let began = seen[1].began_at;
    begins(&mut *store, &ana, "PWA", "the menu");
    let seen = listed(&mut *store);
    let own = seen.iter().find(|it| it.session == ana.session).expect("listed");
    assert_eq!((own.task.as_str(), own.began_at, own.idle), ("the menu", began, Duration::ZERO), "said anew");
    assert!(board(&mut *store).end(ana.session, LIMIT).expect("answer"));
    assert!(!board(&mut *store).end(ana.session, LIMIT).expect("answer"), "once");
    let ended = |seen: &[SessionView]| seen.iter().find(|it| it.session == ana.session).and_then(|it| it.ended_at);
    assert!(ended(&listed(&mut *store)).is_some());
    world.pass(Duration::from_secs(60));
    begins(&mut *store, &ana, "PWA", "again");
    let seen = listed(&mut *store);
    assert_eq!(ended(&seen), None);
    assert!(seen.iter().any(|it| it.session == ana.session && it.began_at > began), "it began anew");
}

pub(crate) fn what_a_session_does_with_leases_is_its_activity(world: &dyn World) {
    let (mut store, ana) = (world.store(), actor("ana"));
    begins(&mut *store, &ana, "PWA", "the tour");
    let mut idle_after = |minutes: u64, act: &mut dyn FnMut(&mut dyn Store)| {
        world.pass(Duration::from_secs(60 * minutes));
        let before = listed(&mut *store)[0].idle;
        act(&mut *store);
        (before.as_secs() / 60, listed(&mut *store)[0].idle)
    };
    let mut held = None;
    assert_eq!(idle_after(5, &mut |store| held = Some(take(store, &ana.asks(&["a"])))), (5, Duration::ZERO), "a grant");
    let held = held.expect("held");
    let renew = &mut |store: &mut dyn Store| {
        assert!(matches!(store.renew(&held, LIMIT).expect("answer"), Renewal::Renewed(_)));
    };
    assert_eq!(idle_after(4, renew), (4, Duration::ZERO), "a renew");
    assert_eq!(idle_after(3, &mut |store| release(store, &held)), (3, Duration::ZERO), "an end");
    assert_eq!(idle_after(2, &mut |store| drop(take(store, &actor("bob").asks(&["a"])))).1, Duration::from_secs(120));
}

pub(crate) fn asking_for_words_is_activity_and_keeping_alive_is_not(world: &dyn World) {
    let (mut store, ana) = (world.store(), actor("ana"));
    begins(&mut *store, &ana, "PWA", "the tour");
    let tokens = granted(&mut *store, &ana.holds(&["a"])).tokens;
    let kept = Holding::Kept { session: ana.session, resources: tokens };
    let minute = Duration::from_secs(60);
    world.pass(minute);
    assert!(matches!(store.renew(&kept, LIMIT).expect("answer"), Renewal::Renewed(_)));
    let lease = store.leases(None, LIMIT).expect("answer").remove(0);
    assert_eq!((listed(&mut *store)[0].idle, lease.idle), (minute, minute), "somebody else did that");
    assert!(board(&mut *store).hear(ana.session, LIMIT).expect("answer").is_empty());
    assert_eq!(listed(&mut *store)[0].idle, Duration::ZERO);
    world.pass(minute);
    assert!(board(&mut *store).end(ana.session, LIMIT).expect("answer"));
    world.pass(minute);
    assert!(board(&mut *store).hear(ana.session, LIMIT).expect("answer").is_empty());
    let seen = &listed(&mut *store)[0];
    assert_eq!((seen.idle, seen.ended_at.is_some()), (minute, true), "who has ended stays so");
}

pub(crate) fn who_waits_is_listed_with_what_for(world: &dyn World) {
    let (mut store, ana, bob, eve) = (world.store(), actor("ana"), actor("bob"), actor("eve"));
    let held = take(&mut *store, &ana.asks(&["a"]));
    let first = bob.waits_for(&["a", "b"]);
    busy(&mut *store, &first);
    let second = eve.waits_for(&["b"]);
    busy(&mut *store, &second);
    let waits = board(&mut *store).waiting(LIMIT).expect("answer");
    let wanted: Vec<_> = waits.iter().map(|wait| wait.resources.clone()).collect();
    assert_eq!(wanted, [vec![resource("a"), resource("b")], vec![resource("b")]], "the oldest first");
    assert_eq!(waits[0].who(), (&*bob.session.short(), "bob"), "{waits:?}");
    let since = |store: &mut dyn Store| board(store).waiting(LIMIT).expect("answer")[0].since.expect("it says");
    let began = since(&mut *store);
    assert!(began > 1_500_000_000_000 && waits[1].since >= Some(began), "{waits:?}");
    world.pass(crate::store::cast::SILENCE / 2);
    busy(&mut *store, &first);
    busy(&mut *store, &second);
    assert_eq!(since(&mut *store), began, "asking again is no new place");
    store.leave_queue(second.grant, LIMIT).expect("left");
    world.pass(crate::store::cast::SILENCE * 2);
    assert_eq!(board(&mut *store).waiting(LIMIT).expect("answer"), [], "who is silent is passed over");
    release(&mut *store, &held);
}

pub(crate) fn a_word_comes_with_the_next_grant_and_only_once(world: &dyn World) {
    let (mut store, mut other) = (world.store(), world.store());
    let (ana, bob) = (actor("ana"), actor("bob"));
    let held = take(&mut *store, &ana.asks(&["a"]));
    board(&mut *other).leave_word(ana.session, &word("please release it"), LIMIT).expect("left");
    assert_eq!(granted(&mut *other, &bob.asks(&["b"])).words, [], "others hear nothing of it");
    busy(&mut *store, &ana.asks(&["b"]));
    for names in [&["c"][..], &["d", "e"]] {
        let words = granted(&mut *store, &ana.asks(names)).words;
        match names.len() {
            1 => {
                assert_eq!((words.len(), words[0].text.as_str()), (1, "please release it"));
                let expected = ("0badc0de (bob@ws-2)", resource("a").to_string());
                assert_eq!((words[0].holder.as_str(), words[0].about.clone()), expected);
                assert!(words[0].at > 1_500_000_000_000, "the store's moment");
            }
            _ => assert_eq!(words, [], "once"),
        }
    }
    board(&mut *other).leave_word(ana.session, &word("still?"), LIMIT).expect("left");
    let heard = |store: &mut dyn Store| board(store).hear(ana.session, LIMIT).expect("answer").len();
    assert_eq!((heard(&mut *store), heard(&mut *store)), (1, 0), "or who asks hears it, once");
    release(&mut *store, &held);
}

pub(crate) fn words_are_few_and_cannot_draw_on_a_terminal(world: &dyn World) {
    let (mut store, ana) = (world.store(), actor("ana"));
    for number in 0..WORDS + 4 {
        board(&mut *store).leave_word(ana.session, &word(&format!("word {number}")), LIMIT).expect("left");
    }
    let heard = board(&mut *store).hear(ana.session, LIMIT).expect("answer");
    assert_eq!((heard.len(), heard[0].text.as_str()), (WORDS as usize, "word 4"), "the oldest went first");
    let evil = Word { holder: "\u{1b}[2Jeve\n".to_owned(), ..word(&format!("\u{202e}{}", "x".repeat(5000))) };
    board(&mut *store).leave_word(ana.session, &evil, LIMIT).expect("left");
    let words = granted(&mut *store, &ana.asks(&["a"])).words;
    assert_eq!((words[0].holder.as_str(), words[0].text.chars().count()), ("[2Jeve", 1_000));
    begins(&mut *store, &ana, "a\u{1b}]0;x\u{7}b", "two\nlines");
    let seen = listed(&mut *store);
    assert_eq!((seen[0].name.as_str(), seen[0].task.as_str()), ("a]0;xb", "twolines"));
}

pub(crate) fn what_happens_is_counted(world: &dyn World) {
    let (mut store, ana, bob) = (world.store(), actor("ana"), actor("bob"));
    let figures = |store: &mut dyn Store| board(store).figures(LIMIT).expect("answer");
    assert_eq!(figures(&mut *store), locked::store::Figures::default());
    let held = take(&mut *store, &ana.asks(&["a"]));
    let waits = bob.waits_for(&["a"]);
    busy(&mut *store, &waits);
    assert_eq!((figures(&mut *store).waiting, figures(&mut *store).waits), (1, 1));
    release(&mut *store, &held);
    let held = take(&mut *store, &waits);
    settled(&mut *store, &held, Ending::Release(Ended::HumanAction));
    let held = take(&mut *store, &ana.asks(&["b"]));
    settled(&mut *store, &held, bad());
    take(&mut *store, &ana.asks(&["c"]));
    world.pass(crate::store::cast::TTL);
    take(&mut *store, &bob.asks(&["c"]));
    let counted = figures(&mut *store);
    assert_eq!((counted.waiting, counted.waits, counted.quarantines), (0, 1, 1), "{counted:?}");
    let ended = [Ended::Completed, Ended::Failed, Ended::Expired, Ended::Stolen, Ended::HumanAction];
    assert_eq!(ended.map(|how| counted.ended(how)), [1, 0, 1, 0, 1], "{counted:?}");
}
