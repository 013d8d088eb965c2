//! The runs of one workflow that were set off, waited for one after the other.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use crate::clock::{Clock as _, Moment};
use crate::run::gh::{Gh, MOST, Run, Since};
use crate::run::job::Job;
use crate::supervise::{Came, Vigil};

use super::Followed;

/// How long a run may take to appear after it was triggered: GitHub needs a few seconds.
const APPEARS: Duration = Duration::from_secs(60);
/// How long it is looked for others when each that is there has ended: the first may be somebody else's.
const OTHERS: Duration = Duration::from_secs(4);
/// The first pause between two looks; each is twice as long as the one before, up to [`PAUSE_MAX`].
const PAUSE: Duration = Duration::from_millis(250);
const PAUSE_MAX: Duration = Duration::from_secs(4);
/// How often a watch that fails (the network) is begun anew.
const WATCHES: usize = 5;
/// Why nothing was watched.
pub(super) const NONE: &str = "no new run was seen";

/// One workflow's runs, after the command.
pub(super) struct Trail<'a> {
    pub(super) job: &'a Job<'a>,
    pub(super) vigil: &'a Vigil<'a>,
    pub(super) gh: &'a Gh<'a>,
    pub(super) since: &'a Since,
    /// When the command had ended.
    pub(super) began: Moment,
}

impl Trail<'_> {
    /// Until each of them has ended.
    pub(super) fn to_the_end(&self) -> io::Result<Followed> {
        let clock = self.job.context.clock.as_ref();
        let until = self.began.after(self.job.options.holds.max_hold);
        let mut ended = BTreeSet::new();
        let mut looks = 0;
        loop {
            let appears = self.began.after(if ended.is_empty() { APPEARS } else { OTHERS });
            let (runs, came) = self.look(until)?;
            let known = runs.is_some();
            let new = self.since.new_among(runs.unwrap_or_default());
            if new.len() >= MOST {
                return Ok(Followed::Left("too many runs are new to tell which is its own"));
            }
            let Some(runs_on) = new.iter().find(|run| !run.is_over() && !ended.contains(&run.id())) else {
                let looked_for = if new.is_empty() { appears } else { self.began.after(OTHERS) };
                if !matches!(came, Came::Ended(_)) {
                    return Ok(left(came, NONE));
                }
                if known && !new.is_empty() && clock.now() >= looked_for {
                    return Ok(Followed::Over);
                }
                if clock.now() >= self.began.after(APPEARS).max(looked_for) {
                    return Ok(Followed::Left(NONE));
                }
                let pause = clock.now().after(pause(looks)).min(looked_for.max(clock.now().after(PAUSE)));
                looks += 1;
                match self.vigil.pause(pause)? {
                    Came::TimeUp => continue,
                    came => return Ok(left(came, NONE)),
                }
            };
            if let Some(followed) = self.watch(runs_on, until)? {
                return Ok(followed);
            }
            ended.insert(runs_on.id());
        }
    }

    /// Until the run has ended; then nothing.
    fn watch(&self, run: &Run, until: Moment) -> io::Result<Option<Followed>> {
        let clock = self.job.context.clock.as_ref();
        for again in 0..WATCHES {
            match self.vigil.run(&mut self.gh.watch(run)?, until)? {
                Came::Ended(status) if status.success() => return Ok(None),
                Came::Ended(_) => {}
                came => return Ok(Some(left(came, "it took too long"))),
            }
            let came = self.vigil.pause(clock.now().after(pause(again)))?;
            if came != Came::TimeUp {
                return Ok(Some(left(came, NONE)));
            }
        }
        Ok(Some(Followed::Left("gh run watch failed")))
    }

    /// The runs, and how the look ended.
    fn look(&self, until: Moment) -> io::Result<(Option<Vec<Run>>, Came)> {
        let mut came = Came::TimeUp;
        let listed = self.gh.runs(|command| {
            came = self.vigil.run(command, until)?;
            Ok(matches!(came, Came::Ended(status) if status.success()))
        })?;
        Ok((listed, came))
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
