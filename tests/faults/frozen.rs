//! Wrapper, keeper or child stand still. (Wrapper and keeper both frozen while the child runs on is excluded by the
//! design; what the next one on the same machine does about it is tested in `leftovers`.)
#![forbid(unsafe_code)]

use std::time::Duration;

use rustix::process::Signal;

use crate::world::board;
use crate::world::ends::{so, until};
use crate::world::processes::{children, freeze, is_halted, kill, lives, signal, thaw};

use super::actor::{self, ID, LOG, UNTIL};
use super::log;
use super::stage::{Run, Stage};
use super::store::{STEADY, STEADY_TTL};

const ONE: [&str; 4] = ["--ttl", "3s", "-r", "test:x"];
const TTL: Duration = Duration::from_secs(3);
const NEXT: [&str; 4] = ["--wait", "10m", "-r", "test:x"];

/// A program that says when USR1 came to it, over and over, and beside it the actor.
const HEARS: &str = "trap 'echo >> heard' USR1; $ME & while kill -0 $! 2> /dev/null; do wait $!; done";

/// Whoever was frozen has gone once through everything that was waiting for it. The wrapper hands on what it is sent, so
/// the first signal that arrives tells that it is awake, and the second that it has come back to where it listens: what
/// it would conclude from its clock it has concluded in between.
fn has_woken_up(stage: &Stage, run: &Run) {
    let heard = stage.world.work().join("heard");
    let times = || std::fs::read_to_string(&heard).unwrap_or_default().len();
    for _ in 0..2 {
        let before = times();
        signal(run.wrapper(), Signal::USR1);
        so("the wrapper hands the signal on", || times() > before);
    }
}

#[test]
fn the_checker_catches_two_that_run_without_locked() {
    let stage = Stage::new();
    let bare = |id: &str, token: &str| {
        let words = actor::words();
        let mut command = stage.world.command(&words[0]);
        command.args(&words[1..]).env(LOG, stage.log()).env(ID, id).env(UNTIL, stage.flag("enough"));
        command.env("LOCKED_RESOURCES", "test:x").env("LOCKED_TOKENS", token).stdout(std::process::Stdio::null());
        command.spawn().expect("starts")
    };
    let both = [bare("a", "1"), bare("b", "2")];
    // Each beats once more after both have begun.
    stage.alive("a");
    stage.alive("b");
    let text = || std::fs::read_to_string(stage.log()).expect("log");
    let so_far = text().len();
    so("both go on", || ["beat a ", "beat b "].iter().all(|beat| text()[so_far..].contains(beat)));
    stage.raise("enough");
    for mut child in both {
        assert!(child.wait().expect("ends").success());
    }
    assert_eq!(log::overlaps(&stage.lives()).len(), 1, "{:?}", stage.lives());
}

#[test]
fn a_wrapper_frozen_past_its_ttl_loses_nothing() {
    let stage = Stage::new();
    let one = stage.start_shell("one", &STEADY, HEARS);
    let child = stage.alive("one");
    freeze(one.wrapper());
    let mut next = stage.start("next", &NEXT);
    so("it stands in line", || stage.tickets() == 1);
    stage.world.is_renewed_for("test:x", 2 * STEADY_TTL);
    assert!(lives(child) && !stage.has_begun("next"), "the keeper renews");
    thaw(one.wrapper());
    stage.raise("next");
    has_woken_up(&stage, &one);
    assert!(lives(child) && !next.has_ended(), "what the keeper said meanwhile is heard before the clock is judged");
    stage.raise("one");
    let ended = one.ends();
    assert_eq!((ended.code, ended.said.as_str()), (Some(0), ""), "it never noticed");
    assert_eq!(next.ends().code, Some(0));
    assert!(log::check(&stage.log()).iter().all(|life| life.ended));
}

#[test]
fn a_frozen_keeper_costs_the_lease_and_nothing_else() {
    let stage = Stage::new();
    let one = stage.start("one", &ONE);
    let child = stage.alive("one");
    freeze(one.keeper());
    let next = stage.start("next", &NEXT);
    stage.raise("next");
    let ended = one.ends();
    assert_eq!(ended.code, Some(77), "{}", ended.said);
    assert!(!lives(child));
    assert_eq!(next.ends().code, Some(0));
    log::check(&stage.log());
    stage.is_empty_soon();
}

#[test]
fn a_keeper_frozen_after_the_childs_end_does_not_hold_up_the_wrapper() {
    let stage = Stage::new();
    let one = stage.start_shell("one", &["--ttl", "10s", "-r", "test:x"], "$ME; kill -STOP $PPID");
    stage.alive("one");
    stage.raise("one");
    // The keeper tells of the end and stands still before it is dismissed, or before it can tell.
    let ended = one.ends();
    assert!(matches!(ended.code, Some(0 | 77)), "{ended:?}");
    stage.is_empty_soon();
}

#[test]
fn a_child_stopped_for_a_ttl_is_stopped_for_good() {
    let stage = Stage::new();
    // Its shell stops itself, as with Ctrl-Z; a descendant in a session of its own goes on.
    let line = "setsid $ME & kill -STOP $$; $ME";
    let mut one = stage.start_shell("one", &["--ttl", "2s", "-r", "test:x"], line);
    let beating = stage.alive("one");
    let next = stage.start("next", &["--ttl", "2s", "--wait", "10m", "-r", "test:x"]);
    stage.raise("next");
    so("the wrapper stops with its job", || is_halted(one.wrapper()) || one.has_ended());
    let ended = one.ends();
    assert_eq!(ended.code, Some(77), "a job that was stopped for good has ended for its caller too: {}", ended.said);
    assert!(!lives(beating));
    assert_eq!(next.ends().code, Some(0));
    log::check(&stage.log());
    stage.is_empty_soon();
}

/// The TTL is far beyond every limit of a test: what ends the job is `stopped_max`.
#[test]
fn a_child_is_stopped_for_good_when_the_settings_say() {
    let stage = Stage::new();
    let settings = stage.world.root().join("home/.config/locked");
    std::fs::create_dir_all(&settings).expect("directory");
    std::fs::write(settings.join("config.toml"), "ttl = \"2h\"\nstopped_max = \"1s\"\n").expect("settings");
    let one = stage.start_shell("one", &["-r", "test:x"], "kill -STOP $$; $ME");
    let ended = one.ends();
    assert_eq!(ended.code, Some(77), "{}", ended.said);
    stage.is_empty_soon();
}

#[test]
fn a_child_killed_while_it_is_stopped_ends_its_wrapper() {
    let stage = Stage::new();
    let one = stage.start_shell("one", &["--ttl", "30s", "-r", "test:x"], "$ME & kill -STOP $$");
    stage.alive("one");
    so("the wrapper stops with its job", || is_halted(one.wrapper()));
    let shell = until("the shell", || children(one.keeper()).into_iter().find(|&pid| is_halted(pid)));
    stage.raise("one");
    kill(shell);
    assert_eq!(one.ends().code, None, "dead by the signal, as the program was");
    stage.is_empty_soon();
}

/// Nobody else is there who could continue the wrapper.
#[test]
fn a_keeper_killed_while_its_job_is_stopped_ends_its_wrapper() {
    let stage = Stage::new();
    let one = stage.start("one", &["--ttl", "30s", "-r", "test:x"]);
    let child = stage.alive("one");
    freeze(child);
    so("the wrapper stops with its job", || is_halted(one.wrapper()));
    kill(one.keeper());
    let ended = one.ends();
    assert_eq!(ended.code, Some(77), "{}", ended.said);
    assert!(!lives(child));
    stage.is_empty_soon();
}

#[test]
fn a_child_that_is_continued_by_itself_takes_its_wrapper_along() {
    let stage = Stage::new();
    let one = stage.start("one", &["--ttl", "30s", "-r", "test:x"]);
    let child = stage.alive("one");
    freeze(child);
    so("the wrapper stops with its job", || is_halted(one.wrapper()));
    thaw(child);
    stage.raise("one");
    assert_eq!(one.ends().code, Some(0));
    stage.is_empty_soon();
}

/// The child does not run yet, so this is not among what the design excludes.
#[test]
fn a_go_that_comes_after_the_lease_was_lost_starts_nothing() {
    let stage = Stage::new();
    let first = stage.start("first", &["-r", "test:x"]).begins(&stage, "first");
    let begun = stage.flag("begun");
    let one = stage.start_shell(
        "one",
        &["--wait", "10m", "--ttl", "3s", "-r", "test:x"],
        &format!(": > {}", begun.display()),
    );
    so("it stands in line", || stage.tickets() == 1);
    freeze(one.keeper());
    stage.raise("first");
    so("the grant", || stage.number("select count(*) from leases where ttl_ms = 3000") == 1);
    freeze(one.wrapper());
    assert_eq!(first.ends().code, Some(0));
    let next = stage.start("next", &NEXT).begins(&stage, "next");
    let (keeper, wrapper) = (one.keeper(), one.wrapper());
    thaw(keeper);
    thaw(wrapper);
    let ended = one.ends();
    assert_eq!(ended.code, Some(77), "{}", ended.said);
    assert!(!begun.exists(), "nothing was started");
    stage.raise("next");
    assert_eq!(next.ends().code, Some(0));
    log::check(&stage.log());
}

/// A run that renews every few milliseconds. Its first grant lasts for two of these heartbeats, and is lost on a busy
/// machine; then there is another.
fn beats_quickly(stage: &Stage) -> Run {
    let times = ["--ttl", "6s", "--heartbeat", "10ms", "--renew-deadline", "5s", "--grace", "100ms"];
    let options = [&times[..], &["-r", "test:x"]].concat();
    until("one has been renewed", || {
        let mut one = stage.start_shell("one", &options, HEARS);
        let renewed =
            "select count(*) from leases where ended_at is null and ttl_ms = 6000 and renewed_at > acquired_at";
        so("it is renewed or lost", || one.has_ended() || stage.number(renewed) == 1);
        if one.has_ended() {
            assert_eq!(one.ends().code, Some(77));
            return None;
        }
        Some(one.begins(stage, "one"))
    })
}

/// Every renew is told to the wrapper; a wrapper that does not listen fills the socket in the end.
#[test]
fn a_keeper_does_not_wait_for_a_wrapper_that_does_not_listen() {
    let stage = Stage::new();
    stage.next_gets_in("warm", &["-r", "test:warm"]);
    let one = beats_quickly(&stage);
    freeze(one.wrapper());
    let next = stage.start("next", &NEXT);
    stage.raise("next");
    so("it stands in line", || stage.tickets() == 1);
    // More than a socket holds: the kernel counts each packet with its own overhead, which is not below this.
    let buffer = std::fs::read_to_string("/proc/sys/net/core/wmem_default").expect("the size of a socket's buffer");
    let enough = buffer.trim().parse::<usize>().expect("bytes") / 640;
    let (database, mut renewals, mut last) = (stage.world.database(), 0, 0);
    so("the keeper has said more than the socket holds", || {
        let now = board::ends_at(&database, "test:x");
        renewals += usize::from(now != last);
        last = now;
        renewals > enough
    });
    stage.world.is_renewed_for("test:x", 2 * TTL);
    assert!(!stage.has_begun("next"), "the keeper goes on renewing");
    thaw(one.wrapper());
    has_woken_up(&stage, &one);
    assert!(!stage.has_begun("next"), "the wrapper has heard the last renew");
    stage.raise("one");
    assert_eq!(one.ends().code, Some(0));
    assert_eq!(next.ends().code, Some(0));
    log::check(&stage.log());
}
