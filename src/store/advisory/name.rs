//! The name of a session in the server's list: `locked SESSION LABEL: OPERATION`. All that others learn of a holder.
#![forbid(unsafe_code)]

use std::time::Duration;

use uuid::Uuid;

use crate::store::door::shown;
use crate::store::{Blocker, LeaseState, LeaseView, Owner};
use crate::terms::{FencingToken, GrantId, Issue, Resource, SessionId};

use super::words::{Facts, HeldBy};

/// The server cuts there (`NAMEDATALEN` of its `pg_config_manual.h`, less one), and takes printable ASCII.
const LONGEST: usize = 63;

/// The name under which this owner's locks are held.
pub(super) fn of(owner: &Owner) -> String {
    let text = format!("locked {} {}: {}", owner.session.short(), owner.label, owner.operation);
    text.chars().map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '?' }).take(LONGEST).collect()
}

/// A holder that the server told of, in the way of this resource.
pub(super) fn blocker(resource: &Resource, by: &HeldBy) -> Blocker {
    let (session, label, operation) = match read(&by.name) {
        Some((session, label, operation)) => (session, label, operation),
        None => (SessionId(Uuid::nil()), by.name.clone(), "a client of its own".to_owned()),
    };
    let lease = LeaseView {
        session,
        label: shown(&label),
        host: shown(&by.address),
        operation: shown(&operation),
        acquired_at: by.since,
        renewed_at: by.since,
        ..nobody(resource)
    };
    // The server frees what its holder leaves, at once; nobody needs to prove it.
    Blocker { lease, reclaimable_when_gone: false }
}

/// What a steward of this machine told.
pub(super) fn seen(resource: &Resource, grant: GrantId, facts: &Facts) -> LeaseView {
    LeaseView {
        session: facts.owner.session,
        label: shown(&facts.owner.label),
        host: shown(&facts.owner.host),
        host_id: facts.owner.host_id.clone(),
        grant,
        live: facts.live,
        pid: Some(facts.owner.pid),
        operation: shown(&facts.owner.operation),
        issue: Issue::of(&facts.owner.operation),
        acquired_at: facts.since,
        renewed_at: facts.since,
        files: facts.files.clone(),
        reason: facts.local.then(|| "by a lock of this machine alone: the server could not be reached".to_owned()),
        ..nobody(resource)
    }
}

/// A held lease without a holder.
pub(super) fn nobody(resource: &Resource) -> LeaseView {
    LeaseView {
        resource: resource.clone(),
        token: FencingToken(0),
        session: SessionId(Uuid::nil()),
        label: String::new(),
        host: String::new(),
        grant: GrantId(Uuid::nil()),
        live: None,
        host_id: String::new(),
        pid: None,
        operation: String::new(),
        issue: None,
        hold_issue: None,
        state: LeaseState::Held,
        explicit: false,
        takeable: false,
        ask: false,
        reason: None,
        acquired_at: 0,
        renewed_at: 0,
        idle: Duration::ZERO,
        expires_in: None,
        expired_for: None,
        waiters: 0,
        files: Vec::new(),
    }
}

/// A session by its first eight digits, the label, the operation.
fn read(name: &str) -> Option<(SessionId, String, String)> {
    let (short, rest) = name.strip_prefix("locked ")?.split_once(' ')?;
    let head = u32::from_str_radix(short, 16).ok().filter(|_| short.len() == 8)?;
    let (label, operation) = rest.split_once(": ").unwrap_or((rest, ""));
    let session = SessionId(Uuid::from_u128(u128::from(head) << 96));
    Some((session, label.to_owned(), operation.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_who_holds_it_and_fits_the_server() {
        let owner = Owner {
            session: SessionId(Uuid::from_u128(0x3f2a_91c0 << 96)),
            label: "claude@ws-1".to_owned(),
            host: "ws-1".to_owned(),
            host_id: "boot".to_owned(),
            pid: 1,
            operation: "sops set sécrets/a-long-way-down/monitoring.env.sops".to_owned(),
            rule: None,
        };
        let name = of(&owner);
        assert_eq!(name, "locked 3f2a91c0 claude@ws-1: sops set s?crets/a-long-way-down/m");
        assert_eq!(name.len(), LONGEST);
        let (session, label, operation) = read(&name).expect("ours");
        assert_eq!((session, label.as_str()), (owner.session, "claude@ws-1"));
        assert!(operation.starts_with("sops set "), "{operation}");
        for other in ["psql", "locked", "locked 3f2a91c0", "locked zzzzzzzz a: b", "locked 12 a: b"] {
            assert!(read(other).is_none(), "{other}");
        }
    }
}
