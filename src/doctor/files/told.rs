//! What is said of a file that is not as it should be, each with what helps.
#![forbid(unsafe_code)]

use std::path::Path;

use crate::canary::{Fault, Verdict};
use crate::doctor::Finding;
use crate::doctor::once::Once;
use crate::doctor::patient::Patient;
use crate::doctor::receipts::ASKED;
use crate::doctor::repository::Survey;
use crate::naming::NamedSecret;
use crate::rules;
use crate::run;
use crate::terms::shell_path;

/// So many of a kind are told one by one.
const MOST: usize = 10;

/// The first few, and how many more there are.
pub(in crate::doctor) fn some(all: Vec<Finding>) -> Vec<Finding> {
    let more = all.len().saturating_sub(MOST);
    let mut told: Vec<Finding> = all.into_iter().take(MOST).collect();
    if let Some(last) = told.last_mut().filter(|_| more > 0) {
        last.what = format!("{}; and {more} more like it", last.what);
    }
    told
}

pub(in crate::doctor) fn shown(path: &Path, root: &Path) -> String {
    shell_path(path.strip_prefix(root).unwrap_or(path))
}

pub(super) fn empty(patient: &Patient<'_>, path: &Path, root: &Path) -> Finding {
    let file = shown(path, root);
    if !run::can_be_restored(patient.context, path) {
        return Finding::fault("files.empty", format!("{file} is empty, and no version of it is known here"))
            .because("whoever checks it out finds no secret in it; a new one is added when it is filled")
            .remedy(format!("git rm --cached {file}"));
    }
    Finding::fault("files.empty", format!("{file} is empty"))
        .because("a sops that was stopped at the wrong moment leaves such a file; its secrets are gone from it")
        .remedy(format!("locked restore {file}"))
}

pub(super) fn plain(path: &Path, why: NamedSecret, root: &Path) -> Finding {
    let file = shown(path, root);
    let encrypt = format!("locked sops encrypt -i{} {file}", rules::types(path));
    match why {
        NamedSecret::Marker => Finding::fault(
            "files.plaintext",
            format!("{file} is tracked and plaintext, and its name says that it is encrypted"),
        )
        .because("whoever has the repository reads it; if it was ever pushed, what was in it must be changed")
        .remedy(encrypt),
        NamedSecret::Rule => Finding::warn(
            "files.plaintext-by-rule",
            format!("{file} is tracked and plaintext, and a rule of .sops.yaml names it"),
        )
        .because("whoever has the repository reads it, unless the rule's path_regex is to leave it out")
        .remedy(encrypt),
    }
}

/// Its name says nothing; what is known of it does.
pub(super) fn emptied(patient: &Patient<'_>, path: &Path, root: &Path) -> Finding {
    let file = shown(path, root);
    let next = match run::can_be_restored(patient.context, path) {
        true => format!("locked restore {file}"),
        false => {
            format!("bring back its last version (`git log -p {file}`), by `locked restore {file}` where it is kept")
        }
    };
    Finding::fault("files.empty", format!("{file} is empty, and was a SOPS file"))
        .because("a sops that was stopped at the wrong moment leaves such a file; its secrets are gone from it")
        .remedy(next)
}

pub(super) fn bared(path: &Path, root: &Path) -> Finding {
    let file = shown(path, root);
    Finding::fault("files.plaintext", format!("{file} is tracked and plaintext, and was a SOPS file"))
        .because("whoever has the repository reads it; if it was ever pushed, what was in it must be changed")
        .remedy(format!("locked sops encrypt -i{} {file}", rules::types(path)))
}

pub(super) fn broken(path: &Path, fault: &Fault, root: &Path) -> Finding {
    let file = shown(path, root);
    Finding::fault("files.broken", format!("{file} is no sound SOPS file: {fault}"))
        .because("it cannot be decrypted, or not all of it")
        .remedy(format!("locked restore {file}"))
}

/// Whole as far as it shows, and not decrypted here: no key, no sops, a key service that is slow.
pub(super) fn unopened(verdicts: &[Option<Verdict>]) -> Option<Finding> {
    let why = |verdict: &Option<Verdict>| match verdict {
        Some(Verdict::Unverified(why)) => Some(why.clone()),
        _ => None,
    };
    let all: Vec<String> = verdicts.iter().filter_map(why).collect();
    let first = all.first()?;
    Some(
        Finding::note(
            "files.unverified",
            format!("{} SOPS files look whole and were not decrypted: {first}", all.len()),
        )
        .because("here nobody can prove them")
        .remedy("see to them with `locked doctor keys`, and on a machine with the keys with `locked doctor files`"),
    )
}

/// What there was no time or no room for.
pub(super) fn bounded(survey: &Survey, verdicts: &[Option<Verdict>], once: &Once) -> Option<Finding> {
    let undone = verdicts.iter().filter(|verdict| verdict.is_none()).count();
    let mut parts = Vec::new();
    if survey.is_partial() {
        let total = if survey.cut { format!("more than {}", survey.total) } else { survey.total.to_string() };
        parts.push(format!("{} of {total} tracked files were looked at", survey.looked));
    }
    if undone + survey.more_secrets > 0 {
        let (done, all) = (verdicts.len() - undone, verdicts.len() + survey.more_secrets);
        parts.push(format!("{done} of {all} SOPS files were decrypted"));
    }
    if once.unasked > 0 {
        parts.push(format!("of {} files in the open nobody was asked whether they were SOPS once", once.unasked));
    }
    if survey.secrets.len() > ASKED {
        parts.push(format!("receipts of {ASKED} were asked for"));
    }
    (!parts.is_empty()).then(|| {
        Finding::note("files.bounded", format!("not everything was looked at: {}", parts.join("; ")))
            .because("a look over the repository may take a few seconds at most")
            .remedy("see all that a range of commits changed with `locked audit`")
    })
}
