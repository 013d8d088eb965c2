//! The table of endings, row by row.
#![forbid(unsafe_code)]

use super::*;
use crate::terms::{ResourceName, Scope};

fn resource(name: &str) -> Resource {
    Resource { name: ResourceName::of("sops", name.as_bytes()), scope: Scope("example.org/acme/infra".to_owned()) }
}

fn finding(verdict: Option<Verdict>) -> Finding {
    of("x", verdict)
}

fn of(name: &str, verdict: Option<Verdict>) -> Finding {
    let shown = format!("secrets/{name}.env.sops");
    Finding { place: format!("ws-1:/r/{shown}"), shown, verdict, resources: vec![resource(name)] }
}

fn decided(outcome: Outcome, succeeded: bool, findings: &[Finding], keep_asked: bool) -> (Ending, Exit) {
    let ttl = Duration::from_secs(1800);
    let decision = decide(&Facts {
        outcome,
        succeeded,
        findings,
        open: &[],
        keep_asked,
        remote: false,
        ttl,
        holds: Holds::default(),
    });
    (decision.ending, decision.exit)
}

#[test]
fn a_success_releases_whether_verified_or_not() {
    for verdict in [None, Some(Verdict::Sound), Some(Verdict::Unverified("no key".to_owned()))] {
        let (ending, exit) = decided(Outcome::Exited(0), true, &[finding(verdict)], false);
        assert_eq!((ending, exit), (Ending::Release(Ended::Completed), Exit::Code(0)));
    }
    let (ending, exit) = decided(Outcome::Exited(200), true, &[finding(None)], false);
    assert_eq!((ending, exit), (Ending::Release(Ended::Completed), Exit::Code(200)), "sops' 200 goes out as it is");
}

#[test]
fn a_bad_file_is_quarantined_whatever_the_program_said_and_the_sound_one_is_not() {
    let ttl = Duration::from_secs(1800);
    for (outcome, succeeded, rest) in [
        (Outcome::Exited(0), true, Ending::Release(Ended::Completed)),
        (
            Outcome::Signaled(9),
            false,
            Ending::Keep {
                reason: "it died by signal 9 after it had written".to_owned(),
                keep_for: ttl,
                takeable: false,
            },
        ),
        (Outcome::Stopped(Cause::Deadline), false, Ending::Release(Ended::Failed)),
        (
            Outcome::Stuck { cause: Cause::Deadline, pid: 12 },
            false,
            Ending::Linger { reason: "process 12 could not be stopped".to_owned() },
        ),
    ] {
        let findings = [of("x", Some(Verdict::Sound)), of("y", Some(Verdict::Bad(Fault::Empty)))];
        let decision = decide(&Facts {
            outcome,
            succeeded,
            findings: &findings,
            open: &[],
            keep_asked: false,
            remote: false,
            ttl,
            holds: Holds::default(),
        });
        assert_eq!(decision.ending, rest, "{outcome:?}");
        assert_eq!(decision.exit, Exit::Code(exit::QUARANTINED));
        let reason = "ws-1:/r/secrets/y.env.sops: the file is empty".to_owned();
        assert_eq!(decision.apart, [(resource("y"), Ending::Quarantine { reason })]);
        assert!(matches!(&decision.tellings[0], Telling::Bad { resources, .. } if *resources == [resource("y")]));
    }
}

#[test]
fn every_bad_file_is_told_and_its_hard_link_s_name_goes_with_it() {
    let mut linked = of("x", Some(Verdict::Bad(Fault::Empty)));
    linked.resources.push(resource("link/1"));
    let findings = [linked, of("y", Some(Verdict::Bad(Fault::Plaintext)))];
    let ttl = Duration::from_secs(1800);
    let outcome = Outcome::Exited(1);
    let facts = Facts {
        outcome,
        succeeded: false,
        findings: &findings,
        open: &[],
        keep_asked: false,
        remote: false,
        ttl,
        holds: Holds::default(),
    };
    let decision = decide(&facts);
    let names: Vec<_> = decision.apart.iter().map(|(resource, _)| resource.to_string()).collect();
    assert_eq!(names, ["sops:x", "sops:link/1", "sops:y"]);
    assert_eq!(decision.tellings.len(), 2);
}

#[test]
fn a_failure_keeps_and_is_takeable_only_when_nothing_changed() {
    let (ending, exit) = decided(Outcome::Exited(7), false, &[finding(None)], false);
    assert!(matches!(ending, Ending::Keep { takeable: true, .. }));
    assert_eq!(exit, Exit::Code(7));
    let (ending, exit) = decided(Outcome::Signaled(15), false, &[finding(Some(Verdict::Sound))], false);
    assert!(matches!(ending, Ending::Keep { takeable: false, .. }));
    assert_eq!(exit, Exit::Signal(15));
}

#[test]
fn what_was_named_by_hand_is_kept_only_when_asked() {
    assert_eq!(decided(Outcome::Exited(1), false, &[], false).0, Ending::Release(Ended::Failed));
    assert!(matches!(decided(Outcome::Exited(1), false, &[], true).0, Ending::Keep { takeable: false, .. }));
    assert_eq!(decided(Outcome::Exited(0), true, &[], true).0, Ending::Release(Ended::Completed));
}

#[test]
fn an_open_edit_stays_with_its_session() {
    let (ending, exit) = decided(Outcome::Exited(0), true, &[finding(Some(Verdict::OpenEdit))], false);
    assert!(matches!(ending, Ending::Keep { takeable: false, keep_for: MAX_HOLD, .. }));
    assert_eq!(exit, Exit::OK);
}

#[test]
fn an_edit_that_another_command_left_open_stays_open() {
    let open = ["/r/x.env.sops".to_owned()];
    let ttl = Duration::from_secs(1800);
    let outcome = Outcome::Exited(0);
    let facts = Facts {
        outcome,
        succeeded: true,
        findings: &[],
        open: &open,
        keep_asked: false,
        remote: false,
        ttl,
        holds: Holds::default(),
    };
    assert!(matches!(decide(&facts).ending, Ending::Keep { takeable: false, .. }));
    let bad = [finding(Some(Verdict::Bad(Fault::Empty)))];
    assert!(decide(&Facts { findings: &bad, ..facts }).quarantine().is_some(), "worse comes first");
}

#[test]
fn what_cannot_be_stopped_lets_nobody_in() {
    let ttl = Duration::from_secs(1800);
    let stuck = Outcome::Stuck { cause: Cause::Deadline, pid: 123 };
    let facts = |outcome, remote| Facts {
        outcome,
        succeeded: false,
        findings: &[],
        open: &[],
        keep_asked: true,
        remote,
        ttl,
        holds: Holds::default(),
    };
    for (outcome, remote, reason) in [
        (stuck, false, "process 123 could not be stopped"),
        (stuck, true, "process 123 could not be stopped"),
        (Outcome::Stopped(Cause::Gone), true, "it was stopped here, but its effect may still be running elsewhere"),
    ] {
        for verdict in [None, Some(Verdict::Sound), Some(Verdict::OpenEdit)] {
            let findings = [finding(verdict)];
            let Decision { ending, exit, tellings, .. } =
                decide(&Facts { findings: &findings, ..facts(outcome, remote) });
            assert_eq!(ending, Ending::Linger { reason: reason.to_owned() });
            assert_eq!(exit, Exit::Code(exit::LOST));
            assert_eq!(tellings, [Telling::MayRunOn { reason: reason.to_owned(), lasts: ttl }]);
        }
    }
    let killed = decide(&facts(Outcome::Stuck { cause: Cause::Killed(9), pid: 123 }, false));
    assert_eq!(killed.ending, Ending::Linger { reason: "process 123 could not be stopped".to_owned() });
    assert_eq!(killed.exit, Exit::Signal(9), "killed by somebody else, not lost");
    let done = Facts { succeeded: true, keep_asked: false, ..facts(Outcome::Exited(0), true) };
    assert_eq!(decide(&done).ending, Ending::Release(Ended::Completed), "what ended by itself is done");
    let bad = [finding(Some(Verdict::Bad(Fault::Empty)))];
    let worse = decide(&Facts { findings: &bad, ..facts(stuck, true) });
    assert!(worse.quarantine().is_some(), "worse comes first");
}

#[test]
fn what_we_stopped_ends_as_failed_and_lost() {
    let (ending, exit) = decided(Outcome::Stopped(Cause::Gone), false, &[finding(None)], true);
    assert_eq!((ending, exit), (Ending::Release(Ended::Failed), Exit::Code(exit::LOST)));
    let (ending, exit) = decided(Outcome::Stopped(Cause::EditorLoop), false, &[finding(None)], false);
    assert_eq!((ending, exit), (Ending::Release(Ended::Failed), Exit::Code(201)), "not lost: sops' own status");
    let (ending, exit) = decided(Outcome::NeverStarted(13), false, &[finding(None)], false);
    assert_eq!((ending, exit), (Ending::Release(Ended::Failed), Exit::Code(exit::NOT_EXECUTABLE)));
}
