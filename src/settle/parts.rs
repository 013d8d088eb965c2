//! The parts of a lease, which end each in its own way: what files stand for, what a rule named besides, and what was
//! named by hand.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::exit::{self, Exit};
use crate::rules::Keep;
use crate::store::{Ended, Ending};
use crate::terms::Resource;

use super::{Decision, Facts, GOES_ON, HOLD_FOR, NOTHING_WRITTEN, Telling};

/// Why a part is there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Files stand for it.
    Files,
    /// A rule named it, and no file stands for it.
    Rule,
    /// It was named with `-r`.
    Hand,
}

/// How a part ends.
struct Fate {
    resources: Vec<Resource>,
    ending: Ending,
    /// When people are told that it stays: whether something had been written.
    told: Option<bool>,
}

const PARTS: [Part; 3] = [Part::Files, Part::Rule, Part::Hand];

/// The command succeeded. What it set off elsewhere may go on for a while.
pub(super) fn done(facts: &Facts<'_>, exit: Exit) -> Decision {
    let to_be_followed = facts.policy.follow.first().map(|_| HOLD_FOR);
    let hold_for = facts.policy.hold_for.or(to_be_followed).filter(|_| !facts.followed);
    // A rule that names nothing else means what its files stand for.
    let goes_on = if facts.by_rule.is_empty() { Part::Files } else { Part::Rule };
    let fates = PARTS.map(|part| {
        let resources = held(facts, part);
        let ending = match hold_for.filter(|_| part == goes_on) {
            Some(keep_for) => Ending::Elsewhere { reason: may_go_on(&resources), keep_for },
            None => Ending::Release(Ended::Completed),
        };
        Fate { resources, ending, told: None }
    });
    in_all(fates, exit, Ended::Completed)
}

fn may_go_on(resources: &[Resource]) -> String {
    let workflow = |resource: &Resource| Some(resource.name.as_str().strip_prefix("workflow:")?.to_owned());
    let workflows: Option<Vec<String>> = resources.iter().map(workflow).collect();
    match workflows {
        Some(names) => format!("{} was triggered and{GOES_ON}", names.join(" ")),
        None => {
            let names: Vec<_> = resources.iter().map(ToString::to_string).collect();
            format!("what was started on {}{GOES_ON}", names.join(" "))
        }
    }
}

/// The command failed, `how` in words. What it may have left half done stays with its session.
pub(super) fn failed(facts: &Facts<'_>, how: &str, exit: Exit) -> Decision {
    let fates = PARTS.map(|part| fate(facts, part, how));
    in_all(fates, exit, Ended::Failed)
}

/// The command succeeded, and what was to prove that failed: `why` in words. No file is to blame, so nothing is
/// quarantined; what it may have left half done stays with its session as after a failure.
pub(super) fn unproven(facts: &Facts<'_>, why: &str) -> Decision {
    let how = format!("it succeeded, but its proof failed ({why})");
    let mut decision = failed(facts, &how, Exit::Code(exit::QUARANTINED));
    let mut stays: Option<(Vec<Resource>, Duration)> = None;
    for telling in std::mem::take(&mut decision.tellings) {
        let Telling::Kept { resources, keep_for, .. } = telling else { continue };
        let (names, lasts) = stays.get_or_insert_default();
        names.extend(resources);
        *lasts = keep_for.max(*lasts);
    }
    decision.tellings.push(Telling::Unproven { why: why.to_owned(), stays });
    decision
}

fn held(facts: &Facts<'_>, part: Part) -> Vec<Resource> {
    let of = |resource: &&Resource| match resource {
        it if facts.by_rule.contains(it) => Part::Rule,
        it if facts.findings.iter().any(|finding| finding.resources.contains(it)) => Part::Files,
        _ => Part::Hand,
    };
    facts.resources.iter().filter(|resource| of(resource) == part).cloned().collect()
}

/// How a part ends after a failure.
fn fate(facts: &Facts<'_>, part: Part, how: &str) -> Fate {
    let keep = facts.policy.keep.unwrap_or(Keep::Changed);
    let changed = facts.findings.iter().any(|finding| finding.verdict.is_some());
    let stays = |reason: String, keep_for, takeable| Ending::Keep { reason, keep_for, takeable };
    let (ending, told) = match part {
        Part::Files | Part::Rule if keep == Keep::Never && !facts.keep_asked => (Ending::Release(Ended::Failed), None),
        Part::Files if changed => (stays(format!("{how} after it had written"), facts.ttl, false), Some(true)),
        Part::Files if keep == Keep::Always => (stays(how.to_owned(), facts.ttl, false), Some(false)),
        Part::Files => (stays(format!("{how}{NOTHING_WRITTEN}"), facts.ttl, true), None),
        // Nothing here can tell what it has changed, so it counts as having changed something.
        Part::Rule => {
            (stays(how.to_owned(), facts.policy.keep_for.unwrap_or(facts.holds.keep_for), false), Some(false))
        }
        Part::Hand if facts.keep_asked => (stays(how.to_owned(), facts.holds.keep_for, false), Some(false)),
        Part::Hand => (Ending::Release(Ended::Failed), None),
    };
    Fate { resources: held(facts, part), ending, told }
}

/// One decision of them. The ending of the first part that is there is the lease's own; what ends otherwise stands apart.
/// `nothing` is how a lease ends of which no part is left.
fn in_all(fates: [Fate; 3], exit: Exit, nothing: Ended) -> Decision {
    let mut groups: Vec<Fate> = Vec::new();
    for mut fate in fates.into_iter().filter(|fate| !fate.resources.is_empty()) {
        match groups.iter_mut().find(|known| known.ending == fate.ending) {
            Some(group) => group.resources.append(&mut fate.resources),
            None => groups.push(fate),
        }
    }
    let own = groups.first().map_or(Ending::Release(nothing), |fate| fate.ending.clone());
    let mut decision = Decision::new(own, exit, None);
    for (at, Fate { mut resources, ending, told }) in groups.into_iter().enumerate() {
        resources.sort();
        if at > 0 {
            decision.apart.extend(resources.iter().map(|resource| (resource.clone(), ending.clone())));
        }
        if let (Some(wrote), Ending::Keep { keep_for, .. }) = (told, ending) {
            decision.tellings.push(Telling::Kept { resources, wrote, keep_for });
        }
    }
    decision
}
