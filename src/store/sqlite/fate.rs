//! What a live lease means to who asks for its resource. Pure.
#![forbid(unsafe_code)]

use crate::store::{Claim, Request};

use super::ledger::Now;
use super::row::{Row, Stored};

/// What may be done with the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is this very grant: the answer was lost, and is read back.
    Ours,
    /// The session has it without a running command and goes on with it.
    Adopt,
    /// Kept with every file as before: anybody may go on.
    Take,
    /// It ended without settling: the successor takes its debt along.
    Reclaim,
    /// It is quarantined, and the request is to mend that: the successor takes its files along as a debt.
    Restore,
    /// A command above us runs under it: joined, not waited for.
    Join,
    /// It is in the way.
    Blocks,
}

/// Decides. The order of the arms is the rule: a quarantine yields to a restore alone, what has expired belongs to nobody, unless a
/// person must say so first, and a running command of one's own session is in the way like anyone's.
pub(super) fn fate(row: &Row, request: &Request, key_hash: &str, now: &Now) -> Fate {
    let own = row.session == request.owner.session;
    match row.state {
        _ if row.grant == request.grant && row.key_hash == key_hash => Fate::Ours,
        Stored::Quarantined if request.claim == Claim::Restore => Fate::Restore,
        Stored::Quarantined => Fate::Blocks,
        _ if row.lingers(now) => Fate::Blocks,
        _ if row.expired(now) && (!row.ask || row.revoked || own) => Fate::Reclaim,
        _ if row.expired(now) => Fate::Blocks,
        Stored::Kept if row.takeable && !row.revoked && !row.ask => Fate::Take,
        _ if own && row.rests() && !row.revoked => Fate::Adopt,
        _ => Fate::Blocks,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use uuid::Uuid;

    use crate::store::{Claim, Mode, Owner};
    use crate::terms::{GrantId, LeaseKey, Resource, ResourceName, Scope, SessionId};

    use super::*;

    const OURS: SessionId = SessionId(Uuid::from_u128(1));
    const OTHERS: SessionId = SessionId(Uuid::from_u128(2));

    fn resource() -> Resource {
        Resource { name: ResourceName::of("sops", b"a"), scope: Scope::global() }
    }

    fn row(session: SessionId, change: impl FnOnce(&mut Row)) -> Row {
        let text = String::new;
        let mut row = Row {
            id: 1,
            resource: resource(),
            token: 1,
            grant: GrantId(Uuid::from_u128(3)),
            key_hash: text(),
            session,
            label: text(),
            host: text(),
            host_id: text(),
            pid: None,
            operation: text(),
            state: Stored::Held,
            explicit: false,
            takeable: false,
            revoked: false,
            remote: false,
            ask: false,
            adopted: false,
            settled: false,
            reason: None,
            live: None,
            files: text(),
            debt: text(),
            ttl_ms: 1_000,
            hold_ttl_ms: None,
            hold_operation: None,
            issue: None,
            hold_issue: None,
            bad: None,
            may_run_on: None,
            boot: "this".to_owned(),
            expires_ms: Some(10_001),
            acquired_at: 0,
            renewed_at: 0,
            ended: false,
        };
        change(&mut row);
        row
    }

    fn request() -> Request {
        Request {
            grant: GrantId(Uuid::from_u128(4)),
            key: LeaseKey::random().expect("randomness"),
            resources: vec![resource()],
            owner: Owner {
                session: OURS,
                label: String::new(),
                host: String::new(),
                host_id: String::new(),
                pid: 1,
                operation: String::new(),
                rule: None,
            },
            claim: Claim::Command,
            ttl: Duration::from_secs(1),
            first_grant: Duration::from_secs(1),
            mode: Mode::Try,
            live: None,
            files: vec![],
            remote: false,
            ask: vec![],
            within: None,
            gone: vec![],
        }
    }

    #[test]
    fn each_state_means_to_us_and_to_others_what_the_rule_says() {
        type Change = fn(&mut Row);
        let cases: [(&str, Change, Fate, Fate); 18] = [
            ("asks, running", |it| it.ask = true, Fate::Blocks, Fate::Blocks),
            ("asks, expired", |it| (it.ask, it.expires_ms) = (true, Some(10_000)), Fate::Reclaim, Fate::Blocks),
            ("asks, of another boot", |it| (it.ask, it.boot) = (true, "other".to_owned()), Fate::Reclaim, Fate::Blocks),
            (
                "asks, expired and revoked",
                |it| (it.ask, it.revoked, it.expires_ms) = (true, true, Some(10_000)),
                Fate::Reclaim,
                Fate::Reclaim,
            ),
            (
                "asks, takeable",
                |it| (it.ask, it.state, it.takeable) = (true, Stored::Kept, true),
                Fate::Adopt,
                Fate::Blocks,
            ),
            ("running", |_| {}, Fate::Blocks, Fate::Blocks),
            ("expired", |it| it.expires_ms = Some(10_000), Fate::Reclaim, Fate::Reclaim),
            ("of another boot", |it| it.boot = "other".to_owned(), Fate::Reclaim, Fate::Reclaim),
            ("explicit", |it| it.explicit = true, Fate::Adopt, Fate::Blocks),
            ("kept", |it| it.state = Stored::Kept, Fate::Adopt, Fate::Blocks),
            ("takeable", |it| (it.state, it.takeable) = (Stored::Kept, true), Fate::Take, Fate::Take),
            ("quarantined", |it| (it.state, it.expires_ms) = (Stored::Quarantined, None), Fate::Blocks, Fate::Blocks),
            ("revoked", |it| it.revoked = true, Fate::Blocks, Fate::Blocks),
            ("revoked hold", |it| (it.explicit, it.revoked) = (true, true), Fate::Blocks, Fate::Blocks),
            (
                "revoked takeable",
                |it| (it.state, it.takeable, it.revoked) = (Stored::Kept, true, true),
                Fate::Blocks,
                Fate::Blocks,
            ),
            ("remote, running", |it| it.remote = true, Fate::Blocks, Fate::Blocks),
            ("remote, just expired", |it| (it.remote, it.expires_ms) = (true, Some(9_001)), Fate::Blocks, Fate::Blocks),
            (
                "remote, a TTL later",
                |it| (it.remote, it.expires_ms) = (true, Some(9_000)),
                Fate::Reclaim,
                Fate::Reclaim,
            ),
        ];
        let now = Now { boot: "this".to_owned(), ms: 10_000, wall: 0 };
        for (name, change, to_us, to_others) in cases {
            assert_eq!(fate(&row(OURS, change), &request(), "hash", &now), to_us, "{name}, ours");
            assert_eq!(fate(&row(OTHERS, change), &request(), "hash", &now), to_others, "{name}, another's");
        }
    }

    #[test]
    fn a_grant_is_read_back_by_its_key_alone() {
        let now = Now { boot: "this".to_owned(), ms: 10_000, wall: 0 };
        let request = request();
        let made = row(OURS, |row| (row.grant, row.key_hash) = (request.grant, "hash".to_owned()));
        assert_eq!(fate(&made, &request, "hash", &now), Fate::Ours);
        assert_eq!(fate(&made, &request, "another", &now), Fate::Blocks);
    }
}
