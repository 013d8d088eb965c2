//! Why a connection string names no server. No case carries a value of the string.
#![forbid(unsafe_code)]

use std::path::PathBuf;

/// The connection string, its service or its variables cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Neither a URI of PostgreSQL nor key=value.
    #[error(
        "the connection string is of an unknown kind: it begins with another scheme than postgres:// or postgresql://"
    )]
    Scheme,
    /// Its form is wrong; what, and after which parameter.
    #[error("the connection string cannot be read: {what}{}", after.map(|key| format!(", after `{key}`")).unwrap_or_default())]
    Form {
        /// What is wrong, without any text of the string.
        what: &'static str,
        /// The last parameter that could be read.
        after: Option<&'static str>,
    },
    /// A parameter that nobody knows.
    #[error("the connection string has an unknown parameter {}", name.as_deref().map_or("after the password".to_owned(), |name| format!("`{name}`")))]
    Unknown {
        /// Its name, unless it may be part of a password.
        name: Option<String>,
    },
    /// A parameter whose value is none that it can have.
    #[error("`{key}` of the connection has a value that it cannot have ({expected})")]
    Value {
        /// The parameter.
        key: &'static str,
        /// What may stand there.
        expected: &'static str,
    },
    /// A parameter that asks for something that `locked` cannot do.
    #[error("`{key}` of the connection asks for something that locked cannot do")]
    Unsupported {
        /// The parameter.
        key: &'static str,
    },
    /// Part of the password was read as the host.
    #[error("the connection string has an `@` in what would be its host, so its user or password is not encoded")]
    RawAt,
    /// Lists that do not fit each other.
    #[error("the connection names {hosts} host(s) but {count} `{key}` value(s)")]
    Lists {
        /// The parameter.
        key: &'static str,
        /// How many hosts there are.
        hosts: usize,
        /// How many values there are.
        count: usize,
    },
    /// The service is not defined anywhere.
    #[error("the connection's service is defined in none of: {}", looked.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", "))]
    Service {
        /// The files that were looked through.
        looked: Vec<PathBuf>,
    },
    /// The service file has a mistake.
    #[error("the service file {path} cannot be used: {what}{}", line.map(|line| format!(" in line {line}")).unwrap_or_default())]
    ServiceFile {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: Option<usize>,
        /// What is wrong, without any value.
        what: String,
    },
    /// Nobody to log in as.
    #[error("the connection names no user, and this account has no name in the user database")]
    NoUser,
}

impl AddressError {
    /// The next step for a person.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::Scheme => {
                "write it as postgresql://user@host:5432/database?sslmode=verify-full, or as host=… user=… dbname=…".into()
            }
            Self::Form { .. } | Self::RawAt => {
                "in a URI write @ : / ? # % of a user or password as %40 %3A %2F %3F %23 %25; in key=value put a value with \
                 spaces between single quotes"
                    .into()
            }
            Self::Unknown { .. } => "take it out, or correct its spelling".into(),
            Self::Value { key, expected } => format!("set {key} to {expected}"),
            Self::Unsupported { key } => format!("take {key} out"),
            Self::Lists { key, .. } => format!("give one {key} for each host"),
            Self::Service { .. } => "define it there, or name another file in PGSERVICEFILE".into(),
            Self::ServiceFile { .. } => "correct that file".into(),
            Self::NoUser => "add user=… to the connection string".into(),
        }
    }
}
