//! The clock of a lease, moment by moment.
#![forbid(unsafe_code)]

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn at(seconds: f64) -> Moment {
    Moment(Duration::from_secs_f64(1_000.0 + seconds))
}

fn watch(give_back: Option<Duration>) -> Watch {
    let times = Times::new(Some(30 * SECOND), None, None, None).expect("fits");
    Watch { times, stopped_max: times.ttl, give_back, edits_unseen: false }
}

/// One that gives its lease back a minute after its start at 1 s; renewed last at 55 s.
fn giving() -> Course {
    let mut course = Course::new(watch(Some(60 * SECOND)), at(0.0), 30 * SECOND);
    course.started(at(1.0));
    for second in (5..60).step_by(5) {
        let now = at(f64::from(second));
        assert_eq!(course.act(now), Act::Beat);
        assert_eq!(course.beaten(Beat::Renewed(30 * SECOND), now, now), Act::Wait);
    }
    course
}

/// TTL 30 s: heartbeat 5 s, deadline 20 s, grace 3 s, slack 2 s; the grant is renewed at once, so it lasts the TTL.
fn course() -> Course {
    Course::new(watch(None), at(0.0), watch(None).times.ttl)
}

#[test]
fn a_store_that_vanishes_stops_the_child_at_the_deadline_and_before_the_ttl() {
    let mut course = course();
    assert_eq!(course.beaten(Beat::Renewed(30 * SECOND), at(5.0), at(5.1)), Act::Wait);
    let mut now = at(10.0);
    let mut tries = 0;
    while course.act(now) == Act::Beat {
        assert!(now.after(course.patience(now)) <= course.stop_at, "a renew that hangs ends before the deadline");
        assert_eq!(course.beaten(Beat::Unknown, now, now.after(SECOND / 10)), Act::Wait, "one failure kills nothing");
        tries += 1;
        now = course.wake_at().expect("awake");
    }
    assert!(tries > 5, "it is tried until the end");
    assert_eq!(
        (now, course.act(now)),
        (at(25.0), Act::Stop(Cause::Deadline)),
        "20 s after the last good renew was sent"
    );
    let gone_by = now.after(3 * SECOND);
    assert!(gone_by < at(5.0 + 30.0), "grace included, before the store lets anyone in");
}

#[test]
fn the_deadline_counts_from_when_a_renew_was_sent_not_answered() {
    let mut course = course();
    assert_eq!(course.beaten(Beat::Renewed(30 * SECOND), at(5.0), at(14.0)), Act::Wait);
    assert_eq!(course.stop_at, at(25.0));
}

#[test]
fn a_short_grant_brings_the_deadline_forward() {
    let mut course = course();
    assert_eq!(course.beaten(Beat::Renewed(10 * SECOND), at(5.0), at(5.0)), Act::Wait);
    assert_eq!(course.stop_at, at(10.0), "10 s − 3 s grace − 2 s slack after it was sent");
}

#[test]
fn what_is_lost_is_stopped_at_once() {
    for cause in [Cause::Gone, Cause::Revoked] {
        assert_eq!(course().beaten(Beat::Lost(cause), at(5.0), at(5.0)), Act::Stop(cause));
    }
}

#[test]
fn a_deadline_slept_through_gives_the_lease_one_more_chance_with_the_tree_frozen() {
    let mut slept = course();
    assert_eq!(slept.act(at(500.0)), Act::FreezeAndBeat);
    assert_eq!(
        slept.beaten_while_nothing_runs(Beat::Renewed(30 * SECOND), at(500.0), at(500.1)),
        Act::Wait,
        "nobody took it"
    );
    assert_eq!(slept.act(at(501.0)), Act::Wait);
    for beat in [Beat::Unknown, Beat::Lost(Cause::Gone)] {
        assert!(matches!(course().beaten_while_nothing_runs(beat, at(500.0), at(500.1)), Act::Stop(_)), "{beat:?}");
    }
    let mut slow = course();
    assert!(
        matches!(slow.beaten_while_nothing_runs(Beat::Renewed(SECOND), at(500.0), at(502.0)), Act::Stop(_)),
        "over before it was told"
    );
}

/// One that may not just go on, with a TTL of half an hour: heartbeat 60 s, deadline 20 min.
fn asking() -> Course {
    let times = Times::new(None, None, None, None).expect("fits");
    let watch = Watch { times, stopped_max: times.ttl, give_back: None, edits_unseen: false };
    let mut course = Course::new(watch, at(0.0), times.ttl);
    course.asks_again(at(0.0));
    course
}

#[test]
fn a_pause_of_everything_is_seen_long_before_any_deadline() {
    let mut course = asking();
    for second in 0..50 {
        let now = at(f64::from(second));
        course.goes_by(now);
        assert_eq!(course.wake_at(), Some(now.after(SECOND)), "a look a second");
        // Late by a busy machine's doing.
        course.goes_by(now.after(2 * SECOND));
        assert_eq!(course.act(now.after(2 * SECOND)), Act::Wait);
    }
    course.goes_by(at(50.0));
    course.goes_by(at(53.0));
    assert_eq!(course.act(at(53.0)), Act::FreezeAndBeat);
    assert_eq!(course.wake_at(), Some(at(53.0)), "nothing is waited for first");
    course.goes_by(at(53.0));
    course.goes_by(at(53.1));
    assert_eq!(course.act(at(53.1)), Act::FreezeAndBeat, "until somebody has looked");
    assert_eq!(course.beaten_while_nothing_runs(Beat::Renewed(1800 * SECOND), at(53.1), at(60.0)), Act::Wait);
    course.goes_by(at(60.0));
    assert_eq!((course.wake_at(), course.act(at(60.0))), (Some(at(61.0)), Act::Wait));
}

#[test]
fn a_pause_in_the_middle_of_a_renew_is_seen_when_the_store_answers() {
    let lasts = Beat::Renewed(1800 * SECOND);
    let asking = || {
        let mut course = asking();
        course.asks_again(at(59.0));
        course
    };
    let mut slow = asking();
    assert_eq!(slow.beaten(lasts, at(60.0), at(119.0)), Act::Wait);
    assert_eq!(slow.act(at(119.0)), Act::Wait, "a heartbeat is what it may take");
    let mut paused = asking();
    assert_eq!(paused.beaten(lasts, at(60.0), at(123.0)), Act::Wait);
    assert_eq!(paused.act(at(123.0)), Act::FreezeAndBeat);
    let mut down = asking();
    assert_eq!(down.beaten(Beat::Unknown, at(60.0), at(123.0)), Act::Wait);
    assert_eq!(down.act(at(123.0)), Act::Wait, "one failed renew kills nothing");
    assert_eq!(down.beaten(lasts, at(124.0), at(124.1)), Act::Wait);
    assert_eq!(down.act(at(124.1)), Act::FreezeAndBeat);
}

#[test]
fn a_pause_between_two_renews_is_seen_and_one_while_it_is_asked_is_none() {
    let mut course = asking();
    course.goes_by(at(56.0));
    assert_eq!(course.beaten_while_nothing_runs(Beat::Renewed(1800 * SECOND), at(56.0), at(56.1)), Act::Wait);
    course.may_go_on(at(66.0));
    course.goes_by(at(66.1));
    assert_eq!(course.act(at(66.1)), Act::Wait, "that was gh's time");
    assert_eq!(course.beaten(Beat::Renewed(1800 * SECOND), at(70.0), at(70.1)), Act::Wait);
    assert_eq!(course.act(at(70.1)), Act::FreezeAndBeat, "before the renew was sent");
}

#[test]
fn what_stands_still_is_asked_about_when_it_goes_on() {
    let mut course = asking();
    course.halted(Some(at(1.0)));
    course.goes_by(at(9.0));
    assert_eq!(course.act(at(9.0)), Act::Wait, "it would run while it is asked");
    course.halted(None);
    assert_eq!((course.goes_on(), course.act(at(9.0))), (Act::FreezeAndBeat, Act::FreezeAndBeat));
    course.ended(Outcome::Exited(0));
    assert_eq!((course.goes_on(), course.act(at(9.0))), (Act::Wait, Act::Wait), "nothing goes on");
    let mut loose = asking();
    loose.given_back(true, at(1.0));
    loose.goes_by(at(9.0));
    assert_eq!((loose.goes_on(), loose.act(at(9.0))), (Act::Wait, Act::Wait), "there is no lease to lose");
    assert_eq!((loose.wake_at(), course.goes_on()), (None, Act::Wait));
}

#[test]
fn what_has_nothing_to_ask_about_is_woken_by_no_look_and_no_pause() {
    let mut course = course();
    course.goes_by(at(0.0));
    assert_eq!(course.wake_at(), Some(at(5.0)), "the heartbeat");
    course.goes_by(at(15.0));
    assert_eq!((course.act(at(15.0)), course.goes_on()), (Act::Beat, Act::Wait));
}

#[test]
fn what_was_granted_long_ago_is_renewed_before_anything_is_started() {
    let late = || {
        let course = course();
        assert_ne!(course.act(at(6.0)), Act::Wait, "a heartbeat has passed");
        course
    };
    assert_eq!(late().beaten_while_nothing_runs(Beat::Renewed(30 * SECOND), at(6.0), at(6.1)), Act::Wait);
    assert_eq!(late().beaten_while_nothing_runs(Beat::Unknown, at(6.0), at(6.1)), Act::Wait, "there is time left");
    assert_eq!(
        late().beaten_while_nothing_runs(Beat::Unknown, at(21.0), at(21.1)),
        Act::Stop(Cause::Deadline),
        "no time left"
    );
    let gone = late().beaten_while_nothing_runs(Beat::Lost(Cause::Gone), at(6.0), at(6.1));
    assert_eq!(gone, Act::Stop(Cause::Gone));
    assert_eq!(course().act(at(1.0)), Act::Wait, "the usual command costs no renew");
}

#[test]
fn the_grace_ends_before_others_may_come_in() {
    let (usual, course) = (3 * SECOND, course());
    assert_eq!(course.grace(Cause::Deadline, usual, at(20.0)), 3 * SECOND);
    assert_eq!(course.grace(Cause::Deadline, usual, at(22.0)), SECOND, "late by two seconds");
    assert_eq!(course.grace(Cause::WrapperDied, SECOND / 2, at(22.8)), SECOND / 5);
    assert_eq!(course.grace(Cause::StoppedJob, usual, at(500.0)), Duration::ZERO);
    assert_eq!(course.grace(Cause::Gone, usual, at(1.0)), Duration::ZERO, "somebody may be in already");
    assert_eq!(course.grace(Cause::Revoked, usual, at(1.0)), 3 * SECOND, "it is ours until we end it");
}

#[test]
fn a_stopped_job_is_renewed_for_a_while_and_then_stopped_for_good() {
    let mut course = course();
    course.halted(Some(at(1.0)));
    assert!(course.is_halted());
    for second in (5..30).step_by(5) {
        let now = at(f64::from(second));
        assert_eq!(course.act(now), Act::Beat);
        assert_eq!(course.beaten(Beat::Renewed(30 * SECOND), now, now), Act::Wait);
    }
    assert_eq!(course.act(at(31.0)), Act::Stop(Cause::StoppedJob));
    course.halted(None);
    assert!(!course.is_halted());
    assert_eq!(course.act(at(31.0)), Act::Beat, "resumed in time, it goes on");
}

#[test]
fn a_lease_is_given_back_while_the_command_runs_on_and_nothing_stops_it_any_more() {
    let mut course = giving();
    assert_eq!(course.wake_at(), Some(at(60.0)));
    assert_eq!(course.act(at(60.0)), Act::Beat, "it is held until then");
    assert_eq!(course.beaten(Beat::Renewed(30 * SECOND), at(60.0), at(60.0)), Act::Wait);
    assert_eq!((course.wake_at(), course.act(at(61.0))), (Some(at(61.0)), Act::GiveBack));
    course.given_back(true, at(61.0));
    assert_eq!((course.hold(), course.wake_at()), (Hold::Given, None));
    assert_eq!(course.act(at(1e6)), Act::Wait, "no renew, no deadline");
    course.halted(Some(at(70.0)));
    assert_eq!((course.act(at(1e6)), course.wake_at()), (Act::Wait, None), "it may be stopped for as long as it likes");
    assert_eq!(course.grace(Cause::WrapperDied, SECOND / 2, at(1e6)), SECOND / 2);
    course.ended(Outcome::Exited(0));
    assert_eq!((course.act(at(1e6)), course.wake_at()), (Act::Wait, None), "nor after the end");
}

#[test]
fn a_store_that_cannot_be_told_is_told_again_until_the_lease_has_ended() {
    let mut course = giving();
    let mut now = at(61.0);
    let mut tries = 0;
    while course.act(now) == Act::GiveBack {
        course.given_back(false, now);
        tries += 1;
        assert_eq!(course.hold(), Hold::Due);
        let Some(next) = course.wake_at() else { break };
        assert!(next > now && next < at(85.0), "renewed at 55 s for 30 s");
        now = next;
    }
    assert!(tries > 3, "{tries}");
    assert_eq!((course.act(at(1e6)), course.wake_at()), (Act::Wait, None), "and the command runs on all the same");
    let mut course = giving();
    course.given_back(false, at(61.0));
    course.given_back(true, at(66.0));
    assert_eq!((course.hold(), course.wake_at()), (Hold::Given, None));
}

#[test]
fn before_its_time_a_lease_that_is_given_back_later_is_one_like_any() {
    let lost = giving().beaten(Beat::Lost(Cause::Gone), at(60.0), at(60.0));
    assert_eq!(lost, Act::Stop(Cause::Gone));
    let mut early = Course::new(watch(Some(60 * SECOND)), at(0.0), 30 * SECOND);
    early.started(at(1.0));
    assert_eq!(early.act(at(20.0)), Act::Stop(Cause::Deadline), "the deadline comes first");
    assert_eq!(giving().act(at(500.0)), Act::FreezeAndBeat, "slept through both: first, is it ours?");
    let mut halted = giving();
    halted.halted(Some(at(59.0)));
    assert_eq!(halted.act(at(62.0)), Act::Beat, "a stopped job does not get on");
    halted.halted(None);
    assert_eq!(halted.act(at(62.0)), Act::GiveBack);
}

#[test]
fn nobody_is_told_again_at_the_moment_when_the_lease_has_ended() {
    for (told_at, again) in [(79.0, Some(at(84.0))), (80.0, None), (81.0, None)] {
        let mut course = giving();
        course.given_back(false, at(told_at));
        assert_eq!(course.wake_at(), again, "renewed at 55 s for 30 s, told at {told_at}");
    }
}

#[test]
fn a_renew_may_take_a_heartbeat_but_not_past_the_deadline_and_never_no_time_at_all() {
    let course = course();
    for (now, patience) in [(0.0, 5.0), (14.0, 5.0), (15.0, 5.0), (17.0, 3.0), (19.99, 0.05), (25.0, 0.05)] {
        assert_eq!(course.patience(at(now)), Duration::from_secs_f64(patience), "at {now}");
    }
    assert_eq!(course.patience_while_nothing_runs(), 5 * SECOND);
    let short = Watch { times: Times::new(Some(6 * SECOND), None, None, None).expect("fits"), ..watch(None) };
    assert_eq!(Course::new(short, at(0.0), 6 * SECOND).patience_while_nothing_runs(), 2 * SECOND);
}

#[test]
fn a_renew_that_failed_is_tried_again_after_a_quarter_of_a_heartbeat_and_at_most_a_second() {
    for (ttl, again) in [(30, 11.0), (6, 10.25)] {
        let times = Times::new(Some(ttl * SECOND), None, None, None).expect("fits");
        let mut course = Course::new(Watch { times, ..watch(None) }, at(0.0), ttl * SECOND);
        assert_eq!(course.beaten(Beat::Unknown, at(9.9), at(10.0)), Act::Wait);
        assert_eq!(course.next_beat, at(again), "TTL {ttl} s");
    }
}

#[test]
fn after_the_end_the_lease_is_renewed_but_nothing_is_stopped() {
    let mut course = course();
    course.ended(Outcome::Exited(0));
    assert_eq!(course.act(at(5.0)), Act::Beat);
    assert_eq!(course.beaten(Beat::Lost(Cause::Gone), at(5.0), at(5.0)), Act::Wait, "the wrapper has released it");
    assert_eq!(course.act(at(25.0)), Act::Wait);
    course.stopped(Outcome::Stopped(Cause::Gone));
    assert_eq!((course.act(at(1e6)), course.wake_at()), (Act::Wait, None));
}

#[test]
fn a_hold_without_a_command_is_renewed_as_one_with_it_and_tried_again_for_ever() {
    let times = watch(None).times;
    let mut course = Course::without_a_command(times, at(0.0), times.ttl);
    assert_eq!((course.wake_at(), course.act(at(4.9))), (Some(at(5.0)), Act::Wait), "the wrapper's heartbeat");
    assert_eq!(course.act(at(5.0)), Act::Beat);
    for second in [5.0, 20.0, 29.0, 31.0, 4_000.0] {
        assert_eq!(course.beaten(Beat::Unknown, at(second), at(second)), Act::Wait);
        assert_eq!(course.act(at(second + 1.25)), Act::Beat, "neither the deadline nor the lease's end ends that");
    }
    assert_eq!(course.beaten(Beat::Renewed(30 * SECOND), at(5_000.0), at(5_000.1)), Act::Wait, "nobody took it");
    assert_eq!((course.wake_at(), course.ends_at()), (Some(at(5_005.0)), at(5_030.0)));
}
