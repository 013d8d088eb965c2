//! Which of git's changes lie in zones, and whether somebody held those when they were committed.
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use crate::audit::{Change, Commit, Door, Finding, Kind, Wrong};
use crate::git::path_from;
use crate::report;
use crate::rules::Zone;
use crate::run::{self, Context};
use crate::store::StoreError;

use super::hooks::no_git;
use super::ledger::{COVERS, Ledger, Unasked};

/// The clock of who commits and that of the store may differ by so much.
const SKEW: Duration = Duration::from_secs(60);

/// A change in a zone.
pub(super) struct Entered<'a> {
    pub(super) zone: &'a Zone,
    change: &'a Change,
    /// The commit that brought it; none for what is staged.
    commit: Option<&'a Commit>,
}

/// From when to when somebody held a zone, in milliseconds since 1970; no end: still.
pub(super) type Spell = (i64, Option<i64>);

impl Entered<'_> {
    pub(super) fn finding(&self) -> Finding {
        let name = self.zone.name.clone();
        Finding {
            path: self.change.path.clone(),
            blob: (self.change.kind == Kind::File).then(|| self.change.blob.clone()),
            commit: self.commit.map(|commit| commit.id.clone()),
            wrong: if self.commit.is_some() { Wrong::Unheld(name) } else { Wrong::Zone(name) },
        }
    }

    /// Whether somebody held the zone when the commit was made or first written, or not long before. Who, no commit
    /// tells. What is older than all that the ledger has of the zone nobody can judge.
    fn is_covered(&self, spells: &[Spell]) -> bool {
        let Some(commit) = self.commit else { return false };
        let ms = |span: Duration| i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
        let first = spells.iter().map(|(from, _)| *from).min();
        [commit.at, commit.written].map(|at| at.saturating_mul(1000)).into_iter().any(|at| {
            let held = |(from, to): &Spell| {
                *from <= at.saturating_add(ms(SKEW))
                    && to.is_none_or(|to| at <= to.saturating_add(ms(COVERS)).saturating_add(ms(SKEW)))
            };
            first.is_some_and(|first| at < first.saturating_sub(ms(SKEW))) || spells.iter().any(held)
        })
    }
}

/// The zones that the settings name. Settings that cannot be followed are told of, and stop nothing.
pub(super) fn zones(context: &Context) -> Vec<Zone> {
    run::zones(context).unwrap_or_else(|error| {
        report::say(&format!("locked: no zone is looked at: {error}"));
        Vec::new()
    })
}

/// Those of these changes that lie in a zone. Without a working tree (`root`) only what is named from the root of the
/// repository, or at any depth, can be told.
pub(super) fn entered<'a>(
    door: &Door,
    root: Option<&Path>,
    zones: &'a [Zone],
    changes: &'a [Change],
    commit: Option<&'a Commit>,
) -> Result<Vec<Entered<'a>>, Unasked> {
    let root = root.unwrap_or(Path::new("/"));
    let mut entered = Vec::new();
    for change in changes.iter().filter(|_| zones.iter().any(|zone| !zone.paths.is_empty())) {
        let inside = path_from(&change.path);
        for zone in zones.iter().filter(|zone| zone.has_path(&root.join(&inside), Some(&inside))) {
            let fits = zone.content.is_empty()
                || door
                    .any_content(change, |content| zone.has_content(content, &|| false))
                    .map_err(|error| no_git(&error))?;
            entered.extend(fits.then_some(Entered { zone, change, commit }));
        }
    }
    Ok(entered)
}

/// The same over commits.
pub(super) fn entered_by<'a>(
    door: &Door,
    root: Option<&Path>,
    zones: &'a [Zone],
    history: &'a [Commit],
) -> Result<Vec<Entered<'a>>, Unasked> {
    let each = history.iter().map(|commit| entered(door, root, zones, &commit.changes, Some(commit)));
    each.collect::<Result<Vec<_>, _>>().map(|all| all.into_iter().flatten().collect())
}

/// Those that nobody held when they were committed.
pub(super) fn unheld(entered: &[Entered<'_>], ledger: &mut Ledger<'_>) -> Result<Vec<Finding>, StoreError> {
    let mut known: HashMap<&str, Vec<Spell>> = HashMap::new();
    let mut findings = Vec::new();
    for entered in entered {
        let name = &*entered.zone.name;
        if !known.contains_key(name) {
            let resource = ledger.zone(entered.zone.resource());
            known.insert(name, ledger.spells(&resource)?);
        }
        findings.extend((!entered.is_covered(&known[name])).then(|| entered.finding()));
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_covered_by_whoever_held_the_zone_then_or_not_long_before() {
        let zone: Zone = toml::from_str("name = \"DB\"\npaths = [\"x\"]").expect("a zone");
        let change = Change { path: b"x".to_vec(), kind: Kind::Gone, blob: String::new(), before: Vec::new() };
        let day = 24 * 60 * 60;
        // Spells in seconds; when the commit was made and when it was written.
        let table: [(&[Spell], i64, i64, bool); 9] = [
            (&[], 1_000, 1_000, false),
            (&[(1_000, Some(1_010))], 1_005, 1_005, true),
            (&[(1_000, Some(1_010))], 1_010 + day, 1_010 + day, true),
            (&[(1_000, Some(1_010))], 1_100 + day, 1_100 + day, false),
            (&[(1_000, None)], 1_000 + 9 * day, 1_000 + 9 * day, true),
            // Rebased long after.
            (&[(1_000, Some(1_010))], 9 * day, 1_005, true),
            // Before anybody ever held it, and before the second who did.
            (&[(1_000, Some(1_010))], 900, 900, true),
            (&[(1_000, Some(1_010)), (9 * day, None)], 5 * day, 5 * day, false),
            (&[(1_000, Some(1_010)), (9 * day, None)], 9 * day - 30, 9 * day - 30, true),
        ];
        for (spells, at, written, covered) in table {
            let commit = Commit { id: "c".to_owned(), at, written, parents: Vec::new(), changes: Vec::new() };
            let entered = Entered { zone: &zone, change: &change, commit: Some(&commit) };
            let spells: Vec<Spell> = spells.iter().map(|(from, to)| (from * 1_000, to.map(|to| to * 1_000))).collect();
            assert_eq!(entered.is_covered(&spells), covered, "{spells:?} {at} {written}");
        }
    }
}
