//! `report`: our own words. They go to standard error alone, and only when we waited, warn, keep, refuse or lose.
#![forbid(unsafe_code)]

mod agent;
mod busy;
mod refusal;
mod rotation;
mod sandbox;
mod telling;
mod time;
mod waiting;
mod word;

pub use agent::{ByHand, by_hand, left_bad, nameless, opened_blindly, unseen};
pub use busy::{NAMELESS, busy, quarantined};
pub use refusal::{Refusal, misconfigured, misuse, no_session, store_down};
pub use rotation::{
    consumers_left, issue_closed, issue_unknown, listed, lost_before, not_completed_by_force, reconcile,
    rotation_not_ours,
};
pub use sandbox::{Sandbox, in_sandbox};
pub use telling::{
    beyond, died_loose, editor_loop, followed_no_more, follows, holding, kept_by_keeper, loose, lost, lost_by_the_end,
    lost_later, no_lease, not_counted, settled, stuck, taken_above, telling, unheard, unwatched,
};
pub use time::{clock_time, day_and_time, rough_span};
pub use waiting::Waiting;
pub use word::say_words;

use std::cell::RefCell;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

/// How much we say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Voice {
    /// `-q`: nothing.
    Quiet,
    /// Only when it matters.
    Ready,
    /// `-v`: also what went well.
    Verbose,
}

/// Set once at the door by `-q`, for every word that is said anywhere after.
static HUSHED: AtomicBool = AtomicBool::new(false);

/// From here on nothing is said.
pub fn hush() {
    HUSHED.store(true, Ordering::Relaxed);
}

/// Whether what is said is heard by nobody.
fn is_hushed() -> bool {
    HUSHED.load(Ordering::Relaxed) && HEARD.with(|heard| heard.borrow().is_none())
}

thread_local! {
    /// What this thread has said, while somebody wants to hear it.
    static HEARD: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Does some work, and hears what is said meanwhile on this thread instead of having it on standard error.
pub fn overhear<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    let before = HEARD.with(|heard| heard.replace(Some(Vec::new())));
    let done = work();
    let said = HEARD.with(|heard| heard.replace(before));
    (done, said.unwrap_or_default())
}

/// Writes to standard error, unless hushed. Nobody may be listening there (a closed descriptor, a full pipe); that changes
/// nothing.
pub fn say(text: &str) {
    let heard = HEARD.with(|heard| heard.borrow_mut().as_mut().map(|said| said.push(text.to_owned())));
    if heard.is_some() || is_hushed() {
        return;
    }
    write(text);
}

/// The same whatever `-q` and its twin say: for what is never done in silence.
pub fn insist(text: &str) {
    let heard = HEARD.with(|heard| heard.borrow_mut().as_mut().map(|said| said.push(text.to_owned())));
    if heard.is_none() {
        write(text);
    }
}

fn write(text: &str) {
    let _nobody_may_listen = writeln!(std::io::stderr().lock(), "{text}");
}
