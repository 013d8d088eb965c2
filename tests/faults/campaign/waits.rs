//! The checker's eye for those who wait: what nobody uses is free in time, and the first come is the first served.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};

use super::checker::{Finding, Rule};
use super::evidence::{Event, Evidence, Life, What};

pub(super) fn judge(evidence: &Evidence, lives: &[Life]) -> Vec<Finding> {
    let mut found = idle(evidence, lives);
    let left = evidence.left.iter().filter(|left| !left.is_quarantined);
    found.extend(left.map(|left| format!("{} is {} by {} when all is over", left.resource, left.state, left.who)));
    let mut found: Vec<Finding> = found.into_iter().map(|what| Finding::new(Rule::Freed, what)).collect();
    found.extend(overtaken(evidence).into_iter().map(|what| Finding::new(Rule::Fair, what)));
    found
}

/// Resources that somebody asks for together stand in each other's way: an older request for two holds back a younger
/// one for each. The name of each one's family.
fn families(evidence: &Evidence) -> BTreeMap<&str, &str> {
    let mut family: BTreeMap<&str, &str> = BTreeMap::new();
    let mut first: BTreeMap<&str, &str> = BTreeMap::new();
    for (_, ask) in evidence.said("ask") {
        let mine = *family.entry(&ask.resource).or_insert(&ask.resource);
        let theirs = family[*first.entry(&ask.who).or_insert(&ask.resource)];
        family.values_mut().filter(|name| **name == mine).for_each(|name| *name = theirs);
    }
    family
}

/// Stretches in which nobody was at work and somebody waited, who did its part.
fn idle(evidence: &Evidence, lives: &[Life]) -> Vec<String> {
    let family = families(evidence);
    let hurt: BTreeSet<&str> = evidence.said("hurt").map(|(_, line)| line.who.as_str()).collect();
    let mut found = Vec::new();
    for name in family.values().copied().collect::<BTreeSet<&str>>() {
        let is_ours = |resource: &str| family.get(resource).is_some_and(|it| *it == name);
        let ours: Vec<&Life> = lives.iter().filter(|life| is_ours(&life.resource)).collect();
        let (mut waiting, mut alive, mut since) = (BTreeSet::new(), 0_usize, None::<u128>);
        let (mut begins, mut ends) = (BTreeMap::new(), BTreeMap::<usize, usize>::new());
        for life in &ours {
            begins.insert(life.first, *life);
            *ends.entry(life.last).or_default() += 1;
        }
        let mut before: Option<&Life> = None;
        for (place, line) in evidence.log.iter().enumerate() {
            let who = line.who.as_str();
            match line.word.as_str() {
                "ask" if is_ours(&line.resource) && !hurt.contains(who) => {
                    waiting.insert(who);
                }
                "over" => {
                    waiting.remove(who);
                }
                _ => {}
            }
            let mut next = None;
            if let Some(life) = begins.get(&place) {
                waiting.remove(life.who.as_str());
                alive += 1;
                next = Some(*life);
            }
            if (next.is_some() || waiting.is_empty())
                && let Some(since) = since.take()
            {
                let span = line.ns.saturating_sub(since).saturating_sub(outages(evidence, since, line.ns));
                let lifeless = lifeless(evidence, lives, &is_ours, before, next);
                if span > evidence.bounds.idle.as_nanos() * (1 + lifeless as u128) {
                    found.push(format!("{name} lay idle for {} ms until {who} {}", span / 1_000_000, line.word));
                }
            }
            if let Some(ended) = ends.get(&place) {
                alive -= ended;
                before = ours.iter().find(|life| life.last == place).copied();
            }
            if alive == 0 && !waiting.is_empty() && since.is_none() {
                since = Some(line.ns);
            }
        }
    }
    found
}

/// How much of this stretch the store was in trouble.
fn outages(evidence: &Evidence, from: u128, to: u128) -> u128 {
    let (mut began, mut sum) = (None, 0);
    for line in &evidence.log {
        match (line.word.as_str(), began) {
            ("outage", None) => began = Some(line.ns),
            ("mended", Some(outage)) => {
                sum += line.ns.min(to).saturating_sub(outage.max(from));
                began = None;
            }
            _ => {}
        }
    }
    sum + began.map_or(0, |outage| to.saturating_sub(outage.max(from)))
}

/// Grants between these two whose child never lived: each may take its time to run out.
fn lifeless(
    evidence: &Evidence,
    lives: &[Life],
    is_ours: &dyn Fn(&str) -> bool,
    before: Option<&Life>,
    next: Option<&Life>,
) -> usize {
    let grant = |life: &Life| {
        let is_it = |event: &Event| event.what == What::Granted && event.who == life.who;
        evidence.events.iter().position(is_it)
    };
    let from = before.and_then(grant).unwrap_or(0);
    let to = next.and_then(grant).unwrap_or(evidence.events.len()).max(from);
    let between =
        evidence.events[from..to].iter().filter(|event| event.what == What::Granted && is_ours(&event.resource));
    between.filter(|event| lives.iter().all(|life| life.who != event.who)).count()
}

/// Requests that too many younger ones went before, although nothing had been done to them.
fn overtaken(evidence: &Evidence) -> Vec<String> {
    let excused: BTreeSet<&str> = evidence.said("hurt").map(|(_, line)| line.who.as_str()).collect();
    let mut found = Vec::new();
    for (at, ask) in evidence.events.iter().enumerate().filter(|(_, event)| event.what == What::Asked) {
        if excused.contains(ask.who.as_str()) || was_in_an_outage(evidence, &ask.who) {
            continue;
        }
        let here = || evidence.events.iter().enumerate().filter(|(_, event)| event.resource == ask.resource);
        let is_out =
            |(place, event): &(usize, &Event)| *place > at && event.who == ask.who && event.what != What::Asked;
        let out = here().find(is_out).map_or(evidence.events.len(), |(place, _)| place);
        let grants = here().filter(|(place, event)| (at..out).contains(place) && event.what == What::Granted);
        let asked_before = |who: &str| here().any(|(place, it)| place < at && it.who == who && it.what == What::Asked);
        let younger: Vec<&str> = grants.map(|(_, event)| event.who.as_str()).filter(|who| !asked_before(who)).collect();
        if younger.len() > evidence.bounds.overtaken {
            found.push(format!("{younger:?} went before {} at {}", ask.who, ask.resource));
        }
    }
    found
}

/// It waited while the store was in trouble: it could not say that it was still there.
fn was_in_an_outage(evidence: &Evidence, who: &str) -> bool {
    let of = |word| evidence.said(word).find(|(_, line)| line.who == who).map(|(_, line)| line.ns);
    let Some(from) = of("ask") else { return false };
    let to = [of("begin"), of("over")].into_iter().flatten().min().unwrap_or(u128::MAX);
    outages(evidence, from, to) > 0
}
