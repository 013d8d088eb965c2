//! The base of a write: is the version at hand the newest that is known, or would a newer one be lost? Asked between the
//! grant and the child. The usual case, the newest version, is told by the grant's own answer and costs nothing.
#![forbid(unsafe_code)]

mod around;
mod older;
mod ours;
mod plaintext;
mod replaced;
mod standing;
mod step;
mod taken;
mod words;

pub use standing::{AtHand, would_lose};
pub use taken::taken;

use crate::canary::{self, Fault, Kind};
use crate::config::UnknownBase;
use crate::lineage::Base;
use crate::notes::How;
use crate::plan::PlannedFile;
use crate::report::{self, Refusal, Voice};
use crate::rules::{Change, Leaves, Via};
use crate::store::{FileRecord, Granted, Receipt, ReceiptKind, Store, StoreError, StoredReceipt, Unsettled};
use crate::terms::Digest;

use self::plaintext::Plaintext;
use self::standing::{Standing, standing};
use super::ending::settle_within;
use super::job::Job;
use super::{Before, files};

/// A clock of ours and the store's may differ by so much.
const SKEW_MS: i64 = 60_000;

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
                Leaves::Changed => self.of_file(before.content.as_deref()),
                Leaves::Replaced => replaced::verdict(self, before.content.as_deref()),
                // Who takes a file away puts nothing in the place of a newer one: git asks when both meet.
                Leaves::Gone => Ok(Found::Go),
            },
            Change::Encrypt => plaintext::verdict(self, before),
            _ => self.of_file(before.content.as_deref()),
        }
    }

    /// The file's own version.
    fn of_file(&mut self, content: Option<&[u8]>) -> Result<Found, StoreError> {
        // What is no SOPS file is no version, and the program says so itself.
        if content.is_some_and(|content| matches!(canary::sniff(content), Kind::Plain)) {
            return Ok(Found::Go);
        }
        let version = content.map(Digest::of);
        self.of_version(version.as_ref(), content, Base::File)
    }

    /// A redirected file: the shell has emptied it, and what it held is one of the versions that are known of it.
    fn of_redirected(&mut self) -> Result<Found, StoreError> {
        let known = files::last_known(self.file, self.job);
        let head = self.head.clone().flatten();
        if known.is_empty() || known.iter().any(|content| Some(Digest::of(content)) == head) {
            return Ok(Found::Go);
        }
        self.of_file(known.first().map(Vec::as_slice))
    }

    fn of_version(
        &mut self,
        version: Option<&Digest>,
        content: Option<&[u8]>,
        base: Base<'_>,
    ) -> Result<Found, StoreError> {
        if self.is_newest(version) {
            return Ok(Found::Go);
        }
        let chain = self.chain()?;
        let at_hand = AtHand { target: &self.file.target, shown: &self.shown(), content, version, base };
        match standing(self.job.context, &self.job.owner.host, &at_hand, &chain) {
            Standing::Fine => Ok(Found::Go),
            Standing::Stale(refusal) => Ok(self.accepted_or(*refusal, version.cloned())),
            // What it was made from may be older than what others have written since.
            Standing::Unknown if base == Base::File => {
                match taken(self.job.context, &self.job.owner.host, &at_hand, &chain) {
                    Ok(_) => Ok(self.unknown(chain.first())),
                    Err(refusal) => Ok(self.accepted_or(*refusal, version.cloned())),
                }
            }
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
                if refusal.next.starts_with("locked sops decrypt") {
                    refusal.next = format!("locked restore {} && {}", self.shown(), refusal.next);
                }
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

/// What is found of one file when its command has ended, and could not be seen before: what lies in it now is sound, and
/// undoes what somebody else has written.
pub(super) fn undoes(
    job: &Job<'_>,
    file: &PlannedFile,
    before: &Before,
    store: &mut dyn Store,
) -> Result<Option<Fault>, StoreError> {
    match file.write.change {
        Change::Other => replaced::put_back(job, file, before, store),
        Change::Encrypt => older::has_come(job, file, store),
        _ => Ok(None),
    }
}

/// Of a refusal for an older version, who wrote the newer one.
fn who_wrote_it(refusal: &Refusal) -> String {
    refusal.why.trim_end_matches("; nothing was run").to_owned()
}

/// What is to be remembered when a command has encrypted what a session had read, or put another file in its place: from now
/// on that is of the version that came of it. What it has turned into plaintext is read.
pub(super) fn remember(job: &Job<'_>, before: &[Before], receipts: &[Receipt]) {
    for (file, before) in job.plan.files.iter().zip(before) {
        let target = &file.target;
        if file.write.change == Change::DecryptInPlace
            && let Some(version) = before.version()
        {
            plaintext::opened(job, file, &version);
        }
        let mut of_file = receipts.iter().filter(|it| it.scope == *target.scope() && it.path == target.key);
        let Some(written) = of_file.rfind(|it| it.kind != ReceiptKind::Accepted) else { continue };
        match (file.write.change, file.write.leaves) {
            (Change::Encrypt, _) => Plaintext::of(job, file).wrote(&written.new, true),
            (Change::Other, Leaves::Replaced) => Plaintext::of(job, file).wrote(&written.new, false),
            _ => {}
        }
    }
}

/// The version that a write began with, where what lies there does not say it: plaintext, or what the shell has emptied.
pub(super) fn base_of(
    job: &Job<'_>,
    carried: &[Unsettled],
    newest: Option<&Digest>,
    file: &PlannedFile,
    before: &Before,
) -> Option<Digest> {
    let is_sops = before.content.as_deref().is_some_and(|content| matches!(canary::sniff(content), Kind::Sops(_)));
    // What is put over an open edit ends that, as encrypting it would.
    if is_sops || !(file.write.change == Change::Encrypt || file.once) {
        return None;
    }
    let of_this = |record: &&FileRecord| files::path_of(record) == file.target.path;
    let began: Vec<&Digest> =
        carried.iter().flat_map(|debt| &debt.files).filter(of_this).filter_map(|it| it.before.as_ref()).collect();
    let copies = job.chain(file).here().unwrap_or_default();
    let open = copies.iter().find(|copy| began.contains(&&copy.digest)).map(|copy| copy.digest.clone());
    let noted = || Plaintext::of(job, file).own().filter(|note| note.how != How::Run).map(|note| note.version);
    let known = || {
        let mut known: Vec<Digest> = files::last_known(file, job).iter().map(|content| Digest::of(content)).collect();
        let at = newest.and_then(|newest| known.iter().position(|it| it == newest));
        // HEAD comes last, and is what a pull has brought since.
        at.map(|at| known.swap_remove(at)).or_else(|| known.pop())
    };
    open.or_else(noted).or_else(known)
}

/// How the shell opened it: emptied, or to append.
fn is_redirected(file: &PlannedFile, job: &Job<'_>) -> bool {
    let appends = job.context.invocation.stdout().is_some_and(|stdout| stdout.append);
    file.write.via == Via::Stdout && !appends
}
