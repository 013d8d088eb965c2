//! pre-push, and what a receiving repository is told: the commits that are new there.
#![forbid(unsafe_code)]

use std::io::Read as _;
use std::path::PathBuf;

use crate::audit::{self, Audited, Door, Finding, Wanted, Wrong};
use crate::git::GitError;
use crate::report::{self, Refusal};
use crate::run::{self, Context};
use crate::terms::{SessionId, percent_encode};

use super::no_git;
use crate::cli::RunOptions;
use crate::cli::ledger::{self, Ledger, Unasked};
use crate::cli::zoned::{self, Entered};

/// What must not be pushed.
pub(super) fn findings(context: &Context, options: &RunOptions) -> Result<Vec<Finding>, Unasked> {
    let door = Door::at(&context.invocation.cwd, &run::env_of(context));
    let variable = |name: &str| context.invocation.var(name).and_then(|value| value.into_string().ok());
    // pre-commit reads what git tells, and tells it by variables.
    let tips = variable("PRE_COMMIT_TO_REF").map_or_else(|| pushes(&told(), 1), |tip| vec![tip]);
    let Tips { commits: tips, in_trees } = Tips::of(&door, tips).map_err(|error| no_git(&error))?;
    if tips.is_empty() {
        return Ok(in_trees);
    }
    // What any remote has was somebody's to look at: who pushes what came from upstream to a fork of his has not written it.
    let mut words = tips.clone();
    words.extend(["--not".to_owned(), "--remotes".to_owned()]);
    let Audited { mut findings, mut wanted, history, .. } =
        audit::commits(&door, &words).map_err(|error| no_git(&error))?;
    findings.extend(in_trees);
    if !wanted.is_empty() {
        // A version that another one has replaced meanwhile can be adopted by nobody.
        let last = door.versions_at(&tips).map_err(|error| no_git(&error))?;
        wanted.retain(|wanted| last.contains(&(wanted.path.clone(), wanted.blob.clone())));
    }
    let root = door.root().map_err(|error| no_git(&error))?;
    let zones = root.as_deref().map_or_else(Vec::new, |_| zoned::zones(context));
    let entered = zoned::entered_by(&door, root.as_deref(), &zones, &history)?;
    if !wanted.is_empty() || !entered.is_empty() {
        match ask(context, options, (&door, root), &wanted, &entered) {
            Ok(found) => findings.extend(found),
            // What is wrong by itself is told first.
            Err(_) if !findings.is_empty() => {}
            Err((refusal, status)) => return Err((of_store(refusal, &wanted, &entered), status)),
        }
    }
    Ok(findings)
}

fn of_store(refusal: Refusal, wanted: &[Wanted], entered: &[Entered<'_>]) -> Refusal {
    let in_zone = || entered.first().map(|entered| entered.finding().shown());
    let first = wanted.first().map(|wanted| percent_encode(&wanted.path)).or_else(in_zone).unwrap_or_default();
    Refusal {
        why: format!(
            "{first} is new there, and only the store knows whether it was written under a lease; other pushes pass"
        ),
        ..refusal
    }
}

/// What is pushed.
pub(in crate::cli) struct Tips {
    /// The commits.
    pub(in crate::cli) commits: Vec<String>,
    /// What is wrong in trees that a tag names without any commit.
    pub(in crate::cli) in_trees: Vec<Finding>,
}

impl Tips {
    /// Of these objects.
    pub(in crate::cli) fn of(door: &Door, objects: Vec<String>) -> Result<Self, GitError> {
        let (mut commits, mut in_trees) = (Vec::new(), Vec::new());
        for object in objects {
            match door.commit(&object)? {
                Some(commit) => commits.push(commit),
                None => {
                    if let Some(tree) = door.tree(&object)? {
                        let found = audit::tree(door, &tree)?.findings.into_iter();
                        in_trees.extend(found.map(|one| Finding { commit: Some(object.clone()), ..one }));
                    }
                }
            }
        }
        Ok(Self { commits, in_trees })
    }
}

/// What has no receipt, though its path had one when it was committed; and what lies in a zone that nobody held then,
/// and that is not in this session's hands.
fn ask(
    context: &Context,
    options: &RunOptions,
    (door, root): (&Door, Option<PathBuf>),
    wanted: &[Wanted],
    entered: &[Entered<'_>],
) -> Result<Vec<Finding>, Unasked> {
    let setting = ledger::setting(context)?;
    let Some(scope) = ledger::scope(context, root.as_ref())?.filter(|_| !setting.advisory) else {
        return audit::by_content(door, wanted).map_err(|error| no_git(&error));
    };
    let mut ledger = Ledger::open(context, &setting, scope, root, options.session.map(SessionId))?;
    let down = |error| (report::store_down(&error), run::status_of(&error));
    let missing = audit::unlocked(wanted, &ledger.known(wanted).map_err(down)?);
    let chains = ledger.chains(missing.iter()).map_err(down)?;
    let files: Vec<_> = missing.iter().map(|wanted| ledger.tracked(&wanted.path).resource).collect();
    let areas: Vec<_> = entered.iter().map(|entered| ledger.zone(entered.zone.resource())).collect();
    let held = ledger.held(&[files.as_slice(), &areas].concat()).map_err(down)?;
    let refused = missing.iter().zip(&files).filter(|(missing, resource)| {
        missing.odd.is_some() || (!held.contains(resource) && !audit::is_older_than_its_chain(missing, &chains))
    });
    let mut findings: Vec<Finding> = refused.map(|(missing, _)| missing.missing()).collect();
    let unheld = zoned::unheld(entered, &mut ledger).map_err(down)?;
    let ours = |name: &str| {
        entered.iter().zip(&areas).any(|(entered, area)| entered.zone.name == *name && held.contains(area))
    };
    findings.extend(unheld.into_iter().filter(|one| !matches!(&one.wrong, Wrong::Unheld(name) if ours(name))));
    Ok(findings)
}

/// What git tells on standard input: lines of words.
pub(in crate::cli) fn told() -> String {
    let mut text = Vec::new();
    let _as_far_as_it_goes = std::io::stdin().lock().take(16 << 20).read_to_end(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// The word at this place of each line, where it names an object: a deletion has zeros there.
pub(in crate::cli) fn pushes(told: &str, place: usize) -> Vec<String> {
    let word = |line: &str| line.split(' ').nth(place).map(|word| word.trim().to_owned());
    let named =
        |word: &String| word.bytes().all(|byte| byte.is_ascii_hexdigit()) && word.bytes().any(|byte| byte != b'0');
    told.lines().filter_map(word).filter(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_counts_and_deletions_do_not() {
        let told = "refs/heads/a a1 refs/heads/a 000\n(delete) 000 refs/heads/b b2\nrefs/heads/c c3 refs/heads/c c2\n";
        assert_eq!(pushes(told, 1), ["a1", "c3"]);
        assert_eq!(pushes("000 a1 refs/heads/a\na1 000 refs/heads/b\n", 1), ["a1"]);
    }
}
