//! Refusals: at most five lines, made for people and language models alike. What happened, why, whether to try again,
//! and the next step. Never a word that would teach an agent to force its way.
#![forbid(unsafe_code)]

use std::fmt;

use crate::holder::NoSession;
use crate::store::StoreError;

/// A refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// `BLOCKED`, `QUARANTINED`, `REFUSED`.
    pub word: &'static str,
    /// What happened.
    pub what: String,
    /// Why.
    pub why: String,
    /// Whether and when to try again.
    pub retry: String,
    /// The next step.
    pub next: String,
}

impl Refusal {
    /// The same with another next step.
    #[must_use]
    pub fn with_next(mut self, next: &str) -> Self {
        next.clone_into(&mut self.next);
        self
    }

    /// The same where it was asked below a command that holds these names: the next line asks for all of them at once.
    #[must_use]
    pub fn along_with(mut self, above: &str) -> Self {
        if let Some(words) = self.next.strip_prefix("locked ").filter(|_| !above.is_empty()) {
            self.next = format!("locked {} {words}", options(above));
        }
        self
    }

    /// The same where it was asked in the name of a session (`--session`), whose whole name this is: the next line acts for
    /// that one as well.
    #[must_use]
    pub fn in_the_name_of(mut self, session: Option<&str>) -> Self {
        if let (Some(session), Some(words)) = (session, self.next.strip_prefix("locked ")) {
            self.next = format!("locked --session {session} {words}");
        }
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { word, what, why, retry, next } = self;
        write!(f, "{word}: {what}\nwhy:   {why}\nretry: {retry}\nnext:  {next}")
    }
}

/// These names as options of a command.
pub(super) fn options(wanted: &str) -> String {
    wanted.split(' ').map(|name| format!("-r {name}")).collect::<Vec<_>>().join(" ")
}

/// The store cannot say "yours".
#[must_use]
pub fn store_down(error: &StoreError) -> Refusal {
    if error.is_of_the_setting() {
        return misconfigured(&error.to_string(), &error.remedy());
    }
    Refusal {
        word: "REFUSED",
        what: error.to_string(),
        why: "only the store knows who holds what; nothing was run".to_owned(),
        retry: "yes, after the next step".to_owned(),
        next: super::sandbox::remedy(error),
    }
}

/// No session can be told.
#[must_use]
pub fn no_session(error: &NoSession) -> Refusal {
    let (what, line) = match error {
        NoSession::NotAUuid { from, fresh } => (format!("{from} is not a UUID"), fresh),
        NoSession::NothingLasting { fresh } => (
            "no process above this one lasts until the next command, so nobody could release what it acquires"
                .to_owned(),
            fresh,
        ),
    };
    Refusal {
        word: "REFUSED",
        what,
        why: "a lease belongs to a session, and every session has a name of its own; nothing was run".to_owned(),
        retry: "yes, after the next step".to_owned(),
        next: line.to_string(),
    }
}

/// Options or arguments of ours that make no sense.
#[must_use]
pub fn misuse(what: &str, next: &str) -> Refusal {
    Refusal {
        word: "REFUSED",
        what: what.to_owned(),
        why: "the command line cannot be carried out as it stands; nothing was run".to_owned(),
        retry: "no, not like this".to_owned(),
        next: next.to_owned(),
    }
}

/// A setting is wrong or not trusted.
#[must_use]
pub fn misconfigured(what: &str, next: &str) -> Refusal {
    Refusal {
        word: "REFUSED",
        what: what.to_owned(),
        why: "locked stops at a setting that it cannot follow; nothing was run".to_owned(),
        retry: "yes, after the next step".to_owned(),
        next: next.to_owned(),
    }
}
