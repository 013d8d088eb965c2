//! Which variables name a session, besides the ready ones.
#![forbid(unsafe_code)]

use std::path::Path;

use super::file::{self, Session};
use super::{ConfigError, Layer, Places};

/// `[session] env` of the user's settings, else of the machine's. A repository has no say: a variable that is the same for
/// everybody would make one session of all.
///
/// # Errors
/// A file cannot be read or followed.
pub fn session_variables(places: &Places) -> Result<Vec<String>, ConfigError> {
    let of = |path: &Path, layer| Ok::<_, ConfigError>(file::read(path, layer)?.and_then(|file| file.session));
    let own = places.user.as_deref().map(|path| of(path, Layer::User)).transpose()?.flatten();
    let session = match own {
        Some(session) => Some(session),
        None => of(&places.system, Layer::System)?,
    };
    Ok(session.map(|session| session.env).unwrap_or_default())
}

/// Refuses what a file may not say of sessions.
pub(super) fn check(path: &Path, layer: Layer, session: &Session, places: &Places) -> Result<(), ConfigError> {
    const KEY: &str = "session.env";
    if !layer.is_trusted() {
        let own = places.user.clone().unwrap_or_else(|| places.system.clone());
        return Err(ConfigError::Untrusted { path: path.to_owned(), key: KEY, own });
    }
    match session.env.iter().all(|name| is_name(name)) {
        true => Ok(()),
        false => Err(ConfigError::NoName { path: path.to_owned(), key: KEY }),
    }
}

/// Is it the name of a variable? It comes into our messages, for pasting.
pub(super) fn is_name(text: &str) -> bool {
    let starts = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    text.bytes().all(|byte| starts(byte) || byte.is_ascii_digit()) && text.bytes().next().is_some_and(starts)
}
