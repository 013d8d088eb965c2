//! On what terms a lease is asked for, and where.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::clock::SystemClock;
use crate::config::{self, Places, StoreSetting};
use crate::holder::ProcFs;
use crate::lease::Patience;
use crate::program::{self, FileId};
use crate::run::{self, Tools};
use crate::state::StateDir;
use crate::store::{self, Owner, Store, StoreError};
use crate::terms::{SessionId, Times, TimesError, said_somehow};

use super::SeamError;

/// What tells sops where its keys are, beside what this process has. Source: the manual of sops, "Usage".
const KEYS: [&str; 17] = [
    "HOME",
    "XDG_CONFIG_HOME",
    "SOPS_AGE_KEY",
    "SOPS_AGE_KEY_FILE",
    "SOPS_AGE_KEY_CMD",
    "SOPS_AGE_SSH_PRIVATE_KEY_FILE",
    "SOPS_AGE_SSH_PRIVATE_KEY_CMD",
    "SOPS_GPG_EXEC",
    "GNUPGHOME",
    "AWS_PROFILE",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_CREDENTIALS",
    "AZURE_TENANT_ID",
    "AZURE_CLIENT_ID",
    "AZURE_CLIENT_SECRET",
    "VAULT_ADDR",
    "VAULT_TOKEN",
];

/// Where variables come from.
type Env<'a> = Arc<dyn Fn(&str) -> Option<OsString> + 'a>;

/// The terms; every one has a ready value.
#[derive(Clone)]
pub struct LeaseOptions<'a> {
    env: Env<'a>,
    session: SessionId,
    label: String,
    operation: String,
    ttl: Option<Duration>,
    wait: Duration,
    asks: bool,
}

impl std::fmt::Debug for LeaseOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LeaseOptions")
            .field("operation", &self.operation)
            .field("ttl", &self.ttl)
            .finish_non_exhaustive()
    }
}

impl<'a> LeaseOptions<'a> {
    /// In the store that `locked` would take with this environment: `LOCKED_STORE`, else what the machine's and the user's
    /// settings name, else the embedded one in the state directory. An address in a SOPS file is read by the real sops on
    /// `PATH`: of the variables of this process, and of those by which sops finds keys, it gets what `env` says. A way
    /// through ssh is taken by the real ssh on `PATH`, in the environment of this process. Both are started and reaped
    /// here.
    #[must_use]
    pub fn from_env(env: &'a (impl Fn(&str) -> Option<OsString> + 'a)) -> Self {
        Self::with(Arc::new(env))
    }

    /// In the embedded store in this directory, which is made (0700) if need be. Absolute, on a local file system.
    #[must_use]
    pub fn embedded(directory: &Path) -> LeaseOptions<'static> {
        let directory = directory.to_owned();
        LeaseOptions::with(Arc::new(move |name| match name {
            "LOCKED_STATE_DIR" => Some(directory.clone().into_os_string()),
            "LOCKED_STORE" => Some("embedded".into()),
            _ => None,
        }))
    }

    fn with(env: Env<'a>) -> Self {
        Self {
            env,
            session: SessionId(uuid::Uuid::new_v4()),
            label: format!("pid {}@{}", std::process::id(), ProcFs::host()),
            operation: "with_lease".to_owned(),
            ttl: None,
            wait: Duration::from_secs(30),
            asks: false,
        }
    }

    /// What others see of the work. It goes into the history: one line of at most 200 characters is kept, and what looks like
    /// a secret is not.
    #[must_use]
    pub fn operation(self, operation: &str) -> Self {
        Self { operation: said_somehow(operation), ..self }
    }

    /// Who asks, as others see it; ready: process id and host.
    #[must_use]
    pub fn label(self, label: &str) -> Self {
        Self { label: said_somehow(label), ..self }
    }

    /// The session; ready: one of its own. What a session holds by `locked acquire` is adopted by its work.
    #[must_use]
    pub fn session(self, session: SessionId) -> Self {
        Self { session, ..self }
    }

    /// How long the lease lives without a renew, 1 s to 24 h; ready: 30 minutes. It is renewed every sixth of that, at most
    /// every minute, and is no longer ours after two thirds of it without an answer.
    #[must_use]
    pub fn ttl(self, ttl: Duration) -> Self {
        Self { ttl: Some(ttl), ..self }
    }

    /// How long to wait in line; zero is one try; ready: 30 s.
    #[must_use]
    pub fn wait(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    /// Whether a person must say so (`locked steal`) before anybody else takes a lease over that this work left behind;
    /// ready: no, it is taken over once it has run out, or its holder is proven gone.
    #[must_use]
    pub fn ask_when_stale(self, asks: bool) -> Self {
        Self { asks, ..self }
    }

    pub(super) fn asks(&self) -> bool {
        self.asks
    }

    pub(super) fn times(&self) -> Result<Times, TimesError> {
        Times::new(self.ttl, None, None, None)
    }

    pub(super) fn patience(&self) -> Patience {
        if self.wait.is_zero() { Patience::None } else { Patience::Wait(self.wait) }
    }

    pub(super) fn owner(&self, host_id: String) -> Owner {
        Owner {
            session: self.session,
            label: self.label.clone(),
            host: ProcFs::host(),
            host_id,
            pid: std::process::id(),
            operation: self.operation.clone(),
            rule: None,
        }
    }

    /// The state directory and the store.
    pub(super) fn open(&self, clock: &Arc<SystemClock>) -> Result<(StateDir, Box<dyn Store + Send>), SeamError> {
        let env = self.env.as_ref();
        let setting = config::store(&env, &Places::around(&env, &[])).map_err(|error| {
            SeamError::Store(StoreError::Misnamed { why: error.to_string(), remedy: error.remedy() })
        })?;
        let setting = self.completed(setting)?;
        let state = StateDir::open(&env)?;
        let store = store::open(&setting, &env, &state, Arc::clone(clock) as _, run::outside(&state))?;
        Ok((state, store))
    }

    /// As `locked` itself would find it.
    fn completed(&self, setting: StoreSetting) -> Result<StoreSetting, StoreError> {
        // A process whose directory is gone still has its programs.
        let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        let real = |name: &str| {
            let (path, ourselves) = ((self.env)("PATH"), FileId::ourselves().ok()?);
            let found = program::resolve(OsStr::new(name), path.as_deref(), &cwd, ourselves).ok()?;
            Some(cwd.join(found.path))
        };
        let variables = || {
            let names = std::env::vars_os().map(|(name, _)| name).chain(KEYS.map(OsString::from));
            names.filter_map(|name| Some((name.clone(), (self.env)(name.to_str()?)?))).collect()
        };
        run::complete(setting, &Tools { real: &real, env: &variables, cwd: &cwd })
    }
}
