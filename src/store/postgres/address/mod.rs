//! `address`: which server, as whom, how protected. Reads connection strings as libpq's users have them.
//!
//! It promises: a string means what it means to libpq; the string wins over the service, the service over `PG*`
//! variables, these over what is built in; words of other programs are dropped with a note and unknown ones refused; and
//! no error, note or `Debug` shows a password, nor anything else of a string that may have been misread. It opens no
//! connection: [`super::tls`] does.
#![forbid(unsafe_code)]

mod choices;
mod config;
mod endpoint;
mod error;
mod keyword;
mod note;
mod pairs;
mod parameters;
mod passfile;
mod secret;
mod service;
mod surroundings;
mod typed;
mod uri;

pub use choices::{Binding, SslMode, Target, TlsVersion};
pub use endpoint::{Endpoint, Place};
pub use error::AddressError;
pub(crate) use keyword::SCHEMA;
pub use note::Note;
pub use parameters::Parameters;
pub use secret::Secret;
pub use surroundings::{Look, Machine, Surroundings, look};
pub use typed::{Address, KeepAlive, Protection};

/// What the string itself says: no defaults, no meaning. A text that is no URI is read as key=value.
///
/// # Errors
/// Its form is wrong, or it has a word that nobody knows.
pub fn parse(text: &str) -> Result<Parameters, AddressError> {
    if let Some(rest) = uri::after_scheme(text) {
        return uri::parse(rest);
    }
    // `jdbc:postgresql://`, `postgresql+asyncpg://`, `POSTGRES://`: said as such, not as a missing `=`.
    let scheme = text.split("://").next().filter(|scheme| scheme.len() < text.len());
    match scheme.is_some_and(|scheme| scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+.-:".contains(&b))) {
        true => Err(AddressError::Scheme),
        false => pairs::parse(text),
    }
}

/// Reads a connection string with everything that may complete it: service, `PG*` variables, password file. An empty
/// string leaves it all to them. A line end at its end is of the file that it came from.
///
/// # Errors
/// It cannot be read, has a word that nobody knows, or asks for what cannot be done.
pub fn read(text: &str, around: &dyn Surroundings) -> Result<Address, AddressError> {
    let mut given = parse(text.trim_end_matches(['\r', '\n']))?;
    service::add(&mut given, around)?;
    for (key, variable) in keyword::KEYWORDS {
        given.put_default(key, || around.variable(variable?)?.into_string().ok());
    }
    if around.variable("PGREQUIRESSL").is_some_and(|value| value.to_string_lossy().starts_with('1')) {
        given.put_default("sslmode", || Some("require".to_owned()));
    }
    typed::understand(&given, around)
}
