//! The queue: one ticket per waiting request over all its resources. The ticket's number is its place.
#![forbid(unsafe_code)]

use rusqlite::{Connection, OptionalExtension as _, Row as SqlRow};

use crate::store::door::shown;
use crate::store::{Ahead, Claim, Live, Request, WaitView};
use crate::terms::{GrantId, Resource, Scope};

use super::fault::Fault;
use super::ledger::{Now, ms};
use super::row::{live_columns, live_file, name, uuid};

/// A ticket.
#[derive(Debug, Clone)]
pub(super) struct Ticket {
    pub(super) id: i64,
    pub(super) grant: GrantId,
    holder: String,
    host_id: String,
    live: Option<Live>,
    silence_ms: i64,
    boot: String,
    refreshed_ms: i64,
    since: Option<i64>,
    /// The grant whose command waits.
    pub(super) within: Option<GrantId>,
}

const COLUMNS: &str = "t.id, t.grant_id, t.holder, t.host_id, t.live_device, t.live_inode, t.silence_ms, t.boot, t.refreshed_ms, t.since, t.within_grant";

fn read(row: &SqlRow<'_>) -> rusqlite::Result<Ticket> {
    Ok(Ticket {
        id: row.get("id")?,
        grant: GrantId(uuid(row, "grant_id")?),
        holder: row.get("holder")?,
        host_id: row.get("host_id")?,
        live: live_file(row)?,
        silence_ms: row.get("silence_ms")?,
        boot: row.get("boot")?,
        refreshed_ms: row.get("refreshed_ms")?,
        since: row.get("since")?,
        within: row.get::<_, Option<String>>("within_grant")?.and_then(|text| text.parse().ok()).map(GrantId),
    })
}

impl Ticket {
    /// Its waiter has not been heard of for so long that others pass it.
    pub(super) fn silent(&self, now: &Now) -> bool {
        self.boot != now.boot || self.refreshed_ms.saturating_add(self.silence_ms) < now.ms
    }

    /// It is worth a write: half of the silence that others grant it has passed. Each refresh costs the disk as much as an
    /// acquire, so many waiters must not refresh often.
    pub(super) fn needs_refresh(&self, now: &Now) -> bool {
        self.boot != now.boot || self.refreshed_ms.saturating_add(self.silence_ms / 2) <= now.ms
    }

    /// As views show it.
    pub(super) fn view(&self, resources: Vec<Resource>) -> WaitView {
        WaitView { holder: shown(&self.holder), since: self.since, resources }
    }

    /// As the answer to a request has it.
    pub(super) fn ahead(&self) -> Ahead {
        Ahead { grant: self.grant, live: self.live, host_id: self.host_id.clone(), holder: shown(&self.holder) }
    }
}

/// The ticket of this grant.
pub(super) fn of(connection: &Connection, grant: GrantId) -> Result<Option<Ticket>, Fault> {
    let sql = format!("select {COLUMNS} from tickets t where t.grant_id = ?1");
    Ok(connection.prepare_cached(&sql)?.query_row([grant.to_string()], read).optional()?)
}

/// The tickets for this resource, oldest first.
pub(super) fn for_resource(connection: &Connection, resource: &Resource) -> Result<Vec<Ticket>, Fault> {
    let sql = format!(
        "select {COLUMNS} from ticket_resources r join tickets t on t.id = r.ticket \
         where r.scope = ?1 and r.name = ?2 order by r.ticket"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let tickets = statement.query_map((&resource.scope.0, resource.name.as_str()), read)?;
    Ok(tickets.collect::<rusqlite::Result<_>>()?)
}

/// Every ticket, oldest first.
pub(super) fn all(connection: &Connection) -> Result<Vec<Ticket>, Fault> {
    let sql = format!("select {COLUMNS} from tickets t order by t.id");
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_map([], read)?.collect::<rusqlite::Result<_>>()?)
}

/// The tickets of nested requests.
pub(super) fn nested(connection: &Connection) -> Result<Vec<Ticket>, Fault> {
    let sql = format!("select {COLUMNS} from tickets t where t.within_grant is not null order by t.id");
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_map([], read)?.collect::<rusqlite::Result<_>>()?)
}

/// What a ticket waits for.
pub(super) fn resources(connection: &Connection, ticket: i64) -> Result<Vec<Resource>, Fault> {
    let mut statement = connection.prepare_cached("select scope, name from ticket_resources where ticket = ?1")?;
    let read = |row: &SqlRow<'_>| Ok(Resource { name: name(row, "name")?, scope: Scope(row.get("scope")?) });
    Ok(statement.query_map([ticket], read)?.collect::<rusqlite::Result<_>>()?)
}

/// How many wait for this resource.
pub(super) fn waiters(connection: &Connection, resource: &Resource, now: &Now) -> Result<u32, Fault> {
    let waiting = for_resource(connection, resource)?.iter().filter(|ticket| !ticket.silent(now)).count();
    Ok(u32::try_from(waiting).unwrap_or(u32::MAX))
}

/// Joins the queue at its end; a thief before everybody.
pub(super) fn join(
    connection: &Connection,
    request: &Request,
    silence: std::time::Duration,
    now: &Now,
) -> Result<(), Fault> {
    let owner = &request.owner;
    let (device, inode) = live_columns(request.live);
    connection
        .prepare_cached(
            "insert into tickets (id, grant_id, holder, host_id, live_device, live_inode, silence_ms, boot, refreshed_ms, \
             within_grant, since) values (iif(?10, (select min(coalesce(min(id), 0), 0) - 1 from tickets), null), \
             ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?11)",
        )?
        .execute((
            request.grant.to_string(),
            format!("{} ({})", owner.session.short(), owner.label),
            &owner.host_id,
            device,
            inode,
            ms(silence),
            &now.boot,
            now.ms,
            request.within.map(|within| within.to_string()),
            request.claim == Claim::Steal,
            now.wall,
        ))?;
    let id = connection.last_insert_rowid();
    let mut insert = connection.prepare_cached("insert into ticket_resources values (?1, ?2, ?3)")?;
    for resource in &request.resources {
        insert.execute((&resource.scope.0, resource.name.as_str(), id))?;
    }
    Ok(())
}

/// Says that the waiter is still there.
pub(super) fn refresh(connection: &Connection, ticket: &Ticket, now: &Now) -> Result<(), Fault> {
    connection
        .prepare_cached("update tickets set boot = ?2, refreshed_ms = ?3 where id = ?1")?
        .execute((ticket.id, &now.boot, now.ms))?;
    Ok(())
}

/// Takes the ticket of this grant out, if it has one.
pub(super) fn leave(connection: &Connection, grant: GrantId) -> Result<(), Fault> {
    match of(connection, grant)? {
        Some(ticket) => remove(connection, ticket.id),
        None => Ok(()),
    }
}

/// Takes a ticket out.
pub(super) fn remove(connection: &Connection, id: i64) -> Result<(), Fault> {
    connection.prepare_cached("delete from ticket_resources where ticket = ?1")?.execute([id])?;
    connection.prepare_cached("delete from tickets where id = ?1")?.execute([id])?;
    Ok(())
}
