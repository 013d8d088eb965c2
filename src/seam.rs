//! `seam`: a lease for a piece of code in one's own program. The wrapper is for commands; this is the same protocol as one
//! call.
//!
//! It promises: the closure runs only under a confirmed lease on all of its resources; the lease is renewed meanwhile; when
//! the closure ends it is released, when it panics it is released as failed, and when it was lost the caller is told, also
//! when the closure thought that all was well. A thread cannot be stopped from outside, so what must not happen without the
//! lease asks [`Held::is_ours`] first.
#![forbid(unsafe_code)]

mod beat;
mod error;
mod options;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use crate::clock::{Clock, SystemClock};
use crate::lease::{self, Asker, Notice, Obtained};
use crate::run;
use crate::store::{Claim, Ended, Holding, Release, Request, Word};
use crate::terms::{FencingToken, LeaseKey, Resource};

use beat::{Beat, Shared};
pub use error::SeamError;
pub use options::LeaseOptions;

/// The lease, as the closure sees it.
#[derive(Debug)]
pub struct Held {
    tokens: Vec<(Resource, FencingToken)>,
    words: Vec<Word>,
    shared: Arc<Shared>,
}

impl Held {
    /// Is it still ours, as far as this process can know? False from the moment that a renew found it lost, and from the
    /// renew deadline on when the store does not answer. Asks nobody, so it may be asked as often as one likes.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.shared.is_ours()
    }

    /// The fencing token of each resource, in resource order: what the store gave out, greater than any before it.
    #[must_use]
    pub fn tokens(&self) -> &[(Resource, FencingToken)] {
        &self.tokens
    }

    /// Words that others left for this session (`locked status --ping`), told with this grant and never again: it is for the
    /// program to show them.
    #[must_use]
    pub fn words(&self) -> &[Word] {
        &self.words
    }
}

/// Runs `work` under a lease on all of these resources.
///
/// Asks for all or none, waits in line for as long as [`LeaseOptions::wait`] says, confirms the grant by a renew, and then
/// calls `work` on this thread while another one renews. A process that dies without a word leaves the lease to its TTL.
///
/// # Errors
/// [`SeamError::Busy`] when others have it and the wait is over, [`SeamError::Quarantined`] when a file of it is bad,
/// [`SeamError::Store`] when the store cannot say "yours": `work` was not called. [`SeamError::Lost`] when the lease was
/// lost while `work` ran; what it returned is dropped, since another one may have written meanwhile. [`SeamError::Unsettled`]
/// when it was ours to the end and only the release could not be told to the store.
///
/// # Panics
/// When `work` does; the lease has been released as failed by then.
///
/// # Examples
///
/// ```
/// use locked::seam::{LeaseOptions, with_lease};
/// use locked::terms::{Resource, ResourceName, Scope};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # let directory = directory.path().join("state");
/// let deploys = Resource { name: ResourceName::of("server", b"web-1"), scope: Scope::global() };
/// let options = LeaseOptions::embedded(&directory).operation("deploy web-1");
/// let token = with_lease(&[deploys], &options, |held| {
///     // … a long piece of work; then, right before what cannot be taken back:
///     assert!(held.is_ours());
///     held.tokens()[0].1
/// })?;
/// assert!(token.0 > 0);
/// # Ok(())
/// # }
/// ```
///
/// The store that this machine's settings name, as `locked` itself would take it:
///
/// ```no_run
/// # use locked::{seam::{LeaseOptions, SeamError, with_lease}, terms::{Resource, ResourceName, Scope}};
/// let options = LeaseOptions::from_env(&|name| std::env::var_os(name));
/// let backups = Resource { name: ResourceName::of("job", b"backup"), scope: Scope::global() };
/// match with_lease(&[backups], &options, |_| println!("ours")) {
///     Ok(()) => {}
///     Err(SeamError::Busy(who)) => println!("another time: {who}"),
///     Err(error) => eprintln!("{error}"),
/// }
/// ```
pub fn with_lease<T>(
    resources: &[Resource],
    options: &LeaseOptions<'_>,
    work: impl FnOnce(&Held) -> T,
) -> Result<T, SeamError> {
    let clock = Arc::new(SystemClock::new());
    let times = options.times().map_err(|error| SeamError::Misused(error.to_string()))?;
    let (state, mut store) = options.open(&clock)?;
    let host_id = state.host_id(clock.as_ref());
    let key = LeaseKey::random().map_err(|error| SeamError::Misused(format!("no random key: {error}")))?;
    let mut resources = resources.to_vec();
    resources.sort();
    resources.dedup();
    if resources.is_empty() {
        return Err(SeamError::Misused("no resource was named".to_owned()));
    }
    let ask = if options.asks() { resources.clone() } else { Vec::new() };
    let owner = options.owner(host_id.clone());
    let request =
        Request { ask, ..Request::without_a_command(key.clone(), owner, Claim::Command, resources, &times, None) };
    let grant = request.grant;
    let witness = run::retry_witness(&state, &host_id);
    let mut notice = |_: Notice<'_>| {};
    let mut asker = Asker { store: store.as_mut(), clock: clock.as_ref(), witness: &witness, notice: &mut notice };
    let (tokens, words) = match lease::acquire(request, options.patience(), &mut asker)? {
        Obtained::Granted { granted, .. } => (granted.tokens, granted.words),
        Obtained::Busy(busy) => return Err(SeamError::busy(&busy)),
        Obtained::Quarantined(busy) => return Err(SeamError::quarantined(&busy)),
    };
    let holding = Holding::Grant { grant, key, resources: tokens.clone() };
    // A first grant is short, so that who dies right after it blocks nobody for long: the work begins with a full one.
    let mut beat = Beat::confirmed(store, holding, times, Arc::clone(&clock) as Arc<dyn Clock + Send + Sync>)?;
    let held = Held { tokens, words, shared: beat.shared() };
    beat.start()?;
    let done = catch_unwind(AssertUnwindSafe(|| work(&held)));
    let was_ours = held.is_ours();
    let settled = beat.end(if done.is_ok() { Ended::Completed } else { Ended::Failed });
    let value = match done {
        Ok(value) => value,
        Err(panic) => resume_unwind(panic),
    };
    match settled {
        Ok(Release::Released) if was_ours => Ok(value),
        Ok(_) => Err(SeamError::Lost),
        Err(_) if !was_ours => Err(SeamError::Lost),
        Err(error) => Err(SeamError::Unsettled(error)),
    }
}
