//! The log of who was alive, and the checker: never two on one resource.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::path::Path;

/// One child's life on one resource: the places of its first and last line in the log.
#[derive(Debug, Clone)]
pub(crate) struct Life {
    pub(crate) id: String,
    pub(crate) pid: u32,
    pub(crate) resource: String,
    /// The fencing token it was given, if any.
    pub(crate) token: Option<i64>,
    first: usize,
    last: usize,
    pub(crate) first_ns: u128,
    pub(crate) last_ns: u128,
    /// It said that it ended by itself.
    pub(crate) ended: bool,
}

/// Reads a log. A process that has forked counts for itself.
pub(crate) fn lives(log: &Path) -> Vec<Life> {
    let text = std::fs::read_to_string(log).expect("log");
    let mut lives: BTreeMap<(u32, String, String), Life> = BTreeMap::new();
    for (place, line) in text.lines().enumerate() {
        let words: Vec<&str> = line.split(' ').collect();
        let [word, id, pid, ns, resources, tokens] = words[..] else { panic!("a torn line: {line:?}") };
        let (pid, ns) = (pid.parse().expect("pid"), ns.parse().expect("ns"));
        for (resource, token) in resources.split(',').zip(tokens.split(',')) {
            let new = || Life {
                id: id.to_owned(),
                pid,
                resource: resource.to_owned(),
                token: token.parse().ok(),
                first: place,
                last: place,
                first_ns: ns,
                last_ns: ns,
                ended: false,
            };
            let life = lives.entry((pid, id.to_owned(), resource.to_owned())).or_insert_with(new);
            (life.last, life.last_ns) = (place, ns);
            life.ended |= word == "end";
        }
    }
    let mut lives: Vec<Life> = lives.into_values().collect();
    lives.sort_by_key(|life| life.first);
    lives
}

/// Pairs that were alive at once on one resource under different grants. Processes of one grant (same token) are one
/// writer.
pub(crate) fn overlaps(lives: &[Life]) -> Vec<String> {
    let mut found = Vec::new();
    for (at, one) in lives.iter().enumerate() {
        for other in lives[at + 1..].iter().filter(|other| other.resource == one.resource) {
            let one_writer = one.token.is_some() && one.token == other.token;
            if !one_writer && other.first < one.last && one.first < other.last {
                let both = one.last_ns.min(other.last_ns).saturating_sub(one.first_ns.max(other.first_ns)) / 1_000;
                found.push(format!("{} and {} on {} for {both} µs", one.id, other.id, one.resource));
            }
        }
    }
    found
}

/// Fails on an overlap, and on tokens that do not grow in the order of the log.
pub(crate) fn check(log: &Path) -> Vec<Life> {
    let lives = lives(log);
    let overlaps = overlaps(&lives);
    assert!(overlaps.is_empty(), "two writers: {overlaps:?}\n{}", std::fs::read_to_string(log).expect("log"));
    let mut last: BTreeMap<&str, i64> = BTreeMap::new();
    for life in &lives {
        let Some(token) = life.token else { continue };
        let before = last.insert(&life.resource, token).unwrap_or_default();
        assert!(token >= before, "the token of {} fell from {before} to {token}: {lives:#?}", life.resource);
    }
    lives
}
