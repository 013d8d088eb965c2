//! The table of endings, row by row.
#![forbid(unsafe_code)]

use super::*;
use crate::canary::Fault;
use crate::rules::{Follow, Keep};
use crate::terms::{ResourceName, Scope};

fn resource(name: &str) -> Resource {
    of_kind("sops", name)
}

fn of_kind(kind: &str, name: &str) -> Resource {
    Resource { name: ResourceName::of(kind, name.as_bytes()), scope: Scope("example.org/acme/infra".to_owned()) }
}

fn finding(verdict: Option<Verdict>) -> Finding {
    of("x", verdict)
}

fn of(name: &str, verdict: Option<Verdict>) -> Finding {
    let shown = format!("secrets/{name}.env.sops");
    Finding { place: format!("ws-1:/r/{shown}"), shown, verdict, resources: vec![resource(name)] }
}

const TTL: Duration = Duration::from_secs(1800);

/// What happened. It holds what its files stand for, and what is named here besides.
#[derive(Clone)]
struct Case {
    outcome: Outcome,
    succeeded: bool,
    findings: Vec<Finding>,
    open: Vec<String>,
    followed: bool,
    unproven: Option<String>,
    keep_asked: bool,
    remote: bool,
    by_rule: Vec<Resource>,
    by_hand: Vec<Resource>,
    policy: Policy,
}

impl Case {
    fn of(outcome: Outcome, succeeded: bool, findings: &[Finding]) -> Self {
        Self {
            outcome,
            succeeded,
            findings: findings.to_vec(),
            open: Vec::new(),
            followed: false,
            unproven: None,
            keep_asked: false,
            remote: false,
            by_rule: Vec::new(),
            by_hand: Vec::new(),
            policy: Policy::default(),
        }
    }

    fn decided(&self) -> Decision {
        let of_files = self.findings.iter().flat_map(|finding| finding.resources.iter());
        let mut resources: Vec<Resource> = of_files.chain(&self.by_rule).chain(&self.by_hand).cloned().collect();
        resources.sort();
        resources.dedup();
        decide(&Facts {
            outcome: self.outcome,
            succeeded: self.succeeded,
            resources: &resources,
            by_rule: &self.by_rule,
            policy: &self.policy,
            findings: &self.findings,
            open: &self.open,
            followed: self.followed,
            unproven: self.unproven.as_deref(),
            keep_asked: self.keep_asked,
            remote: self.remote,
            ttl: TTL,
            holds: Holds::default(),
        })
    }

    /// How one resource ends.
    fn ends(&self, resource: &Resource) -> Ending {
        let decision = self.decided();
        let apart = decision.apart.iter().find(|(apart, _)| apart == resource);
        apart.map_or(decision.ending.clone(), |(_, ending)| ending.clone())
    }
}

fn decided(outcome: Outcome, succeeded: bool, findings: &[Finding], keep_asked: bool) -> (Ending, Exit) {
    let by_hand = if findings.is_empty() { vec![of_kind("zone", "z")] } else { Vec::new() };
    let decision = Case { keep_asked, by_hand, ..Case::of(outcome, succeeded, findings) }.decided();
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
    for (outcome, succeeded, rest) in [
        (Outcome::Exited(0), true, Ending::Release(Ended::Completed)),
        (
            Outcome::Signaled(9),
            false,
            Ending::Keep {
                reason: "it died by signal 9 after it had written".to_owned(),
                keep_for: TTL,
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
        let decision = Case::of(outcome, succeeded, &findings).decided();
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
    let decision = Case::of(Outcome::Exited(1), false, &findings).decided();
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
    let open = vec!["/r/x.env.sops".to_owned()];
    let case = Case { open, ..Case::of(Outcome::Exited(0), true, &[]) };
    assert!(matches!(case.decided().ending, Ending::Keep { takeable: false, .. }));
    let bad = vec![finding(Some(Verdict::Bad(Fault::Empty)))];
    assert!(Case { findings: bad, ..case }.decided().quarantine().is_some(), "worse comes first");
}

#[test]
fn what_cannot_be_stopped_lets_nobody_in() {
    let stuck = Outcome::Stuck { cause: Cause::Deadline, pid: 123 };
    let case = |outcome, remote| Case { keep_asked: true, remote, ..Case::of(outcome, false, &[]) };
    for (outcome, remote, reason) in [
        (stuck, false, "process 123 could not be stopped"),
        (stuck, true, "process 123 could not be stopped"),
        (Outcome::Stopped(Cause::Gone), true, "it was stopped here, but its effect may still be running elsewhere"),
    ] {
        for verdict in [None, Some(Verdict::Sound), Some(Verdict::OpenEdit)] {
            let by_rule = vec![of_kind("container", "web")];
            let case = Case { findings: vec![finding(verdict)], by_rule, ..case(outcome, remote) };
            let Decision { ending, apart, exit, tellings, .. } = case.decided();
            assert_eq!((ending, apart), (Ending::Linger { reason: reason.to_owned() }, vec![]), "all of it");
            assert_eq!(exit, Exit::Code(exit::LOST));
            assert_eq!(tellings, [Telling::MayRunOn { reason: reason.to_owned(), lasts: TTL }]);
        }
    }
    let killed = case(Outcome::Stuck { cause: Cause::Killed(9), pid: 123 }, false).decided();
    assert_eq!(killed.ending, Ending::Linger { reason: "process 123 could not be stopped".to_owned() });
    assert_eq!(killed.exit, Exit::Signal(9), "killed by somebody else, not lost");
    let done = Case { remote: true, ..Case::of(Outcome::Exited(0), true, &[]) };
    assert_eq!(done.decided().ending, Ending::Release(Ended::Completed), "what ended by itself is done");
    let bad = vec![finding(Some(Verdict::Bad(Fault::Empty)))];
    let worse = Case { findings: bad, ..case(stuck, true) }.decided();
    assert!(worse.quarantine().is_some(), "worse comes first");
}

#[test]
fn a_rotation_with_readers_that_were_not_written_stays_with_its_session() {
    let rotation = of_kind("rotation", "KEY");
    let consumers = Unwritten { files: vec!["a.env".to_owned()], unseen: None };
    let reason = "other files have the same key and were not written".to_owned();
    let kept = Ending::Keep { reason, keep_for: TTL, takeable: false };
    let case = |succeeded: bool, by_hand: &[&Resource]| {
        let by_hand = by_hand.iter().copied().cloned().collect();
        Case { by_hand, ..Case::of(Outcome::Exited(i32::from(!succeeded)), succeeded, &[finding(None)]) }
    };
    let decision = case(true, &[&rotation]).decided().held_back(&rotation, consumers.clone(), TTL);
    assert_eq!(decision.ending, Ending::Release(Ended::Completed), "its file is free");
    assert_eq!((&decision.apart, decision.exit), (&vec![(rotation.clone(), kept.clone())], Exit::OK));
    assert!(decision.apart[0].1 == kept && is_of_consumers(decision.stays().expect("it stays")));
    let telling = Telling::Consumers { resource: rotation.clone(), consumers: consumers.clone(), keep_for: TTL };
    assert_eq!(decision.tellings, [telling]);
    let failed = case(false, &[&rotation]).decided();
    assert_eq!(failed.clone().held_back(&rotation, consumers, TTL), failed, "it is not completed anyhow");
}

#[test]
fn an_issue_that_speaks_against_it_loses_nothing() {
    for (cause, status) in [(Cause::IssueClosed, 79), (Cause::IssueUnknown, 80)] {
        let (ending, exit) = decided(Outcome::Stopped(cause), false, &[finding(None)], false);
        assert_eq!((ending, exit), (Ending::Release(Ended::Failed), Exit::Code(status)));
        assert_eq!(status_of_stuck(cause), Exit::Code(status));
    }
}

fn status_of_stuck(cause: Cause) -> Exit {
    status(Outcome::Stuck { cause, pid: 12 })
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

/// Kept for so long, takeable or not; none when it is given back as failed.
type Stays = Option<(Duration, bool)>;

fn stays_of(ending: &Ending) -> Stays {
    match ending {
        Ending::Keep { keep_for, takeable, .. } => Some((*keep_for, *takeable)),
        Ending::Release(Ended::Failed) => None,
        other => panic!("after a failure: {other:?}"),
    }
}

#[test]
fn after_a_failure_every_part_ends_by_its_own_row() {
    let [hour, minute] = [3600, 60].map(Duration::from_secs);
    let (never, changed, always) = (Some(Keep::Never), Some(Keep::Changed), Some(Keep::Always));
    let wrote = Some(Verdict::Sound);
    // keep, keep_for, --keep, the file | the file's, the rule's, the one named by hand
    let table = [
        (None, None, false, None, [Some((TTL, true)), Some((KEEP_FOR, false)), None]),
        (None, None, false, wrote.clone(), [Some((TTL, false)), Some((KEEP_FOR, false)), None]),
        (None, Some(hour), false, None, [Some((TTL, true)), Some((hour, false)), None]),
        (changed, Some(minute), false, wrote.clone(), [Some((TTL, false)), Some((minute, false)), None]),
        (always, None, false, None, [Some((TTL, false)), Some((KEEP_FOR, false)), None]),
        (never, None, false, None, [None, None, None]),
        (never, Some(hour), false, wrote.clone(), [None, None, None]),
        (never, None, true, wrote.clone(), [Some((TTL, false)), Some((KEEP_FOR, false)), Some((KEEP_FOR, false))]),
        (None, None, true, None, [Some((TTL, true)), Some((KEEP_FOR, false)), Some((KEEP_FOR, false))]),
        (always, Some(hour), true, wrote, [Some((TTL, false)), Some((hour, false)), Some((KEEP_FOR, false))]),
    ];
    let (rule, hand) = (of_kind("container", "web"), of_kind("zone", "z"));
    for (row, (keep, keep_for, keep_asked, verdict, expected)) in table.into_iter().enumerate() {
        for outcome in [Outcome::Exited(1), Outcome::Signaled(15)] {
            let case = Case {
                by_rule: vec![rule.clone()],
                by_hand: vec![hand.clone()],
                policy: Policy { keep, keep_for, ..Policy::default() },
                keep_asked,
                ..Case::of(outcome, false, &[finding(verdict.clone())])
            };
            let ends = [&resource("x"), &rule, &hand].map(|resource| stays_of(&case.ends(resource)));
            assert_eq!(ends, expected, "row {row}, {outcome:?}");
            assert_eq!(case.decided().exit, status(outcome), "row {row}: the exit status is the program's");
            let alone = Case { findings: vec![], by_hand: vec![], ..case };
            assert_eq!(stays_of(&alone.decided().ending), expected[1], "row {row}: the same without files");
        }
    }
}

#[test]
fn who_stays_is_told_by_name() {
    let case = Case {
        by_rule: vec![of_kind("container", "web")],
        by_hand: vec![of_kind("zone", "z")],
        ..Case::of(Outcome::Exited(1), false, &[finding(Some(Verdict::Sound))])
    };
    let kept = |name: Resource, wrote, keep_for| Telling::Kept { resources: vec![name], wrote, keep_for };
    let files = kept(resource("x"), true, TTL);
    assert_eq!(case.decided().tellings, [files, kept(of_kind("container", "web"), false, KEEP_FOR)]);
    let case = Case { findings: vec![], keep_asked: true, ..case };
    let resources = vec![of_kind("container", "web"), of_kind("zone", "z")];
    let decision = case.decided();
    assert_eq!(decision.tellings, [Telling::Kept { resources, wrote: false, keep_for: KEEP_FOR }], "together");
    assert_eq!(decision.apart, []);
}

#[test]
fn a_bad_file_s_resource_ends_by_nothing_but_its_quarantine() {
    let rule = of_kind("container", "web");
    let findings = [finding(Some(Verdict::Bad(Fault::Empty)))];
    let case = Case { by_rule: vec![rule.clone()], ..Case::of(Outcome::Exited(1), false, &findings) };
    let decision = case.decided();
    assert!(matches!(case.ends(&resource("x")), Ending::Quarantine { .. }));
    assert_eq!(stays_of(&case.ends(&rule)), Some((KEEP_FOR, false)));
    assert_eq!(decision.apart.len(), 1, "{decision:?}");
    assert_eq!(decision.exit, Exit::Code(exit::QUARANTINED));
}

#[test]
fn what_a_success_has_set_off_elsewhere_keeps_its_own_part_only() {
    let minute = Duration::from_secs(60);
    let follow = || vec![Follow::of("sync", None)];
    // hold_for, follow, followed to its end | how long it stays
    let table = [
        (None, vec![], false, None),
        (Some(minute), vec![], false, Some(minute)),
        (Some(minute), follow(), false, Some(minute)),
        (None, follow(), false, Some(HOLD_FOR)),
        (Some(minute), follow(), true, None),
    ];
    let (rule, hand, file) = (of_kind("workflow", "sync"), of_kind("zone", "z"), resource("x"));
    for (hold_for, follow, followed, expected) in table {
        let case = Case {
            by_rule: vec![rule.clone()],
            by_hand: vec![hand.clone()],
            followed,
            policy: Policy { hold_for, follow, ..Policy::default() },
            ..Case::of(Outcome::Exited(0), true, &[finding(Some(Verdict::Sound))])
        };
        let done = Ending::Release(Ended::Completed);
        let reason = "sync was triggered and may still be running".to_owned();
        let stays = expected.map(|keep_for| Ending::Elsewhere { reason, keep_for });
        assert_eq!(case.ends(&rule), stays.unwrap_or(done.clone()), "{hold_for:?}, {followed}");
        assert_eq!([case.ends(&hand), case.ends(&file)], [done.clone(), done]);
        assert_eq!((case.decided().exit, case.decided().tellings), (Exit::OK, vec![]), "nothing is said");
        let failed = Case { outcome: Outcome::Exited(1), succeeded: false, ..case };
        assert_eq!(stays_of(&failed.ends(&rule)), Some((KEEP_FOR, false)), "a failure is kept as a failure");
    }
}

#[test]
fn a_rule_that_names_nothing_else_holds_what_its_files_stand_for() {
    let policy = Policy { hold_for: Some(TTL), ..Policy::default() };
    let case = Case { policy, ..Case::of(Outcome::Exited(0), true, &[finding(None)]) };
    let reason = "what was started on sops:x may still be running".to_owned();
    assert_eq!(case.decided().ending, Ending::Elsewhere { reason, keep_for: TTL });
}

#[test]
fn a_success_whose_proof_failed_is_kept_as_a_failure_and_nothing_is_quarantined() {
    let (rule, hand) = (of_kind("container", "web"), of_kind("zone", "z"));
    let hold_for = Some(TTL * 2);
    let case = |keep, verdict: Option<Verdict>| Case {
        by_rule: vec![rule.clone()],
        by_hand: vec![hand.clone()],
        unproven: Some("curl failed with status 7".to_owned()),
        policy: Policy { keep, hold_for, ..Policy::default() },
        ..Case::of(Outcome::Exited(0), true, &[finding(verdict)])
    };
    let sound = || Some(Verdict::Sound);
    for (keep, verdict, file, ruled) in [
        (None, sound(), Some((TTL, false)), Some((KEEP_FOR, false))),
        (None, None, Some((TTL, true)), Some((KEEP_FOR, false))),
        (Some(Keep::Never), sound(), None, None),
    ] {
        let case = case(keep, verdict);
        let decision = case.decided();
        assert_eq!((decision.exit, decision.quarantine()), (Exit::Code(exit::QUARANTINED), None));
        let ends = [&resource("x"), &rule, &hand].map(|resource| stays_of(&case.ends(resource)));
        assert_eq!(ends, [file, ruled, None], "{keep:?}");
        let [Telling::Unproven { why, stays }] = &decision.tellings[..] else { panic!("{:?}", decision.tellings) };
        assert_eq!(why, "curl failed with status 7");
        let told = file.filter(|(_, takeable)| !takeable).or(ruled).map(|(lasts, _)| lasts);
        assert_eq!(stays.as_ref().map(|(_, lasts)| *lasts), told);
    }
    let Ending::Keep { reason, .. } = case(None, sound()).ends(&rule) else { panic!("kept") };
    assert_eq!(reason, "it succeeded, but its proof failed (curl failed with status 7)");
    let bad = case(None, Some(Verdict::Bad(Fault::Empty))).decided();
    assert!(bad.quarantine().is_some(), "a bad file is worse");
}

#[test]
fn a_bad_file_does_not_make_another_one_a_changed_one() {
    let findings = [of("x", None), of("y", Some(Verdict::Bad(Fault::Empty)))];
    let case = Case::of(Outcome::Exited(1), false, &findings);
    assert_eq!(stays_of(&case.ends(&resource("x"))), Some((TTL, true)), "every byte is as before");
    assert!(matches!(case.ends(&resource("y")), Ending::Quarantine { .. }));
}

#[test]
fn what_is_kept_stays_as_long_as_the_readme_says() {
    let Holds { keep_for, max_hold } = Holds::default();
    assert_eq!((keep_for.as_secs(), max_hold.as_secs()), (300, 7_200));
}

#[test]
fn a_reason_tells_what_a_lease_is_kept_for() {
    let rule = of_kind("workflow", "deploy.yml");
    let policy = Policy { hold_for: Some(TTL), ..Policy::default() };
    let set_off = Case { by_rule: vec![rule.clone()], policy, ..Case::of(Outcome::Exited(0), true, &[]) };
    let unchanged = Case::of(Outcome::Exited(1), false, &[finding(None)]);
    let kinds = [open_edit("ws-1:/r/a", MAX_HOLD), set_off.ends(&rule), unchanged.ends(&resource("x"))];
    for (at, ending) in kinds.into_iter().enumerate() {
        let (Ending::Keep { reason, .. } | Ending::Elsewhere { reason, .. }) = ending else { panic!("{ending:?}") };
        let told = [is_of_open_edit, is_of_what_goes_on, is_of_nothing_written].map(|is_of| is_of(&reason));
        assert_eq!(told, [0, 1, 2].map(|kind| kind == at), "{reason}");
    }
}

#[test]
fn what_could_not_be_verified_is_said() {
    let case = Case::of(Outcome::Exited(0), true, &[finding(Some(Verdict::Unverified("no key".to_owned())))]);
    let said = case.decided().tellings;
    assert!(matches!(&said[..], [Telling::Unverified { why, .. }] if why == "no key"), "{said:?}");
    assert!(Case::of(Outcome::Exited(0), true, &[finding(Some(Verdict::Sound))]).decided().tellings.is_empty());
}
