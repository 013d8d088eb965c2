//! pre-commit and pre-merge-commit: what is staged.
#![forbid(unsafe_code)]

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;

use crate::audit::{self, Door, Finding, Staged, Wanted, Wrong};
use crate::canary::Fault;
use crate::git::GitError;
use crate::report::{self, Refusal};
use crate::run::{self, Context};
use crate::terms::SessionId;

use super::{amended, no_git};
use crate::cli::RunOptions;
use crate::cli::ledger::{self, Ledger, Unasked};
use crate::cli::zoned::{self, Entered};

/// What must not be committed.
pub(super) fn findings(context: &Context, options: &RunOptions) -> Result<Vec<Finding>, Unasked> {
    let door = Door::at(&context.invocation.cwd, &run::env_of(context));
    let Made { parents, replaces } = Made::of(context, &door).map_err(|error| no_git(&error))?;
    let Staged { mut findings, wanted, changes } =
        audit::staged(&door, &parents, replaces.as_ref()).map_err(|error| no_git(&error))?;
    let root = door.root().map_err(|error| no_git(&error))?;
    let zones = root.as_deref().map_or_else(Vec::new, |_| zoned::zones(context));
    let entered = zoned::entered(&door, root.as_deref(), &zones, &changes, None)?;
    let mut unasked = None;
    if !wanted.is_empty() || !entered.is_empty() {
        match ask(context, options, (&door, root), &wanted, &entered) {
            Ok(found) => findings.extend(found),
            // Only of what is new nobody knows anything now.
            Err(why) => {
                findings.extend(wanted.iter().map(Wanted::missing));
                findings.extend(entered.iter().map(Entered::finding));
                unasked = Some(why);
            }
        }
    }
    let findings = without_known(&door, &parents, replaces.as_deref(), findings).map_err(|error| no_git(&error))?;
    match unasked {
        // What is wrong by itself is told first.
        Some((refusal, status))
            if findings.iter().any(needs_store) && !findings.iter().any(|one| !needs_store(one)) =>
        {
            Err((of_store(refusal, &findings), status))
        }
        _ => Ok(findings),
    }
}

/// The commit that is being made.
struct Made {
    parents: Vec<String>,
    /// The commit whose place it takes.
    replaces: Option<String>,
}

impl Made {
    fn of(context: &Context, door: &Door) -> Result<Self, GitError> {
        match door.commit("HEAD")?.filter(|_| amended::amends()) {
            Some(head) => Ok(Self { parents: door.parents_of(&head)?, replaces: Some(head) }),
            None => {
                let variables = context.invocation.env.iter().map(OsString::as_os_str);
                Ok(Self { parents: door.parents(variables)?, replaces: None })
            }
        }
    }
}

fn needs_store(finding: &Finding) -> bool {
    matches!(finding.wrong, Wrong::Unlocked | Wrong::Zone(_))
}

/// The refusal of a store that does not answer, for those who only wanted to commit.
fn of_store(refusal: Refusal, findings: &[Finding]) -> Refusal {
    let first = findings.first().map(Finding::shown).unwrap_or_default();
    Refusal {
        why: format!(
            "{first} is new, and only the store knows whether it was written under a lease; commits without such files pass"
        ),
        ..refusal
    }
}

/// What has no receipt and is not in this session's hands.
fn ask(
    context: &Context,
    options: &RunOptions,
    (door, root): (&Door, Option<std::path::PathBuf>),
    wanted: &[Wanted],
    entered: &[Entered<'_>],
) -> Result<Vec<Finding>, Unasked> {
    let setting = ledger::setting(context)?;
    let by_content = || audit::by_content(door, wanted).map_err(|error| no_git(&error));
    let Some(scope) = ledger::scope(context, root.as_ref())? else { return by_content() };
    // Session locks leave no receipts: nothing could ever be committed.
    let bad = if setting.advisory { by_content()? } else { Vec::new() };
    let wanted = if setting.advisory { &[] } else { wanted };
    let mut ledger = Ledger::open(context, &setting, scope, root, options.session.map(SessionId))?;
    let down = |error| (report::store_down(&error), run::status_of(&error));
    let missing = audit::unlocked(wanted, &ledger.known(wanted).map_err(down)?);
    let files: Vec<_> = missing.iter().map(|wanted| ledger.tracked(&wanted.path).resource).collect();
    let areas: Vec<_> = entered.iter().map(|entered| ledger.zone(entered.zone.resource())).collect();
    let held = ledger.held(&[files.as_slice(), &areas].concat()).map_err(down)?;
    let mut findings = bad;
    for (missing, resource) in missing.iter().zip(&files) {
        // Whoever holds it may be about to prove it; what nobody can read is proven by its receipt alone.
        findings.extend((missing.odd.is_some() || !held.contains(resource)).then(|| missing.missing()));
    }
    for (entered, resource) in entered.iter().zip(&areas) {
        if !held.contains(resource) && !ledger.has_held(resource).map_err(down)? {
            findings.push(entered.finding());
        }
    }
    Ok(findings)
}

/// Without those that a ref has already, other than by the commit that is replaced: that version is somebody's commit, and this one changes nothing about it. What lies in
/// the open is never excused by that: a stash, a backup or a branch that nobody has pushed is a ref as well.
fn without_known(
    door: &Door,
    parents: &[String],
    replaces: Option<&str>,
    findings: Vec<Finding>,
) -> Result<Vec<Finding>, GitError> {
    let may_be_known = |finding: &&Finding| finding.wrong.word() != Wrong::Bad(Fault::Plaintext).word();
    let blobs: Vec<&str> = findings.iter().filter(may_be_known).filter_map(|finding| finding.blob.as_deref()).collect();
    if blobs.is_empty() {
        return Ok(findings);
    }
    // What is amended goes: that it is in HEAD says nothing, unless another ref has it too.
    let goes = replaces.is_some() && !door.is_kept_elsewhere()?;
    let replaces = replaces.filter(|_| goes);
    let mut places: HashMap<String, HashSet<Vec<u8>>> = HashMap::new();
    for (path, blob) in door.places(&blobs, parents, replaces)? {
        places.entry(blob).or_default().insert(path);
    }
    let is_known = |finding: &Finding| {
        let there = finding.blob.as_ref().and_then(|blob| places.get(blob));
        there.is_some_and(|paths| finding.wrong == Wrong::Unlocked || paths.contains(&finding.path))
    };
    Ok(findings.into_iter().filter(|finding| !(may_be_known(&finding) && is_known(finding))).collect())
}
