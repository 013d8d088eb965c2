//! Acquire: all or none, oldest request first, in one transaction.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::store::{Acquisition, Blocker, Claim, Granted, Mode, Request, StoreError};
use crate::terms::{FencingToken, GrantId, Resource};

use super::board;
use super::chain;
use super::cycle;
use super::debt;
use super::fate::{Fate, fate};
use super::fault::Fault;
use super::grant::{Inherited, insert, next_token, succeed};
use super::ledger::{Ledger, Now, span};
use super::nest::{self, Standing};
use super::queue::{self, Ticket};
use super::row::{self, Row};

/// Looks first if asked to, so that a blocked poll takes no write lock; then does it under the lock.
pub(super) fn acquire(
    ledger: &mut Ledger,
    request: &Request,
    looks_first: bool,
    limit: Duration,
) -> Result<Acquisition, StoreError> {
    let begun = Instant::now();
    if looks_first && let Some(busy) = ledger.read(limit, |connection, now| look(connection, request, now))? {
        return Ok(busy);
    }
    let left = limit.saturating_sub(begun.elapsed());
    ledger.write(left, |connection, now| under_lock(connection, request, now))
}

/// The answer, if it is "busy" and there is nothing to write.
fn look(connection: &Connection, request: &Request, now: &Now) -> Result<Option<Acquisition>, Fault> {
    let situation = Situation::of(connection, request, now)?;
    if situation.is_told_without_writing(request, now) {
        return situation.busy(connection, now).map(Some);
    }
    Ok(None)
}

fn under_lock(connection: &Connection, request: &Request, now: &Now) -> Result<Acquisition, Fault> {
    for &grant in &request.gone {
        note_gone(connection, grant, request, now)?;
    }
    for resource in &request.resources {
        if let Some(row) = row::live(connection, resource)?.filter(|row| row.lingers_since_boot(now)) {
            linger(connection, &row, "its effect may still be running, from before this machine was started", now)?;
        }
    }
    let situation = Situation::of(connection, request, now)?;
    if situation.is_read_back() {
        return situation.read_back(connection, request, now);
    }
    for ticket in &situation.silent {
        queue::remove(connection, ticket.id)?;
    }
    if situation.blocked() {
        if let Mode::Wait { silence } = request.mode {
            match &situation.mine {
                None => queue::join(connection, request, silence, now)?,
                Some(ticket) if ticket.needs_refresh(now) => queue::refresh(connection, ticket, now)?,
                Some(_) => {}
            }
        }
        return situation.busy(connection, now);
    }
    situation.grant(connection, request, now)
}

/// The live rows of a grant whose wrapper and keeper were proven gone expire now; whoever takes them next takes their debt.
/// An effect that may run on elsewhere is given its time first. Tickets of the grant go.
fn note_gone(connection: &Connection, grant: GrantId, request: &Request, now: &Now) -> Result<(), Fault> {
    queue::leave(connection, grant)?;
    let owner = &request.owner;
    let note = format!("proven gone by {} ({})", owner.session.short(), owner.label);
    let sql = format!("select {} from leases where grant_id = ?1 and ended_at is null", row::COLUMNS);
    for join in nest::of_any_lease(connection, grant)? {
        match join.may_run_on {
            Some(_) => {}
            None if join.remote => nest::stay(connection, &join, &format!("{note}; its effect may still be running"))?,
            None => nest::bury(connection, &join)?,
        }
    }
    let rows: Vec<Row> =
        connection.prepare_cached(&sql)?.query_map([grant.to_string()], row::read)?.collect::<rusqlite::Result<_>>()?;
    for row in rows.iter().filter(|row| row.runs()) {
        // What joined it lives on under it, and inherits it in the end.
        if nest::of_lease(connection, row.id)?.iter().any(|join| join.may_run_on.is_none()) {
            continue;
        }
        if row.remote {
            linger(connection, row, &format!("{note}; its effect may still be running"), now)?;
        } else {
            connection
                .prepare_cached("update leases set boot = ?2, expires_ms = ?3, reason = ?4 where id = ?1")?
                .execute((row.id, &now.boot, now.ms, row.because(&note)))?;
        }
    }
    Ok(())
}

/// Holds a resource for one TTL from now for an effect that may still be running.
fn linger(connection: &Connection, row: &Row, reason: &str, now: &Now) -> Result<(), Fault> {
    connection
        .prepare_cached(
            "update leases set state = 'remote', pid = null, live_device = null, live_inode = null, boot = ?2, \
             expires_ms = ?3, reason = ?4 where id = ?1",
        )?
        .execute((row.id, &now.boot, now.ms.saturating_add(row.ttl_ms), row.because(reason)))?;
    Ok(())
}

/// The lease in the way and, when commands below its holder have joined it, each of them: whoever is gone can be proven so.
fn in_the_way(connection: &Connection, row: &Row, now: &Now) -> Result<Vec<Blocker>, Fault> {
    let joins = nest::of_lease(connection, row.id)?;
    let lease = row.view(queue::waiters(connection, &row.resource, now)?, now);
    // That who asks a person is gone has been said when it has run out; it frees nothing.
    let reclaimable_when_gone = row.runs() && joins.is_empty() && !(row.ask && row.expired(now));
    let mut blockers = vec![Blocker { lease: lease.clone(), reclaimable_when_gone }];
    blockers.extend(
        joins
            .iter()
            .map(|join| Blocker { lease: join.view(lease.clone()), reclaimable_when_gone: join.may_run_on.is_none() }),
    );
    Ok(blockers)
}

/// A wanted resource and what is in its place.
struct Wanted {
    resource: Resource,
    /// None when it is free.
    row: Option<(Row, Fate)>,
    /// How it stands with a command above us that runs under it.
    nest: Standing,
}

impl Wanted {
    fn fate(&self) -> Option<Fate> {
        self.row.as_ref().map(|(_, fate)| *fate)
    }
}

/// Everything that decides a request.
struct Situation {
    wanted: Vec<Wanted>,
    ahead: Vec<Ticket>,
    silent: Vec<Ticket>,
    mine: Option<Ticket>,
    /// The grants above this request.
    chain: Vec<GrantId>,
}

impl Situation {
    fn of(connection: &Connection, request: &Request, now: &Now) -> Result<Self, Fault> {
        let key_hash = request.key.hash();
        let chain = nest::chain(connection, request.within)?;
        let mut wanted = Vec::with_capacity(request.resources.len());
        for resource in &request.resources {
            let mut row = row::live(connection, resource)?.map(|row| {
                let fate = fate(&row, request, &key_hash, now);
                (row, fate)
            });
            let mut nest = Standing::Stranger;
            if let Some((row, fate)) = row.as_mut().filter(|(_, fate)| *fate == Fate::Blocks) {
                nest = nest::standing(connection, row, &chain, request)?;
                *fate = match nest {
                    // What is being taken away lets nobody else in.
                    Standing::MayJoin(_) if request.claim == Claim::Command && !row.revoked => Fate::Join,
                    Standing::Joined => Fate::Ours,
                    _ => Fate::Blocks,
                };
            }
            wanted.push(Wanted { resource: resource.clone(), row, nest });
        }
        let mine = queue::of(connection, request.grant)?;
        let mut situation = Self { wanted, ahead: Vec::new(), silent: Vec::new(), mine, chain };
        situation.look_ahead(connection, now)?;
        Ok(situation)
    }

    /// Finds the older requests that share a resource. One that also waits for what we adopt, or for what a command
    /// above us runs under, cannot go before us anyhow (it waits for us), so passing it is not barging; holding back for it would be a deadlock.
    fn look_ahead(&mut self, connection: &Connection, now: &Now) -> Result<(), Fault> {
        let place = self.mine.as_ref().map_or(i64::MAX, |ticket| ticket.id);
        let mut shared = BTreeMap::new();
        let mut waits_for_us = BTreeSet::new();
        for wanted in &self.wanted {
            for ticket in queue::for_resource(connection, &wanted.resource)? {
                if matches!(wanted.fate(), Some(Fate::Adopt | Fate::Join)) {
                    waits_for_us.insert(ticket.id);
                }
                shared.insert(ticket.id, ticket);
            }
        }
        for resource in row::running_of(connection, &self.chain)? {
            waits_for_us.extend(queue::for_resource(connection, &resource)?.iter().map(|ticket| ticket.id));
        }
        let older = shared.into_values().filter(|ticket| ticket.id < place);
        let (silent, heard): (Vec<_>, Vec<_>) = older.partition(|ticket| ticket.silent(now));
        self.silent = silent;
        self.ahead = heard.into_iter().filter(|ticket| !waits_for_us.contains(&ticket.id)).collect();
        Ok(())
    }

    fn blocked(&self) -> bool {
        !self.ahead.is_empty() || self.wanted.iter().any(|it| matches!(it.fate(), Some(Fate::Blocks | Fate::Ours)))
    }

    /// The grant was made already and its answer lost.
    fn is_read_back(&self) -> bool {
        self.wanted.iter().all(|it| it.fate() == Some(Fate::Ours))
    }

    fn is_told_without_writing(&self, request: &Request, now: &Now) -> bool {
        let ticket_is_fresh = match request.mode {
            Mode::Try => true,
            Mode::Wait { .. } => self.mine.as_ref().is_some_and(|ticket| !ticket.needs_refresh(now)),
        };
        let counts_anew =
            self.wanted.iter().any(|it| it.row.as_ref().is_some_and(|(row, _)| row.lingers_since_boot(now)));
        self.blocked() && !self.is_read_back() && ticket_is_fresh && request.gone.is_empty() && !counts_anew
    }

    fn busy(&self, connection: &Connection, now: &Now) -> Result<Acquisition, Fault> {
        let mut blockers = Vec::new();
        for (row, _) in self.wanted.iter().filter_map(|it| it.row.as_ref()).filter(|(_, fate)| *fate == Fate::Blocks) {
            blockers.extend(in_the_way(connection, row, now)?);
        }
        let place = self.mine.as_ref().map_or(i64::MAX, |ticket| ticket.id);
        let deadlock = self.wants_what_it_stands_in()
            || cycle::closes(connection, &self.chain, blockers.iter().map(|it| it.lease.grant).collect(), place, now)?;
        Ok(Acquisition::Busy { blockers, ahead: self.ahead.iter().map(Ticket::ahead).collect(), deadlock })
    }

    /// A hold between commands cannot be taken from below a command that has the very resource until it ends.
    fn wants_what_it_stands_in(&self) -> bool {
        self.wanted.iter().any(|it| it.fate() == Some(Fate::Blocks) && matches!(it.nest, Standing::MayJoin(_)))
    }

    fn read_back(&self, connection: &Connection, request: &Request, now: &Now) -> Result<Acquisition, Fault> {
        let mut granted = nothing(Duration::MAX);
        granted.heads = Some(chain::heads(connection, &request.files)?);
        for (row, _) in self.wanted.iter().filter_map(|it| it.row.as_ref()) {
            granted.tokens.push((row.resource.clone(), FencingToken(row.token)));
            granted.lasts = granted.lasts.min(row.expires_in(now).unwrap_or(span(row.ttl_ms)));
            let debts = debt::of(row)?;
            granted.unsettled.extend(debt::to_prove(&debts, &row.resource));
            granted.carried.extend(debt::carried(&debts, &row.resource));
            granted.reclaimed.extend(debt::to_end(&debts));
            if row.adopted {
                granted.adopted.push(row.resource.clone());
            }
        }
        Ok(Acquisition::Granted(granted))
    }

    fn grant(&self, connection: &Connection, request: &Request, now: &Now) -> Result<Acquisition, Fault> {
        let lasts = request.first_grant.min(request.ttl);
        let mut granted = nothing(lasts);
        granted.heads = Some(chain::heads(connection, &request.files)?);
        for wanted in &self.wanted {
            if let (Some((row, Fate::Join)), Standing::MayJoin(below)) = (&wanted.row, &wanted.nest) {
                nest::join(connection, row, *below, request)?;
                row::lasts_at_least(connection, row, lasts, now)?;
                granted.tokens.push((wanted.resource.clone(), FencingToken(row.token)));
                continue;
            }
            let inherited = match &wanted.row {
                Some((row, fate)) => succeed(connection, row, *fate, request, now)?,
                None => Inherited::default(),
            };
            granted.unsettled.extend(debt::to_prove(&inherited.debts, &wanted.resource));
            granted.carried.extend(debt::carried(&inherited.debts, &wanted.resource));
            granted.reclaimed.extend(debt::to_end(&inherited.debts));
            if inherited.adopted {
                granted.adopted.push(wanted.resource.clone());
            }
            let token = next_token(connection, &wanted.resource, now)?;
            insert(connection, request, &wanted.resource, token, &inherited, now)?;
            granted.tokens.push((wanted.resource.clone(), FencingToken(token)));
        }
        if let Some(ticket) = &self.mine {
            queue::remove(connection, ticket.id)?;
        }
        granted.words = board::heard(connection, request.owner.session)?;
        Ok(Acquisition::Granted(granted))
    }
}

/// A grant of no resource yet.
fn nothing(lasts: Duration) -> Granted {
    Granted {
        tokens: vec![],
        lasts,
        unsettled: vec![],
        reclaimed: vec![],
        adopted: vec![],
        carried: vec![],
        heads: None,
        words: vec![],
    }
}
