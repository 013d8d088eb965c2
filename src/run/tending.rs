//! An open edit, after its command: the keeper stays and looks at the plaintext. When every file is sound SOPS again the lease
//! is given back, with receipts; when the time or the session ends before, it is quarantined and not free. Whoever goes on
//! with the lease meanwhile (the session's own `encrypt -i`, a restore) has it under another grant, and then nothing that is
//! said here counts.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::time::Duration;

use crate::canary::{self, Fault, Kind};
use crate::clock::Clock as _;
use crate::copies::{Chain, Quality};
use crate::holder::ProcFs;
use crate::rules::Change;
use crate::store::{Ended, Ending, FileRecord, Receipt, Settlement};
use crate::terms::{Digest, Resource, Scope};

use super::job::Job;
use super::{Before, files, proof};

/// How often to look. A look is a read of the file.
const LOOK: Duration = Duration::from_secs(1);

/// So long before the lease runs out it is quarantined, so that nobody takes it in between.
const AHEAD: Duration = Duration::from_millis(500);

/// The files that are open.
pub(super) struct Edit<'a> {
    job: &'a Job<'a>,
    files: Vec<(FileRecord, Resource)>,
}

impl<'a> Edit<'a> {
    /// Those that this command decrypts, and those of the session's earlier commands. They may be closed by now.
    pub(super) fn of(job: &'a Job<'a>, before: &[Before], carried: &[FileRecord]) -> Self {
        let decrypts = |record: &FileRecord| matches!(record.change, Some(Change::DecryptInPlace | Change::DecryptTo));
        let carried = carried.iter().filter(|record| !record.open).cloned();
        let open = job.records(before).into_iter().filter(decrypts).chain(carried);
        let with_resource = |record: FileRecord| {
            let resource = job.plan.resources.iter().find(|resource| record.concerns(resource)).cloned();
            Some((record, resource.or_else(|| job.plan.resources.first().cloned())?))
        };
        Self { job, files: open.filter_map(with_resource).collect() }
    }

    /// Those that another process has told of.
    #[cfg(windows)]
    pub(super) fn told(job: &'a Job<'a>, files: Vec<(FileRecord, Resource)>) -> Self {
        Self { job, files }
    }

    /// What to tell another process.
    #[cfg(windows)]
    pub(super) fn into_files(self) -> Vec<(FileRecord, Resource)> {
        self.files
    }

    fn session_is_over(&self) -> bool {
        self.job.anchor.is_some_and(|(pid, started)| ProcFs::new().has_ended(pid, started))
    }

    /// The ending without a good end.
    fn left(&self, why: &str, open: &FileRecord, fault: Option<&Fault>) -> Settlement {
        let fault = fault.map_or_else(|| "plaintext".to_owned(), ToString::to_string);
        let place = format!("{}:{}", self.job.owner.host, files::quoted(&files::path_of(open)));
        let bad = Ending::Quarantine { reason: format!("{place}: {fault}; {why}") };
        let concerned = self.job.plan.resources.iter().filter(|resource| open.concerns(resource));
        let apart: Vec<_> = concerned.map(|resource| (resource.clone(), bad.clone())).collect();
        let ending = if apart.is_empty() { bad } else { Ending::Release(Ended::Failed) };
        Settlement { ending, apart, receipts: Vec::new(), note: None }
    }
}

/// How one file is.
enum State {
    Open(Option<Fault>),
    Closed(Option<Receipt>),
}

/// Looks until it is over. `settle` says whether the store has heard it.
pub(super) fn tend(edit: &Edit<'_>, mut settle: impl FnMut(&Settlement) -> bool) {
    let job = edit.job;
    let began = job.context.clock.now();
    let until = began.after(job.options.holds.max_hold.saturating_sub(AHEAD));
    let mut looks: Vec<Look> = edit.files.iter().map(|_| Look::default()).collect();
    while !edit.files.is_empty() {
        rest(LOOK.min(job.options.holds.max_hold / 4));
        // The place where everything is known is gone: a machine that is cleared away.
        if !job.state.path().exists() {
            return;
        }
        let states: Vec<State> = edit.files.iter().zip(&mut looks).map(|(file, look)| look.at(job, file)).collect();
        let open = edit.files.iter().zip(&states).find_map(|((record, _), state)| match state {
            State::Open(fault) => Some((record, fault.as_ref())),
            State::Closed(_) => None,
        });
        let now = job.context.clock.now();
        let settlement = match open {
            None => {
                let receipt = |state| if let State::Closed(receipt) = state { receipt } else { None };
                let receipts = states.into_iter().filter_map(receipt).collect();
                Settlement::whole(Ending::Release(Ended::Completed), receipts)
            }
            Some((record, fault)) if now >= until => edit.left("its time is over", record, fault),
            Some((record, fault)) if edit.session_is_over() => edit.left("its session has ended", record, fault),
            Some(_) => continue,
        };
        if settle(&settlement) || now >= until.after(job.options.times.ttl) {
            return;
        }
    }
}

/// What was seen of one file the last time.
#[derive(Default)]
struct Look {
    missing: bool,
    /// The content that was judged, and what was wrong with it.
    bad: Option<(Digest, Fault)>,
}

impl Look {
    fn at(&mut self, job: &Job<'_>, (record, resource): &(FileRecord, Resource)) -> State {
        let path: PathBuf = files::path_of(record);
        let Ok(Before { content: Some(content), .. }) = Before::read(&path) else {
            // Between two steps of a replacement there is none for a moment.
            return if std::mem::replace(&mut self.missing, true) { State::Closed(None) } else { State::Open(None) };
        };
        self.missing = false;
        if !matches!(canary::sniff(&content), Kind::Sops(_)) {
            return State::Open(None);
        }
        let digest = Digest::of(&content);
        if let Some((_, fault)) = self.bad.as_ref().filter(|(known, _)| *known == digest) {
            return State::Open(Some(fault.clone()));
        }
        let now_ms = job.context.clock.wall_ms();
        match proof::closed(record, resource, &job.copies, &job.arbiter, now_ms) {
            Ok(receipt) => {
                let chain = Chain::of(&job.copies, &Scope(record.scope.clone()), &record.key, &path);
                let _a_copy_more_or_less = chain.keep(&content, Quality::Proven, now_ms);
                State::Closed(receipt)
            }
            Err(fault) => {
                self.bad = Some((digest, fault.clone()));
                State::Open(Some(fault))
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "nobody tells that a file has changed")]
fn rest(span: Duration) {
    std::thread::sleep(span);
}
