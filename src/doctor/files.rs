//! The files of the repository: do they decrypt, are they plaintext, and was each version written under a lease?
#![forbid(unsafe_code)]

pub(super) mod told;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::canary::{self, Arbiter, Expect, Sample, Verdict};
use crate::rules::{Asked, Via};
use crate::run;

use super::Finding;
use super::once::Once;
use super::patient::Patient;
use super::receipts;
use super::repository::{Secret, Survey};
use told::{bared, bounded, broken, emptied, empty, plain, some, unopened};

/// Decrypting is given so long together, and one file so long.
const TIME: Duration = Duration::from_secs(3);
const ONE: Duration = Duration::from_secs(2);
/// So many are decrypted at one time.
const HANDS: usize = 4;

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
