//! The files of the repository: do they decrypt, are they plaintext, and was each version written under a lease?
#![forbid(unsafe_code)]

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::canary::{self, Arbiter, Expect, Fault, Sample, Verdict};
use crate::naming::NamedSecret;
use crate::rules::{self, Asked, Via};
use crate::run;
use crate::terms::shell_path;

use super::Finding;
use super::once::Once;
use super::patient::Patient;
use super::receipts::{self, ASKED};
use super::repository::{Secret, Survey};

/// Decrypting is given so long together, and one file so long.
const TIME: Duration = Duration::from_secs(3);
const ONE: Duration = Duration::from_secs(2);
/// So many are decrypted at one time.
const HANDS: usize = 4;
/// So many of a kind are told one by one.
const MOST: usize = 10;

pub(super) fn look(patient: &Patient<'_>) -> Vec<Finding> {
    let Some(repository) = patient.repository() else { return Vec::new() };
    let survey = patient.survey();
    let root = &repository.worktree_root;
    let mut found = Vec::new();
    if let Some(why) = &survey.unasked {
        found.push(Finding::warn("files.unknown", why).because("no file could be looked at").remedy("git ls-files"));
    }
    found.extend(some(survey.empty.iter().map(|path| empty(patient, path, root)).collect()));
    let once = Once::of(patient, survey);
    let named = survey.plain.iter().filter(|(path, _)| !once.has(path));
    found.extend(some(named.map(|(path, why)| plain(path, *why, root)).collect()));
    found.extend(some(once.empty.iter().map(|path| emptied(patient, path, root)).collect()));
    found.extend(some(once.plain.iter().map(|path| bared(path, root)).collect()));
    let verdicts = verdicts(patient, survey);
    let by_look = survey.secrets.iter().zip(&verdicts).filter_map(|(secret, verdict)| match verdict {
        Some(Verdict::Bad(fault)) => Some((&secret.path, fault)),
        _ => None,
    });
    let by_name = survey.broken.iter().chain(&once.broken).map(|(path, fault)| (path, fault));
    found.extend(some(by_name.chain(by_look).map(|(path, fault)| broken(path, fault, root)).collect()));
    found.extend(unopened(&verdicts));
    let sound: Vec<&Secret> = survey
        .secrets
        .iter()
        .zip(&verdicts)
        .filter(|(_, verdict)| !matches!(verdict, Some(Verdict::Bad(_))))
        .map(|(secret, _)| secret)
        .collect();
    found.extend(receipts::look(patient, &sound, root));
    if found.is_empty() {
        found.push(Finding::ok("files.sound", format!("{} SOPS files are sound and known", survey.secrets.len())));
    }
    found.extend(bounded(survey, &verdicts, &once));
    found
}

/// The first few, and how many more there are.
pub(super) fn some(all: Vec<Finding>) -> Vec<Finding> {
    let more = all.len().saturating_sub(MOST);
    let mut told: Vec<Finding> = all.into_iter().take(MOST).collect();
    if let Some(last) = told.last_mut().filter(|_| more > 0) {
        last.what = format!("{}; and {more} more like it", last.what);
    }
    told
}

pub(super) fn shown(path: &Path, root: &Path) -> String {
    shell_path(path.strip_prefix(root).unwrap_or(path))
}

fn empty(patient: &Patient<'_>, path: &Path, root: &Path) -> Finding {
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

fn plain(path: &Path, why: NamedSecret, root: &Path) -> Finding {
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
fn emptied(patient: &Patient<'_>, path: &Path, root: &Path) -> Finding {
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

fn bared(path: &Path, root: &Path) -> Finding {
    let file = shown(path, root);
    Finding::fault("files.plaintext", format!("{file} is tracked and plaintext, and was a SOPS file"))
        .because("whoever has the repository reads it; if it was ever pushed, what was in it must be changed")
        .remedy(format!("locked sops encrypt -i{} {file}", rules::types(path)))
}

fn broken(path: &Path, fault: &Fault, root: &Path) -> Finding {
    let file = shown(path, root);
    Finding::fault("files.broken", format!("{file} is no sound SOPS file: {fault}"))
        .because("it cannot be decrypted, or not all of it")
        .remedy(format!("locked restore {file}"))
}

/// Each file as it is, and by the real sops as long as there is time; none where there was none left.
fn verdicts(patient: &Patient<'_>, survey: &Survey) -> Vec<Option<Verdict>> {
    let arbiter = Arbiter { timeout: ONE, ..run::arbiter(patient.context, None) };
    let until = Instant::now() + TIME.min(patient.left());
    let slots: Vec<Mutex<Option<Verdict>>> = survey.secrets.iter().map(|_| Mutex::new(None)).collect();
    let (next, secrets) = (AtomicUsize::new(0), &survey.secrets);
    std::thread::scope(|scope| {
        for _ in 0..HANDS.min(slots.len()) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let (Some(secret), Some(slot)) = (secrets.get(at), slots.get(at)) else { return };
                    let verdict = judge(secret, &arbiter, until);
                    if let Ok(mut slot) = slot.lock() {
                        *slot = verdict;
                    }
                }
            });
        }
    });
    slots.into_iter().map(|slot| slot.into_inner().ok().flatten()).collect()
}

fn judge(secret: &Secret, arbiter: &Arbiter, until: Instant) -> Option<Verdict> {
    // What needs no key takes no time.
    if let Err(fault) = canary::native(&secret.content) {
        return Some(Verdict::Bad(fault));
    }
    if Instant::now() >= until {
        return None;
    }
    let expect = Expect { change: None, via: Via::InPlace, asked: Asked::default(), rule_recipients: None };
    Some(canary::look(&Sample { path: &secret.path, before: None, expect: &expect }, arbiter))
}

/// Whole as far as it shows, and not decrypted here: no key, no sops, a key service that is slow.
fn unopened(verdicts: &[Option<Verdict>]) -> Option<Finding> {
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
fn bounded(survey: &Survey, verdicts: &[Option<Verdict>], once: &Once) -> Option<Finding> {
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
