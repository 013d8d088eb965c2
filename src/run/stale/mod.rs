//! The base of a write: is the version at hand the newest that is known, or would a newer one be lost? Asked between the
//! grant and the child. The usual case, the newest version, is told by the grant's own answer and costs nothing.
#![forbid(unsafe_code)]

mod around;
mod ours;
mod plaintext;
mod replaced;
mod standing;
mod words;

pub use standing::{AtHand, Standing, standing};

use crate::canary::{self, Kind};
use crate::config::UnknownBase;
use crate::lineage::Base;
use crate::plan::PlannedFile;
use crate::report::{self, Refusal, Voice};
use crate::rules::{Change, Leaves, Via};
use crate::store::{Granted, Receipt, ReceiptKind, Store, StoreError, StoredReceipt};
use crate::terms::Digest;

use self::plaintext::Plaintext;
use super::ending::settle_within;
use super::job::Job;
use super::{Before, files};

/// What the check came to.
pub(super) enum Checked {
    /// Go, with these receipts of bases that a person has accepted.
    Go(Vec<Receipt>),
    /// Not.
    Refused(Box<Refusal>),
}

/// Checks the base of every file that the command writes upon. `proven` are receipts of versions that were found just now.
pub(super) fn check(
    job: &Job<'_>,
    granted: &Granted,
    before: &[Before],
    proven: &[Receipt],
    store: &mut dyn Store,
) -> Result<Checked, StoreError> {
    let mut accepted = Vec::new();
    for (at, (file, before)) in job.plan.files.iter().zip(before).enumerate() {
        let head = granted.heads.as_ref().map(|heads| heads.get(at).cloned().flatten());
        let mut look = Look { job, granted, file, proven, store: &mut *store, head };
        match look.verdict(before)? {
            Found::Go => {}
            Found::Accepted(receipts) => accepted.extend(receipts),
            Found::Refused(refusal) => return Ok(Checked::Refused(refusal)),
        }
    }
    Ok(Checked::Go(accepted))
}

/// What was found of one file.
enum Found {
    Go,
    /// A person has said that it may go on; the receipt starts the chain anew.
    Accepted(Vec<Receipt>),
    Refused(Box<Refusal>),
}

/// The look at one file.
struct Look<'a> {
    job: &'a Job<'a>,
    granted: &'a Granted,
    file: &'a PlannedFile,
    proven: &'a [Receipt],
    store: &'a mut dyn Store,
    /// The newest version; none where the grant did not say.
    head: Option<Option<Digest>>,
}

impl Look<'_> {
    fn verdict(&mut self, before: &Before) -> Result<Found, StoreError> {
        match self.file.write.change {
            Change::Other => match self.file.write.leaves {
                Leaves::Changed => self.of_file(before.content.as_deref(), true),
                Leaves::Replaced => replaced::verdict(self, before.content.as_deref()),
                // Who takes a file away puts nothing in the place of a newer one: git asks when both meet.
                Leaves::Gone => Ok(Found::Go),
            },
            Change::Encrypt => plaintext::verdict(self, before),
            _ => self.of_file(before.content.as_deref(), true),
        }
    }

    /// The file's own version. `is_there`: it lies in its place as given, and was not emptied by the shell.
    fn of_file(&mut self, content: Option<&[u8]>, is_there: bool) -> Result<Found, StoreError> {
        // What is no SOPS file is no version, and the program says so itself.
        if content.is_some_and(|content| matches!(canary::sniff(content), Kind::Plain)) {
            return Ok(Found::Go);
        }
        let version = content.map(Digest::of);
        self.of_version(version.as_ref(), content, Base::File, is_there)
    }

    /// A redirected file: the shell has emptied it, and what it held is one of the versions that are known of it.
    fn of_redirected(&mut self) -> Result<Found, StoreError> {
        let known = files::last_known(self.file, self.job);
        let head = self.head.clone().flatten();
        if known.is_empty() || known.iter().any(|content| Some(Digest::of(content)) == head) {
            return Ok(Found::Go);
        }
        self.of_file(known.first().map(Vec::as_slice), false)
    }

    fn of_version(
        &mut self,
        version: Option<&Digest>,
        content: Option<&[u8]>,
        base: Base<'_>,
        is_there: bool,
    ) -> Result<Found, StoreError> {
        if self.is_newest(version) {
            return Ok(Found::Go);
        }
        let chain = self.chain()?;
        let at_hand = AtHand { target: &self.file.target, shown: &self.shown(), content, version, base, is_there };
        match standing(self.job.context, &self.job.owner.host, &at_hand, &chain) {
            Standing::Fine => Ok(Found::Go),
            Standing::Stale(refusal) => Ok(self.accepted_or(*refusal, version.cloned())),
            Standing::Unknown => Ok(self.unknown(chain.first())),
        }
    }

    /// No chain, or the newest of it: nothing else need be asked.
    fn is_newest(&self, version: Option<&Digest>) -> bool {
        let is_proven = |receipt: &Receipt| {
            receipt.scope == *self.file.target.scope()
                && receipt.path == self.file.target.key
                && Some(&receipt.new) == version
        };
        match &self.head {
            Some(None) => true,
            Some(Some(head)) if Some(head) == version => true,
            _ => self.proven.iter().any(is_proven),
        }
    }

    fn has_chain(&self) -> bool {
        !matches!(self.head, Some(None))
    }

    fn chain(&mut self) -> Result<Vec<StoredReceipt>, StoreError> {
        let limit = settle_within(self.store);
        self.store.receipts(self.file.target.scope(), &self.file.target.key, limit)
    }

    /// It was changed outside of `locked`: as the settings say.
    fn unknown(&self, newest: Option<&StoredReceipt>) -> Found {
        let refusal = words::unknown(newest, &self.shown());
        match self.job.options.settings.unknown_base() {
            UnknownBase::Allow => Found::Go,
            UnknownBase::Warn => {
                if self.job.context.voice >= Voice::Ready {
                    report::say(&words::unknown_warning(newest, &self.shown()));
                }
                Found::Go
            }
            UnknownBase::Refuse => self.accepted_or(refusal, None),
        }
    }

    /// The refusal, unless `--accept-stale` was said: then the chain starts anew from this version, by that word.
    fn accepted_or(&self, mut refusal: Refusal, version: Option<Digest>) -> Found {
        if !self.job.options.accept_stale {
            if is_redirected(self.file, self.job) {
                refusal.why.push_str(&words::emptied(&self.shown()));
            }
            return Found::Refused(Box::new(refusal));
        }
        report::say(&words::accepted(&refusal));
        let target = &self.file.target;
        let version = version.or_else(|| self.head.clone().flatten());
        let receipt = version.map(|new| Receipt {
            new,
            ..super::receipt_of(self.job.context, target, None, b"", ReceiptKind::Accepted)
        });
        Found::Accepted(receipt.into_iter().map(|receipt| Receipt { blob: None, ..receipt }).collect())
    }

    fn shown(&self) -> String {
        files::shown(self.file, &self.job.context.invocation.cwd)
    }
}

/// What is to be forgotten when a command has encrypted what a session had read, or put another file in its place: from now
/// on that is of an older version. What was encrypted to a file of its own is remembered there, until that one is put in
/// its place.
pub(super) fn forget(job: &Job<'_>) {
    for file in &job.plan.files {
        match (file.write.change, file.write.leaves) {
            (Change::Encrypt, _) => Plaintext::of(job, file).carry(),
            (Change::Other, Leaves::Replaced) => Plaintext::of(job, file).forget(),
            _ => {}
        }
    }
}

/// How the shell opened it: emptied, or to append.
fn is_redirected(file: &PlannedFile, job: &Job<'_>) -> bool {
    let appends = job.context.invocation.stdout().is_some_and(|stdout| stdout.append);
    file.write.via == Via::Stdout && !appends
}
