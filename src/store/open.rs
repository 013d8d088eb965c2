//! From configuration to a store: the one place that names concrete stores.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;

use crate::clock::{Clock, NO_BOOT};
use crate::state::StateDir;

use super::postgres::{PostgresStore, Schema, With};
use super::sqlite::{FILE_NAME, SqliteStore};
use super::{Store, StoreError};

/// Opens the configured store: `LOCKED_STORE` as `embedded` (also when unset or empty), `sqlite:FILE` or `postgres://…`.
/// What this build does not know is refused, never replaced by the embedded store. Nothing is connected before the
/// first call.
///
/// # Errors
/// [`StoreError::Unknown`] for a store that this build does not know; [`StoreError::Place`] when the directory of a
/// named file must not be used, or the machine does not tell its boots apart.
pub fn open(
    env: &dyn Fn(&str) -> Option<OsString>,
    state: &StateDir,
    clock: Arc<dyn Clock + Send + Sync>,
) -> Result<Box<dyn Store + Send>, StoreError> {
    if clock.boot_id() == NO_BOOT {
        return Err(StoreError::Place {
            path: state.path().to_owned(),
            why: "the system does not say which boot this is (no /proc), so nobody could tell a lease from an expired one"
                .to_owned(),
            remedy: "mount -t proc proc /proc".to_owned(),
        });
    }
    let configured = env("LOCKED_STORE").unwrap_or_default();
    match configured.to_str() {
        Some("" | "embedded") => Ok(Box::new(SqliteStore::new(state, clock))),
        Some(text) if text.len() > "sqlite:".len() && text.starts_with("sqlite:") => {
            in_named_file(Path::new(&text["sqlite:".len()..]), env, clock)
        }
        Some(text) if text.starts_with("postgres://") || text.starts_with("postgresql://") => on_a_server(text),
        _ => Err(unknown(&configured)),
    }
}

fn on_a_server(address: &str) -> Result<Box<dyn Store + Send>, StoreError> {
    let config: Result<tokio_postgres::Config, _> = address.parse();
    let Ok(mut config) = config else {
        // What cannot be read can have a password anywhere: nothing of it is shown.
        return Err(StoreError::Unknown(
            "LOCKED_STORE is no address of a PostgreSQL server that can be read".to_owned(),
        ));
    };
    config.application_name("locked");
    Ok(Box::new(PostgresStore::new(config, Box::new(With(tokio_postgres::NoTls)), Schema::default())))
}

fn in_named_file(
    file: &Path,
    env: &dyn Fn(&str) -> Option<OsString>,
    clock: Arc<dyn Clock + Send + Sync>,
) -> Result<Box<dyn Store + Send>, StoreError> {
    let directory = StateDir::beside(file, env)?;
    let name = file.file_name().unwrap_or(OsStr::new(FILE_NAME));
    Ok(Box::new(SqliteStore::in_file(directory.path().join(name), &directory, clock)))
}

/// A store's address can carry a password: only its scheme is named.
fn unknown(configured: &OsStr) -> StoreError {
    let text = configured.to_string_lossy();
    let scheme: String =
        text.chars().take_while(|it| it.is_ascii_alphanumeric() || "+-".contains(*it)).take(20).collect();
    let shown = if text.contains(':') { format!("{scheme}:…") } else { "a value without a scheme".to_owned() };
    StoreError::Unknown(format!(
        "LOCKED_STORE names {shown}, and this build knows only embedded, sqlite:FILE and postgres://…"
    ))
}
