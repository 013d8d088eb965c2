//! How a version of a file stands to the chain of its path, with the world around asked where that is needed.
#![forbid(unsafe_code)]

use crate::clock::Clock as _;
use crate::lineage::{self, Base, Case, Verdict};
use crate::naming::Target;
use crate::report::{self, Refusal, Voice};
use crate::state::StateDir;
use crate::store::StoredReceipt;
use crate::terms::Digest;

use super::super::{Context, env_of};
use super::around::{Around, Machine};
use super::{step, words};

/// A version of a file.
#[derive(Debug, Clone, Copy)]
pub struct AtHand<'a> {
    /// The file.
    pub target: &'a Target,
    /// As people know it.
    pub shown: &'a str,
    /// What it holds; none where that is not known, or where there is no file.
    pub content: Option<&'a [u8]>,
    /// The version that is judged; none where there is no file.
    pub version: Option<&'a Digest>,
    /// By what it is known.
    pub base: Base<'a>,
}

/// How it stands.
#[derive(Debug)]
#[must_use]
pub(super) enum Standing {
    /// It may be written upon. What is worth a line has been said.
    Fine,
    /// It was changed outside of `locked`.
    Unknown,
    /// A newer version would be lost.
    Stale(Box<Refusal>),
}

/// Looks. `chain` is newest first.
pub(super) fn standing(context: &Context, host: &str, at_hand: &AtHand<'_>, chain: &[StoredReceipt]) -> Standing {
    let (standing, notes) = look(context, host, at_hand, chain);
    for note in notes.iter().filter(|_| context.voice >= Voice::Ready) {
        report::say(note);
    }
    standing
}

/// The same for who only wants to know whether a newer version would be lost: nothing is said.
pub fn would_lose(
    context: &Context,
    host: &str,
    at_hand: &AtHand<'_>,
    chain: &[StoredReceipt],
) -> Option<Box<Refusal>> {
    match look(context, host, at_hand, chain).0 {
        Standing::Stale(refusal) => Some(refusal),
        Standing::Fine | Standing::Unknown => None,
    }
}

/// How it stands, and what is worth a line.
fn look(context: &Context, host: &str, at_hand: &AtHand<'_>, chain: &[StoredReceipt]) -> (Standing, Vec<String>) {
    let AtHand { target, shown, content, version, base } = *at_hand;
    let env = env_of(context);
    let state = StateDir::existing(&env).ok().flatten();
    let host_id = state.as_ref().map(|state| state.host_id(context.clock.as_ref()));
    let machine = Machine { host, host_id: host_id.as_deref(), state: state.as_ref() };
    let mut around = Around::of(target, machine, &env, content, version);
    let is_known = |version: &Digest| lineage::knows(chain, version);
    let known_as = version.filter(|version| !is_known(version)).and_then(|_| around.known_as(chain));
    let version = known_as.as_ref().or(version);
    let worktree = target.worktree().map(|root| root.display().to_string());
    let now_ms = context.clock.wall_ms();
    let case = Case { chain, version, base, host, worktree: worktree.as_deref(), now_ms };
    match lineage::judge(&case, &mut around) {
        Verdict::Go(notes) => (Standing::Fine, notes.iter().map(|note| words::note(note, shown)).collect()),
        Verdict::Stale { newer, way } => {
            let step = step::step(&way, target, &context.invocation.cwd, shown, base);
            (Standing::Stale(Box::new(words::stale(newer, shown, base, step))), Vec::new())
        }
        Verdict::Unknown => (Standing::Unknown, Vec::new()),
    }
}
