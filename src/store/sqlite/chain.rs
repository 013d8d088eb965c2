//! The chains of receipts: read whole, by their newest link, or by content.
#![forbid(unsafe_code)]

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension as _, Row as SqlRow};

use crate::store::door::shown;
use crate::store::{Contents, FileRecord, StoredReceipt};
use crate::terms::{Digest, FencingToken, Scope};

use super::fault::Fault;

const LINK: &str = "select scope, path, base, new, blob, branch, host, worktree, token, holder, kind, at, \
                    (select host_id from leases where leases.id = receipts.lease) as host_id from receipts";

/// The chain of one path, newest first.
pub(super) fn receipts(connection: &Connection, scope: &Scope, path: &str) -> Result<Vec<StoredReceipt>, Fault> {
    let mut statement =
        connection.prepare_cached(&format!("{LINK} where scope = ?1 and path = ?2 order by id desc"))?;
    let chain = statement.query_map((&scope.0, path), link)?;
    Ok(chain.collect::<rusqlite::Result<_>>()?)
}

/// The chains of these paths, one after the other.
pub(super) fn chains(connection: &Connection, scope: &Scope, paths: &[&str]) -> Result<Vec<StoredReceipt>, Fault> {
    let mut statement = connection.prepare_cached(&format!(
        "{LINK} join (select key as place, value as asked from json_each(?2)) on path = asked where scope = ?1 \
         order by place, id desc"
    ))?;
    let chains = statement.query_map((&scope.0, list(paths)), link)?;
    Ok(chains.collect::<rusqlite::Result<_>>()?)
}

/// Any number of texts, as one value of a statement.
fn list(texts: &[&str]) -> String {
    serde_json::json!(texts).to_string()
}

/// The newest version of each of these files; none where its path has no chain.
pub(super) fn heads(connection: &Connection, files: &[FileRecord]) -> Result<Vec<Option<Digest>>, Fault> {
    let sql = "select new from receipts where scope = ?1 and path = ?2 order by id desc limit 1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut head = |file: &FileRecord| {
        statement.query_row((&file.scope, &file.key), |row| row.get::<_, String>(0).map(Digest::from)).optional()
    };
    Ok(files.iter().map(&mut head).collect::<rusqlite::Result<_>>()?)
}

/// Of each path and content the newest receipt.
pub(super) fn receipts_of(
    connection: &Connection,
    scope: &Scope,
    contents: &Contents,
) -> Result<Vec<StoredReceipt>, Fault> {
    let digests: Vec<&str> = contents.digests.iter().map(Digest::as_str).collect();
    let blobs: Vec<&str> = contents.blobs.iter().map(String::as_str).collect();
    let mut found: Vec<StoredReceipt> = Vec::new();
    // A content may be asked for by both of its names.
    let mut seen: HashSet<(String, Digest)> = HashSet::new();
    for (column, asked) in [("new", digests), ("blob", blobs)] {
        let mut statement = connection.prepare_cached(&format!(
            "{LINK} where scope = ?1 and {column} in (select value from json_each(?2)) and kind <> 'accepted' order by id desc"
        ))?;
        for receipt in statement.query_map((&scope.0, list(&asked)), link)? {
            let receipt = receipt?;
            if seen.insert((receipt.path.clone(), receipt.new.clone())) {
                found.push(receipt);
            }
        }
    }
    Ok(found)
}

fn link(row: &SqlRow<'_>) -> rusqlite::Result<StoredReceipt> {
    let text = |column: &str| row.get::<_, String>(column).map(|text| shown(&text));
    Ok(StoredReceipt {
        scope: Scope(row.get("scope")?),
        path: row.get("path")?,
        base: row.get::<_, Option<String>>("base")?.map(Digest::from),
        new: Digest::from(row.get::<_, String>("new")?),
        blob: row.get("blob")?,
        branch: row.get("branch")?,
        host: text("host")?,
        host_id: row.get::<_, Option<String>>("host_id")?.filter(|id| !id.is_empty()),
        worktree: row.get("worktree")?,
        token: FencingToken(row.get("token")?),
        holder: text("holder")?,
        kind: text("kind")?,
        at: row.get("at")?,
    })
}
