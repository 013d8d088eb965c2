//! A store's address for people: no password, no user, nothing that may have been misread.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::Path;

use crate::config::{Address, StoreSetting};
use crate::terms::Digest;

use super::open::is_of_a_server;
use super::postgres::Schema;
use super::postgres::address::{self, Machine};
use super::sqlite::FILE_NAME;

/// Names the place of a store without user and password, which must not come into a file, not even as a digest. Two
/// schemas are two places, and so are a server's ledger and its session locks.
#[must_use]
pub fn place_of(setting: &StoreSetting) -> Digest {
    let text = match &setting.address {
        Address::Embedded | Address::InSops { .. } => return Digest::of(b""),
        Address::Text(text) => text,
    };
    let Some(given) = Some(text).filter(|text| is_of_a_server(text)).and_then(|text| address::parse(text).ok()) else {
        return Digest::of(text.as_bytes());
    };
    let keys = ["host", "hostaddr", "port", "dbname", "service"];
    let mut place: Vec<String> =
        keys.iter().map(|key| format!("{key}={}", given.get(key).unwrap_or_default())).collect();
    let schema = setting.schema.as_deref().or(given.get(address::SCHEMA)).unwrap_or_default();
    // The ready one by its name is the one that nobody names.
    if !schema.is_empty() && schema != Schema::default().to_string() {
        place.push(format!("{}={schema}", address::SCHEMA));
    }
    if setting.advisory {
        place.push("advisory".to_owned());
    }
    Digest::of(place.join(" ").as_bytes())
}

/// Where a setting leads, to be named in messages and in a store that moved there. `state` is the state directory, where
/// the embedded store is.
#[must_use]
pub fn shown_place(setting: &StoreSetting, env: &dyn Fn(&str) -> Option<OsString>, state: &Path) -> String {
    let address = match &setting.address {
        Address::Embedded => return format!("sqlite:{}", state.join(FILE_NAME).display()),
        Address::InSops { file, .. } => return format!("the store that {} names", file.display()),
        Address::Text(text) => text,
    };
    if let Some(file) = address.strip_prefix("sqlite:") {
        let absolute = std::path::absolute(file).unwrap_or_else(|_| file.into());
        return format!("sqlite:{}", absolute.display());
    }
    match address::read(address, &Machine::new(env).from(&setting.from)) {
        Ok(read) if !read.doubtful => {
            let ends: Vec<String> = read.endpoints.iter().map(ToString::to_string).collect();
            let database = format!("the database {} at {}", read.database, ends.join(", "));
            let schema = setting.schema.clone().or(read.schema.map(|schema| schema.to_string()));
            match schema.filter(|schema| *schema != Schema::default().to_string()) {
                Some(schema) => format!("the schema {schema} of {database}"),
                None => database,
            }
        }
        _ => "another PostgreSQL server".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_place_shows_no_password() {
        let nothing = |_: &str| None;
        let shown = |setting| shown_place(&setting, &nothing, Path::new("/state"));
        let place = |address: &str| {
            shown(StoreSetting { address: Address::Text(address.to_owned()), ..StoreSetting::default() })
        };
        assert_eq!(shown(StoreSetting::default()), "sqlite:/state/locked.db");
        assert_eq!(place("sqlite:/srv/l.db"), "sqlite:/srv/l.db");
        assert_eq!(
            place("postgres://me:hunter2@db.example.org:6543/leases"),
            "the database leases at db.example.org:6543"
        );
        assert!(!place("postgres://me:hunt/er2@db").contains("hunt"));
        assert_eq!(
            place("postgres://me@db/leases?locked_schema=second").split(" of ").next(),
            Some("the schema second")
        );
        assert_eq!(place("postgres://me@db/leases?locked_schema=locked"), place("postgres://me@db/leases"));
    }

    #[test]
    fn what_is_another_store_is_another_place() {
        let at = |text: &str, schema: Option<&str>, advisory| {
            let (address, schema) = (Address::Text(text.to_owned()), schema.map(str::to_owned));
            place_of(&StoreSetting { address, schema, advisory, ..StoreSetting::default() })
        };
        let plain = at("postgres://a:b@db/x", None, false);
        let same = [
            at("postgres://c:d@db/x?sslmode=require", None, false),
            at("host=db dbname=x", Some("locked"), false),
            at("postgres://db/x?locked_schema=locked", None, false),
        ];
        assert!(same.iter().all(|it| *it == plain));
        let second = at("postgres://db/x", Some("second"), false);
        assert_eq!(second, at("postgres://db/x?locked_schema=second", None, false));
        let others = [
            second,
            at("postgres://db/x?locked_schema=third", None, false),
            at("postgres://db/x?schema=second", None, true),
            at("postgres://db/y", None, false),
        ];
        for (at, other) in others.iter().enumerate() {
            assert!(*other != plain && !others[at + 1..].contains(other), "{at}");
        }
    }
}
