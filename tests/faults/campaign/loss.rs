//! The checker's eye for lost data: what a write has left is there, or its loss was found before the next one wrote.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};

use super::checker::{Finding, Rule};
use super::evidence::{Evidence, Life, Line};

pub(super) fn judge(evidence: &Evidence, lives: &[Life]) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut by_resource: BTreeMap<&str, Vec<&Life>> = BTreeMap::new();
    for life in lives {
        by_resource.entry(&life.resource).or_default().push(life);
    }
    for (resource, lives) in by_resource {
        // A child that looks into its file says so; sops' files are looked into at the end.
        if lives.iter().all(|life| life.read == "-") {
            found.extend(at_the_end(evidence, resource, &lives));
        } else {
            found.extend(from_one_to_the_next(resource, &lives));
        }
    }
    found.extend(spoilt(evidence, lives));
    found.into_iter().map(|what| Finding::new(Rule::Loss, what)).collect()
}

/// Each finds what the last one wrote; or what one that was killed since has made of it.
fn from_one_to_the_next(resource: &str, lives: &[&Life]) -> Vec<String> {
    let mut found = Vec::new();
    let mut known = "new".to_owned();
    let mut killed: BTreeSet<String> = BTreeSet::new();
    for life in lives {
        let is_cut = ["torn", "new"].contains(&life.read.as_str());
        let by_a_killed_one = killed.contains(&life.read) || (is_cut && !killed.is_empty());
        if life.read != known && !by_a_killed_one {
            found.push(format!("{} found {} at {resource}, where {known} had been written", life.who, life.read));
        }
        if let Some(wrote) = &life.wrote {
            known.clone_from(wrote);
            killed.clear();
        } else {
            killed.extend(life.token.map(|token| token.to_string()));
        }
    }
    found
}

/// Whatever somebody said to have written well is in the file when all is over; or a restore that had no copy of the newest
/// version has said so since.
fn at_the_end(evidence: &Evidence, resource: &str, lives: &[&Life]) -> Vec<String> {
    let Some((_, last)) = evidence.said("final").find(|(_, line)| line.resource == resource) else {
        return vec![format!("nobody looked into {resource} at the end")];
    };
    if last.detail == "unreadable" {
        let is_kept = evidence.left.iter().any(|left| left.resource == resource && left.is_quarantined);
        let is_told = lives.iter().any(|life| evidence.status(&life.who) == Some("72"));
        let is_fine = is_kept && is_told;
        return if is_fine { vec![] } else { vec![format!("{resource} is bad at the end, and nobody says so")] };
    }
    let there: BTreeSet<&str> = last.detail.split(',').collect();
    let told = evidence.said("older").filter(|(_, line)| line.resource == resource).map(|(place, _)| place).max();
    let is_owed = |life: &&&Life| {
        evidence.status(&life.who) == Some("0")
            && told.is_none_or(|told| life.first > told)
            && !was_the_only_copy(evidence, life)
    };
    let done = lives.iter().filter(is_owed);
    let lost = done.filter_map(|life| life.wrote.as_deref().filter(|wrote| !there.contains(wrote)).zip(Some(life)));
    lost.map(|(wrote, life)| format!("{} wrote {wrote} to {resource}, and it is not there", life.who)).collect()
}

/// Between one that left a file bad and the next one who writes it somebody has restored it.
fn spoilt(evidence: &Evidence, lives: &[Life]) -> Vec<String> {
    let mut found = Vec::new();
    for (place, spoil) in evidence.said("spoil") {
        let Some(next) = lives.iter().find(|life| life.first > place && life.resource == spoil.resource) else {
            continue;
        };
        let mut between = evidence.log[place..next.first].iter();
        let restores =
            |line: &Line| matches!(line.word.as_str(), "restoring" | "restored") && line.resource == spoil.resource;
        if !between.any(restores) {
            found.push(format!("{} left {} bad, and {} was let in", spoil.who, spoil.resource, next.who));
        }
    }
    found
}

/// There was no room for a copy of what it wrote, and then somebody who knows nothing of `locked` wrote into the file.
fn was_the_only_copy(evidence: &Evidence, life: &Life) -> bool {
    let over = evidence.said("over").find(|(_, line)| line.who == life.who).map_or(usize::MAX, |(place, _)| place);
    let mut is_full = false;
    let mut had_no_room = false;
    for (place, line) in evidence.log.iter().enumerate().take_while(|(place, _)| *place <= over) {
        match line.word.as_str() {
            "outage" => is_full = line.detail == "DiskFull",
            "mended" => is_full = false,
            _ => {}
        }
        had_no_room |= is_full && place >= life.first;
    }
    let mut foreign = evidence.said("foreign");
    had_no_room && foreign.any(|(place, line)| place > life.first && line.resource == life.resource)
}
