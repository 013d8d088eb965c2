//! `audit`: what git is about to take in, or has taken in. For each version of a file: must it be SOPS, is it whole, can
//! those decrypt it whom `.sops.yaml` names, and was it written under a lease? One door asks git; what comes in by it is
//! judged by pure functions. Whether there are receipts, the caller asks the store: only of versions that are new, and
//! only if there are any.
//!
//! What is looked at is the content that git holds, never the working tree. Three things can make a file one that must
//! be SOPS: its content now or before the change, a creation rule that means its path, or a name that ends in `.sops`.
//! Files of a kind that sops does not write (source code, prose, pictures…) are judged by the last two alone.
#![forbid(unsafe_code)]

mod bared;
mod change;
mod copied;
mod demand;
mod demanded;
mod door;
mod finding;
mod history;
mod judge;
mod lost;
mod reading;
mod sealed;
mod seen;
mod staged;
mod written;

pub use change::{Change, Commit, Kind};
pub use demanded::demands;
pub use door::Door;
pub use finding::{Finding, Wrong};
pub use history::{Audited, commits, commits_and_copies, tree, without_reverts};
pub use lost::lost;
pub use sealed::{by_content, is_resealed, resealed};
pub use staged::{Staged, staged};
pub use written::{Chains, Known, Version, Wanted, Written, is_older_than_its_chain, odd, unlocked};
