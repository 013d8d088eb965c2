//! Many contents looked at by as many hands as there are processors: parsing costs more than reading.
#![forbid(unsafe_code)]

use std::sync::mpsc::{TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder};

use super::super::Door;
use crate::git::GitError;

/// So few are looked at sooner than another thread is started.
const FEW: usize = 64;

/// So many contents are handed over at once, or so many bytes of them: each time somebody must wake.
const MOST: usize = 64;
const MOST_BYTES: usize = 1 << 20;

/// Contents by their places; none for what is not here.
type Heap = Vec<(usize, Option<Vec<u8>>)>;

impl Door {
    /// What `look` makes of each of these blobs, in their order; it gets no content of what is not here. Where they are many
    /// other threads help, which have ended when this returns.
    ///
    /// # Errors
    /// git cannot be started, or fails.
    pub(in crate::audit) fn looked_at<T: Send>(
        &self,
        blobs: &[&str],
        look: impl Fn(&str, Option<&[u8]>) -> T + Sync,
    ) -> Result<Vec<T>, GitError> {
        let others =
            if blobs.len() <= FEW { 0 } else { thread::available_parallelism().map_or(0, |all| all.get() - 1) };
        let done = |heap: Heap| -> Vec<(usize, T)> {
            heap.into_iter().map(|(at, content)| (at, look(blobs[at], content.as_deref()))).collect()
        };
        let (give, take) = sync_channel::<Heap>(others);
        let take = Mutex::new(take);
        let given = || take.lock().unwrap_or_else(PoisonError::into_inner).recv().ok();
        let hand = || std::iter::from_fn(given).flat_map(done).collect::<Vec<_>>();
        let mut all = thread::scope(|scope| {
            // Where the system has no thread for us, the rest is done here.
            let others: Vec<_> = (0..others).map_while(|_| Builder::new().spawn_scoped(scope, hand).ok()).collect();
            let (mut own, mut heap, mut bytes) = (Vec::with_capacity(blobs.len()), Heap::new(), 0);
            let mut places = 0..;
            self.contents(blobs, |_, content| {
                bytes += content.as_ref().map_or(0, Vec::len);
                heap.extend(places.next().map(|at| (at, content)));
                if heap.len() >= MOST || bytes >= MOST_BYTES {
                    bytes = 0;
                    // Who reads helps when the others have enough to do: then git waits.
                    match give.try_send(std::mem::take(&mut heap)) {
                        Ok(()) => {}
                        Err(TrySendError::Full(heap) | TrySendError::Disconnected(heap)) => own.extend(done(heap)),
                    }
                }
            })?;
            own.extend(done(heap));
            drop(give);
            own.extend(hand());
            for other in others {
                own.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            Ok(own)
        })?;
        all.sort_unstable_by_key(|(at, _)| *at);
        Ok(all.into_iter().map(|(_, made)| made).collect())
    }
}
