//! `locked`: a command proxy that takes a lease on what a command would change.
//!
//! The rooms, in the order in which data goes through them. No step reaches back.
//!
//! | room | what it is for |
//! |---|---|
//! | [`terms`] | the glossary as types |
//! | `platform` | what every system has in its own way, and more than one room needs |
//! | [`clock`] | the one reader of time |
//! | [`invocation`] | argv, environment, descriptors and signals as they were at entry: the one reader |
//! | [`program`] | which program is meant: the PATH walk that steps over ourselves |
//! | [`shell`] | what a shell script would run (pure) |
//! | [`rules`] | what the command line would change (pure) |
//! | [`compose`] | which project and which engine a line of docker means |
//! | [`naming`] | one file, one resource name: links, repositories, stems |
//! | [`git`] | what a repository says of a file: origin, branch, blob, HEAD |
//! | [`plan`] | pass through, or hold these resources on these terms |
//! | [`state`] | the state directory |
//! | [`store`] | where leases live |
//! | [`holder`] | who we are, and who is provably gone |
//! | [`lease`] | ask, wait, prove the base, hold |
//! | [`supervise`] | the keeper, the child, the tree |
//! | [`canary`] | is the result sound? |
//! | [`lineage`] | may a version be written upon, or would a newer one be lost? (pure) |
//! | [`notes`] | which version a session has read |
//! | [`copies`] | proven copies and pre-images, for restoring |
//! | [`settle`] | what becomes of the lease (pure) |
//! | [`exit`] | every exit status |
//! | [`run`] | the story: all of the above as one function |
//! | [`shims`] | links that stand in front of programs on PATH |
//! | [`doctor`] | is everything as it must be for locks to be taken? |
//! | [`seam`] | the same as one call, for programs of one's own |
//! | [`cli`] | the command line and its verbs |
//! | [`agents`] | coding agents: what their hooks are told, and what stands in their settings |
//! | [`audit`] | what git is about to take in, or has taken in |
//! | [`hooks`] | git's hooks: put there, taken away |
//! | [`report`] | our own words |

pub mod agents;
pub mod audit;
pub mod canary;
pub mod cli;
pub mod clock;
pub mod compose;
pub mod config;
pub mod copies;
pub mod doctor;
pub mod exit;
pub mod git;
pub mod holder;
pub mod hooks;
pub mod invocation;
pub mod lease;
pub mod lineage;
pub mod naming;
pub mod notes;
pub mod plan;
mod platform;
pub mod program;
pub mod report;
pub mod rules;
pub mod run;
pub mod seam;
pub mod settle;
pub mod shell;
pub mod shims;
pub mod state;
pub mod store;
pub mod supervise;
pub mod terms;
