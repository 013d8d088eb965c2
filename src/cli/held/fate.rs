//! What has become of a lease that this session does not hold as it must. (Pure.)
#![forbid(unsafe_code)]

use crate::store::{Ended, LeaseState, LeaseView, PastLease};
use crate::terms::{FencingToken, Resource, SessionId};

/// What has become of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fate {
    /// In one sentence.
    pub(super) what: String,
    /// The line that makes it this session's again, where one does.
    pub(super) next: Option<String>,
}

/// None where it is this session's, as it should be. `token`: under which it was to be held; `now`: its lease, `was`: the last
/// one that this session had of it.
pub(super) fn of(
    resource: &Resource,
    session: SessionId,
    token: Option<FencingToken>,
    now: Option<&LeaseView>,
    was: Option<&PastLease>,
) -> Option<Fate> {
    let fate = |what: String| Some(Fate { what, next: None });
    match (now, was) {
        (Some(lease), _) if lease.session == session => own(lease, token),
        (Some(lease), Some(was)) if was.ended_as != Ended::Completed => fate(format!(
            "{resource} is held by {} ({}) now; this session's ended as {}{}",
            lease.session,
            lease.label,
            was.ended_as.as_str(),
            because(was)
        )),
        (Some(lease), _) => {
            fate(format!("{resource} is held by {} ({}), {}", lease.session, lease.label, lease.operation))
        }
        (None, Some(was)) if was.ended_as != Ended::Completed => fate(format!(
            "{resource} is not this session's any more: it ended as {}{}",
            was.ended_as.as_str(),
            because(was)
        )),
        (None, _) => fate(format!("this session ({session}) holds no lease of {resource}")),
    }
}

fn own(lease: &LeaseView, token: Option<FencingToken>) -> Option<Fate> {
    let resource = &lease.resource;
    let reason = || lease.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    let (what, next) = match lease.state {
        LeaseState::Revoked if lease.pid.is_some() => {
            let (operation, reason) = (&lease.operation, reason());
            (
                format!(
                    "{resource} was taken away from this session's running command, {operation}, which is being stopped{reason}"
                ),
                None,
            )
        }
        LeaseState::Held if lease.pid.is_some() => {
            (format!("{resource} is held by a running command of this session, {}", lease.operation), None)
        }
        LeaseState::Expired => (
            format!("{resource} is this session's, but its time has run out; nobody has taken it yet"),
            Some(format!("locked renew {resource}")),
        ),
        LeaseState::Revoked => (format!("{resource} was taken away from this session{}", reason()), None),
        LeaseState::Quarantined => (format!("{resource} is this session's, and quarantined{}", reason()), None),
        LeaseState::Remote => {
            (format!("{resource} is this session's, but something of it may still be running{}", reason()), None)
        }
        LeaseState::Kept if lease.is_free_to_take() => (
            format!("{resource} is kept for this session, but anybody may take it: the command changed nothing"),
            Some(format!("locked acquire {resource}")),
        ),
        LeaseState::Held | LeaseState::Kept => {
            let other = token.filter(|token| *token != lease.token)?;
            (format!("{resource} is this session's under the token {}, not {other}: another hold", lease.token), None)
        }
    };
    Some(Fate { what, next })
}

/// What the ledger says of the end, in brackets.
fn because(was: &PastLease) -> String {
    was.note.as_deref().map(|note| format!(" ({note})")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use uuid::Uuid;

    use super::*;
    use crate::terms::{GrantId, ResourceName, Scope};

    const OURS: SessionId = SessionId(Uuid::from_u128(0x0101_0101 << 96));
    const EVE: SessionId = SessionId(Uuid::from_u128(0xeeee_eeee << 96));

    fn resource() -> Resource {
        Resource { name: ResourceName::of("server", b"a"), scope: Scope::global() }
    }

    fn lease(session: SessionId, state: LeaseState) -> LeaseView {
        LeaseView {
            expired_for: Default::default(),
            resource: resource(),
            token: FencingToken(7),
            session,
            label: "eve@x".to_owned(),
            host: String::new(),
            grant: GrantId(Uuid::nil()),
            live: None,
            host_id: String::new(),
            pid: None,
            operation: "rsync".to_owned(),
            issue: None,
            hold_issue: None,
            state,
            explicit: true,
            takeable: false,
            ask: false,
            reason: None,
            acquired_at: 0,
            renewed_at: 0,
            idle: Duration::ZERO,
            expires_in: Some(Duration::ZERO),
            waiters: 0,
            files: Vec::new(),
        }
    }

    fn past(ended_as: Ended, note: &str) -> PastLease {
        PastLease {
            resource: resource(),
            token: FencingToken(5),
            session: OURS,
            label: String::new(),
            host: String::new(),
            operation: String::new(),
            acquired_at: 0,
            ended_at: 0,
            ended_as,
            note: Some(note.to_owned()).filter(|note| !note.is_empty()),
            receipt: None,
        }
    }

    #[test]
    fn what_has_become_of_it_is_said() {
        let own = |state| Some(lease(OURS, state));
        let stolen = || Some(past(Ended::Stolen, "revoked by eeeeeeee (eve@x): it hangs"));
        let free = LeaseView { takeable: true, ..lease(OURS, LeaseState::Kept) };
        let running = LeaseView { pid: Some(4), ..lease(OURS, LeaseState::Held) };
        let cases = [
            (
                own(LeaseState::Expired),
                None,
                None,
                "server:a is this session's, but its time has run out; nobody has taken it yet",
            ),
            (own(LeaseState::Held), None, Some(6), "server:a is this session's under the token 7, not 6: another hold"),
            (
                Some(free),
                None,
                None,
                "server:a is kept for this session, but anybody may take it: the command changed nothing",
            ),
            (Some(running), None, None, "server:a is held by a running command of this session, rsync"),
            (own(LeaseState::Revoked), None, None, "server:a was taken away from this session"),
            (
                Some(lease(EVE, LeaseState::Held)),
                stolen(),
                None,
                "server:a is held by eeeeeeee (eve@x) now; this session's ended as stolen (revoked by eeeeeeee (eve@x): it hangs)",
            ),
            (
                None,
                stolen(),
                None,
                "server:a is not this session's any more: it ended as stolen (revoked by eeeeeeee (eve@x): it hangs)",
            ),
            (Some(lease(EVE, LeaseState::Held)), None, None, "server:a is held by eeeeeeee (eve@x), rsync"),
            (None, Some(past(Ended::Completed, "")), None, "this session (01010101) holds no lease of server:a"),
            (None, None, None, "this session (01010101) holds no lease of server:a"),
        ];
        for (now, was, token, expected) in cases {
            let fate = of(&resource(), OURS, token.map(FencingToken), now.as_ref(), was.as_ref()).expect("a fate");
            assert_eq!(fate.what, expected);
            let takes_it_up = now.is_some_and(|lease| lease.state == LeaseState::Expired || lease.takeable);
            assert_eq!(fate.next.is_some(), takes_it_up, "{expected}");
        }
        assert_eq!(of(&resource(), OURS, Some(FencingToken(7)), own(LeaseState::Held).as_ref(), None), None);
    }
}
