//! The checker catches what it is there for: evidence that was tampered with, line by line.
#![forbid(unsafe_code)]

use super::BOUNDS;
use super::checker::{Rule, judge};
use super::evidence::{Event, Evidence, Left, What, lines};

/// Three runs that do as they should: one after the other at one resource, and one that writes a file.
const LOG: &str = "\
1000000000 ask a test:x - -
1100000000 begin a test:x 5 new
1200000000 ask b test:x - -
1300000000 ask c test:x - -
1400000000 wrote a test:x 5 5
1500000000 end a test:x 5 -
1600000000 over a - - 0
1700000000 begin b test:x 7 5
1800000000 wrote b test:x 7 7
1900000000 end b test:x 7 -
2000000000 over b - - 0
2100000000 begin c test:x 9 7
2200000000 wrote c test:x 9 9
2300000000 end c test:x 9 -
2400000000 over c - - 0
3000000000 ask s sops:f - -
3100000000 begin s sops:f 4 -
3200000000 wrote s sops:f 4 key
3300000000 end s sops:f 4 -
3400000000 over s - - 0
3500000000 final - sops:f - first,key
";

/// Somebody else wrote into the file, of which there is a copy.
const FOREIGN: &str = "3450000000 foreign - sops:f - -\n3500000000 final - sops:f - first";

fn event(what: What, who: &str, resource: &str, token: Option<i64>) -> Event {
    Event { what, who: who.to_owned(), resource: resource.to_owned(), token }
}

fn sound() -> Evidence {
    let events = vec![
        event(What::Granted, "a", "test:x", Some(5)),
        event(What::Asked, "b", "test:x", None),
        event(What::Asked, "c", "test:x", None),
        event(What::Left, "b", "test:x", None),
        event(What::Granted, "b", "test:x", Some(7)),
        event(What::Left, "c", "test:x", None),
        event(What::Granted, "c", "test:x", Some(9)),
        event(What::Granted, "s", "sops:f", Some(4)),
    ];
    Evidence { log: lines(LOG), events, left: vec![], bounds: BOUNDS }
}

fn log(from: &str, to: &str) -> Evidence {
    assert!(LOG.contains(from), "{from}");
    Evidence { log: lines(&LOG.replace(from, to)), ..sound() }
}

#[test]
fn what_is_sound_is_left_alone() {
    assert_eq!(judge(&sound()), []);
}

#[test]
fn each_thing_that_was_tampered_with_is_found_under_its_own_name() {
    let b = "1700000000 begin b test:x 7 5\n1800000000 wrote b test:x 7 7\n1900000000 end b test:x 7 -\n";
    let last_in_first_out = || {
        let younger = (0..4).map(|number| format!("y{number}"));
        let asked = younger.clone().map(|who| event(What::Asked, &who, "test:z", None));
        let granted = younger.enumerate().map(|(at, who)| event(What::Granted, &who, "test:z", Some(at as i64)));
        let oldest = [event(What::Asked, "old", "test:z", None)].into_iter();
        Evidence { events: sound().events.into_iter().chain(oldest).chain(asked).chain(granted).collect(), ..sound() }
    };
    let held =
        Left { who: "a".to_owned(), resource: "test:x".to_owned(), is_quarantined: false, state: "held".to_owned() };
    let tampered: Vec<(&str, Rule, Evidence)> = vec![
        (
            "a child lives on after its lease",
            Rule::Exclusion,
            log("1800000000 wrote b", "1750000000 beat a test:x 5 -\n1800000000 wrote b"),
        ),
        ("the next one begins before", Rule::Exclusion, log(b, &format!("{b}1950000000 beat a test:x 5 -\n"))),
        (
            "a child finds another",
            Rule::Exclusion,
            log("1600000000 over", "1550000000 clash b test:x 7 -\n1600000000 over"),
        ),
        ("a token falls", Rule::Tokens, log("begin b test:x 7", "begin b test:x 4")),
        ("a token twice", Rule::Tokens, log("begin b test:x 7", "begin b test:x 5")),
        ("a child without a token", Rule::Tokens, log("begin b test:x 7", "begin b test:x -")),
        ("a token of nobody's", Rule::Tokens, log("begin b test:x 7", "begin b test:x 8")),
        ("a ledger whose tokens fall", Rule::Tokens, {
            let mut evidence = sound();
            evidence.events.swap(0, 4);
            evidence
        }),
        ("a write that is gone with the next", Rule::Loss, log("begin c test:x 9 7", "begin c test:x 9 5")),
        ("a torn file after a good end", Rule::Loss, log("begin c test:x 9 7", "begin c test:x 9 torn")),
        ("a key that is gone at the end", Rule::Loss, log("first,key", "first")),
        ("a key that somebody else destroyed", Rule::Loss, log("3500000000 final - sops:f - first,key", FOREIGN)),
        ("a file that is bad, and nobody says so", Rule::Loss, log("first,key", "unreadable")),
        ("a file that nobody looked into", Rule::Loss, log("3500000000 final - sops:f - first,key\n", "")),
        (
            "a bad file that the next one writes",
            Rule::Loss,
            log("1600000000 over a - - 0", "1550000000 spoil a test:x 5 half\n1600000000 over a - - 72"),
        ),
        ("a run that lies about its end", Rule::Told, log("1500000000 end a test:x 5 -\n", "")),
        (
            "a run that lies about a bad file",
            Rule::Told,
            log("3300000000 end", "3250000000 spoil s sops:f 4 half\n3300000000 end"),
        ),
        ("a run that breaks", Rule::Told, log("over b - - 0", "over b - - 70")),
        ("a run without an end", Rule::Told, log("2000000000 over b - - 0\n", "")),
        ("a long wait for nobody", Rule::Freed, log("1600000000 over a - - 0\n17", "1600000000 over a - - 0\n917")),
        ("a lease that stays", Rule::Freed, Evidence { left: vec![held], ..sound() }),
        ("last in, first out", Rule::Fair, last_in_first_out()),
    ];
    for (name, rule, evidence) in tampered {
        let found = judge(&evidence);
        assert!(found.iter().any(|finding| finding.rule == rule), "{name}: {found:?}");
    }
}

/// What is no fault of anybody's is not found.
#[test]
fn what_a_blow_explains_is_no_finding() {
    let killed = "1400000000 wrote a test:x 5 5\n1500000000 end a test:x 5 -\n1600000000 over a - - 0";
    let fine = [
        (
            "killed half-way",
            killed,
            "1400000000 beat a test:x 5 -\n1600000000 over a - - signal-9",
            "7 5\n",
            "7 torn\n",
        ),
        ("killed before it could tell", killed, "1600000000 over a - - signal-9", "7 5\n", "7 5\n"),
        ("killed before it wrote", killed, "1600000000 over a - - signal-9", "7 5\n", "7 new\n"),
    ];
    for (name, from, to, read, found) in fine {
        let text = LOG.replace(from, to).replace(read, found);
        let found = judge(&Evidence { log: lines(&text), ..sound() });
        assert_eq!(found, [], "{name}");
    }
    let full = LOG
        .replace("3200000000 wrote", "3150000000 outage - - - DiskFull\n3200000000 wrote")
        .replace("3500000000 final - sops:f - first,key", FOREIGN);
    assert_eq!(judge(&Evidence { log: lines(&full), ..sound() }), [], "there was no room for a copy");
    let outage = "1600000000 over a - - 0\n1610000000 outage - - - x\n";
    let text = LOG.replace("1600000000 over a - - 0\n", outage);
    let text = ["17", "18", "19", "20", "21", "22", "23", "24", "30", "31", "32", "33", "34", "35"]
        .iter()
        .fold(text, |text, start| text.replace(&format!("\n{start}00000000 "), &format!("\n9{start}00000000 ")))
        .replace("\n91700000000", "\n91690000000 mended - - - -\n91700000000");
    assert_eq!(judge(&Evidence { log: lines(&text), ..sound() }), [], "{text}");
}
