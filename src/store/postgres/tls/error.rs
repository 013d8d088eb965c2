//! Why there is no connection: what happened, and the next step. Never a password; of a string that may have been
//! misread nothing at all.
#![forbid(unsafe_code)]

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::super::via::ViaError;
use super::fault::TlsFault;

/// TLS cannot even be tried, because of a file on this machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("`{key}`: {path} cannot be read ({why})")]
    File {
        /// Which parameter names it, or would.
        key: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        why: String,
    },
    /// A file has not what it should.
    #[error("`{key}`: {path} {what}")]
    Content {
        /// Which parameter names it, or would.
        key: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: &'static str,
    },
    /// Others can read the private key.
    #[error("`sslkey`: {path} has mode {mode:04o}, so that others can read the private key")]
    OpenKey {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// Verification is demanded, and there is nothing to verify against.
    #[error("sslmode={mode} needs a root certificate, and none is given or found")]
    NoRoots {
        /// The mode.
        mode: &'static str,
    },
    /// The system has no root certificates.
    #[error("sslrootcert=system, but this system has no root certificates")]
    NoSystemRoots,
    /// verify-full without a name to verify.
    #[error("sslmode=verify-full needs the server's name, and `host` gives none that a certificate can bear")]
    NoName,
    /// What the TLS library refuses for another reason.
    #[error("TLS cannot be set up: {0}")]
    Other(String),
}

impl TlsError {
    /// The next step for a person.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::File { key, .. } | Self::Content { key, .. } => {
                format!("correct that file, or name another one in {key}")
            }
            Self::OpenKey { path, .. } => {
                format!("chmod 600 {}", crate::terms::shell_quote(path.as_os_str().as_encoded_bytes()))
            }
            Self::NoRoots { .. } | Self::NoSystemRoots => {
                "name the file of the server's CA: sslrootcert=FILE (or system, for a public authority)".to_owned()
            }
            Self::NoName => "name the server in host; hostaddr may stand beside it".to_owned(),
            Self::Other(_) => "check the files that sslrootcert, sslcert, sslkey and sslcrl name".to_owned(),
        }
    }
}

/// Why one try at one endpoint failed. `server` is fit for people.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Its name stands for no address.
    #[error("{server}: the name cannot be resolved ({why})")]
    Name {
        /// Which.
        server: String,
        /// What the resolver says.
        why: String,
    },
    /// Nothing listens there, or the way is blocked.
    #[error("{server} ({why})")]
    Unreachable {
        /// Which.
        server: String,
        /// What the system says.
        why: String,
    },
    /// So many come at once that its queue is full.
    #[error("{server} has no room in its queue: too many come at once")]
    Crowded {
        /// Which.
        server: String,
    },
    /// No answer in time; how far it came is unknown.
    #[error("{server} did not answer within {after:.1?}")]
    Silent {
        /// Which.
        server: String,
        /// The limit.
        after: Duration,
    },
    /// The server has TLS switched off.
    #[error("{server} does not support TLS, which sslmode={mode} demands")]
    NoTls {
        /// Which.
        server: String,
        /// The mode.
        mode: &'static str,
    },
    /// The handshake failed; the fault names the cause, `chain` is everything that the library said.
    #[error("TLS with {server} failed: {fault} [{chain}]")]
    Tls {
        /// Which.
        server: String,
        /// The cause.
        fault: TlsFault,
        /// The source chain.
        chain: String,
    },
    /// A file on this machine.
    #[error(transparent)]
    Setup(#[from] TlsError),
    /// The server said no: login, database, too many clients…
    #[error("{server} refused: {message} (SQLSTATE {code})")]
    Refused {
        /// Which.
        server: String,
        /// Five characters, as in the manual's appendix "Error Codes".
        code: String,
        /// The server's words, fit for people.
        message: String,
    },
    /// It wants a password.
    #[error("{server} wants a password, and there is none for it")]
    NoPassword {
        /// Which.
        server: String,
    },
    /// The login's proof failed on our side: channel binding, or a server that does not know the password.
    #[error("the login at {server} failed: {why}")]
    Login {
        /// Which.
        server: String,
        /// The source chain.
        why: String,
    },
    /// It answers, but is not the kind of server that is wanted.
    #[error("{server} is {is}, and target_session_attrs={wanted} asks for another")]
    Target {
        /// Which.
        server: String,
        /// What it is.
        is: &'static str,
        /// The kind.
        wanted: &'static str,
    },
    /// The way through ssh does not stand.
    #[error(transparent)]
    Via(#[from] ViaError),
}

impl ConnectError {
    /// The server's SQLSTATE, if it was the server that refused.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Refused { code, .. } => Some(code),
            _ => None,
        }
    }

    /// A later try may find it otherwise, without anybody's doing.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        matches!(
            self,
            Self::Name { .. }
                | Self::Unreachable { .. }
                | Self::Crowded { .. }
                | Self::Silent { .. }
                | Self::Target { .. }
        )
    }

    /// The next step for a person.
    #[must_use]
    pub fn remedy(&self) -> String {
        let text = match self {
            Self::Name { .. } => "check host, and whether this machine can resolve it",
            Self::Unreachable { .. } => "check host and port, and whether the server runs and listens there",
            Self::Crowded { .. } => {
                "try again, or let fewer come at once (net.core.somaxconn is the length of the queue)"
            }
            Self::Silent { .. } => "check host and port, and whether a firewall drops the packets",
            Self::NoTls { .. } => "switch ssl on at the server; sslmode=disable only where nobody else is on the wire",
            Self::Tls { fault, .. } => return fault.remedy(),
            Self::Setup(error) => return error.remedy(),
            Self::Via(error) => return error.remedy(),
            Self::Refused { code, .. } => match code.as_str() {
                "28P01" => "check user and password (PGPASSWORD, ~/.pgpass, the string)",
                "28000" => "check user, sslmode and client certificate against the server's pg_hba.conf",
                "3D000" => "check dbname",
                "53300" => "try again later, or raise the server's limit of connections",
                "57P03" => "try again once the server has started",
                "08P01" => "a pooler may not take a start-up parameter: take options out of the string",
                _ => "see the server's log",
            },
            Self::NoPassword { .. } => "give one in PGPASSWORD or ~/.pgpass (mode 0600)",
            Self::Login { .. } => "check the password, and channel_binding (poolers mostly do not offer it)",
            Self::Target { .. } => "add the primary to host, or change target_session_attrs",
        };
        text.to_owned()
    }
}

/// Why no endpoint served: each try in its order; never empty.
#[derive(Debug)]
pub struct Unconnected(pub(in crate::store::postgres) Vec<ConnectError>);

impl Unconnected {
    /// Every try.
    #[must_use]
    pub fn tries(&self) -> &[ConnectError] {
        &self.0
    }

    /// The next step: that of the first try, which is what the string asked for before it fell back.
    #[must_use]
    pub fn remedy(&self) -> String {
        self.0.first().map(ConnectError::remedy).unwrap_or_default()
    }
}

impl fmt::Display for Unconnected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, error) in self.0.iter().enumerate() {
            write!(f, "{}{error}", if at == 0 { "" } else { "; then " })?;
        }
        Ok(())
    }
}

impl std::error::Error for Unconnected {}
