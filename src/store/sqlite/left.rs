//! Who has left the line of joins by its own word. The answer to a settling can be lost: asked again it must be the same,
//! whatever has become of the lease meanwhile.
#![forbid(unsafe_code)]

use rusqlite::{Connection, OptionalExtension as _};

use crate::terms::{GrantId, Resource};

use super::fault::Fault;
use super::nest::{self, Join};
use super::row::{self, Row};

/// A join has had its say: it leaves the line, and that is remembered.
pub(super) fn part(connection: &Connection, join: &Join) -> Result<(), Fault> {
    connection
        .prepare_cached("insert or ignore into left_joins (grant_id, lease, key_hash) values (?1, ?2, ?3)")?
        .execute((join.grant.to_string(), join.lease, &join.key_hash))?;
    nest::leave(connection, join)
}

/// The row of the lease that this grant had joined, ended or not, and has left by its own word.
pub(super) fn of_grant(
    connection: &Connection,
    grant: GrantId,
    key_hash: &str,
    resource: &Resource,
) -> Result<Option<Row>, Fault> {
    let sql = format!(
        "select {} from leases where scope = ?3 and name = ?4 and id in \
         (select lease from left_joins where grant_id = ?1 and key_hash = ?2)",
        row::COLUMNS
    );
    let by = (grant.to_string(), key_hash, &resource.scope.0, resource.name.as_str());
    Ok(connection.prepare_cached(&sql)?.query_row(by, row::read).optional()?)
}
