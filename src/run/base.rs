//! Between the grant and the child: prove what predecessors left, look at the files as they are now, keep pre-images.
#![forbid(unsafe_code)]

use crate::clock::Clock as _;
use crate::exit;
use crate::report::{self, Refusal, Voice};
use crate::rules::Via;
use crate::settle;
use crate::state;
use crate::store::{Ended, Ending, FileRecord, Granted, Receipt, Renewal, Settlement, Store, StoreError};
use crate::terms::{Digest, FencingToken};

use super::Before;
use super::ending::settle_within;
use super::entry::nothing_runs_of;
use super::files;
use super::job::Job;
use super::predecessors::{LeftBad, still_running};
use super::proof::{self, Bad, Proof};
use super::stale::{self, Checked};

/// What the base came to.
pub(super) enum Base {
    /// Go. The files as they are now, and what a person has accepted of them.
    Sound { before: Vec<Before>, accepted: Vec<Receipt> },
    /// Not: the lease is settled already.
    Refused { refusal: Refusal, status: i32 },
    /// Not, and the lease is left to run out.
    Left { refusal: Refusal, status: i32 },
}

pub(super) fn prove(
    job: &Job<'_>,
    granted: &Granted,
    tokens: &[FencingToken],
    recorded: &[FileRecord],
    store: &mut dyn Store,
) -> Result<Base, StoreError> {
    if let Some(left) = granted.reclaimed.iter().find(|grant| !nothing_runs_of(job.state, **grant)) {
        // Not settled: the lease ends by its short first grant, and what it owes goes on to the next one.
        return Ok(Base::Left { refusal: still_running(&job.wanted(), *left, "nothing was run"), status: exit::BUSY });
    }
    let now_ms = job.context.clock.wall_ms();
    let Proof { receipts, bad } = proof::prove(&granted.unsettled, &job.owner.host, &job.copies, &job.arbiter, now_ms);
    if !bad.is_empty() {
        return quarantine(job, granted, tokens, store, receipts, &bad);
    }
    if let Some(refusal) = moved(job) {
        end(job, tokens, store, undone(job, granted), Vec::new())?;
        return Ok(Base::Refused { refusal, status: job.options.conflict_status });
    }
    let mut before = job.observe();
    if let Some(refusal) = redirected(job, &mut before)? {
        end(job, tokens, store, undone(job, granted), Vec::new())?;
        return Ok(Base::Refused { refusal, status: exit::STALE });
    }
    let accepted = match stale::check(job, granted, &before, &receipts, store)? {
        Checked::Go(accepted) => accepted,
        Checked::Refused(refusal) => {
            // What was found of predecessors stays found.
            end(job, tokens, store, undone(job, granted), receipts)?;
            return Ok(Base::Refused { refusal: *refusal, status: exit::STALE });
        }
    };
    for (at, (file, before)) in job.plan.files.iter().zip(&mut before).enumerate() {
        let newest = granted.heads.as_ref().and_then(|heads| heads.get(at)?.as_ref());
        before.base = stale::base_of(job, &granted.carried, newest, file, before);
        if let Err(error) = files::keep_pre_image(file, before, job) {
            end(job, tokens, store, undone(job, granted), Vec::new())?;
            return Err(no_copy(job, &error));
        }
    }
    if job.context.voice == Voice::Verbose {
        report::say(&report::holding(&granted.tokens, &job.plan.reason));
    }
    let records = job.records(&before);
    // The usual case needs no second round trip: nothing to prove, and the files are as they were when we asked.
    if granted.unsettled.is_empty() && granted.reclaimed.is_empty() && records == recorded {
        return Ok(Base::Sound { before, accepted });
    }
    match store.record_files(&job.holding(tokens), &records, &receipts, settle_within(store))? {
        Renewal::Renewed(_) => {
            granted.reclaimed.iter().for_each(|&grant| state::discard(job.state, grant));
            Ok(Base::Sound { before, accepted })
        }
        Renewal::Gone => Ok(Base::Refused { refusal: lost(job), status: exit::LOST }),
        Renewal::Revoked => {
            // Who takes it away waits for us to let go; a store that cannot be told lets it run out.
            let _it_runs_out = end(job, tokens, store, undone(job, granted), Vec::new());
            Ok(Base::Refused { refusal: lost(job), status: exit::LOST })
        }
    }
}

/// The bad files' resources stay, quarantined; what else was granted is given back with the receipts of what is sound.
fn quarantine(
    job: &Job<'_>,
    granted: &Granted,
    tokens: &[FencingToken],
    store: &mut dyn Store,
    receipts: Vec<Receipt>,
    bad: &[Bad],
) -> Result<Base, StoreError> {
    let bad: Vec<LeftBad> = bad.iter().map(|bad| LeftBad::of(bad, &job.owner.host)).collect();
    let apart = bad.iter().map(LeftBad::ending).collect();
    let settlement = Settlement { ending: undone(job, granted), apart, receipts, note: None };
    let _lost_is_refused_as_well = store.settle(&job.holding(tokens), &settlement, settle_within(store))?;
    let [first, ..] = &*bad else { return Err(StoreError::Failed("no file is bad".to_owned())) };
    let (refusal, status) = first.refusal("nothing was run");
    Ok(Base::Refused { refusal, status })
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

/// The lease is on the file that the path led to when we asked. While we waited a link on the way may have been turned
/// (`current -> releases/42`): then the program would write another file, which somebody else may hold.
fn moved(job: &Job<'_>) -> Option<Refusal> {
    let file = job.plan.files.iter().find(|file| !file.target.is_still_at(&file.write.path))?;
    let spelled = &file.write.path;
    let spelled = files::quoted(spelled.strip_prefix(&job.context.invocation.cwd).unwrap_or(spelled));
    Some(Refusal {
        word: "BLOCKED",
        what: format!("{spelled} leads to another file now than when the lease was asked for"),
        why: "a link to it was changed while this command waited; nothing was run".to_owned(),
        retry: "yes, at once".to_owned(),
        next: format!("ls -l {spelled}"),
    })
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
                retry: format!("yes, after a look at it, with --output {shown} instead of a redirection"),
                next: format!("ls -l {shown}"),
            }));
        }
        let emptied = std::fs::OpenOptions::new().write(true).open(&file.target.path).and_then(|file| file.set_len(0));
        emptied.map_err(|error| StoreError::Failed(format!("the redirected file cannot be emptied: {error}")))?;
        before.content = Some(Vec::new());
    }
    Ok(None)
}

/// How a lease ends under which nothing was run. What the session had kept before (an open edit, say) it keeps.
pub(super) fn undone(job: &Job<'_>, granted: &Granted) -> Ending {
    if granted.carried.is_empty() {
        return Ending::Release(Ended::Failed);
    }
    let keep_for = job.options.holds.max_hold;
    if let Some(open) = open_edit(job, granted) {
        return settle::open_edit(&format!("{}:{open}", job.owner.host), keep_for);
    }
    Ending::Keep { reason: "its next command was not run".to_owned(), keep_for, takeable: false }
}

/// What the session's earlier commands have opened on this host, and is plaintext still: an open edit goes on as one whatever
/// became of a command in its midst.
pub(super) fn open_edit(job: &Job<'_>, granted: &Granted) -> Option<String> {
    let here = granted.carried.iter().filter(|debt| debt.host == job.owner.host);
    let opened: Vec<FileRecord> = here.flat_map(|debt| debt.files.clone()).filter(|record| !record.open).collect();
    files::plaintext_of(&opened)
}

fn end(
    job: &Job<'_>,
    tokens: &[FencingToken],
    store: &mut dyn Store,
    ending: Ending,
    receipts: Vec<Receipt>,
) -> Result<(), StoreError> {
    store.settle(&job.holding(tokens), &Settlement::whole(ending, receipts), settle_within(store)).map(|_| ())
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
