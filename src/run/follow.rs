//! After success: what the command set off elsewhere is followed to its end while the lease is held on. Of a workflow the
//! newest run is looked up, and `gh run watch` ends when it does.
#![forbid(unsafe_code)]

use std::io;
use std::time::Duration;

use crate::canary;
use crate::clock::{Clock as _, Moment};
use crate::report;
use crate::settle::HOLD_FOR;
use crate::supervise::{Came, Vigil, Wrapper};
use crate::terms::show_duration;

use super::gh::{Gh, Run};
use super::job::Job;

/// How long a run may take to appear after it was triggered: GitHub needs a few seconds.
const APPEARS: Duration = Duration::from_secs(60);
/// The first pause between two looks; each is twice as long as the one before, up to [`PAUSE_MAX`].
const PAUSE: Duration = Duration::from_millis(250);
const PAUSE_MAX: Duration = Duration::from_secs(4);
/// How long the look before the command may take: without its answer, the time tells a new run from an old one.
const LOOK: Duration = Duration::from_secs(10);
/// How often a watch that fails (the network) is begun anew.
const WATCHES: usize = 5;
/// Why nothing was watched.
const NONE: &str = "no new run was seen";

/// How it came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Followed {
    /// To its end.
    Over,
    /// Not to its end: why.
    Left(&'static str),
    /// The lease is not ours any more; it makes no difference how it ends.
    Lost,
}

/// Who follows, with what is known from before the command.
pub(super) struct Follower<'a> {
    job: &'a Job<'a>,
    gh: Gh<'a>,
    /// The newest run then; 0 when there was none, none when nobody could say.
    newest: Option<u64>,
    /// When the command began, by our wall clock, in whole seconds since 1970.
    began: i64,
}

impl<'a> Follower<'a> {
    /// Before the command: which run is the newest one? None when nothing is to be followed. `granted` is how long the
    /// lease lasts without a renew; the look takes a part of that at most.
    pub(super) fn before(job: &'a Job<'a>, granted: Duration) -> Option<Self> {
        let gh = Gh::of(job, job.plan.policy.follow.as_ref()?);
        let began = job.context.clock.wall_ms() / 1000;
        let within = LOOK.min(granted / 4);
        let listed = gh.newest(|command| Ok(canary::run_within(command, within)?.is_some_and(|it| it.success())));
        let newest = listed.ok().flatten().map(|runs| runs.first().map_or(0, |run| run.database_id));
        Some(Self { job, gh, newest, began })
    }

    /// After the command's success: until the run that it triggered has ended. Says that it waits, and why it gave up.
    pub(super) fn follow(&self, wrapper: &Wrapper) -> Followed {
        let hold_for = self.job.plan.policy.hold_for.unwrap_or(HOLD_FOR);
        let hold_for = (!self.job.store.advisory).then(|| show_duration(hold_for));
        let (workflow, wanted) = (self.gh.workflow, self.job.wanted());
        report::say(&report::follows(workflow, &wanted, hold_for.as_deref()));
        let followed = self.to_the_end(wrapper).unwrap_or(Followed::Left("gh could not be run"));
        if let Followed::Left(why) = followed {
            report::say(&report::followed_no_more(workflow, why, &wanted, hold_for.as_deref()));
        }
        followed
    }

    fn to_the_end(&self, wrapper: &Wrapper) -> io::Result<Followed> {
        let clock = self.job.context.clock.as_ref();
        let vigil = wrapper.stay(clock)?;
        let until = clock.now().after(self.job.options.holds.max_hold);
        let run = match self.appears(&vigil, clock.now().after(APPEARS))? {
            Ok(run) => run,
            Err(followed) => return Ok(followed),
        };
        if run.status == "completed" {
            return Ok(Followed::Over);
        }
        for again in 0..WATCHES {
            match vigil.run(&mut self.gh.watch(&run)?, until)? {
                Came::Ended(status) if status.success() => return Ok(Followed::Over),
                Came::Ended(_) => {}
                came => return Ok(left(came, "it took too long")),
            }
            let came = vigil.pause(clock.now().after(pause(again)))?;
            if came != Came::TimeUp {
                return Ok(left(came, NONE));
            }
        }
        Ok(Followed::Left("gh run watch failed"))
    }

    /// The run that was triggered, when it is there.
    fn appears(&self, vigil: &Vigil<'_>, until: Moment) -> io::Result<Result<Run, Followed>> {
        let clock = self.job.context.clock.as_ref();
        for again in 0.. {
            let mut came = Came::TimeUp;
            let listed = self.gh.newest(|command| {
                came = vigil.run(command, until)?;
                Ok(matches!(came, Came::Ended(status) if status.success()))
            })?;
            let new = |run: &Run| run.is_new(self.newest, self.began);
            if let Some(run) = listed.into_iter().flatten().find(new) {
                return Ok(Ok(run));
            }
            if matches!(came, Came::Ended(_)) {
                came = vigil.pause(clock.now().after(pause(again)).min(until))?;
            }
            if came != Came::TimeUp || clock.now() >= until {
                return Ok(Err(left(came, NONE)));
            }
        }
        Ok(Err(Followed::Left(NONE)))
    }
}

fn left(came: Came, late: &'static str) -> Followed {
    match came {
        Came::Lost => Followed::Lost,
        Came::Interrupted => Followed::Left("interrupted"),
        Came::Unguarded => Followed::Left("the keeper died"),
        Came::Ended(_) | Came::TimeUp => Followed::Left(late),
    }
}

fn pause(again: usize) -> Duration {
    let doubled = u32::try_from(again).ok().and_then(|again| 2u32.checked_pow(again)).unwrap_or(u32::MAX);
    PAUSE.saturating_mul(doubled).min(PAUSE_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_bound() {
        let ms: Vec<_> = [0, 1, 2, 3, 4, 5, 40, usize::MAX].map(|again| pause(again).as_millis()).into();
        assert_eq!(ms, [250, 500, 1000, 2000, 4000, 4000, 4000, 4000]);
    }
}
