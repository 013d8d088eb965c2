//! What the parameters mean together.
#![forbid(unsafe_code)]

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::choices::{self, Binding, SslMode, Target, TlsVersion};
use super::endpoint::{self, Endpoint};
use super::error::AddressError;
use super::keyword::{IDLE, REFUSED, SCHEMA};
use super::note::Note;
use super::parameters::Parameters;
use super::passfile::Passfile;
use super::secret::Secret;
use super::surroundings::Surroundings;
use crate::store::postgres::schema::Schema;

/// A database and every way to it. Its `Debug` shows no password, and of a string that may have been misread nothing; as JSON it
/// goes by a pipe to another process of ours.
#[derive(Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Address {
    /// Servers in the order in which they are tried; never empty.
    pub endpoints: Vec<Endpoint>,
    /// They are tried in random order instead (`load_balance_hosts=random`).
    pub shuffled: bool,
    /// As whom.
    pub user: String,
    /// Which database.
    pub database: String,
    /// How the way there is protected.
    pub protection: Protection,
    /// Which of the servers is meant.
    pub target: Target,
    /// How long one try may take; none: as long as the caller lets it.
    pub connect_timeout: Option<Duration>,
    /// The name in the server's list of sessions.
    pub application_name: Option<String>,
    /// Server options of the session (`-c name=value`); transaction poolers refuse them.
    pub options: Option<String>,
    /// `locked_schema`: the schema of the database that has the leases.
    pub schema: Option<Schema>,
    /// How a dead connection is noticed.
    pub keep_alive: KeepAlive,
    /// What was left aside.
    #[serde(skip)]
    pub notes: Vec<Note>,
    /// The string may have been misread: user, host and database of it are not shown.
    pub doubtful: bool,
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut told = f.debug_struct("Address");
        told.field("endpoints", &self.endpoints).field("notes", &self.notes).field("mode", &self.protection.mode);
        if !self.doubtful {
            told.field("user", &self.user).field("database", &self.database).field("target", &self.target);
        }
        told.finish_non_exhaustive()
    }
}

/// How the way to the server is protected. Paths are as given; files are read only when TLS is used.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Protection {
    /// How much.
    pub mode: SslMode,
    /// `sslrootcert`: a file, or `system`.
    pub roots: Option<String>,
    /// `sslcert`: our own certificate.
    pub certificate: Option<PathBuf>,
    /// `sslkey`: its private key.
    pub key: Option<PathBuf>,
    /// Our certificate is never sent (`sslcertmode=disable`).
    pub anonymous: bool,
    /// `sslcrl`: a file of revocations.
    pub revoked: Option<PathBuf>,
    /// `sslcrldir`: a directory of such files.
    pub revoked_directory: Option<PathBuf>,
    /// The host's name is sent in the clear, so that a proxy can choose the server by it.
    pub server_name: bool,
    /// The oldest and the newest version of TLS.
    pub versions: (TlsVersion, TlsVersion),
    /// TLS begins without asking.
    pub direct: bool,
    /// SCRAM and the TLS channel.
    pub binding: Binding,
    /// Below it `.postgresql/root.crt`, `root.crl`, `postgresql.crt` and `postgresql.key` are the defaults.
    pub home: Option<PathBuf>,
}

/// TCP's own watch over a connection; none leaves a value to the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct KeepAlive {
    /// It is on.
    pub on: bool,
    /// Silence before the first probe.
    pub idle: Option<Duration>,
    /// Silence between two probes.
    pub interval: Option<Duration>,
    /// Probes before the connection counts as dead.
    pub count: Option<u32>,
    /// How long sent bytes may stay unacknowledged.
    pub user_timeout: Option<Duration>,
}

/// The typed address of the parameters, passwords from the password file included.
pub(super) fn understand(given: &Parameters, around: &dyn Surroundings) -> Result<Address, AddressError> {
    for (key, harmless) in REFUSED {
        if given.get(key).is_some_and(|value| !harmless.contains(&value)) {
            return Err(AddressError::Unsupported { key });
        }
    }
    let text = |key: &str| given.get(key).filter(|text| !text.is_empty()).map(str::to_owned);
    let user = text("user").or_else(|| around.account()).ok_or(AddressError::NoUser)?;
    let database = text("dbname").unwrap_or_else(|| user.clone());
    let mut notes: Vec<Note> = given.foreign().iter().map(|word| Note::Foreign(word)).collect();
    notes.extend(IDLE.into_iter().filter(|key| given.get(key).is_some()).map(Note::Idle));
    if given.doubtful() {
        notes.push(Note::Doubtful);
    }
    let mut endpoints = endpoint::list(given)?;
    match text("password") {
        Some(password) => endpoints.iter_mut().for_each(|one| one.password = Some(Secret::new(password.clone()))),
        None => {
            let path = text("passfile").map(PathBuf::from).or_else(|| around.home().map(|home| home.join(".pgpass")));
            if let Some(path) = path {
                let file = Passfile::open(&path, around, &mut notes);
                for one in &mut endpoints {
                    one.password = file.password(&one.password_name(), one.port, &database, &user);
                }
            }
        }
    }
    Ok(Address {
        endpoints,
        shuffled: choices::shuffled(given)?,
        user,
        database,
        protection: protection(given, around)?,
        target: choices::target(given)?,
        // libpq never waits less than two seconds.
        connect_timeout: choices::time(given, "connect_timeout", Duration::from_secs(1))?
            .map(|time| time.max(Duration::from_secs(2))),
        application_name: text("application_name").or_else(|| text("fallback_application_name")),
        options: text("options"),
        schema: schema(given)?,
        keep_alive: keep_alive(given)?,
        notes,
        doubtful: given.doubtful(),
    })
}

/// An empty one is none: it must not become another's schema by a variable that was not set.
fn schema(given: &Parameters) -> Result<Option<Schema>, AddressError> {
    given.get(SCHEMA).map(Schema::named).transpose().map_err(|_| AddressError::Value {
        key: SCHEMA,
        expected: "lower-case letters, digits and _, at most 48, none that others have, as public or pg_…",
    })
}

fn protection(given: &Parameters, around: &dyn Surroundings) -> Result<Protection, AddressError> {
    let text = |key: &str| given.get(key).filter(|text| !text.is_empty()).map(str::to_owned);
    let path = |key: &str| text(key).map(PathBuf::from);
    let mode = choices::mode(given)?;
    Ok(Protection {
        mode,
        roots: text("sslrootcert"),
        certificate: path("sslcert"),
        key: path("sslkey"),
        anonymous: given.get("sslcertmode") == Some("disable"),
        revoked: path("sslcrl"),
        revoked_directory: path("sslcrldir"),
        server_name: given.get("sslsni") != Some("0"),
        versions: choices::versions(given)?,
        direct: choices::direct(given, mode)?,
        binding: choices::binding(given)?,
        home: around.home(),
    })
}

fn keep_alive(given: &Parameters) -> Result<KeepAlive, AddressError> {
    let second = Duration::from_secs(1);
    Ok(KeepAlive {
        on: choices::number(given, "keepalives")?.is_none_or(|on| on != 0),
        idle: choices::time(given, "keepalives_idle", second)?,
        interval: choices::time(given, "keepalives_interval", second)?,
        count: choices::number(given, "keepalives_count")?
            .and_then(|count| u32::try_from(count).ok())
            .filter(|count| *count > 0),
        // The one that libpq counts in milliseconds.
        user_timeout: choices::time(given, "tcp_user_timeout", Duration::from_millis(1))?,
    })
}
