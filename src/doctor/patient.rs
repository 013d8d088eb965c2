//! What the checks look at, each part found once.
#![forbid(unsafe_code)]

use std::cell::{Cell, OnceCell, RefCell, RefMut};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::config::{Address, ConfigError, Settings, StoreSetting};
use crate::git::{GitError, Repository};
use crate::report::Refusal;
use crate::run::{self, Context, env_of};
use crate::state::StateDir;
use crate::store::{self, Store, StoreError};

use super::probes::Probes;
use super::repository::Survey;
use super::{Asked, folder};

/// The whole of it may take so long, shares of single checks included.
const WHOLE: Duration = Duration::from_secs(8);
/// One call of the store.
const CALL: Duration = Duration::from_secs(3);

/// A variable that stands for an option.
#[derive(Debug, Clone)]
pub struct Twin {
    /// Its name.
    pub name: String,
    /// It is set to something that the option does not take.
    pub wrong: bool,
}

/// What the checks look at.
pub(super) struct Patient<'a> {
    pub(super) context: &'a Context,
    pub(super) asked: &'a Asked,
    /// The state directory, if it is there.
    pub(super) state: Result<Option<StateDir>, StoreError>,
    /// Which store is set.
    pub(super) setting: Result<StoreSetting, Refusal>,
    /// What counts here.
    pub(super) settings: Result<Settings, ConfigError>,
    /// The repository around the working directory.
    pub(super) repository: Result<Option<Repository>, GitError>,
    /// Programs that were asked at the start and answer meanwhile.
    pub(super) probes: Probes,
    store: RefCell<Option<Box<dyn Store>>>,
    /// It was asked and did not answer.
    silent: Cell<bool>,
    survey: OnceCell<Survey>,
    passing: OnceCell<tempfile::TempDir>,
    deadline: Instant,
}

impl<'a> Patient<'a> {
    pub(super) fn new(context: &'a Context, asked: &'a Asked) -> Self {
        let deadline = Instant::now() + WHOLE;
        let probes = Probes::start(context, asked);
        let cwd =
            crate::platform::canonical(&context.invocation.cwd).unwrap_or_else(|_| context.invocation.cwd.clone());
        Self {
            context,
            asked,
            state: StateDir::foreseen(&env_of(context)),
            setting: run::store_here(context).map_err(|wrong| wrong.refusal().0),
            settings: run::settings_or_fault(context),
            repository: Repository::around(&cwd),
            probes,
            store: RefCell::new(None),
            silent: Cell::new(false),
            survey: OnceCell::new(),
            passing: OnceCell::new(),
            deadline,
        }
    }

    pub(super) fn is_asked(&self, check: &str) -> bool {
        is_asked(self.asked, check)
    }

    pub(super) fn env(&self, name: &str) -> Option<OsString> {
        self.context.invocation.var(name).filter(|value| !value.is_empty())
    }

    pub(super) fn repository(&self) -> Option<&Repository> {
        self.repository.as_ref().ok().and_then(Option::as_ref)
    }

    /// Whether the one store that is set has been made: looking must not make it.
    pub(super) fn is_unmade(&self) -> bool {
        if let Some(file) = self.named_file() {
            return std::fs::symlink_metadata(file).is_err();
        }
        let embedded = self.setting.as_ref().is_ok_and(|setting| setting.address == Address::Embedded);
        let there = |state: &StateDir| state.path().join("locked.db").exists();
        embedded && matches!(&self.state, Ok(state) if !state.as_ref().is_some_and(there))
    }

    /// The file of the store, where one is named.
    pub(super) fn named_file(&self) -> Option<&Path> {
        match &self.setting.as_ref().ok()?.address {
            Address::Text(text) => store::named_file(text),
            _ => None,
        }
    }

    /// The store that is set, opened once; none when it cannot be opened or was not made yet.
    pub(super) fn store(&self) -> Result<Option<RefMut<'_, Box<dyn Store>>>, StoreError> {
        if self.is_unmade() {
            return Ok(None);
        }
        let Ok(setting) = &self.setting else { return Ok(None) };
        if self.store.borrow().is_none() {
            let state = match &self.state {
                Ok(Some(state)) => state.clone(),
                // A store needs one for what it cannot be told, and looking makes none that stays.
                Ok(None) => self.passing_state()?,
                Err(_) => return Ok(None),
            };
            *self.store.borrow_mut() = Some(run::open_untold(self.context, &state, setting)?);
        }
        Ok(RefMut::filter_map(self.store.borrow_mut(), Option::as_mut).ok())
    }

    /// A state directory for as long as we look.
    fn passing_state(&self) -> Result<StateDir, StoreError> {
        let failed = |error: std::io::Error| StoreError::Failed(format!("no temporary directory can be made: {error}"));
        let directory = match self.passing.get() {
            Some(made) => made,
            None => {
                let made = tempfile::Builder::new().prefix("locked-doctor-").tempdir().map_err(failed)?;
                self.passing.get_or_init(|| made)
            }
        };
        let path = directory.path().as_os_str().to_owned();
        let env = env_of(self.context);
        StateDir::open(&|name| if name == "LOCKED_STATE_DIR" { Some(path.clone()) } else { env(name) })
    }

    /// Asks the store something; none when there is none to ask, or it does not answer. What one question found out is not
    /// waited for again.
    pub(super) fn ask<T>(&self, question: impl FnOnce(&mut dyn Store, Duration) -> Result<T, StoreError>) -> Option<T> {
        if self.silent.get() {
            return None;
        }
        let mut store = self.store().ok().flatten()?;
        let answer = question(store.as_mut(), self.call());
        self.silent.set(answer.is_err());
        answer.ok()
    }

    /// The store did not answer: nobody waits for it again.
    pub(super) fn give_up_store(&self) {
        self.silent.set(true);
    }

    /// How long one call may take now.
    pub(super) fn call(&self) -> Duration {
        CALL.min(self.left()).max(Duration::from_millis(100))
    }

    /// What is left of the time.
    pub(super) fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// The files of the repository that matter, found once.
    pub(super) fn survey(&self) -> &Survey {
        self.survey.get_or_init(|| Survey::of(self))
    }

    /// Where shims lie.
    pub(super) fn shims(&self) -> Vec<PathBuf> {
        folder::folders(self.context)
    }
}

pub(super) fn is_asked(asked: &Asked, check: &str) -> bool {
    asked.checks.is_empty() || asked.checks.contains(&check)
}
