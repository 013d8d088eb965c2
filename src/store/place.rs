//! A store's address for people: no password, no user, nothing that may have been misread.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::Path;

use super::postgres::address::{self, Machine};
use super::sqlite::FILE_NAME;

/// Where an address (`embedded`, `sqlite:FILE`, a connection string) leads, to be named in messages and in a store that
/// moved there. `state` is the state directory, where the embedded store is.
#[must_use]
pub fn shown_place(address: &str, env: &dyn Fn(&str) -> Option<OsString>, state: &Path) -> String {
    if matches!(address, "" | "embedded") {
        return format!("sqlite:{}", state.join(FILE_NAME).display());
    }
    if let Some(file) = address.strip_prefix("sqlite:") {
        let absolute = std::path::absolute(file).unwrap_or_else(|_| file.into());
        return format!("sqlite:{}", absolute.display());
    }
    match address::read(address, &Machine::new(env)) {
        Ok(read) if !read.doubtful => {
            let ends: Vec<String> = read.endpoints.iter().map(ToString::to_string).collect();
            format!("the database {} at {}", read.database, ends.join(", "))
        }
        _ => "another PostgreSQL server".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_shows_no_password() {
        let nothing = |_: &str| None;
        let place = |address: &str| shown_place(address, &nothing, Path::new("/state"));
        assert_eq!(place("embedded"), "sqlite:/state/locked.db");
        assert_eq!(place("sqlite:/srv/l.db"), "sqlite:/srv/l.db");
        assert_eq!(
            place("postgres://me:hunter2@db.example.org:6543/leases"),
            "the database leases at db.example.org:6543"
        );
        assert!(!place("postgres://me:hunt/er2@db").contains("hunt"));
    }
}
