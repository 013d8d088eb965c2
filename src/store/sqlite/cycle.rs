//! Would waiting close a circle? A command that runs under a lease and waits for another can wait for somebody who waits
//! for it.
#![forbid(unsafe_code)]

use rusqlite::Connection;

use crate::terms::GrantId;

use super::fault::Fault;
use super::ledger::Now;
use super::nest;
use super::queue::{self, Ticket};
use super::row;

/// True when one who stands in our way waits, over however many others, for one of ours. `ours` are the grants above the
/// request, `in_the_way` those that hold what it wants, `place` the
/// number of its ticket: of a circle only the youngest request is refused, so that the others go on.
pub(super) fn closes(
    connection: &Connection,
    ours: &[GrantId],
    in_the_way: Vec<GrantId>,
    place: i64,
    now: &Now,
) -> Result<bool, Fault> {
    if ours.is_empty() {
        return Ok(false);
    }
    let nested: Vec<(Vec<GrantId>, Ticket)> = queue::nested(connection)?
        .into_iter()
        .filter(|ticket| ticket.id < place && !ticket.silent(now))
        .map(|ticket| Ok((nest::chain(connection, ticket.within)?, ticket)))
        .collect::<Result<_, Fault>>()?;
    // What a command above us holds is joined; only who joined it before us is in the way.
    let mut open: Vec<GrantId> = in_the_way.into_iter().filter(|holder| !ours.contains(holder)).collect();
    let mut seen = Vec::new();
    while let Some(holder) = open.pop() {
        if ours.contains(&holder) {
            return Ok(true);
        }
        if seen.contains(&holder) {
            continue;
        }
        seen.push(holder);
        for (chain, ticket) in nested.iter().filter(|(chain, _)| chain.contains(&holder)) {
            open.extend(holders_of_what(connection, ticket, chain)?);
        }
    }
    Ok(false)
}

/// Who has what this ticket waits for, but for the commands above it.
fn holders_of_what(connection: &Connection, ticket: &Ticket, chain: &[GrantId]) -> Result<Vec<GrantId>, Fault> {
    let mut holders = Vec::new();
    for resource in queue::resources(connection, ticket.id)? {
        if let Some(row) = row::live(connection, &resource)? {
            holders.push(row.grant);
            holders.extend(nest::of_lease(connection, row.id)?.iter().map(|join| join.grant));
        }
    }
    holders.retain(|holder| !chain.contains(holder));
    Ok(holders)
}
