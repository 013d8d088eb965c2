//! What people see: live leases, history.
#![forbid(unsafe_code)]

use std::collections::HashSet;

use rusqlite::{Connection, Row as SqlRow};

use crate::store::door::{shown, shown_whole};
use crate::store::{Ended, HistoryFilter, LeaseView, PastLease};
use crate::terms::{Digest, FencingToken, GrantId, Resource, Scope, SessionId};

use super::fault::Fault;
use super::ledger::{Now, ms};
use super::queue;
use super::row::{self, Row};

/// So many ended leases are shown when nobody asks for another number.
const READY_LIMIT: u32 = 50;

/// More resources than this are not asked about one by one.
const MANY: usize = 64;

/// The live leases of these resources or of all, in resource order.
pub(super) fn leases(
    connection: &Connection,
    resources: Option<&[Resource]>,
    now: &Now,
) -> Result<Vec<LeaseView>, Fault> {
    let rows: Vec<Row> = match resources {
        // All that live are soon read, and few.
        Some(resources) if resources.len() > MANY => {
            let asked: HashSet<&Resource> = resources.iter().collect();
            all(connection)?.into_iter().filter(|row| asked.contains(&row.resource)).collect()
        }
        Some(resources) => {
            let found: Result<Vec<_>, Fault> = resources.iter().map(|it| row::live(connection, it)).collect();
            found?.into_iter().flatten().collect()
        }
        None => all(connection)?,
    };
    rows.iter().map(|row| Ok(row.view(queue::waiters(connection, &row.resource, now)?, now))).collect()
}

fn all(connection: &Connection) -> Result<Vec<Row>, Fault> {
    let sql = format!("select {} from leases where ended_at is null order by name, scope", row::COLUMNS);
    Ok(connection.prepare_cached(&sql)?.query_map([], row::read)?.collect::<rusqlite::Result<_>>()?)
}

const PAST: &str = "select l.scope, l.name, l.token, l.session, l.label, l.host, l.operation, l.acquired_at, l.ended_at, \
     l.ended_as, l.note, (select r.new from receipts r where r.lease = l.id order by r.id desc limit 1) as receipt \
     from leases l";

/// Ended leases, newest first.
pub(super) fn history(connection: &Connection, filter: &HistoryFilter, now: &Now) -> Result<Vec<PastLease>, Fault> {
    let since = filter.since.map_or(i64::MIN, |since| now.wall.saturating_sub(ms(since)));
    let limit = filter.limit.unwrap_or(READY_LIMIT);
    let order = "order by l.ended_at desc, l.id desc limit ?2";
    let past: rusqlite::Result<Vec<_>> = match &filter.name {
        Some(name) => connection
            .prepare_cached(&format!(
                "{PAST} where l.ended_at is not null and l.name = ?3 and l.ended_at >= ?1 {order}"
            ))?
            .query_map((since, limit, name), past)?
            .collect(),
        None => connection
            .prepare_cached(&format!("{PAST} where l.ended_at is not null and l.ended_at >= ?1 {order}"))?
            .query_map((since, limit), past)?
            .collect(),
    };
    Ok(past?)
}

/// What was left to a person, newest first. The words of the condition are those of its index.
pub(super) fn duties_asked() -> String {
    format!("{PAST} where l.ended_as = 'human-action' order by l.ended_at desc, l.id desc limit 1000")
}

/// What was left to a person.
pub(super) fn duties(connection: &Connection) -> Result<Vec<PastLease>, Fault> {
    Ok(connection.prepare_cached(&duties_asked())?.query_map([], past)?.collect::<rusqlite::Result<_>>()?)
}

fn past(row: &SqlRow<'_>) -> rusqlite::Result<PastLease> {
    let text = |column: &str| row.get::<_, String>(column).map(|text| shown(&text));
    Ok(PastLease {
        resource: Resource { name: row::name(row, "name")?, scope: Scope(row.get("scope")?) },
        token: FencingToken(row.get("token")?),
        session: SessionId(row::uuid(row, "session")?),
        label: text("label")?,
        host: text("host")?,
        operation: text("operation")?,
        acquired_at: row.get("acquired_at")?,
        ended_at: row.get("ended_at")?,
        ended_as: ended(&row.get::<_, String>("ended_as")?),
        note: row.get::<_, Option<String>>("note")?.map(|note| shown_whole(&note)),
        receipt: row.get::<_, Option<String>>("receipt")?.map(Digest::from),
    })
}

/// The word in the ledger, read back. An unknown word of a later program shows as a failure rather than as a success.
fn ended(word: &str) -> Ended {
    let all = [Ended::Completed, Ended::Failed, Ended::Expired, Ended::Stolen, Ended::HumanAction];
    all.into_iter().find(|ended| ended.as_str() == word).unwrap_or(Ended::Failed)
}

/// Those of these grants that a live row, a join, a ticket or an unproven debt names.
pub(super) fn standing(connection: &Connection, grants: &[GrantId]) -> Result<Vec<GrantId>, Fault> {
    let sql = "select exists (select 1 from leases where grant_id = ?1 and ended_at is null) \
               or exists (select 1 from joins where grant_id = ?1) \
               or exists (select 1 from tickets where grant_id = ?1) \
               or exists (select 1 from leases where ended_at is null and instr(debt, ?1))";
    let mut statement = connection.prepare_cached(sql)?;
    let mut standing = Vec::new();
    for &grant in grants {
        if statement.query_row([grant.to_string()], |row| row.get::<_, bool>(0))? {
            standing.push(grant);
        }
    }
    Ok(standing)
}
