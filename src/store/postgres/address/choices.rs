//! The parameters that are one word of a few, or a number.
#![forbid(unsafe_code)]

use std::time::Duration;

use super::error::AddressError;
use super::parameters::Parameters;

/// How much the connection must be protected. Weaker modes come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, PartialOrd, Ord)]
pub enum SslMode {
    /// Never TLS.
    Disable,
    /// Without TLS if the server lets us, else with.
    Allow,
    /// With TLS if that works, else without: libpq's default, which protects from nobody.
    Prefer,
    /// With TLS; the certificate is verified only against a root certificate that was given.
    Require,
    /// With TLS, and the certificate is of a trusted authority, for whatever name.
    VerifyCa,
    /// With TLS, and the certificate is of a trusted authority for this very host.
    VerifyFull,
}

/// Which server of several is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Target {
    /// The first that lets us in.
    Any,
    /// One whose sessions may write.
    ReadWrite,
    /// One whose sessions may not write.
    ReadOnly,
    /// One that is not in recovery.
    Primary,
    /// One that is in recovery.
    Standby,
    /// One in recovery if there is any, else any.
    PreferStandby,
}

/// Whether SCRAM is tied to the TLS channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Binding {
    /// Not.
    Disable,
    /// Where it can be.
    Prefer,
    /// Or no connection.
    Require,
}

/// Which protocol versions of TLS may be spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, PartialOrd, Ord)]
pub enum TlsVersion {
    /// TLS 1.2.
    V12,
    /// TLS 1.3.
    V13,
}

const MODES: [(&str, SslMode); 6] = [
    ("disable", SslMode::Disable),
    ("allow", SslMode::Allow),
    ("prefer", SslMode::Prefer),
    ("require", SslMode::Require),
    ("verify-ca", SslMode::VerifyCa),
    ("verify-full", SslMode::VerifyFull),
];
const TARGETS: [(&str, Target); 6] = [
    ("any", Target::Any),
    ("read-write", Target::ReadWrite),
    ("read-only", Target::ReadOnly),
    ("primary", Target::Primary),
    ("standby", Target::Standby),
    ("prefer-standby", Target::PreferStandby),
];
const BINDINGS: [(&str, Binding); 3] =
    [("disable", Binding::Disable), ("prefer", Binding::Prefer), ("require", Binding::Require)];

impl SslMode {
    /// As it is written.
    #[must_use]
    pub fn name(self) -> &'static str {
        MODES.iter().find(|(_, mode)| *mode == self).map_or("", |(name, _)| name)
    }
}

impl Target {
    /// As it is written.
    #[must_use]
    pub fn name(self) -> &'static str {
        TARGETS.iter().find(|(_, target)| *target == self).map_or("", |(name, _)| name)
    }
}

pub(super) fn mode(given: &Parameters) -> Result<SslMode, AddressError> {
    let system = given.get("sslrootcert") == Some("system");
    match one_of(given, "sslmode", &MODES, "disable, allow, prefer, require, verify-ca or verify-full")? {
        Some(mode) if system && mode != SslMode::VerifyFull => {
            // Anybody can get a certificate of a public authority for some name (libpq 16 says the same).
            Err(AddressError::Value { key: "sslmode", expected: "verify-full, since sslrootcert is system" })
        }
        Some(mode) => Ok(mode),
        None if system => Ok(SslMode::VerifyFull),
        None => Ok(SslMode::Prefer),
    }
}

pub(super) fn target(given: &Parameters) -> Result<Target, AddressError> {
    let expected = "any, read-write, read-only, primary, standby or prefer-standby";
    Ok(one_of(given, "target_session_attrs", &TARGETS, expected)?.unwrap_or(Target::Any))
}

pub(super) fn binding(given: &Parameters) -> Result<Binding, AddressError> {
    Ok(one_of(given, "channel_binding", &BINDINGS, "disable, prefer or require")?.unwrap_or(Binding::Prefer))
}

/// Whether TLS begins without asking first (PostgreSQL 17), which a mode that may go without TLS does not allow.
pub(super) fn direct(given: &Parameters, mode: SslMode) -> Result<bool, AddressError> {
    let choices = [("postgres", false), ("direct", true)];
    let direct = one_of(given, "sslnegotiation", &choices, "postgres or direct")?.unwrap_or(false);
    match direct && mode < SslMode::Require {
        true => {
            Err(AddressError::Value { key: "sslmode", expected: "require or stronger, since sslnegotiation is direct" })
        }
        false => Ok(direct),
    }
}

pub(super) fn shuffled(given: &Parameters) -> Result<bool, AddressError> {
    let choices = [("disable", false), ("random", true)];
    Ok(one_of(given, "load_balance_hosts", &choices, "disable or random")?.unwrap_or(false))
}

/// The oldest and the newest version. What is older than 1.2 we never speak.
pub(super) fn versions(given: &Parameters) -> Result<(TlsVersion, TlsVersion), AddressError> {
    let oldest = [
        ("TLSv1", TlsVersion::V12),
        ("TLSv1.1", TlsVersion::V12),
        ("TLSv1.2", TlsVersion::V12),
        ("TLSv1.3", TlsVersion::V13),
    ];
    let min = one_of(given, "ssl_min_protocol_version", &oldest, "TLSv1.2 or TLSv1.3")?.unwrap_or(TlsVersion::V12);
    let max = one_of(given, "ssl_max_protocol_version", &oldest[2..], "TLSv1.2 or TLSv1.3")?.unwrap_or(TlsVersion::V13);
    match min <= max {
        true => Ok((min, max)),
        false => Err(AddressError::Value { key: "ssl_max_protocol_version", expected: "no less than the minimum" }),
    }
}

fn one_of<T: Copy>(
    given: &Parameters,
    key: &'static str,
    choices: &[(&str, T)],
    expected: &'static str,
) -> Result<Option<T>, AddressError> {
    match given.get(key) {
        None | Some("") => Ok(None),
        Some(text) => match choices.iter().find(|(name, _)| *name == text) {
            Some((_, choice)) => Ok(Some(*choice)),
            None => Err(AddressError::Value { key, expected }),
        },
    }
}

/// A whole number, with blanks around it as libpq lets them.
pub(super) fn number(given: &Parameters, key: &'static str) -> Result<Option<i32>, AddressError> {
    match given.get(key) {
        None | Some("") => Ok(None),
        Some(text) => match text.trim().parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(AddressError::Value { key, expected: "a whole number" }),
        },
    }
}

/// A time in `unit`s; zero and less mean that there is none.
pub(super) fn time(given: &Parameters, key: &'static str, unit: Duration) -> Result<Option<Duration>, AddressError> {
    let count = number(given, key)?.and_then(|count| u32::try_from(count).ok()).filter(|count| *count > 0);
    Ok(count.map(|count| unit * count))
}
