//! The chains of receipts: read whole, by their newest link, or by content.
#![forbid(unsafe_code)]

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
    let digests = contents.digests.iter().map(|digest| ("new", digest.as_str()));
    let blobs = contents.blobs.iter().map(|blob| ("blob", blob.as_str()));
    let mut found: Vec<StoredReceipt> = Vec::new();
    for (column, content) in digests.chain(blobs) {
        let mut statement = connection.prepare_cached(&format!(
            "{LINK} where scope = ?1 and {column} = ?2 and kind <> 'accepted' order by id desc"
        ))?;
        for receipt in statement.query_map((&scope.0, content), link)? {
            let receipt = receipt?;
            // A content may be asked for by both of its names.
            if !found.iter().rev().any(|it| it.path == receipt.path && it.new == receipt.new) {
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
