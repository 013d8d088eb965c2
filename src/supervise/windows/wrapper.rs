//! The wrapper, which is its own keeper: it starts the child, renews while it runs, and stops it when the lease is lost.
#![forbid(unsafe_code)]

use std::cell::{Cell, RefCell};
use std::io;
use std::time::Duration;

use crate::clock::{Clock, Moment};
use crate::platform::Held;
use crate::supervise::course::{Act, Course, LOOKS};
use crate::supervise::{Beat, Begin, Cause, Duty, Hold, News, Order, Outcome, Ran, Watch, half_way};

use super::console::{self, First};
use super::job::Job;
use super::start::{self, Started};
use super::vigil::{Renews, Vigil};

/// How long the settling of a lease may be tried on when the store is down; then it is spooled.
const SETTLES_WITHIN: Duration = Duration::from_secs(5);

/// Ends of this kind are crashes, or Ctrl-C: the system's own codes of errors (ntstatus.h, "severity"). What PowerShell ends is
/// among them (-1).
const CRASHES: u32 = 0xC000_0000;

/// What taskkill and the Task Manager end has this status, which a program may have by itself as well.
const KILLED: u32 = 1;

/// A command under a lease.
pub struct Wrapper<'a> {
    order: &'a Order,
    watch: Watch,
    clock: &'a dyn Clock,
    duty: RefCell<Box<dyn Duty + 'a>>,
    /// Once it was begun.
    course: Cell<Option<Course>>,
    outcome: Cell<Option<Outcome>>,
}

impl std::fmt::Debug for Wrapper<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wrapper").field("watch", &self.watch).finish_non_exhaustive()
    }
}

/// Makes ready for a command; nothing runs yet. Until then Ctrl-C ends us as it ends anybody, and what we had asked for is
/// passed over by others, since the live file's lock falls with us.
///
/// # Errors
/// None here.
pub fn hire<'a, D: Duty + 'a>(
    order: &'a Order,
    watch: Watch,
    clock: &'a dyn Clock,
    _keep: &[Held],
    duty: D,
) -> io::Result<Wrapper<'a>> {
    let duty = RefCell::new(Box::new(duty) as Box<dyn Duty>);
    Ok(Wrapper { order, watch, clock, duty, course: Cell::new(None), outcome: Cell::new(None) })
}

impl Wrapper<'_> {
    /// Starts the command and stays until it has ended or its tree was stopped. `words` reach [`Duty::begin`]; `news` is told
    /// what happens meanwhile.
    ///
    /// # Errors
    /// When the system has no job for us: nothing runs then.
    pub fn run(&self, words: String, _begin: &Begin, clock: &dyn Clock, news: &mut dyn FnMut(News)) -> io::Result<Ran> {
        let begin = self.duty.borrow_mut().begin(&words).map_err(io::Error::other)?;
        let mut course = Course::new(self.watch, begin.sent, begin.lasts);
        if begin.asks_again {
            course.asks_again(begin.sent);
        }
        if let Some(cause) = self.lost_already(&mut course) {
            return Ok(self.ends(course, Outcome::Stopped(cause)));
        }
        let job = Job::around_us()?;
        console::outlive();
        let child = match start::start(self.order, &begin.variables)? {
            Started::Runs(child) => child,
            Started::Failed(code) => {
                job.let_go();
                return Ok(self.ends(course, Outcome::NeverStarted(code)));
            }
        };
        course.started(clock.now());
        self.duty.borrow_mut().hang_up();
        let mut running =
            Running { wrapper: self, job, asks_again: begin.asks_again, course, child, lasts: false, loose: false };
        let outcome = running.watch(news)?;
        let course = running.course;
        console::forget();
        Ok(self.ends(course, outcome))
    }

    /// The grant may be of long ago: the files of a predecessor were proven meanwhile, or we were frozen. Then it is
    /// renewed, and looked again whether the command may, before anything is started.
    fn lost_already(&self, course: &mut Course) -> Option<Cause> {
        let sent = self.clock.now();
        course.goes_by(sent);
        let wanted = course.act(sent);
        if wanted == Act::Wait {
            return None;
        }
        let (mut duty, patience) = (self.duty.borrow_mut(), course.patience_while_nothing_runs());
        let beat = duty.renew(patience);
        let mut act = course.beaten_while_nothing_runs(beat, sent, self.clock.now());
        if act == Act::Wait && wanted == Act::FreezeAndBeat {
            act = duty.look_again(patience).map_or(act, Act::Stop);
            course.may_go_on(self.clock.now());
        }
        match act {
            Act::Stop(cause) => Some(cause),
            _ => None,
        }
    }

    fn ends(&self, mut course: Course, outcome: Outcome) -> Ran {
        match outcome.cause() {
            Some(_) => course.stopped(outcome),
            None => course.ended(outcome),
        }
        self.course.set(Some(course));
        self.outcome.set(Some(outcome));
        Ran { outcome, hold: course.hold() }
    }

    /// Stays with the lease after the command's end, and renews it.
    ///
    /// # Errors
    /// None here.
    pub fn stay<'a>(&'a self, clock: &'a dyn Clock) -> io::Result<Vigil<'a>> {
        console::outlive();
        console::forget();
        Ok(Vigil::over(self, clock))
    }

    /// The lease is settled, or there never was one.
    pub fn dismiss(self) {}

    /// Nothing was run, and what an earlier command has left stays: whoever looks after that goes on, or it runs out.
    pub fn leave_to_stay(self, _words: String) {}

    /// The store could not be told. There is no other process to go on trying: it is tried for a moment, then left as word
    /// for whoever finds the store up again.
    pub fn leave_to_keeper(self) {
        if let Some(outcome) = self.outcome.get() {
            self.duty.borrow_mut().finish(outcome, self.clock.now().after(SETTLES_WITHIN));
        }
    }
}

struct Running<'a, 'w> {
    wrapper: &'a Wrapper<'w>,
    job: &'static Job,
    asks_again: bool,
    course: Course,
    child: std::process::Child,
    lasts: bool,
    loose: bool,
}

impl Running<'_, '_> {
    fn watch(&mut self, news: &mut dyn FnMut(News)) -> io::Result<Outcome> {
        let clock = self.wrapper.clock;
        let lasts_at = half_way(clock.now(), self.course.stop_at());
        loop {
            let now = clock.now();
            self.course.goes_by(now);
            let wake_at = [self.course.wake_at(), Some(lasts_at).filter(|_| !self.lasts)].into_iter().flatten().min();
            // The system does not count in a wait what the machine slept through, and the clock does: it is looked at often.
            let limit = wake_at.map_or(LOOKS, |at| now.until(at).min(LOOKS));
            if console::first(Some(&self.child), false, limit) == First::Ended {
                return self.ended();
            }
            self.course.goes_by(clock.now());
            if clock.now() >= lasts_at && !std::mem::replace(&mut self.lasts, true) {
                news(News::Lasts);
            }
            if let Act::Stop(cause) = self.look_at_clock() {
                // Whoever could not be ended is not waited for: that may take for ever.
                return Ok(self.stopped(cause));
            }
            if self.course.hold() == Hold::Given && !std::mem::replace(&mut self.loose, true) {
                news(News::Loose);
            }
        }
    }

    /// It ended by itself. What a program leaves behind on purpose it leaves at a normal exit; one that crashed or was killed
    /// left what it was doing (`cmd.exe` the program of a batch file), and that may be writing still.
    fn ended(&mut self) -> io::Result<Outcome> {
        let code = self.child.wait()?.code().unwrap_or(crate::exit::INTERNAL);
        if (code.cast_unsigned() >= CRASHES || code.cast_unsigned() == KILLED)
            && let Some(&pid) = self.job.stop().first()
        {
            return Ok(Outcome::Stuck { cause: Cause::Killed(0), pid });
        }
        self.job.let_go();
        Ok(Outcome::Exited(code))
    }

    fn stopped(&self, cause: Cause) -> Outcome {
        let outcome = Outcome::stopped(cause, &self.job.stop());
        // What could not be ended is not let go: it ends with us, if anything can end it.
        if matches!(outcome, Outcome::Stopped(_)) {
            self.job.let_go();
        }
        outcome
    }

    fn look_at_clock(&mut self) -> Act {
        let clock = self.wrapper.clock;
        let mut duty = self.wrapper.duty.borrow_mut();
        let sent = clock.now();
        match self.course.act(sent) {
            Act::Beat => {
                let beat = duty.renew(self.course.patience(sent));
                self.course.beaten(beat, sent, clock.now())
            }
            Act::FreezeAndBeat => {
                // Nothing writes while it is asked whether the lease is still ours.
                let frozen = self.job.freeze();
                let patience = match frozen.is_whole() {
                    true => self.course.patience_while_nothing_runs(),
                    false if sent >= self.course.stop_at() => {
                        std::mem::forget(frozen);
                        return Act::Stop(Cause::Deadline);
                    }
                    false => self.course.patience(sent),
                };
                let beat = duty.renew(patience);
                let mut act = self.course.beaten_while_nothing_runs(beat, sent, clock.now());
                if act == Act::Wait && self.asks_again {
                    act = duty.look_again(self.course.patience_while_nothing_runs()).map_or(act, Act::Stop);
                }
                if act == Act::Wait {
                    self.course.may_go_on(clock.now());
                    drop(frozen);
                } else {
                    // What is to be stopped does not go on before.
                    std::mem::forget(frozen);
                }
                act
            }
            Act::GiveBack => {
                self.course.given_back(false, clock.now());
                let told = duty.give_back();
                self.course.given_back(told, clock.now());
                Act::Wait
            }
            act => act,
        }
    }
}

impl Renews for Wrapper<'_> {
    fn wake_at(&self) -> Option<Moment> {
        self.course.get().and_then(|course| course.wake_at())
    }

    fn renew(&self, now: Moment) -> Option<Beat> {
        let mut course = self.course.get().filter(|course| course.act(now) == Act::Beat)?;
        let beat = self.duty.borrow_mut().renew(course.patience_while_nothing_runs());
        let _nothing_runs = course.beaten(beat, now, self.clock.now());
        self.course.set(Some(course));
        Some(beat)
    }
}
