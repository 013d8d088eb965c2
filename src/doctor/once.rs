//! Files that were SOPS files once and are none now: emptied, in the open, or damaged. Neither a name nor a rule may say so of
//! them; what HEAD, the index, the copies of this machine and the store's chains have of them does.
#![forbid(unsafe_code)]

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::canary::{self, Fault, Kind};
use crate::git::Repository;
use crate::naming::{Local, NamedSecret, Namer};
use crate::run::{self, env_of};

use super::patient::Patient;
use super::receipts::ASKED;
use super::repository::{Survey, read};

/// Looking for them may take so long.
const TIME: Duration = Duration::from_secs(1);

/// What sops keeps the structure of: nobody has it encrypt programs.
const ENDS: [&str; 7] = ["yaml", "yml", "json", "env", "ini", "enc", "txt"];

/// The files, each in one of these, and how far was looked.
#[derive(Default)]
pub(super) struct Once {
    pub(super) plain: Vec<PathBuf>,
    pub(super) empty: Vec<PathBuf>,
    pub(super) broken: Vec<(PathBuf, Fault)>,
    /// So many could not be asked about.
    pub(super) unasked: usize,
}

impl Once {
    pub(super) fn of(patient: &Patient<'_>, survey: &Survey) -> Self {
        let mut once = Self::default();
        let Some(repository) = patient.repository() else { return once };
        let until = Instant::now() + TIME.min(patient.left());
        let candidates = candidates(patient, repository, survey);
        let mut asked = 0;
        for (path, changed) in &candidates {
            if Instant::now() >= until || (!changed && asked == ASKED) {
                once.unasked += 1;
                continue;
            }
            let Some(now) = Now::of(path) else { continue };
            if (*changed && was_here(patient, repository, path)) || has_chain(patient, path, &mut asked) {
                once.take(path, now);
            }
        }
        once
    }

    fn take(&mut self, path: &Path, now: Now) {
        match now {
            Now::Empty => self.empty.push(path.to_owned()),
            Now::Plain => self.plain.push(path.to_owned()),
            Now::Broken(fault) => self.broken.push((path.to_owned(), fault)),
        }
    }

    /// Whether this one is told of here.
    pub(super) fn has(&self, path: &Path) -> bool {
        let broken = self.broken.iter().map(|(path, _)| path);
        self.plain.iter().chain(&self.empty).chain(broken).any(|it| it == path)
    }
}

/// Those that HEAD, the index or a copy may know as SOPS, which costs a look on this machine; then those that only the store may
/// know.
fn candidates(patient: &Patient<'_>, repository: &Repository, survey: &Survey) -> Vec<(PathBuf, bool)> {
    let state = patient.state.as_ref().ok().and_then(Option::as_ref);
    let kept = state.map(run::kept_here).unwrap_or_default();
    // Where git does not say, the copies and the store do.
    let uncommitted = repository.uncommitted(&env_of(patient.context)).unwrap_or_default();
    let mut here: Vec<PathBuf> = uncommitted.iter().map(|it| repository.worktree_root.join(&it.path)).collect();
    here.extend(survey.open.iter().filter(|path| kept.may_have(path)).cloned());
    here.sort_by_key(|path| !has_structure(path));
    let others = survey.open.iter().filter(|path| has_structure(path)).map(|path| (path.clone(), false));
    let all = here.into_iter().map(|path| (path, true)).chain(others);
    let mut seen = told(survey);
    all.filter(|(path, _)| seen.insert(path.clone())).collect()
}

/// What their names or their content say already.
fn told(survey: &Survey) -> HashSet<PathBuf> {
    let plain = survey.plain.iter().filter(|(_, why)| *why == NamedSecret::Marker).map(|(path, _)| path);
    let secrets = survey.secrets.iter().map(|secret| &secret.path);
    let broken = survey.broken.iter().map(|(path, _)| path);
    plain.chain(secrets).chain(broken).chain(&survey.empty).cloned().collect()
}

fn has_structure(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    name.rsplit_once('.').is_some_and(|(_, end)| ENDS.contains(&end)) || name.contains("secret")
}

/// HEAD, a copy or the index has a version of it that is SOPS.
fn was_here(patient: &Patient<'_>, repository: &Repository, path: &Path) -> bool {
    let env = env_of(patient.context);
    let staged = || {
        let (blob, _) = repository.staged(path, &env).ok()??;
        repository.content_of(&blob, &env).ok()?
    };
    run::can_be_restored(patient.context, path) || staged().is_some_and(|content| is_sops(&content))
}

fn is_sops(content: &[u8]) -> bool {
    matches!(canary::sniff(content), Kind::Sops(_))
}

/// A write of it was proven once, by whomever.
fn has_chain(patient: &Patient<'_>, path: &Path, asked: &mut usize) -> bool {
    if *asked == ASKED || patient.is_unmade() {
        return false;
    }
    *asked += 1;
    let (env, said) = (env_of(patient.context), run::said_scope(patient.context));
    let Ok(target) = Namer::new(Local::Peek, &env).heeding(&said).name(path) else { return false };
    let chain = patient.ask(|store, limit| store.receipts(target.scope(), &target.key, limit));
    chain.is_some_and(|chain| !chain.is_empty())
}

/// What such a file is now.
enum Now {
    Empty,
    Plain,
    Broken(Fault),
}

impl Now {
    /// None where it is gone, or SOPS after all.
    fn of(path: &Path) -> Option<Self> {
        let content = read(path, canary::document::SIZE_CAP)?;
        match canary::sniff(&content) {
            Kind::Sops(_) => None,
            Kind::Empty => Some(Self::Empty),
            Kind::Plain => match canary::native(&content) {
                Err(fault) if fault != Fault::Plaintext => Some(Self::Broken(fault)),
                _ => Some(Self::Plain),
            },
        }
    }
}
