//! The schema of the protocol: its name, its versions, its text, and what a server has of it.
//!
//! Functions are versioned by name (`acquire_v1`): a later schema can serve earlier programs beside later ones, callers
//! over HTTP name one function without guessing between overloads, and a function's meaning never changes under a name.
#![forbid(unsafe_code)]

use std::fmt;

use crate::terms::Scope;

/// One step per version of the tables. A step that was published is never changed; a new one is added below it.
const STEPS: [&str; 7] = [
    include_str!("schema/0001_ledger.sql"),
    include_str!("schema/0002_waits.sql"),
    include_str!("schema/0003_ways_to_end.sql"),
    include_str!("schema/0004_receipts_by_content.sql"),
    include_str!("schema/0005_board.sql"),
    include_str!("schema/0006_issue.sql"),
    include_str!("schema/0007_long_ledger.sql"),
];

/// Applied whole at every version: functions and views, which hold nothing.
const FUNCTIONS: [&str; 19] = [
    include_str!("schema/rows.sql"),
    include_str!("schema/arguments.sql"),
    include_str!("schema/debt.sql"),
    include_str!("schema/nest.sql"),
    include_str!("schema/queue.sql"),
    include_str!("schema/chain.sql"),
    include_str!("schema/grant.sql"),
    include_str!("schema/acquire.sql"),
    include_str!("schema/request.sql"),
    include_str!("schema/settle.sql"),
    include_str!("schema/holding.sql"),
    include_str!("schema/usual.sql"),
    include_str!("schema/forced.sql"),
    include_str!("schema/views.sql"),
    include_str!("schema/waits.sql"),
    include_str!("schema/sessions.sql"),
    include_str!("schema/board.sql"),
    include_str!("schema/upkeep.sql"),
    include_str!("schema/moving.sql"),
];

/// The tables of before as views, for a change-over; not part of the protocol.
const COMPAT: &str = include_str!("schema/compat.sql");

const BEGIN: &str = include_str!("schema/begin.sql");
const FINISH: &str = include_str!("schema/finish.sql");
const LEND: &str = include_str!("schema/lend.sql");
const RETURN: &str = include_str!("schema/return.sql");

/// The version that this program knows.
pub(super) const KNOWN: i64 = STEPS.len() as i64;

/// The schema by its name in the database.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Schema {
    name: String,
    /// What a later program adds to the tables.
    later: Option<String>,
}

/// Where the tables of before were, and what their names without a scope mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Before {
    /// Their schema: letters, digits and `_`.
    pub schema: String,
    /// The repository of `sops:`, `rotation:` and `zone:`.
    pub scope: Scope,
    /// The engine of `container:`.
    pub containers: Scope,
}

/// Not a name for a schema of ours.
#[derive(Debug, thiserror::Error)]
#[error(
    "the schema's name must be lower-case letters, digits and _, at most 48, not public and not pg_…; `locked` is ready"
)]
pub struct SchemaNameError;

impl Default for Schema {
    fn default() -> Self {
        Self { name: "locked".to_owned(), later: None }
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Schema {
    /// The schema of this name.
    ///
    /// # Errors
    /// The name is not ours to take (`public`, `pg_…`) or needs quoting.
    pub fn named(name: &str) -> Result<Self, SchemaNameError> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        let begins = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
        let foreign = ["public", "information_schema", "extensions", "auth", "storage"].contains(&name);
        if name.len() > 48 || !begins || !name.chars().all(plain) || foreign || name.starts_with("pg_") {
            return Err(SchemaNameError);
        }
        Ok(Self { name: name.to_owned(), later: None })
    }

    /// The schema as a later program may have it, with one step more: so an upgrade can be tried before there is one.
    /// `@schema@` in the step is the schema's name, quoted.
    #[must_use]
    pub fn and_later(self, step: &str) -> Self {
        Self { later: Some(step.to_owned()), ..self }
    }

    /// The version of the tables.
    #[must_use]
    pub fn version(&self) -> i64 {
        KNOWN + i64::from(self.later.is_some())
    }

    /// The whole text that makes the schema from nothing: one transaction, safe to apply again to a schema of this version
    /// only through [`super::PostgresStore::init`], which leaves out the tables that are there.
    #[must_use]
    pub fn sql(&self) -> String {
        format!("begin;\n\n{}\n\n{}\n\ncommit;\n", self.begins(), self.steps_from(0))
    }

    /// The SQL that makes the tables of before as views over this schema, `place` being where they were.
    #[must_use]
    pub fn compat(&self, place: &Before) -> String {
        let literal = |scope: &Scope| format!("'{}'", scope.0.replace('\'', "''"));
        let text = COMPAT.replace("@lends@", self.lends().trim()).replace("@returns@", self.returns().trim());
        // Order: scopes last; nothing in them is a placeholder of ours.
        self.filled(&text)
            .replace("@outer@", &format!("\"{}\"", place.schema))
            .replace("@in@", &place.schema)
            .replace("@scope@", &literal(&place.scope))
            .replace("@containers@", &literal(&place.containers))
    }

    /// The first part of an application, inside a transaction.
    pub(super) fn begins(&self) -> String {
        self.filled(BEGIN)
    }

    /// The rest, for a schema of this version (0: none yet), in the same transaction.
    pub(super) fn steps_from(&self, version: i64) -> String {
        let done = usize::try_from(version).unwrap_or(0);
        let steps = STEPS.into_iter().chain(self.later.as_deref()).skip(done);
        self.filled(&steps.chain(FUNCTIONS).chain([FINISH]).collect::<Vec<_>>().join("\n"))
    }

    /// Whether its tables are as this program makes them, without what a later one adds.
    pub(super) fn is_ours_alone(&self) -> bool {
        self.later.is_none()
    }

    /// Makes these indexes again, as the steps make them.
    pub(super) fn anew(&self, indexes: &[&str]) -> String {
        let steps = STEPS.concat();
        let made = |index: &&str| {
            let at = steps.rfind(&format!("index {index} on "))?;
            let start = steps[..at].rfind("create ")?;
            let statement = steps[start..].split_once(';')?.0;
            Some(format!("drop index if exists @schema@.{index};\n{statement};\n"))
        };
        self.filled(&indexes.iter().filter_map(made).collect::<String>())
    }

    /// The first part of the schema's upkeep, inside a transaction: from here we act as the owner.
    pub(super) fn lends(&self) -> String {
        self.filled(LEND)
    }

    /// The last part of it.
    pub(super) fn returns(&self) -> String {
        self.filled(RETURN)
    }

    /// One function of ours, called: `"locked".acquire_v1`.
    pub(super) fn function(&self, name: &str) -> String {
        format!("\"{}\".{name}", self.name)
    }

    /// Name and body of every function as this program knows them.
    pub(super) fn functions(&self) -> Vec<(String, String)> {
        let text = self.filled(&FUNCTIONS.concat());
        let parts = text.split("create or replace function ").skip(1);
        let function = |part: &str| -> Option<(String, String)> {
            let name = part.split_once('(')?.0.rsplit('.').next()?.to_owned();
            let body = part.split("$body$").nth(1)?.to_owned();
            Some((name, body))
        };
        parts.filter_map(function).collect()
    }

    fn filled(&self, text: &str) -> String {
        text.replace("@schema@", &format!("\"{}\"", self.name))
            .replace("@name@", &self.name)
            .replace("@version@", &self.version().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_that_are_nobody_s_are_taken() {
        for good in ["locked", "locked_2", "_x"] {
            assert!(Schema::named(good).is_ok(), "{good}");
        }
        for bad in ["", "public", "pg_locked", "Locked", "a b", "a\"b", "1a", "a-b", "a'b", &"a".repeat(49)] {
            assert!(Schema::named(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn every_function_has_a_name_of_its_own_and_a_body() {
        let functions = Schema::default().functions();
        let text = FUNCTIONS.concat();
        assert_eq!(functions.len(), text.matches("create or replace function").count());
        let names: std::collections::BTreeSet<_> = functions.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), functions.len(), "no overloads: callers name one function");
        // `@>` is an operator.
        assert!(!Schema::default().sql().replace("@>", "").contains('@'), "every placeholder is filled");
    }

    #[test]
    fn what_clients_may_call_is_guarded_alike() {
        let text = FUNCTIONS.concat();
        for part in text.split("create or replace function ").skip(1) {
            let name = part.split_once('(').expect("arguments").0;
            let head = part.split("$body$").next().expect("a head");
            let callable = name.trim_end_matches(|c: char| c.is_ascii_digit()).ends_with("_v");
            let guarded = head.contains("security definer set search_path = pg_catalog, pg_temp");
            assert_eq!(callable, guarded, "{name}");
        }
    }
}
