//! The thread that renews while the work is done.
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::clock::{Clock, Moment};
use crate::store::{Ended, Ending, Holding, Release, Renewal, Settlement, Store, StoreError};
use crate::terms::Times;

use super::SeamError;

/// How long one call of the store may take, at most; never longer than until the deadline.
const CALL: Duration = Duration::from_secs(10);

/// What both threads know of the lease.
pub(super) struct Shared {
    clock: Arc<dyn Clock + Send + Sync>,
    lost: AtomicBool,
    /// Until when it is ours without another renew, in milliseconds of the boot clock: it runs during suspend too.
    until: AtomicU64,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("lost", &self.lost).finish_non_exhaustive()
    }
}

impl Shared {
    /// Once it is not, it never is again: who was told "lost" has stopped.
    pub(super) fn is_ours(&self) -> bool {
        if self.left().is_zero() {
            self.lost.store(true, Ordering::SeqCst);
        }
        !self.lost.load(Ordering::SeqCst)
    }

    fn left(&self) -> Duration {
        self.clock.now().until(Moment(Duration::from_millis(self.until.load(Ordering::SeqCst))))
    }

    /// A renew that was sent then gave so much time.
    fn renewed(&self, sent: Moment, times: &Times, lasts: Duration) {
        let until = sent.after(times.stop_after(lasts)).0.as_millis();
        self.until.store(u64::try_from(until).unwrap_or(u64::MAX), Ordering::SeqCst);
    }
}

/// The holding, its store, and what it takes to keep it.
struct Keeper {
    store: Box<dyn Store + Send>,
    holding: Holding,
    times: Times,
    shared: Arc<Shared>,
}

/// How to end it, and what comes of that.
type Running = (mpsc::Sender<Ended>, JoinHandle<Result<Release, StoreError>>);

/// The beating heart of a lease.
pub(super) struct Beat {
    shared: Arc<Shared>,
    keeper: Option<Keeper>,
    running: Option<Running>,
}

impl Beat {
    /// A grant that a renew has confirmed.
    pub(super) fn confirmed(
        mut store: Box<dyn Store + Send>,
        holding: Holding,
        times: Times,
        clock: Arc<dyn Clock + Send + Sync>,
    ) -> Result<Self, SeamError> {
        let shared = Arc::new(Shared { clock, lost: AtomicBool::new(false), until: AtomicU64::new(0) });
        let sent = shared.clock.now();
        match store.renew(&holding, CALL)? {
            Renewal::Renewed(lasts) => shared.renewed(sent, &times, lasts),
            Renewal::Revoked | Renewal::Gone => return Err(SeamError::Busy("it was taken away at once".to_owned())),
        }
        let keeper = Keeper { store, holding, times, shared: Arc::clone(&shared) };
        Ok(Self { shared, keeper: Some(keeper), running: None })
    }

    pub(super) fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    /// From here another thread renews.
    pub(super) fn start(&mut self) -> Result<(), SeamError> {
        let Some(mut keeper) = self.keeper.take() else { return Ok(()) };
        let (sender, receiver) = mpsc::channel();
        let beats = move || {
            let ended = keeper.keep(&receiver);
            keeper.settle(ended)
        };
        let thread = std::thread::Builder::new().name("lease".to_owned()).spawn(beats);
        // The lease ends by itself: nobody is left who could tell the store.
        let thread = thread.map_err(|error| SeamError::Misused(format!("no thread can be started: {error}")))?;
        self.running = Some((sender, thread));
        Ok(())
    }

    /// The work is over: the lease ends so.
    pub(super) fn end(self, ended: Ended) -> Result<Release, StoreError> {
        let Some((sender, thread)) = self.running else { return Ok(Release::NotOurs) };
        // A thread that has given up hears nothing, and its answer stands.
        let _given_up = sender.send(ended);
        thread.join().unwrap_or_else(|_| Err(StoreError::Failed("the renewing thread broke".to_owned())))
    }
}

impl Keeper {
    /// Renews until the work is over. A store that does not answer is asked more often, until the deadline and beyond: what
    /// nobody took is still ours to settle.
    fn keep(&mut self, over: &mpsc::Receiver<Ended>) -> Ended {
        let mut pause = self.times.heartbeat;
        loop {
            match over.recv_timeout(pause) {
                Ok(ended) => return ended,
                Err(RecvTimeoutError::Disconnected) => return Ended::Failed,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if self.shared.lost.load(Ordering::SeqCst) {
                continue;
            }
            let was_ours = self.shared.is_ours();
            let sent = self.shared.clock.now();
            match self.store.renew(&self.holding, CALL.min(self.times.heartbeat.max(Duration::from_millis(100)))) {
                // Past the deadline the work has been told "lost": it stays so.
                Ok(Renewal::Renewed(lasts)) if was_ours => {
                    self.shared.renewed(sent, &self.times, lasts);
                    pause = self.times.heartbeat;
                }
                Ok(Renewal::Renewed(_) | Renewal::Revoked | Renewal::Gone) => {
                    self.shared.lost.store(true, Ordering::SeqCst);
                }
                Err(_) => pause = (self.times.heartbeat / 8).max(Duration::from_millis(10)),
            }
        }
    }

    fn settle(&mut self, ended: Ended) -> Result<Release, StoreError> {
        // Lost and said so: as failed, so that the history does not call it done.
        let ended = if self.shared.is_ours() { ended } else { Ended::Failed };
        self.store.settle(&self.holding, &Settlement::whole(Ending::Release(ended), Vec::new()), CALL)
    }
}
