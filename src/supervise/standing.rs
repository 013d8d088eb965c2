//! Which of the tree stand still by a signal, from one look to the next. Pure: the keeper looks, and says what it saw.
#![forbid(unsafe_code)]

use crate::clock::Moment;

use super::course::LOOKS;
use super::tree::Member;

/// Who stood still at the last look.
#[derive(Debug, Default)]
pub(super) struct Standing {
    /// By process id and start.
    still: Vec<(i32, u64)>,
    looked: Option<Moment>,
}

impl Standing {
    /// Whether it is time for another look.
    pub(super) fn is_due(&self, now: Moment) -> bool {
        self.looked.is_none_or(|looked| now >= looked.after(LOOKS))
    }

    /// These live now. Whether one of them goes on that stood still at the last look.
    pub(super) fn look(&mut self, living: &[Member], now: Moment) -> bool {
        let name = |member: &Member| (member.pid, member.started());
        let goes_on = living.iter().any(|member| !member.stands_still() && self.still.contains(&name(member)));
        self.still = living.iter().filter(|member| member.stands_still()).map(name).collect();
        self.looked = Some(now);
        goes_on
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn at(seconds: u64) -> Moment {
        Moment(Duration::from_secs(1_000 + seconds))
    }

    #[test]
    fn who_stood_still_and_runs_again_goes_on() {
        let mut standing = Standing::default();
        assert!(standing.is_due(at(0)));
        let seen = |state: u8, started| [Member::seen(7, started, b'S'), Member::seen(8, started, state)];
        assert!(!standing.look(&seen(b'T', 1), at(0)), "it stands still");
        assert!(!standing.is_due(at(0)) && standing.is_due(at(1)));
        assert!(!standing.look(&seen(b'T', 1), at(1)), "and still does");
        assert!(standing.look(&seen(b'R', 1), at(2)));
        assert!(!standing.look(&seen(b'R', 1), at(3)), "told once");
    }

    #[test]
    fn who_has_ended_and_who_is_traced_does_not() {
        let mut standing = Standing::default();
        assert!(!standing.look(&[Member::seen(8, 1, b'T')], at(0)));
        assert!(!standing.look(&[], at(1)), "it has ended");
        assert!(!standing.look(&[Member::seen(8, 1, b't')], at(2)), "a debugger has it");
        assert!(!standing.look(&[Member::seen(8, 1, b'R')], at(3)));
        assert!(!standing.look(&[Member::seen(8, 1, b'T')], at(4)));
        assert!(!standing.look(&[Member::seen(8, 2, b'R')], at(5)), "the number is another one's now");
    }
}
