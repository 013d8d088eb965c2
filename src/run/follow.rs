//! After success: what the command set off elsewhere is followed to its end while the lease is held on. Of a workflow the
//! runs that were not there before are looked up, and `gh run watch` ends when one does. Nobody can tell which of several
//! is the command's own, so all of them are waited for.
#![forbid(unsafe_code)]

mod trail;

use std::time::Duration;

use crate::canary;
use crate::clock::Clock as _;
use crate::report;
use crate::settle::HOLD_FOR;
use crate::supervise::Wrapper;
use crate::terms::show_duration;

use self::trail::{NONE, Trail};
use super::gh::{Gh, Run, Since};
use super::job::Job;

/// How long the look before the command may take: without its answer, the time tells a new run from an old one.
const LOOK: Duration = Duration::from_secs(10);
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
    trails: Vec<(Gh<'a>, Since)>,
}

impl<'a> Follower<'a> {
    /// Before the command: which runs are there? None when nothing is to be followed. `granted` is how long the lease
    /// lasts without a renew; the looks take a part of that at most.
    pub(super) fn before(job: &'a Job<'a>, granted: Duration) -> Option<Self> {
        let follows = &job.plan.policy.follow;
        let began = job.context.clock.wall_ms() / 1000;
        let looks = u32::try_from(follows.len()).ok().filter(|&looks| looks > 0)?;
        let within = LOOK.min(granted / 4) / looks;
        let trail = |follow| {
            let gh = Gh::of(job, follow);
            let listed = gh.runs(|command| Ok(canary::run_within(command, within)?.is_some_and(|it| it.success())));
            let seen = listed.ok().flatten().map(|runs| runs.iter().map(Run::id).collect());
            (gh, Since { seen, began })
        };
        Some(Self { job, trails: follows.iter().map(trail).collect() })
    }

    /// After the command's success: until the runs that it triggered have ended. Says that it waits, and why it gave up.
    pub(super) fn follow(&self, wrapper: &Wrapper) -> Followed {
        let hold_for = self.job.plan.policy.hold_for.unwrap_or(HOLD_FOR);
        let hold_for = (!self.job.store.advisory).then(|| show_duration(hold_for));
        let wanted = self.job.wanted();
        let names = self.trails.iter().map(|(gh, _)| gh.workflow).collect::<Vec<_>>().join(" and ");
        report::say(&report::follows(&names, &wanted, hold_for.as_deref()));
        let (name, followed) = self.all(wrapper);
        if let Followed::Left(why) = followed {
            report::say(&report::followed_no_more(name, why, &wanted, hold_for.as_deref()));
        }
        followed
    }

    /// All of them, one after the other; the first that was not followed to its end, else the last.
    fn all(&self, wrapper: &Wrapper) -> (&str, Followed) {
        let clock = self.job.context.clock.as_ref();
        let mut all = ("", Followed::Over);
        let Ok(vigil) = wrapper.stay(clock) else { return ("gh", Followed::Left("gh could not be run")) };
        let began = clock.now();
        for (gh, since) in &self.trails {
            let one = Trail { job: self.job, vigil: &vigil, gh, since, began };
            let (followed, is_last) = match one.to_the_end() {
                Ok(Followed::Over) => (Followed::Over, false),
                Ok(followed) => (followed, followed != Followed::Left(NONE)),
                Err(_) => (Followed::Left("gh could not be run"), false),
            };
            if all.1 == Followed::Over || followed == Followed::Lost {
                all = (gh.workflow, followed);
            }
            if is_last {
                break;
            }
        }
        all
    }
}
