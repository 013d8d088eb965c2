//! `terms`: the glossary as types. Pure values, no I/O; every other room speaks these words.
//!
//! A *resource* is what is protected; a *lease* is one holder's right to one resource for a time; a *grant* is one
//! request answered over one or several resources (all or none); a *session* is one identity over many commands; a
//! *token* is the fencing token, which grows with every grant of a resource.
#![forbid(unsafe_code)]

mod digest;
mod done;
mod duration;
pub(crate) mod go_regex;
mod identity;
mod issue;
mod quote;
mod resource;
mod said;
mod span;
mod times;
mod value;

/// The variable by which a call is followed through shims that are not ours: `LOCKED_IN=PROCESS:…`. The room `program`
/// writes and reads it.
pub const CHAIN: &str = "LOCKED_IN";

pub use digest::Digest;
pub use done::Done;
pub use duration::{DurationError, parse_duration, show_duration};
pub use identity::{FencingToken, GrantId, LeaseKey, SessionId};
pub use issue::{Issue, NoIssue};
pub use quote::{is_one_word, shell_path, shell_quote};
pub use resource::{Resource, ResourceName, ResourceNameError, Scope, percent_decode, percent_encode, shows_as_itself};
pub use said::{NotSaid, said, said_somehow, shows, without_secrets};
pub use span::Span;
pub use times::{Times, TimesError};
pub use value::may_hold_a_secret;
