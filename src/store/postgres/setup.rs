//! Making the schema on a server, and comparing what is there with what this program knows.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::time::Duration;

use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use crate::store::{Initialised, StoreError};

use super::PostgresStore;
use super::column::column;
use super::fault::Fault;
use super::listing;
use super::schema::{KNOWN, Schema};

/// Something on the server that is not as this program has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// There is no schema of ours.
    Absent,
    /// The tables are of an earlier version.
    Version(i64),
    /// A function is missing.
    Missing(String),
    /// A function has another body.
    Changed(String),
    /// A function that clients may call is not guarded as it should be: owner, definer's rights, search path, or who may
    /// call it.
    Unguarded(String),
    /// An index, a view, a trigger or a right of the schema is missing or another; it can be made anew.
    Lacks(String),
    /// Somebody may do something to the tables past the functions.
    Granted(String),
    /// The tables themselves differ: what is missing from them or too much. That is a person's to mend.
    Altered(String),
}

impl std::fmt::Display for Difference {
    /// What it is, and the next step.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mend = "locked store init";
        match self {
            Self::Absent => write!(f, "the database has no schema of locked: {mend}"),
            Self::Version(version) => {
                write!(f, "its tables are of version {version}, this program's of {KNOWN}: {mend}")
            }
            Self::Missing(function) => write!(f, "the function {function} is missing: {mend}"),
            Self::Changed(function) => write!(f, "the function {function} is another than this program's: {mend}"),
            Self::Unguarded(function) => {
                write!(f, "the function {function} has another owner, or more may call it than should: {mend}")
            }
            Self::Lacks(what) => write!(f, "the schema lacks its {what}: {mend}"),
            Self::Granted(right) => {
                write!(f, "somebody may write or read the tables directly, past the functions ({right}): {mend}")
            }
            Self::Altered(how) => write!(
                f,
                "the tables are not those that this program makes, {}: compare them with `locked store print-sql`, and put them right",
                how.replacen(": ", " ", 1)
            ),
        }
    }
}

impl PostgresStore {
    /// Makes the schema or brings it to this program's version; does nothing where all is there. One transaction; many
    /// may do it at once. The role must be able to create schemas here and roles in the cluster.
    ///
    /// # Errors
    /// [`StoreError::Newer`] for a schema of a later program, [`StoreError::Refused`] for a schema that is somebody else's
    /// or a role that may not, or the store could not answer. Nothing is changed then.
    pub fn init(&mut self, limit: Duration) -> Result<Initialised, StoreError> {
        let schema = self.schema.clone();
        self.link.run(limit, async |client| {
            // What only a person can mend stops nobody who asks whether all else is there.
            let mends = |it: &Difference| !matches!(it, Difference::Altered(_));
            if !differences(client, &schema).await?.iter().any(mends) {
                return Ok(Initialised::Unchanged);
            }
            client.batch_execute("begin isolation level read committed").await?;
            let done = apply(client, &schema).await;
            // Also where another was first: what was lent to us for the work goes back.
            let end = if matches!(done, Ok(Initialised::Applied)) { "commit" } else { "rollback" };
            let ended = client.batch_execute(end).await;
            let done = done?;
            ended?;
            Ok(done)
        })
    }

    /// What differs from this program's schema; nothing when all is as it should be.
    ///
    /// # Errors
    /// [`StoreError::Newer`] for a schema of a later program, or the store could not answer.
    pub fn check(&mut self, limit: Duration) -> Result<Vec<Difference>, StoreError> {
        let schema = self.schema.clone();
        self.link.run(limit, async |client| differences(client, &schema).await)
    }
}

async fn apply(client: &Client, schema: &Schema) -> Result<Initialised, Fault> {
    client.batch_execute(&schema.begins()).await?;
    // Asked again under the lock; another may have been first.
    let found = differences(client, schema).await?;
    if found.is_empty() {
        return Ok(Initialised::Unchanged);
    }
    let version = found.iter().find_map(|it| match it {
        Difference::Absent => Some(0),
        Difference::Version(version) => Some(*version),
        _ => None,
    });
    client.batch_execute(&schema.anew(&listing::indexes(&found))).await?;
    client.batch_execute(&schema.steps_from(version.unwrap_or(schema.version()))).await?;
    Ok(Initialised::Applied)
}

const FUNCTIONS: &str = "select p.proname::text, p.prosrc, \
     p.prosecdef and coalesce(p.proconfig::text[] @> array['search_path=pg_catalog, pg_temp'], false), \
     r.rolname = 'locked_owner' and not exists (select 1 from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a \
       where a.grantee = 0) \
     from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace \
     join pg_catalog.pg_roles r on r.oid = p.proowner where n.nspname = $1";

async fn differences(client: &Client, schema: &Schema) -> Result<Vec<Difference>, Fault> {
    let name = schema.to_string();
    let found = client
        .query_typed(
            "select exists (select 1 from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace \
             join pg_catalog.pg_roles r on r.oid = n.nspowner \
             where n.nspname = $1 and c.relname = 'meta' and r.rolname = 'locked_owner')",
            &[(&name, Type::TEXT)],
        )
        .await?;
    if !is_so(&found)? {
        return Ok(vec![Difference::Absent]);
    }
    let functions = client.query_typed(FUNCTIONS, &[(&name, Type::TEXT)]).await?;
    let of_row = |row| Ok((column(row, 0)?, (column(row, 1)?, column(row, 2)?, column(row, 3)?)));
    let there: BTreeMap<String, (String, bool, bool)> = functions.iter().map(of_row).collect::<Result<_, Fault>>()?;
    let mut differences = Vec::new();
    if let Some(version) = version(client, &name).await? {
        if version > schema.version() {
            return Err(Fault::Newer { found: version });
        } else if version < schema.version() {
            differences.push(Difference::Version(version));
        }
    }
    for (function, body) in schema.functions() {
        match there.get(&function) {
            None => differences.push(Difference::Missing(function)),
            Some((text, ..)) if *text != body => differences.push(Difference::Changed(function)),
            Some((_, definer, ours)) if !ours || *definer != callable(&function) => {
                differences.push(Difference::Unguarded(function));
            }
            Some(_) => {}
        }
    }
    let is_current = !differences.iter().any(|it| matches!(it, Difference::Version(_)));
    if is_current && schema.is_ours_alone() {
        differences.extend(listing::differences(&listing::of_server(client, &name).await?));
    }
    Ok(differences)
}

/// Part of the protocol: it has a version in its name.
fn callable(function: &str) -> bool {
    function.rsplit_once("_v").is_some_and(|(_, digits)| digits.bytes().all(|it| it.is_ascii_digit()))
}

/// The tables' version; none where the role may not read it, which only calls functions.
async fn version(client: &Client, schema: &str) -> Result<Option<i64>, Fault> {
    let readable = client
        .query_typed("select has_table_privilege(format('%I.meta', $1), 'select')", &[(&schema, Type::TEXT)])
        .await?;
    if !is_so(&readable)? {
        return Ok(None);
    }
    let sql = format!("select value from \"{schema}\".meta where key = 'version'");
    let rows = client.query_typed(&sql, &[]).await?;
    let version = rows.first().map(|row| column::<&str>(row, 0)).transpose()?.and_then(|text| text.parse().ok());
    version.map(Some).ok_or(Fault::Odd("the schema does not say its version"))
}

/// The answer to a question with a yes or a no.
fn is_so(rows: &[Row]) -> Result<bool, Fault> {
    rows.first().map_or(Ok(false), |row| column(row, 0))
}
