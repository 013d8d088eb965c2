//! `lineage`: may this version of a file be written upon, or is a newer one known that would be lost? Pure: from the chain of
//! receipts, the version at hand, and what the world around says of where a newer one is.
//!
//! | the version is | then |
//! |---|---|
//! | the newest, or the path has no chain | go |
//! | unknown, and in no ref | unknown: the settings say what then |
//! | unknown, but it came by git | go |
//! | older, and the newest exists nowhere any more | go, "discarded" |
//! | older, the newest is out of sight for a day, and a fetch since has not brought it | go, "discarded" |
//! | older, and the newest lies behind: in the history of HEAD | go: a revert |
//! | older, and the newest is only on another unmerged branch | go, "diverged" |
//! | older otherwise | stale: who wrote the newer one, and how to bring it |
//!
//! A chain is of all branches and checkouts together, so the newest link may be of another branch while one before it is
//! of this one. Every link that came after the version at hand is looked at, the newest first, and one that would be lost
//! is enough.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;

use crate::store::{ReceiptKind, StoredReceipt};
use crate::terms::Digest;

/// How long a version that another host wrote may be out of sight before it counts as discarded, if nothing that was fetched
/// since has brought it: 24 hours, by the store's clock and ours, which may differ by minutes.
pub const OUT_OF_SIGHT_MS: i64 = 24 * 60 * 60 * 1000;

/// So many links are looked at, at most. What lies behind them may be lost as well, so nothing passes there.
const MOST: usize = 4096;

/// Whether the chain knows this version: as a result, or as a base.
#[must_use]
pub fn knows(chain: &[StoredReceipt], version: &Digest) -> bool {
    chain.iter().any(|it| it.new == *version || it.base.as_ref() == Some(version))
}

/// By what the version is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base<'a> {
    /// The file at hand holds it.
    File,
    /// It was read earlier, and its plaintext is what will be encrypted. The file may hold another one by now.
    Read,
    /// The file at hand was made from it, past us.
    Under,
    /// Another file holds it, or what was made from it, and will be put over the file at hand.
    Put {
        /// What the file at hand holds, which is lost with that.
        over: Option<&'a Digest>,
        /// Who does it, as receipts name their holders at the beginning: what one wrote oneself one may take back.
        by: &'a str,
    },
}

/// What is judged.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// The chain of the path, newest first.
    pub chain: &'a [StoredReceipt],
    /// The version; none where there is no file.
    pub version: Option<&'a Digest>,
    /// By what it is known.
    pub base: Base<'a>,
    /// This host.
    pub host: &'a str,
    /// The root of the work tree, if the file lies in one.
    pub worktree: Option<&'a str>,
    /// Wall clock, ms since 1970.
    pub now_ms: i64,
}

/// What git and the work trees of this host say.
pub trait World {
    /// Is the version at hand in some ref, or staged?
    fn came_by_git(&mut self) -> bool;

    /// Is the version at hand what HEAD has of the file?
    fn is_at_head(&mut self) -> bool;

    /// Where is the version that this receipt is of? `moved_on`: its writer's file is known to have gone on to another one.
    fn whereabouts(&mut self, receipt: &StoredReceipt, moved_on: bool) -> Whereabouts;
}

/// Where a version is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whereabouts {
    /// In the history of HEAD for this path, or of a branch that has gone back to the version at hand since.
    Behind,
    /// On this branch, its upstream, the default branch, or in a working file of one of them.
    Ahead(Way),
    /// On other branches only: one of them.
    Elsewhere(String),
    /// Its writer's place can be looked at from here, neither that nor any ref has it, and it was pushed to nobody.
    Nowhere,
    /// Its writer's place cannot be looked at, or cannot tell whether it was pushed; and no ref here has it.
    OutOfSight {
        /// It was written on this branch, its upstream or the default branch, or nobody knows on which.
        ours: bool,
        /// What would have brought it was fetched since it was written, or there is nothing to fetch from.
        fetched: bool,
        /// What would bring it, if it is still there.
        way: Way,
    },
    /// git is needed to tell, and cannot: why.
    Untold(String),
}

/// What brings a version here. Names are as git takes them, paths as the system does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// Merging this.
    Merge(String),
    /// Taking the file out of this.
    Checkout(String),
    /// Taking the file out of HEAD, past a sparse checkout.
    PastSparse,
    /// Taking the file out of the index, where it is staged.
    FromIndex {
        /// What lies here is plaintext, which is put aside first.
        aside: bool,
    },
    /// Fetching and merging what the branch follows, or this branch of this remote.
    Pull {
        /// Remote and branch, where the upstream is not what has it.
        from: Option<(String, String)>,
        /// There are commits of our own, so that git wants to be told how to join.
        diverged: bool,
    },
    /// Fetching, and taking the file out of this: nothing is lost with the file that lies here.
    FetchAndCheckout {
        /// The remote, or the place of a clone.
        remote: String,
        /// The branch, where the remote's own setting does not name it.
        branch: Option<String>,
        /// The ref after the fetch.
        from: String,
    },
    /// Fetching whatever branches this remote has: which one it may be on is not known here yet.
    Fetch(String),
    /// This clone has only the newest part of the history of this remote: fetching the rest, and then this.
    FetchWhole {
        /// The remote.
        remote: String,
        /// The rest.
        then: Box<Self>,
    },
    /// What lies here is an older version that some commit has, and HEAD has one that the newer one was not made from: putting
    /// HEAD's back, and then this.
    BackToHead(Box<Self>),
    /// Other files have uncommitted work: git puts that aside for this merge or pull, and brings it back.
    PastOthers(Box<Self>),
    /// What lies here is committed nowhere: committing it, and then this.
    CommitHere(Box<Self>),
    /// What lies here is plaintext, which may hold an edit: putting it aside, and then this.
    PutAside(Box<Self>),
    /// git is in the middle of something here: ending that first.
    EndFirst,
    /// It is not committed yet: committing it in that work tree, and then this.
    CommitThere {
        /// That work tree.
        worktree: String,
        /// It must be pushed, too: that is another clone, whose branch follows one of a remote.
        push: bool,
        /// The rest.
        then: Box<Self>,
    },
    /// It is committed and not pushed yet: pushing it from that work tree, and then this.
    PushThere {
        /// That work tree.
        worktree: String,
        /// The rest.
        then: Box<Self>,
    },
    /// It is committed in that clone, whose branch cannot simply be pushed: fetching and merging it from there.
    PullThere {
        /// Where that clone is.
        place: String,
        /// Its branch.
        branch: String,
    },
    /// It is not committed yet, and git is in the middle of something in that work tree: somebody must end that there.
    EndThere {
        /// That work tree.
        worktree: String,
    },
    /// Everything that was pushed is here, and it is not among that: somebody must push it over there.
    AskThere {
        /// That host.
        host: String,
        /// The work tree there.
        worktree: Option<String>,
        /// Remote and branch that it will come by, where the upstream is not that.
        from: Option<(String, String)>,
    },
    /// There are more versions than are looked at.
    TooMany,
    /// It is here already, and the plaintext is of an older one: reading it again.
    ReadAgain,
    /// git would know.
    Git(String),
}

/// What is told, going on.
#[derive(Debug, Clone)]
pub enum Note<'a> {
    /// A newer version exists nowhere any more.
    Discarded(&'a StoredReceipt),
    /// A newer version is on this other branch.
    Diverged(&'a StoredReceipt, String),
}

/// The verdict.
#[derive(Debug, Clone)]
#[must_use]
pub enum Verdict<'a> {
    /// Go.
    Go(Vec<Note<'a>>),
    /// It was changed outside of `locked`.
    Unknown,
    /// This newer version would be lost.
    Stale {
        /// Its receipt.
        newer: &'a StoredReceipt,
        /// What brings it.
        way: Way,
    },
}

/// Judges. The world is asked only where the chain alone does not say it.
pub fn judge<'a>(case: &Case<'a>, world: &mut dyn World) -> Verdict<'a> {
    let Some(newer) = newer(case) else {
        let known = case.base != Base::Read && world.came_by_git();
        return if known { Verdict::Go(Vec::new()) } else { Verdict::Unknown };
    };
    let mut settled: BTreeSet<&Digest> = case.version.into_iter().collect();
    let (mut discarded, mut diverged) = (None, None);
    // What was made from these is there to be seen, on another branch.
    let mut carried = BTreeSet::new();
    let mut looked_at = 0;
    for receipt in newer.iter().filter(|receipt| !is_word(receipt)) {
        if !settled.insert(&receipt.new) {
            continue;
        }
        looked_at += 1;
        if looked_at > MOST {
            return Verdict::Stale { newer: receipt, way: Way::TooMany };
        }
        match of_one(case, newer, receipt, carried.contains(&receipt.new), world) {
            One::Contained => settled.extend(ancestors(case.chain, &receipt.new)),
            One::Discarded => discarded = discarded.or(Some(Note::Discarded(receipt))),
            One::Diverged { branch, seen } => {
                diverged = diverged.or(Some(Note::Diverged(receipt, branch)));
                if seen {
                    carried.extend(ancestors(case.chain, &receipt.new));
                }
            }
            One::Lost(way) => return Verdict::Stale { newer: receipt, way },
        }
    }
    Verdict::Go(diverged.into_iter().chain(discarded).collect())
}

/// The links that came after the version, newest first; none when the chain does not know it. Whoever made it anew made it
/// the newest of that moment. What only ever was a base may have been one for several branches: all that began there came
/// after it.
fn newer<'a>(case: &Case<'a>) -> Option<&'a [StoredReceipt]> {
    let (chain, version) = (case.chain, case.version);
    if chain.is_empty() {
        return Some(&[]);
    }
    let Some(version) = version else { return Some(chain) };
    // That a person has accepted an older version makes no newer one of it for others.
    let made = chain.iter().position(|receipt| receipt.new == *version && !is_word(receipt));
    let built_on = || chain.iter().rposition(|receipt| receipt.base.as_ref() == Some(version)).map(|at| at + 1);
    made.or_else(built_on).map(|count| &chain[..count])
}

/// A receipt of no write: a person has accepted that version as the base of the next one.
fn is_word(receipt: &StoredReceipt) -> bool {
    receipt.kind == ReceiptKind::Accepted.as_str()
}

/// What becomes of one newer version.
enum One {
    Contained,
    Discarded,
    Diverged { branch: String, seen: bool },
    Lost(Way),
}

fn of_one(
    case: &Case<'_>,
    newer: &[StoredReceipt],
    receipt: &StoredReceipt,
    carried: bool,
    world: &mut dyn World,
) -> One {
    let is_here = receipt.host == case.host && receipt.worktree.as_deref() == case.worktree;
    let is_read = case.base == Base::Read;
    // Another branch was checked out, or a commit was reverted: what was read is what belongs here, and git has the other one.
    let is_kept = is_read && is_here && world.is_at_head();
    if is_read && is_here && !is_kept {
        // It was written into this very file since: what the file holds now has come after it.
        return One::Lost(Way::ReadAgain);
    }
    let same_place = |other: &StoredReceipt| other.host == receipt.host && other.worktree == receipt.worktree;
    let moved_on = newer.iter().any(|later| later.base.as_ref() == Some(&receipt.new) && same_place(later));
    let is_lost_here = || match case.base {
        Base::Put { over: Some(over), by } => {
            let held = *over == receipt.new || ancestors(case.chain, over).contains(&receipt.new);
            held && !receipt.holder.starts_with(by)
        }
        _ => false,
    };
    let is_old = case.now_ms.saturating_sub(receipt.at) >= OUT_OF_SIGHT_MS;
    match world.whereabouts(receipt, moved_on) {
        Whereabouts::Behind if is_read && !is_kept => One::Lost(Way::ReadAgain),
        Whereabouts::Behind => One::Contained,
        Whereabouts::Ahead(way) => One::Lost(way),
        Whereabouts::Elsewhere(branch) => One::Diverged { branch, seen: true },
        // Nobody but this very file has had it, and it may lie below the plaintext: what was not there when it was read may have
        // come back since (a stash that was taken out again, a copy).
        Whereabouts::Nowhere | Whereabouts::OutOfSight { .. } if is_kept => One::Lost(Way::ReadAgain),
        // Nobody else has it: it would be gone with the file at hand.
        Whereabouts::Nowhere | Whereabouts::OutOfSight { .. } if is_lost_here() => One::Lost(Way::ReadAgain),
        Whereabouts::Nowhere => One::Discarded,
        // It went on to that other branch. Its writer's file having gone on alone proves nothing: it may have been committed.
        Whereabouts::OutOfSight { fetched: true, .. } if moved_on && carried => One::Discarded,
        Whereabouts::OutOfSight { fetched: true, .. } if is_old => One::Discarded,
        Whereabouts::OutOfSight { ours: false, .. } => {
            let branch = receipt.branch.clone().unwrap_or_else(|| "another branch".to_owned());
            One::Diverged { branch, seen: false }
        }
        Whereabouts::OutOfSight { ours: true, way, .. } => One::Lost(way),
        Whereabouts::Untold(why) => One::Lost(Way::Git(why)),
    }
}

/// The versions that this one was built on, by the chain.
fn ancestors<'a>(chain: &'a [StoredReceipt], version: &Digest) -> BTreeSet<&'a Digest> {
    let mut found = BTreeSet::new();
    let mut look = vec![version];
    while let Some(version) = look.pop() {
        let bases = chain.iter().filter(|receipt| receipt.new == *version).filter_map(|receipt| receipt.base.as_ref());
        for base in bases {
            if found.insert(base) {
                look.push(base);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
