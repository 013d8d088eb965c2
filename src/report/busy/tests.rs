//! The words of refusals.
#![forbid(unsafe_code)]

use uuid::Uuid;

use super::super::misuse;
use super::*;
use crate::store::Ahead;
use crate::terms::{FencingToken, GrantId, Resource, ResourceName, Scope, SessionId};

fn lease() -> LeaseView {
    LeaseView {
        resource: Resource {
            name: ResourceName::of("sops", b"monitoring"),
            scope: Scope("github.com/acme/infra".to_owned()),
        },
        token: FencingToken(7),
        session: SessionId(Uuid::parse_str("3f2a91c0-0000-4000-8000-000000000000").expect("uuid")),
        label: "claude@ws-1".to_owned(),
        host: "ws-1".to_owned(),
        grant: GrantId::random(),
        live: None,
        host_id: String::new(),
        pid: Some(1),
        operation: "sops set secrets/monitoring.env.sops".to_owned(),
        issue: None,
        hold_issue: None,
        state: LeaseState::Held,
        explicit: false,
        takeable: false,
        ask: false,
        reason: None,
        acquired_at: 0,
        renewed_at: 0,
        idle: std::time::Duration::ZERO,
        expires_in: Some(Duration::from_secs(1800)),
        expired_for: None,
        waiters: 1,
        files: Vec::new(),
    }
}

fn busy_with(lease: LeaseView, ahead: usize) -> Busy {
    let blocker = Blocker { lease, reclaimable_when_gone: true };
    let older =
        Ahead { grant: GrantId::random(), live: None, host_id: String::new(), holder: "aaaaaaaa (x@y)".to_owned() };
    Busy { blockers: vec![blocker], ahead: vec![older; ahead], waited: Duration::ZERO, deadlock: false }
}

#[test]
fn a_running_holder_reads_as_in_the_readme() {
    let text = busy(&busy_with(lease(), 1), "sops:monitoring", 0, None).to_string();
    let (from, to) = (clock_time(0), clock_time(1_800_000));
    assert_eq!(
        text,
        format!(
            "BLOCKED: sops:monitoring is held by 3f2a91c0 (claude@ws-1), sops set secrets/monitoring.env.sops\n\
             why:   running since {from}, place 2 in the queue, free by {to} at the latest\n\
             retry: yes, in about 5 s\n\
             next:  locked status sops:monitoring"
        )
    );
}

#[test]
fn a_kept_lease_says_why() {
    let kept = LeaseView {
        state: LeaseState::Kept,
        reason: Some("it failed with status 1 after it had written".to_owned()),
        ..lease()
    };
    let text = busy(&busy_with(kept, 0), "sops:monitoring", 0, None).to_string();
    assert!(text.contains("why:   kept since "), "{text}");
    assert!(text.contains("because it failed with status 1 after it had written, place 1 in the queue"), "{text}");
    assert!(text.contains("retry: yes, in 30 min, or when its session goes on"), "{text}");
}

#[test]
fn a_workflow_that_runs_does_not_carry_a_later_change() {
    let sync = Resource { name: ResourceName::of("workflow", b"secrets-sync"), scope: Scope::global() };
    let reason = Some("secrets-sync was triggered and may still be running".to_owned());
    for (state, reason) in [(LeaseState::Kept, reason), (LeaseState::Held, None)] {
        let held = LeaseView { resource: sync.clone(), state, reason, ..lease() };
        let text = busy(&busy_with(held, 0), "workflow:secrets-sync", 0, None).to_string();
        assert!(text.contains("; that run started before your change and does not carry it, place 1"), "{text}");
        assert_eq!(text.lines().count(), 4, "{text}");
    }
    assert!(!busy(&busy_with(lease(), 0), "sops:monitoring", 0, None).to_string().contains("your change"));
}

#[test]
fn an_older_request_alone_is_named_as_such() {
    let only_older = Busy { blockers: Vec::new(), ..busy_with(lease(), 1) };
    let text = busy(&only_older, "sops:monitoring", 0, None).to_string();
    assert!(
        text.starts_with("BLOCKED: sops:monitoring is wanted by 1 older request, aaaaaaaa (x@y) first\n"),
        "{text}"
    );
}

#[test]
fn a_quarantine_names_the_way_out() {
    let bad = LeaseView {
        state: LeaseState::Quarantined,
        expires_in: None,
        reason: Some("ws-1:/r/x.env.sops: the file is empty".to_owned()),
        ..lease()
    };
    let text = quarantined(&busy_with(bad, 0), Some("x.env.sops")).to_string();
    assert!(
        text.starts_with("QUARANTINED: sops:monitoring must not be written: ws-1:/r/x.env.sops: the file is empty\n"),
        "{text}"
    );
    assert!(text.ends_with("retry: no, restore it first\nnext:  locked restore x.env.sops"), "{text}");
}

#[test]
fn what_asks_a_person_says_so_and_only_a_terminal_is_told_how() {
    let stale = LeaseView { ask: true, state: LeaseState::Expired, expires_in: Some(Duration::ZERO), ..lease() };
    let gone = LeaseView { reason: Some("proven gone by 0a0b0c0d (bob@ws-2)".to_owned()), ..stale.clone() };
    let kept = LeaseView { ask: true, state: LeaseState::Kept, reason: Some("it failed".to_owned()), ..lease() };
    let hold = LeaseView { ask: true, explicit: true, ..lease() };
    let cases = [
        (
            &stale,
            "expired, place 1 in the queue, free when a person has said that it is stale",
            "no, a person must say so first",
        ),
        (&gone, "expired, proven gone by 0a0b0c0d (bob@ws-2), place 1", "no, a person must say so first"),
        (
            &kept,
            "because it failed, place 1 in the queue, free when its holder is done",
            "yes, when its session goes on\n",
        ),
        (&hold, "free when its holder is done", "yes, when its session releases it\n"),
    ];
    for (lease, why, retry) in cases {
        let text = busy(&busy_with(lease.clone(), 0), "sops:monitoring", 0, None).to_string();
        assert!(text.contains(why) && text.contains(&format!("retry: {retry}")), "{text}");
    }
    assert_eq!(next(&stale, false), "locked status sops:monitoring");
    assert_eq!(next(&stale, true), "locked steal sops:monitoring --reason 'why it is stale'");
    assert_eq!(next(&kept, true), "locked status sops:monitoring", "its holder is not gone");
}

#[test]
fn a_lease_that_is_taken_away_says_by_whom() {
    let reason = "revoked by 0a0b0c0d (bob@ws-2): it hangs".to_owned();
    let revoked = LeaseView { state: LeaseState::Revoked, reason: Some(reason), ..lease() };
    let text = busy(&busy_with(revoked, 0), "sops:monitoring", 0, None).to_string();
    assert!(
        text.contains("why:   revoked by 0a0b0c0d (bob@ws-2): it hangs; its command has not stopped yet, place 1"),
        "{text}"
    );
}

#[test]
fn no_refusal_teaches_to_force() {
    for text in
        [busy(&busy_with(lease(), 0), "x:y", 0, None), quarantined(&busy_with(lease(), 0), None), misuse("a", "b")]
    {
        let text = text.to_string();
        assert!(!["--force", "steal", "LOCKED_BYPASS"].iter().any(|word| text.contains(word)), "{text}");
        assert!(text.lines().count() <= 5);
    }
}
