//! Who plays in the timelines: sessions, their requests, and the answers that a timeline expects.

use std::time::Duration;

use locked::store::{
    Acquisition, Ahead, Blocker, Claim, Ended, Ending, FileRecord, Granted, Holding, Mode, Owner, Receipt, ReceiptKind,
    Release, Request, Settlement, Store,
};
use locked::terms::{Digest, GrantId, LeaseKey, Resource, ResourceName, Scope, SessionId};

/// Bounds every call; long, because other tests share the machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);
/// The TTL of every lease in the timelines, unless one says otherwise.
pub(crate) const TTL: Duration = Duration::from_secs(600);
/// What a first grant lasts.
pub(crate) const FIRST: Duration = Duration::from_secs(60);
/// After this silence a waiter is skipped.
pub(crate) const SILENCE: Duration = Duration::from_secs(5);

/// A session.
pub(crate) struct Actor {
    pub(crate) session: SessionId,
    label: String,
}

/// A session by the name that others see.
pub(crate) fn actor(label: &str) -> Actor {
    Actor { session: SessionId(uuid::Uuid::new_v4()), label: label.to_owned() }
}

impl Actor {
    /// One try for a running command.
    pub(crate) fn asks(&self, names: &[&str]) -> Request {
        let mut resources: Vec<_> = names.iter().map(|name| resource(name)).collect();
        resources.sort();
        Request {
            grant: GrantId::random(),
            key: LeaseKey::random().expect("randomness"),
            resources,
            owner: Owner {
                session: self.session,
                label: self.label.clone(),
                host: "ws-1".to_owned(),
                host_id: "this-boot".to_owned(),
                pid: 4711,
                operation: format!("{}'s command", self.label),
                rule: Some("sops".to_owned()),
            },
            claim: Claim::Command,
            ttl: TTL,
            first_grant: FIRST,
            within: None,
            mode: Mode::Try,
            live: None,
            files: Vec::new(),
            remote: false,
            ask: Vec::new(),
            gone: Vec::new(),
        }
    }

    /// The same, ready to wait.
    pub(crate) fn waits_for(&self, names: &[&str]) -> Request {
        Request { mode: Mode::Wait { silence: SILENCE }, ..self.asks(names) }
    }

    /// `locked acquire`.
    pub(crate) fn holds(&self, names: &[&str]) -> Request {
        Request { claim: Claim::Explicit, first_grant: TTL, ..self.asks(names) }
    }

    /// What it holds without a running command.
    pub(crate) fn holding(&self, names: &[&str]) -> Holding {
        Holding::Session { session: self.session, resources: names.iter().map(|name| resource(name)).collect() }
    }
}

/// `sops:<name>` in one repository.
pub(crate) fn resource(name: &str) -> Resource {
    Resource { name: ResourceName::of("sops", name.as_bytes()), scope: Scope("example.org/acme/infra".to_owned()) }
}

/// A file with this content before.
pub(crate) fn file(path: &str, before: &str) -> FileRecord {
    FileRecord {
        path: format!("/repo/{path}"),
        scope: "example.org/acme/infra".to_owned(),
        key: path.to_owned(),
        before: Some(Digest::of(before.as_bytes())),
        change: None,
        resources: Vec::new(),
        open: false,
    }
}

/// The receipt of a proven write.
pub(crate) fn receipt(name: &str, path: &str, base: &str, new: &str) -> Receipt {
    Receipt {
        scope: Scope("example.org/acme/infra".to_owned()),
        path: path.to_owned(),
        resource: resource(name),
        base: Some(Digest::of(base.as_bytes())),
        new: Digest::of(new.as_bytes()),
        blob: None,
        branch: Some("main".to_owned()),
        worktree: Some("/repo".to_owned()),
        kind: ReceiptKind::Proven,
    }
}

/// Asks and expects a grant.
pub(crate) fn granted(store: &mut dyn Store, request: &Request) -> Granted {
    match store.acquire(request, LIMIT).expect("the store answers") {
        Acquisition::Granted(granted) => granted,
        Acquisition::Busy { blockers, ahead, .. } => {
            panic!("{}: busy: {blockers:?} {ahead:?}", request.owner.label)
        }
    }
}

/// Asks and expects to be told who is in the way.
pub(crate) fn busy(store: &mut dyn Store, request: &Request) -> (Vec<Blocker>, Vec<Ahead>) {
    match store.acquire(request, LIMIT).expect("the store answers") {
        Acquisition::Granted(granted) => panic!("{}: granted: {granted:?}", request.owner.label),
        Acquisition::Busy { blockers, ahead, .. } => (blockers, ahead),
    }
}

/// Asks, is granted, and holds by the grant's key.
pub(crate) fn take(store: &mut dyn Store, request: &Request) -> Holding {
    let granted = granted(store, request);
    Holding::Grant { grant: request.grant, key: request.key.clone(), resources: granted.tokens }
}

/// Settles and says what the store answered.
pub(crate) fn settle(store: &mut dyn Store, holding: &Holding, ending: Ending) -> Release {
    store.settle(holding, &Settlement::whole(ending, Vec::new()), LIMIT).expect("the store answers")
}

/// Settles and expects that the store did it.
pub(crate) fn settled(store: &mut dyn Store, holding: &Holding, ending: Ending) {
    assert_eq!(settle(store, holding, ending), Release::Released);
}

/// Ends a holding well; anything else is the test's failure.
pub(crate) fn release(store: &mut dyn Store, holding: &Holding) {
    settled(store, holding, Ending::Release(Ended::Completed));
}

/// Keep for five minutes.
pub(crate) fn kept(takeable: bool) -> Ending {
    Ending::Keep { reason: "it failed".to_owned(), keep_for: Duration::from_secs(300), takeable }
}

/// Quarantine.
pub(crate) fn bad() -> Ending {
    Ending::Quarantine { reason: "an empty file at ws-1:/repo/a".to_owned() }
}
