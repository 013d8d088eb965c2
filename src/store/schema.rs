//! Which schema of a server's database has the leases: what the setting says, or the address itself.
#![forbid(unsafe_code)]

use std::ffi::OsString;

use crate::config::{Address, StoreSetting};

use super::StoreError;
use super::fits::{self, misnamed};
use super::open::{is_of_a_server, read};
use super::postgres::Schema;
use super::postgres::address::{self, SCHEMA};

/// The schema that this setting names, for who wants to know it and asks nothing of the server.
///
/// # Errors
/// [`StoreError::Misnamed`] for an address that cannot be read, a name that no schema of ours can have, and a setting
/// that contradicts itself.
pub fn schema_of(setting: &StoreSetting, env: &dyn Fn(&str) -> Option<OsString>) -> Result<Schema, StoreError> {
    fits::check(setting)?;
    match &setting.address {
        Address::Text(text) if is_of_a_server(text) => Ok(of(setting, &read(text, env, setting)?)?.unwrap_or_default()),
        _ => Ok(Schema::default()),
    }
}

/// The schema, if anybody names one. What names two, or one where there can be none, is not guessed at.
pub(super) fn of(setting: &StoreSetting, address: &address::Address) -> Result<Option<Schema>, StoreError> {
    let said_by = &setting.said_by;
    let own = setting.schema.as_deref().map(|name| {
        Schema::named(name)
            .map_err(|error| misnamed(format!("{said_by}: {error}"), "name another: schema = \"locked\""))
    });
    let schema = match (own.transpose()?, &address.schema) {
        (Some(own), Some(other)) if own != *other => {
            let why = format!("{said_by} names two schemas, by schema and by {SCHEMA} in the address");
            return Err(misnamed(why, "leave one of them out"));
        }
        (own, other) => own.or_else(|| other.clone()),
    };
    if setting.advisory && schema.is_some() {
        let why = format!("{said_by} asks for session locks (advisory), which are in no schema, and names one");
        return Err(misnamed(why, "leave one of them out"));
    }
    Ok(schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str, schema: Option<&str>, advisory: bool) -> Result<String, String> {
        let address = Address::Text(text.to_owned());
        let (said_by, schema) = ("config.toml".to_owned(), schema.map(str::to_owned));
        let setting = StoreSetting { address, said_by, schema, advisory, ..StoreSetting::default() };
        schema_of(&setting, &|_| None).map(|schema| schema.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_schema_is_named_once_and_only_where_there_can_be_one() {
        let url = "postgres://me:hunter2@db/x";
        let with = |more: &str| format!("{url}?{more}");
        let good = [
            (url.to_owned(), None, "locked"),
            (url.to_owned(), Some("second"), "second"),
            (with("locked_schema=second"), None, "second"),
            (with("locked_schema=second"), Some("second"), "second"),
            ("host=db user=me locked_schema=second".to_owned(), None, "second"),
            // Another program's word.
            (with("schema=second"), None, "locked"),
            ("sqlite:/srv/l.db".to_owned(), None, "locked"),
        ];
        for (text, schema, expected) in good {
            assert_eq!(named(&text, schema, false).as_deref(), Ok(expected), "{text} {schema:?}");
        }
        let long = "a".repeat(64);
        let illegal = ["public", "pg_toast", "a\"b", "a'b", "a b", "A", "", "information_schema", &long];
        for name in illegal {
            let said = named(url, Some(name), false).expect_err(name);
            assert!(said.starts_with("config.toml: the schema's name must be"), "{said}");
            let in_url = with(&format!("locked_schema={}", name.replace(' ', "%20")));
            let said = named(&in_url, None, false).expect_err(name);
            assert!(said.contains("`locked_schema` of the connection has a value that it cannot have"), "{said}");
            assert!(!said.contains("hunter2") && (name.len() < 3 || !said.contains(&format!("={name}"))), "{said}");
        }
        let odd = [
            (with("locked_schema=one"), Some("two"), false, "names two schemas"),
            ("sqlite:/srv/l.db".to_owned(), Some("two"), false, "no PostgreSQL server"),
            (with("locked_schema=one"), None, true, "in no schema"),
            (url.to_owned(), Some("one"), true, "in no schema"),
            ("sqlite:/srv/l.db".to_owned(), None, true, "session locks (advisory), and names no PostgreSQL server"),
        ];
        for (text, schema, advisory, expected) in odd {
            let said = named(&text, schema, advisory).expect_err(&text);
            assert!(said.contains(expected), "{said}");
        }
    }
}
