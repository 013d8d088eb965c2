//! The checker: pure, it reads what a campaign left behind and knows nothing of `locked`.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};

use super::evidence::{Evidence, Life, What};
use super::{loss, waits};

/// What is promised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rule {
    /// Never two at once on a resource.
    Exclusion,
    /// Tokens grow.
    Tokens,
    /// What was written is there, or its loss was found before the next one wrote.
    Loss,
    /// A run that says that all is well is right.
    Told,
    /// What nobody uses any more is free within its bound.
    Freed,
    /// First come, first served.
    Fair,
}

impl Rule {
    pub(crate) const ALL: [Self; 6] = [Self::Exclusion, Self::Tokens, Self::Loss, Self::Told, Self::Freed, Self::Fair];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Exclusion => "never two at once",
            Self::Tokens => "tokens grow",
            Self::Loss => "no loss that nobody found",
            Self::Told => "what is said is so",
            Self::Freed => "free within its bound",
            Self::Fair => "first come, first served",
        }
    }
}

/// A promise that was not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) rule: Rule,
    pub(crate) what: String,
}

impl Finding {
    pub(crate) fn new(rule: Rule, what: String) -> Self {
        Self { rule, what }
    }
}

/// Everything that is wrong.
pub(crate) fn judge(evidence: &Evidence) -> Vec<Finding> {
    let lives = evidence.lives();
    let mut found = exclusion(evidence, &lives);
    found.extend(tokens(evidence, &lives));
    found.extend(told(evidence, &lives));
    found.extend(loss::judge(evidence, &lives));
    found.extend(waits::judge(evidence, &lives));
    found
}

fn exclusion(evidence: &Evidence, lives: &[Life]) -> Vec<Finding> {
    let mut found = Vec::new();
    for (at, one) in lives.iter().enumerate() {
        let later = lives[at + 1..].iter().take_while(|other| other.first < one.last);
        for other in later.filter(|other| other.resource == one.resource) {
            found.push(format!("{} and {} were at {} at once", one.who, other.who, one.resource));
        }
    }
    let clashes = evidence.said("clash");
    found.extend(clashes.map(|(_, line)| format!("{} found another at {}", line.who, line.resource)));
    found.into_iter().map(|what| Finding::new(Rule::Exclusion, what)).collect()
}

fn tokens(evidence: &Evidence, lives: &[Life]) -> Vec<Finding> {
    let in_log = lives.iter().map(|life| ("the log", &life.who, &life.resource, life.token));
    let granted = || evidence.events.iter().filter(|event| event.what == What::Granted);
    let in_ledger = granted().map(|event| ("the ledger", &event.who, &event.resource, event.token));
    let (mut last, mut found) = (BTreeMap::new(), Vec::new());
    for (place, who, resource, token) in in_log.chain(in_ledger) {
        let Some(token) = token else {
            found.push(format!("{who} has no token for {resource} in {place}"));
            continue;
        };
        if let Some(before) = last.insert((place, resource), token).filter(|before| token <= *before) {
            found.push(format!("in {place} the token of {resource} fell from {before} to {token} with {who}"));
        }
    }
    let known: BTreeSet<_> = granted().map(|event| (&event.who, &event.resource, event.token)).collect();
    for life in lives.iter().filter(|life| !known.contains(&(&life.who, &life.resource, life.token))) {
        found.push(format!("nobody granted {} to {} with token {:?}", life.resource, life.who, life.token));
    }
    found.into_iter().map(|what| Finding::new(Rule::Tokens, what)).collect()
}

fn told(evidence: &Evidence, lives: &[Life]) -> Vec<Finding> {
    let done: BTreeSet<(&str, &str)> =
        lives.iter().filter(|life| life.has_ended).map(|life| (life.who.as_str(), life.resource.as_str())).collect();
    let mut found = Vec::new();
    for (_, ask) in evidence.said("ask") {
        let (who, resource) = (ask.who.as_str(), ask.resource.as_str());
        match evidence.status(who) {
            None => found.push(format!("{who} never came to an end")),
            Some("0") if !done.contains(&(who, resource)) => {
                found.push(format!("{who} said that all was well, and its child never got to its end at {resource}"));
            }
            // An internal error, a panic.
            Some(status @ ("70" | "signal-6" | "signal-11")) => found.push(format!("{who} ended with {status}")),
            Some(_) => {}
        }
    }
    for (_, spoil) in evidence.said("spoil").filter(|(_, line)| evidence.status(&line.who) == Some("0")) {
        found.push(format!("{} left {} bad and said that all was well", spoil.who, spoil.resource));
    }
    found.into_iter().map(|what| Finding::new(Rule::Told, what)).collect()
}
