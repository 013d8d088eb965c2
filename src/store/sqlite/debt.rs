//! Debt: files that predecessors may have written and nobody has proven yet. It travels from lease to lease until a holder
//! records its files anew or settles.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};

use crate::store::door::shown;
use crate::store::{FileRecord, Unsettled};
use crate::terms::{FencingToken, GrantId, Resource};

use super::fault::Fault;
use super::row::Row;

/// What one predecessor left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Debt {
    pub(super) token: i64,
    holder: String,
    operation: String,
    host: String,
    files: Vec<FileRecord>,
    /// Of this session itself, which went on with it: of interest only to who comes after a crash.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    own: bool,
    /// The grant under which a command may have run: what is left of it must end before the next one starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    grant: Option<String>,
}

impl Debt {
    /// As the answer to a request has it.
    pub(super) fn unsettled(&self, resource: &Resource) -> Unsettled {
        Unsettled {
            resource: resource.clone(),
            token: FencingToken(self.token),
            holder: shown(&self.holder),
            operation: shown(&self.operation),
            host: shown(&self.host),
            files: self.files.clone(),
        }
    }
}

/// What the row owes already, oldest first.
pub(super) fn of(row: &Row) -> Result<Vec<Debt>, Fault> {
    serde_json::from_str(&row.debt).map_err(|_| Fault::Unreadable("a record of unproven files cannot be read"))
}

/// What the successor of an unsettled row owes: the row's own debt, the files that it may have written, and the grant
/// under which a command may have run. A file whose record says nothing new is not repeated, and who still owes to
/// others has started nothing, so that a crash that comes again and again does not make the record grow.
pub(super) fn left_by(row: &Row) -> Result<Vec<Debt>, Fault> {
    let mut debts = of(row)?;
    // What a command below the holder left is under the holder's own token: then the holder did run.
    let ran = row.runs() && debts.iter().all(|debt| debt.own || debt.token == row.token);
    for debt in &mut debts {
        debt.own = false;
    }
    let mut files = row.files()?;
    files.retain(|file| !debts.iter().any(|debt| debt.host == row.host && debt.files.contains(file)));
    if ran || !files.is_empty() {
        debts.push(Debt {
            grant: ran.then(|| row.grant.to_string()),
            token: row.token,
            holder: row.holder(),
            operation: row.operation.clone(),
            host: row.host.clone(),
            files,
            own: false,
        });
    }
    Ok(debts)
}

/// A record of debts with one more: files that a dead command below the holder may have written.
pub(super) fn with(
    debts: &str,
    token: i64,
    holder: &str,
    operation: &str,
    host: &str,
    files: Vec<FileRecord>,
) -> Result<String, Fault> {
    let mut debts: Vec<Debt> =
        serde_json::from_str(debts).map_err(|_| Fault::Unreadable("a record of unproven files cannot be read"))?;
    if !files.is_empty() {
        let (holder, operation, host) = (holder.to_owned(), operation.to_owned(), host.to_owned());
        debts.push(Debt { token, holder, operation, host, files, own: false, grant: None });
    }
    text(&debts)
}

/// The same when the row's own session goes on with it. What came to it from others is still to be proven.
pub(super) fn kept_by_own(row: &Row) -> Result<Vec<Debt>, Fault> {
    let before = of(row)?;
    let mut debts = left_by(row)?;
    // Order: `left_by` puts the row's own files behind what it owed already.
    for (at, debt) in debts.iter_mut().enumerate() {
        debt.own = before.get(at).is_none_or(|before| before.own);
    }
    Ok(debts)
}

/// All of it as its own: who restores looks at each file.
pub(super) fn all_own(row: &Row) -> Result<Vec<Debt>, Fault> {
    let mut debts = left_by(row)?;
    for debt in &mut debts {
        debt.own = true;
    }
    Ok(debts)
}

/// What it owes to others: files that nobody has proven.
pub(super) fn to_others(row: &Row) -> Result<Vec<Debt>, Fault> {
    Ok(of(row)?.into_iter().filter(|debt| !debt.own && !debt.files.is_empty()).collect())
}

/// Whether it does.
pub(super) fn owes(row: &Row) -> Result<bool, Fault> {
    Ok(!to_others(row)?.is_empty())
}

/// Everything that it owes, for an heir who has not looked at any of it.
pub(super) fn for_an_heir(row: &Row) -> Result<Vec<Debt>, Fault> {
    let mut debts = of(row)?;
    for debt in &mut debts {
        debt.own = false;
    }
    Ok(debts)
}

/// For views: its own files and those that it owes. A record that cannot be read is shown as none; who must act on it
/// reads it by the other ways here, and is told.
pub(super) fn all_files(row: &Row) -> Vec<FileRecord> {
    let owed = of(row).unwrap_or_default().into_iter().filter(|debt| debt.host == row.host).flat_map(|debt| debt.files);
    row.files().unwrap_or_default().into_iter().chain(owed).collect()
}

/// Those that the holder must prove now.
pub(super) fn to_prove(debts: &[Debt], resource: &Resource) -> Vec<Unsettled> {
    let with_files = debts.iter().filter(|debt| !debt.own && !debt.files.is_empty());
    with_files.map(|debt| debt.unsettled(resource)).collect()
}

/// The grants of which something may still run.
pub(super) fn to_end(debts: &[Debt]) -> Vec<GrantId> {
    let grants = debts.iter().filter(|debt| !debt.own).filter_map(|debt| debt.grant.as_ref()?.parse().ok());
    grants.map(GrantId).collect()
}

/// Those of the session's own earlier commands.
pub(super) fn carried(debts: &[Debt], resource: &Resource) -> Vec<Unsettled> {
    debts.iter().filter(|debt| debt.own).map(|debt| debt.unsettled(resource)).collect()
}

/// What stays when the holder has proven what it had to prove.
pub(super) fn proven(row: &Row) -> Result<Vec<Debt>, Fault> {
    Ok(of(row)?.into_iter().filter(|debt| debt.own).collect())
}

/// For the column.
pub(super) fn text<T: Serialize>(records: &[T]) -> Result<String, Fault> {
    serde_json::to_string(records).map_err(|_| Fault::Unreadable("a record of files cannot be written"))
}
