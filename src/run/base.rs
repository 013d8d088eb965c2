//! Between the grant and the child: prove what predecessors left, look at the files as they are now, keep pre-images.
#![forbid(unsafe_code)]

use crate::clock::Clock as _;
use crate::exit;
use crate::report::{self, Refusal, Voice};
use crate::rules::Via;
use crate::settle::Decision;
use crate::store::{Ended, Ending, FileRecord, Granted, Renewal, Store, StoreError};
use crate::terms::{Digest, FencingToken, Scope};

use super::Before;
use super::files;
use super::hold::SETTLE;
use super::job::Job;
use super::proof::{self, Proof};

/// What the base came to.
pub(super) enum Base {
    /// Go. The files as they are now.
    Sound(Vec<Before>),
    /// Not: the lease is settled already.
    Refused { refusal: Refusal, status: i32 },
}

pub(super) fn prove(
    job: &Job<'_>,
    granted: &Granted,
    tokens: &[FencingToken],
    recorded: &[FileRecord],
    store: &mut dyn Store,
) -> Result<Base, StoreError> {
    let now_ms = job.context.clock.wall_ms();
    let receipts = match proof::prove(&granted.unsettled, &job.owner.host, &job.copies, &job.arbiter, now_ms) {
        Proof::Sound(receipts) => receipts,
        Proof::Bad { shown, fault } => {
            let reason = format!("{}: {shown}: {fault}", job.owner.host);
            let ending = Ending::Quarantine { reason: reason.clone() };
            end(job, tokens, store, ending)?;
            let refusal = Refusal {
                word: "QUARANTINED",
                what: format!("{}: {reason}", job.wanted()),
                why: "the last writer died without settling and left the file so; nothing was run".to_owned(),
                retry: "no, not before it is restored".to_owned(),
                next: format!("locked restore {shown}"),
            };
            return Ok(Base::Refused { refusal, status: exit::QUARANTINED });
        }
    };
    let mut before = job.observe();
    if let Some(refusal) = redirected(job, &mut before)? {
        end(job, tokens, store, Ending::Release(Ended::Failed))?;
        return Ok(Base::Refused { refusal, status: exit::STALE });
    }
    for (file, before) in job.plan.files.iter().zip(&before) {
        let scope: &Scope = file.target.scope();
        if let Err(error) = files::keep_pre_image(&job.copies, scope, &file.target.key, before, now_ms) {
            end(job, tokens, store, Ending::Release(Ended::Failed))?;
            return Err(no_copy(job, &error));
        }
    }
    if job.context.voice == Voice::Verbose {
        report::say(&report::holding(&granted.tokens, &job.plan.reason));
    }
    let records = job.records(&before);
    // The usual case needs no second round trip: nothing to prove, and the files are as they were when we asked.
    if granted.unsettled.is_empty() && records == recorded {
        return Ok(Base::Sound(before));
    }
    match store.record_files(&job.holding(tokens), &records, &receipts, SETTLE)? {
        Renewal::Renewed(_) => Ok(Base::Sound(before)),
        Renewal::Revoked | Renewal::Gone => Ok(Base::Refused { refusal: lost(job), status: exit::LOST }),
    }
}

fn lost(job: &Job<'_>) -> Refusal {
    Refusal {
        word: "LOST",
        what: format!("{} was taken by somebody else before the program was started", job.wanted()),
        why: "proving what the last writer left took longer than the lease lasted; nothing was run".to_owned(),
        retry: "yes, at once".to_owned(),
        next: format!("locked status {}", job.wanted()),
    }
}

/// A redirected target was emptied by the shell before we came. If somebody has written it since, going on would mix
/// two versions: go on only over a version that is known, emptied again as the shell meant it.
pub(super) fn redirected(job: &Job<'_>, before: &mut [Before]) -> Result<Option<Refusal>, StoreError> {
    let append = job.context.invocation.stdout().is_some_and(|stdout| stdout.append);
    for (file, before) in job.plan.files.iter().zip(before.iter_mut()) {
        let Some(content) = before.content.as_ref().filter(|content| !content.is_empty()) else { continue };
        if file.write.via != Via::Stdout || append {
            continue;
        }
        let known = job.chain(file).with_digest(&Digest::of(content)).is_ok_and(|copy| copy.is_some());
        if !known {
            let shown = files::shown(file, &job.context.invocation.cwd);
            return Ok(Some(Refusal {
                word: "REFUSED",
                what: format!("{shown} was written by somebody else after the shell had emptied it for this command"),
                why: "its content is no version that locked knows, so it is not overwritten; nothing was run"
                    .to_owned(),
                retry: "no".to_owned(),
                next: format!("look at {shown}, then use --output {shown} instead of a redirection"),
            }));
        }
        let emptied = std::fs::OpenOptions::new().write(true).open(&file.target.path).and_then(|file| file.set_len(0));
        emptied.map_err(|error| StoreError::Failed(format!("the redirected file cannot be emptied: {error}")))?;
        before.content = Some(Vec::new());
    }
    Ok(None)
}

fn end(job: &Job<'_>, tokens: &[FencingToken], store: &mut dyn Store, ending: Ending) -> Result<(), StoreError> {
    let decision = Decision { ending, exit: exit::Exit::OK, telling: None };
    job.settle(store, tokens, &decision, Vec::new(), SETTLE).map(|_| ())
}

pub(super) fn no_copy(job: &Job<'_>, error: &std::io::Error) -> StoreError {
    match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            StoreError::Full { path: job.copies.clone() }
        }
        _ => StoreError::Place {
            path: job.copies.clone(),
            why: format!("no copy of the file can be kept there, so a bad write could not be undone: {error}"),
            remedy: "make it writable for this user".to_owned(),
        },
    }
}
