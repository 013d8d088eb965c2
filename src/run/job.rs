//! One run under a lease, as wrapper and keeper both know it: either of them can finish it.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::time::Duration;

use crate::canary::{Arbiter, Verdict};
use crate::clock::Clock as _;
use crate::config::StoreSetting;
use crate::copies::{Chain, Quality};
use crate::plan::{HoldPlan, PlannedFile};
use crate::rules::{self, Canary, Change};
use crate::settle::{self, Decision, Facts, Finding};
use crate::state::StateDir;
use crate::store::{FileRecord, Granted, Holding, Owner, Receipt, Release, Settlement, Store, StoreError};
use crate::supervise::{Order, Outcome};
use crate::terms::{FencingToken, GrantId, LeaseKey, Resource};

use super::later::Later;
use super::{Before, Context, Options, files, receipt, stale};

/// The run.
pub(super) struct Job<'a> {
    pub(super) context: &'a Context,
    pub(super) options: &'a Options,
    pub(super) plan: &'a HoldPlan,
    pub(super) order: &'a Order,
    pub(super) state: &'a StateDir,
    pub(super) copies: PathBuf,
    pub(super) owner: Owner,
    /// The process that stands for the session, where one does: its id and when it was forked.
    pub(super) anchor: Option<(u32, u64)>,
    /// Nothing that lasts names the session.
    pub(super) nameless: bool,
    pub(super) grant: GrantId,
    pub(super) key: LeaseKey,
    pub(super) arbiter: Arbiter,
    /// Where the lease lives.
    pub(super) store: StoreSetting,
}

impl Job<'_> {
    /// The resources with these tokens.
    pub(super) fn tokens_of(&self, tokens: &[FencingToken]) -> Vec<(Resource, FencingToken)> {
        self.plan.resources.iter().cloned().zip(tokens.iter().copied()).collect()
    }

    /// The holding with these tokens, which are in the plan's order of resources.
    pub(super) fn holding(&self, tokens: &[FencingToken]) -> Holding {
        Holding::Grant { grant: self.grant, key: self.key.clone(), resources: self.tokens_of(tokens) }
    }

    /// How the files are now. One that we may not read the program may not read either: it says so itself, and it is
    /// not for us to say it first.
    pub(super) fn observe(&self) -> Vec<Before> {
        let read = |file: &PlannedFile| Before::read(&file.target.path).unwrap_or(Before { content: None, base: None });
        self.plan.files.iter().map(read).collect()
    }

    /// The files as the store records them.
    pub(super) fn records(&self, before: &[Before]) -> Vec<FileRecord> {
        self.plan.files.iter().zip(before).map(|(file, before)| files::record(file, before)).collect()
    }

    /// What the canary says of every file, and the store where that can be asked.
    fn look(&self, before: &[Before], mut store: Option<&mut dyn Store>) -> Vec<Finding> {
        let pairs = self.plan.files.iter().zip(before);
        let look = |(file, before): (&PlannedFile, &Before)| {
            let mut finding = self.look_at(file, before);
            if let (Some(Verdict::Sound | Verdict::Unverified(_)), Some(store)) = (&finding.verdict, &mut store)
                && let Ok(Some(fault)) = stale::undoes(self, file, before, &mut **store)
            {
                files::note_as_bad(file, self);
                finding.verdict = Some(Verdict::Bad(fault));
            }
            finding
        };
        pairs.map(look).collect()
    }

    fn look_at(&self, file: &PlannedFile, before: &Before) -> Finding {
        let off = (self.plan.policy.canary == Canary::Off).then_some("its rule has no canary");
        if let Some(why) = Some("--no-canary").filter(|_| !self.options.canary).or(off) {
            let changed = Before::read(&file.target.path).is_ok_and(|now| now.content != before.content);
            let why = || Verdict::Unverified(why.to_owned());
            return files::finding(file, self, changed.then(why));
        }
        files::look(file, before, self)
    }

    /// What the session's own earlier commands may have written on this host: what this command does not write, and what they
    /// have opened for an edit.
    pub(super) fn carried(&self, granted: &Granted) -> Vec<FileRecord> {
        let opens = |record: &FileRecord| matches!(record.change, Some(Change::DecryptInPlace | Change::DecryptTo));
        let ours = |record: &FileRecord| self.plan.files.iter().any(|file| file.target.path == files::path_of(record));
        let here = granted.carried.iter().filter(|debt| debt.host == self.owner.host);
        here.flat_map(|debt| debt.files.clone()).filter(|record| opens(record) || !ours(record)).collect()
    }

    /// Those of them that are plaintext: such an edit is still open, whether this command had to do with it and did not end it,
    /// or had not. What this command has left bad is no edit.
    fn open_edits(&self, carried: &[FileRecord], findings: &[Finding]) -> Vec<String> {
        let is_bad = |path: &PathBuf| {
            let pairs = self.plan.files.iter().zip(findings);
            pairs.into_iter().any(|(file, it)| file.target.path == *path && matches!(it.verdict, Some(Verdict::Bad(_))))
        };
        // Who only wrote into plaintext has opened nothing.
        let opened = carried.iter().filter(|record| !record.open).map(files::path_of);
        opened.filter(|path| files::is_plaintext(path) && !is_bad(path)).map(|path| files::quoted(&path)).collect()
    }

    pub(super) fn chain(&self, file: &PlannedFile) -> Chain {
        Chain::of(&self.copies, file.target.scope(), &file.target.key, &file.target.path)
    }

    /// The program's status means success.
    pub(super) fn succeeded(&self, outcome: Outcome) -> bool {
        matches!(outcome, Outcome::Exited(code) if rules::succeeded(self.plan.rule.as_deref(), code))
    }

    /// What becomes of the lease after this outcome, with the receipts of what was proven. `store`: where it can be asked.
    pub(super) fn decide(
        &self,
        outcome: Outcome,
        before: &[Before],
        carried: &[FileRecord],
        later: &Later,
        store: Option<&mut dyn Store>,
    ) -> (Decision, Vec<Receipt>) {
        let findings = self.look(before, store);
        let cwd = &self.context.invocation.cwd;
        let paths = self.plan.files.iter().map(|file| file.target.path.strip_prefix(cwd).unwrap_or(&file.target.path));
        self.context.account.found(paths.zip(&findings));
        let open = self.open_edits(carried, &findings);
        let succeeded = self.succeeded(outcome);
        let facts = Facts {
            outcome,
            succeeded,
            resources: &self.plan.resources,
            by_rule: &self.plan.by_rule,
            policy: &self.plan.policy,
            findings: &findings,
            open: &open,
            followed: later.followed,
            unproven: later.unproven.as_deref(),
            keep_asked: self.options.keep,
            remote: self.plan.remote,
            ttl: self.options.times.ttl,
            holds: self.options.holds,
        };
        let mut receipts = Vec::new();
        for ((file, before), finding) in self.plan.files.iter().zip(before).zip(&findings) {
            let Some(receipt) = receipt::receipt(self.context, file, before, finding) else { continue };
            self.keep_copy(file);
            receipts.push(receipt);
        }
        (settle::decide(&facts), receipts)
    }

    /// Keeps what was proven for `restore`. The write itself is done and sound; a copy that does not fit on the disk
    /// changes nothing about that, and the next run makes its pre-image.
    fn keep_copy(&self, file: &PlannedFile) {
        if let Ok(Before { content: Some(content), .. }) = Before::read(&file.target.path) {
            let _next_run_makes_a_pre_image =
                self.chain(file).keep(&content, Quality::Proven, self.context.clock.wall_ms());
        }
    }

    /// Settles: one transaction.
    ///
    /// # Errors
    /// The store could not answer.
    pub(super) fn settle(
        &self,
        store: &mut dyn Store,
        tokens: &[FencingToken],
        decision: &Decision,
        receipts: Vec<Receipt>,
        limit: Duration,
    ) -> Result<Release, StoreError> {
        store.settle(&self.holding(tokens), &Self::settlement(decision, receipts), limit)
    }

    /// The settling of this decision.
    pub(super) fn settlement(decision: &Decision, receipts: Vec<Receipt>) -> Settlement {
        let (ending, apart) = (decision.ending.clone(), decision.apart.clone());
        Settlement { ending, apart, receipts, note: decision.note.clone() }
    }

    /// The resources in one text for messages.
    pub(super) fn wanted(&self) -> String {
        self.plan.shown()
    }
}
