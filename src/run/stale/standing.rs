//! How a version of a file stands to the chain of its path, with the world around asked where that is needed.
#![forbid(unsafe_code)]

use crate::clock::Clock as _;
use crate::lineage::{self, Base, Case, Verdict};
use crate::naming::Target;
use crate::report::{self, Refusal, Voice};
use crate::store::StoredReceipt;
use crate::terms::Digest;

use super::super::{Context, env_of};
use super::around::Around;
use super::words;

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
    /// It lies in its place as given.
    pub is_there: bool,
}

/// How it stands.
#[derive(Debug)]
#[must_use]
pub enum Standing {
    /// It may be written upon. What is worth a line has been said.
    Fine,
    /// It was changed outside of `locked`.
    Unknown,
    /// A newer version would be lost.
    Stale(Box<Refusal>),
}

/// Looks. `chain` is newest first.
pub fn standing(context: &Context, host: &str, at_hand: &AtHand<'_>, chain: &[StoredReceipt]) -> Standing {
    let AtHand { target, shown, content, version, base, is_there } = *at_hand;
    let env = env_of(context);
    let mut around = Around::of(target, host, &env, content, is_there);
    let worktree = target.worktree().map(|root| root.display().to_string());
    let now_ms = context.clock.wall_ms();
    let case = Case { chain, version, base, host, worktree: worktree.as_deref(), now_ms };
    match lineage::judge(&case, &mut around) {
        Verdict::Go(notes) => {
            for note in notes.iter().filter(|_| context.voice >= Voice::Ready) {
                report::say(&words::note(note, shown));
            }
            Standing::Fine
        }
        Verdict::Stale { newer, way } => {
            let next = words::next(&way, target, &context.invocation.cwd, shown);
            Standing::Stale(Box::new(words::stale(newer, shown, base, &next)))
        }
        Verdict::Unknown => Standing::Unknown,
    }
}
