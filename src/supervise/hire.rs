//! The keeper comes into being: forked idle, told to go, the child started, everything closed that is not its own.
#![forbid(unsafe_code)]

use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, RawFd};

use crate::clock::{Clock, Moment};

use super::course::{Act, Course};
use super::editor::Editors;
use super::keeper::{Keeper, ms};
use super::link::{Heard, Link, Tale, Word};
use super::standing::Standing;
use super::unix::{self, Process, Side, Signals, Timer};
use super::{Cause, Duty, Hold, Order, Outcome, Watch, Wrapper, child, tree};

/// Forks the keeper. It idles until the wrapper says "go", and takes the request back when the wrapper dies before.
/// Only while this process has one thread. `keep` are descriptors that the keeper needs (the live file's lock).
///
/// # Errors
/// When the system has no process or descriptor left.
pub fn hire<D: Duty>(order: &Order, watch: Watch, clock: &dyn Clock, keep: &[RawFd], duty: D) -> io::Result<Wrapper> {
    let spared = tree::children_of_ours();
    let (ours, theirs) = Link::pair()?;
    match unix::fork()? {
        Side::Parent(pid) => {
            drop(theirs);
            unix::become_subreaper()?;
            Ok(Wrapper::new(ours, pid, spared, watch, order.entry))
        }
        Side::Child => {
            drop(ours);
            let work = std::panic::AssertUnwindSafe(|| keep_watch(order, watch, clock, keep, theirs, duty));
            let ended = std::panic::catch_unwind(work);
            unix::leave(if matches!(ended, Ok(Ok(()))) { 0 } else { crate::exit::INTERNAL });
        }
    }
}

fn keep_watch<D: Duty>(
    order: &Order,
    watch: Watch,
    clock: &dyn Clock,
    keep: &[RawFd],
    link: Link,
    mut duty: D,
) -> io::Result<()> {
    unix::default_sigchld();
    let signals = Signals::open(unix::bit(libc::SIGCHLD), u64::MAX)?;
    let timer = Timer::new()?;
    unix::become_subreaper()?;
    let words = match link.hear(None)? {
        Some(Heard::Said(Word::Go(words))) => words,
        Some(Heard::Said(Word::Stay(words))) => {
            duty.begin(&words).map_err(io::Error::other)?;
            duty.hang_up();
            unix::own_group()?;
            unix::null_stdio()?;
            let own = [link.as_fd().as_raw_fd(), signals.as_fd().as_raw_fd(), timer.as_fd().as_raw_fd()];
            unix::close_all_but(&[&own, keep].concat());
            duty.tend();
            return Ok(());
        }
        Some(Heard::Said(_)) => return Ok(()),
        Some(Heard::Dead) | None => {
            duty.abandon();
            return Ok(());
        }
    };
    let begin = duty.begin(&words).map_err(io::Error::other)?;
    let mut course = Course::new(watch, begin.sent, begin.lasts);
    if begin.asks_again {
        course.asks_again(begin.sent);
    }
    if let Some(cause) = lost_already(&mut course, &link, &mut duty, clock)? {
        return nothing_runs(&link, &mut duty, Outcome::Stopped(cause), course.ends_at());
    }
    let child = match child::spawn(order, &begin.variables)? {
        Ok(pid) => pid,
        Err(errno) => return nothing_runs(&link, &mut duty, Outcome::NeverStarted(errno), course.ends_at()),
    };
    course.started(clock.now());
    link.say(&Tale::Spawned(child))?;
    unix::own_group()?;
    // Order: the handle before the number is used again. A wrapper that is dead already is noticed by its socket.
    let parent = std::os::unix::process::parent_id().cast_signed();
    let wrapper = Process::open(parent).ok().map(|process| (parent, process));
    let mut own: Vec<RawFd> = vec![link.as_fd().as_raw_fd(), signals.as_fd().as_raw_fd(), timer.as_fd().as_raw_fd()];
    own.extend(keep);
    own.extend(wrapper.as_ref().map(|(_, process)| process.as_fd().as_raw_fd()));
    unix::null_stdio()?;
    // Order: what the duty has opened is closed by the duty, not behind its back.
    duty.hang_up();
    unix::close_all_but(&own);
    let editors = watch.edits_unseen.then(|| Editors::of(&order.args, clock.now()));
    let (wake_until, settle_at) = (None, None);
    let keeper = Keeper {
        watch,
        standing: begin.asks_again.then(Standing::default),
        clock,
        link,
        signals,
        timer,
        duty,
        child,
        course,
        editors,
        wrapper,
        wake_until,
        settle_at,
    };
    let worked = keeper.work();
    // Nobody else may: in a container the first process often does not.
    unix::reap_all();
    worked
}

/// The grant may be of long ago: the files of a predecessor were proven meanwhile, or we were frozen. Then it is
/// renewed, and looked again whether the command may, before anything is started.
fn lost_already<D: Duty>(
    course: &mut Course,
    link: &Link,
    duty: &mut D,
    clock: &dyn Clock,
) -> io::Result<Option<Cause>> {
    let sent = clock.now();
    course.goes_by(sent);
    let wanted = course.act(sent);
    if wanted == Act::Wait {
        return Ok(None);
    }
    link.say(&Tale::Asking)?;
    let patience = course.patience_while_nothing_runs();
    let beat = duty.renew(patience);
    let mut act = course.beaten_while_nothing_runs(beat, sent, clock.now());
    if act == Act::Wait && wanted == Act::FreezeAndBeat {
        link.say(&Tale::Asking)?;
        act = duty.look_again(patience).map_or(act, Act::Stop);
        course.may_go_on(clock.now());
    }
    if let Act::Stop(cause) = act {
        return Ok(Some(cause));
    }
    link.say(&Tale::Renewed { stop_at: ms(course.stop_at()) })?;
    Ok(None)
}

/// Nothing runs; the wrapper settles, and if it dies before, we do.
fn nothing_runs<D: Duty>(link: &Link, duty: &mut D, outcome: Outcome, ends_at: Moment) -> io::Result<()> {
    link.say(&Tale::Ended(outcome, Hold::Held))?;
    if !matches!(link.hear::<Word>(None)?, Some(Heard::Said(_))) {
        duty.finish(outcome, ends_at);
    }
    Ok(())
}
