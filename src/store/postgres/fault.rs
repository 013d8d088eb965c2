//! What can go wrong inside, and what it is called outside.
#![forbid(unsafe_code)]

use std::error::Error as _;

use tokio_postgres::Error;
use tokio_postgres::error::{DbError, SqlState};

use crate::store::StoreError;
use crate::store::door::shown;

use super::connector::NotConnected;
use super::schema::KNOWN;
use super::tls::{ConnectError, Unconnected, finds_no_room};

/// A fault before it has a name for people.
pub(super) enum Fault {
    /// No connection came about.
    Connect(Error),
    /// None came about at any endpoint of the address.
    Tried(Unconnected),
    /// The server or the way to it failed in a call.
    Call(Error),
    /// The limit has passed; whether the call had been sent.
    TooLate { sent: bool },
    /// The system gave us no descriptors.
    System(std::io::Error),
    /// The schema is from a later program.
    Newer { found: i64 },
    /// Something that we never write.
    Odd(&'static str),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Call(error)
    }
}

impl Fault {
    fn said(&self) -> Option<&DbError> {
        match self {
            Self::Connect(error) | Self::Call(error) => error.as_db_error(),
            _ => None,
        }
    }

    fn is(&self, codes: &[&SqlState]) -> bool {
        let one_of = |said: &str| codes.iter().any(|code| code.code() == said);
        match self {
            Self::Tried(tried) => tried.tries().iter().filter_map(ConnectError::code).any(one_of),
            _ => self.said().is_some_and(|said| one_of(said.code().code())),
        }
    }

    /// Why connecting failed.
    pub(super) fn of_connecting(why: NotConnected) -> Self {
        match why {
            NotConnected::Plain(error) => Self::Connect(error),
            NotConnected::Tried(tried) => Self::Tried(tried),
        }
    }

    /// The server undid the transaction because of others: nothing has happened.
    pub(super) fn was_taken_back(&self) -> bool {
        matches!(self, Self::Call(_))
            && self.is(&[&SqlState::T_R_SERIALIZATION_FAILURE, &SqlState::T_R_DEADLOCK_DETECTED])
    }

    /// Too many at once, or a server that is still starting.
    pub(super) fn is_a_crush(&self) -> bool {
        let full = match self {
            Self::Connect(error) => finds_no_room(error),
            Self::Tried(tried) => tried.tries().iter().any(|it| matches!(it, ConnectError::Crowded { .. })),
            _ => return false,
        };
        full || self.is(&[&SqlState::TOO_MANY_CONNECTIONS, &SqlState::CANNOT_CONNECT_NOW])
    }

    /// The call went out, and nobody knows what became of it.
    pub(super) fn loses_the_answer(&self) -> bool {
        matches!(self, Self::Call(error) if error.as_db_error().is_none())
            || (matches!(self, Self::Call(_)) && self.hangs_up())
    }

    /// Only that time ran out, before anything was asked.
    pub(super) fn says_nothing(&self) -> bool {
        matches!(self, Self::TooLate { sent: false })
    }

    /// Another connection may come about.
    pub(super) fn may_pass(&self) -> bool {
        let silent = match self {
            Self::System(_) | Self::Odd(_) | Self::Newer { .. } => false,
            Self::Tried(tried) => tried.tries().iter().any(ConnectError::may_pass),
            _ => self.said().is_none(),
        };
        (silent || self.hangs_up() || self.is_a_crush()) && !matches!(self, Self::TooLate { .. })
    }

    fn hangs_up(&self) -> bool {
        self.is(&[&SqlState::ADMIN_SHUTDOWN, &SqlState::CRASH_SHUTDOWN, &SqlState::CANNOT_CONNECT_NOW])
    }

    /// The server is still with us.
    pub(super) fn leaves_the_connection(&self) -> bool {
        self.was_taken_back()
    }

    /// The name for people. `user` is the role that asked.
    pub(super) fn named(self, user: Option<&str>) -> StoreError {
        if let Some(said) = self.said() {
            return spoken(said, user.unwrap_or("the role"));
        }
        match self {
            Self::Connect(error) => StoreError::Unreachable(chain(&error)),
            Self::Tried(tried) if tried.tries().iter().any(ConnectError::may_pass) => {
                StoreError::NoWay { why: tried.to_string(), remedy: tried.remedy() }
            }
            Self::Tried(tried) => StoreError::Refused { why: tried.to_string(), remedy: tried.remedy() },
            Self::Call(error) => StoreError::Unreachable(format!("the connection broke: {}", chain(&error))),
            Self::TooLate { sent: false } => StoreError::Unreachable("no connection came about in time".to_owned()),
            Self::TooLate { sent: true } => StoreError::Unreachable("it did not answer in time".to_owned()),
            Self::System(error) => StoreError::Unreachable(format!("no connection can be made: {error}")),
            Self::Newer { found } => StoreError::Newer { found, known: KNOWN },
            Self::Odd(what) => StoreError::Failed(what.to_owned()),
        }
    }
}

/// What the server said, by its code. Its message goes along, but no detail, which can quote values.
fn spoken(said: &DbError, user: &str) -> StoreError {
    let message = shown(said.message());
    let refused = |why: String, remedy: &str| StoreError::Refused { why, remedy: remedy.to_owned() };
    let with_code = format!("{message} ({})", said.code().code());
    match said.code().code() {
        "53300" => {
            refused(message, "raise max_connections or the role's limit, or come through a pooler in transaction mode")
        }
        "57P01" | "57P02" | "57P03" => StoreError::Unreachable(message),
        "28P01" | "28000" => {
            refused(message, "check user and password of the store's address, and the server's pg_hba.conf")
        }
        "3D000" => refused(message, "name an existing database in the store's address"),
        "3F000" => refused(format!("the database has no schema of locked: {message}"), "locked store init"),
        "42P01" | "42883" => refused(
            format!("the schema of locked in the database is of an older version: {message}"),
            "locked store init",
        ),
        "42501" => refused(
            message,
            &format!(
                "let somebody who may do it say `grant locked_client to {user}` on the server; for `locked store init`, `prune`, `epoch` and `move`, come as an owner of the database who may create roles"
            ),
        ),
        "25006" => refused(
            format!("it is a standby or read-only: {message}"),
            "point the store's address at the primary (target_session_attrs=read-write)",
        ),
        "25001" => refused(
            message,
            &format!("say `alter role {user} set default_transaction_isolation = 'read committed'` on the server"),
        ),
        "40001" | "40P01" | "55P03" => StoreError::Contended(with_code),
        "57014" => StoreError::Contended(format!("{message}; the server stopped it (statement_timeout?)")),
        "55000" => refused(message, "point the store's address there"),
        "53100" => refused(message, "make room on the server's disk"),
        "0A000" => refused(message, "use a server that has it"),
        _ => StoreError::Failed(with_code),
    }
}

/// An error with what is behind it: "error performing TLS handshake" alone helps nobody.
fn chain(error: &Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let more = cause.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        source = cause.source();
    }
    shown(&text)
}
