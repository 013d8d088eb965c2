//! `service=NAME`: parameters that an administrator keeps in a file.
//! Source: libpq `parseServiceInfo`; the PostgreSQL manual, "The Connection Service File".
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use super::error::AddressError;
use super::keyword::{Word, word};
use super::parameters::Parameters;
use super::surroundings::Surroundings;

/// Where packagers put the system's service file when `PGSYSCONFDIR` does not say.
const SYSTEM: [&str; 2] = ["/etc/postgresql-common/pg_service.conf", "/etc/pg_service.conf"];

/// Adds what the service says and the string does not. The service is named by the string or by `PGSERVICE`.
pub(super) fn add(found: &mut Parameters, around: &dyn Surroundings) -> Result<(), AddressError> {
    let text = |name: &str| around.variable(name).and_then(|value| value.into_string().ok());
    let Some(service) = found.get("service").map(str::to_owned).or_else(|| text("PGSERVICE")) else { return Ok(()) };
    let mut looked = Vec::new();
    for (path, must) in files(around, text("PGSERVICEFILE"), text("PGSYSCONFDIR")) {
        if around.look(&path).is_err() {
            if must {
                return Err(mistake(&path, None, "it is not there"));
            }
            looked.push(path);
            continue;
        }
        let bytes = around.read(&path).map_err(|error| mistake(&path, None, error.to_string()))?;
        let content = String::from_utf8(bytes).map_err(|_| mistake(&path, None, "it is no UTF-8"))?;
        if section(&content, &service, found, &path)? {
            return Ok(());
        }
        looked.push(path);
    }
    Err(AddressError::Service { looked })
}

/// The files in their order, each with whether it must exist.
fn files(around: &dyn Surroundings, own: Option<String>, system: Option<String>) -> Vec<(PathBuf, bool)> {
    let own = match own {
        Some(path) => Some((PathBuf::from(path), true)),
        None => around.home().map(|home| (home.join(".pg_service.conf"), false)),
    };
    let system = match system {
        Some(directory) => vec![(Path::new(&directory).join("pg_service.conf"), false)],
        None => SYSTEM.iter().map(|path| (PathBuf::from(path), false)).collect(),
    };
    own.into_iter().chain(system).collect()
}

/// Reads the section of that name; whether there is one. Nothing is trimmed around `=`, as in libpq.
fn section(content: &str, service: &str, found: &mut Parameters, path: &Path) -> Result<bool, AddressError> {
    let mut inside = false;
    for (at, line) in content.lines().enumerate() {
        let wrong = |what: &str| mistake(path, Some(at + 1), what);
        let line = line.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b');
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(header) = line.strip_prefix('[') {
            if inside {
                return Ok(true);
            }
            inside = header.strip_prefix(service).is_some_and(|rest| rest.starts_with(']'));
            continue;
        }
        if !inside {
            continue;
        }
        if line.starts_with("ldap") {
            return Err(wrong("LDAP is not supported"));
        }
        let (key, value) = line.split_once('=').ok_or_else(|| wrong("there is no `=`"))?;
        match word(key) {
            Word::Known("service") => return Err(wrong("a service cannot name another service")),
            Word::Known(key) => found.put_default(key, || Some(value.to_owned())),
            Word::Foreign(_) => drop(found.put_word(key, String::new(), true)),
            Word::Unknown => return Err(wrong("there is an unknown parameter")),
        }
    }
    Ok(inside)
}

fn mistake(path: &Path, line: Option<usize>, what: impl Into<String>) -> AddressError {
    AddressError::ServiceFile { path: path.to_owned(), line, what: what.into() }
}
