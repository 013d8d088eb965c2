//! The wrapper while the child runs: hands signals on, stops with the job, and takes over when the keeper is dead or
//! frozen.
#![forbid(unsafe_code)]

use std::io;
use std::os::fd::AsFd as _;
use std::time::Duration;

use crate::clock::{Clock, Moment};

use super::foreground::OwnGroup;
use super::link::{Heard, Link, Tale, Word};
use super::unix::{self, Came, Process, Signals, Timer};
use super::{Begin, Cause, Entry, Hold, News, Outcome, Ran, Vigil, Watch, half_way, tree};

/// Signals that a program may expect to get when they are sent to the process its caller started.
const FORWARDED: [i32; 9] = [
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGWINCH,
    // Whether the program stops at Ctrl-Z is for the program to say: we stop when it has.
    libc::SIGTSTP,
];

/// Of the signals that the kernel sends these come from the terminal, which has told the child already. An alarm comes
/// from the kernel too, and is meant for the program.
const OF_THE_TERMINAL: [i32; 5] = [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP, libc::SIGWINCH, libc::SIGTSTP];

/// How long a continued group may take until its last member runs.
const CONTINUING: Duration = Duration::from_millis(10);

/// How long the keeper may take to leave. One that hangs in a call of the store is left behind: it has nothing of ours.
const LEAVING: Duration = Duration::from_secs(1);

/// How long a renew may take while nothing runs.
const ASKING: Duration = Duration::from_secs(2);

/// The signals that are read instead of ending or stopping us.
pub(super) fn taken() -> u64 {
    FORWARDED.iter().map(|&signal| unix::bit(signal)).fold(unix::bit(libc::SIGCONT), |all, bit| all | bit)
}

/// The wrapper's side of a hired keeper.
#[derive(Debug)]
pub struct Wrapper {
    link: Link,
    keeper: i32,
    /// Children that this process had before (`sh -c 'sleep 9 & exec locked …'`): never touched.
    spared: Vec<i32>,
    watch: Watch,
    entry: Entry,
}

impl Wrapper {
    pub(super) fn new(link: Link, keeper: i32, mut spared: Vec<i32>, watch: Watch, entry: Entry) -> Self {
        spared.push(keeper);
        Self { link, keeper, spared, watch, entry }
    }

    /// Says "go" and stays until the child has ended or its tree was stopped. From here on signals are handed on
    /// instead of ending us. `words` reach [`super::Duty::begin`]; `begin` is what it makes of them. `news` is told
    /// what happens meanwhile.
    ///
    /// # Errors
    /// When the system refuses a descriptor; the keeper notices our end and settles.
    pub fn run(&self, words: String, begin: &Begin, clock: &dyn Clock, news: &mut dyn FnMut(News)) -> io::Result<Ran> {
        // What is ignored comes too: the program may want it all the same.
        let signals = Signals::open(taken(), self.entry.blocked)?;
        let timer = Timer::new()?;
        self.link.say(&Word::Go(words))?;
        let stop_at = begin.sent.after(self.watch.times.stop_after(begin.lasts));
        let ask_at = half_way(clock.now(), stop_at);
        let (asked, child, early, hold) = (None, None, Vec::new(), Hold::Held);
        let (asking, continued) = (false, None);
        Watcher { wrapper: self, clock, signals, timer, stop_at, ask_at, asked, child, early, hold, asking, continued }
            .watch(news)
    }

    /// Stays with the lease after the command's end, which [`Self::run`] has told; the keeper renews.
    ///
    /// # Errors
    /// When the system refuses a descriptor.
    pub fn stay<'a>(&'a self, clock: &'a dyn Clock) -> io::Result<Vigil<'a>> {
        Vigil::over(self, clock)
    }

    pub(super) fn link(&self) -> &Link {
        &self.link
    }

    pub(super) fn entry(&self) -> Entry {
        self.entry
    }

    /// Lets the keeper go: the lease is settled, or there never was one.
    pub fn dismiss(self) {
        let _a_dead_keeper_needs_no_word = self.link.say(&Word::Settled);
        if unix::reap_within(self.keeper, LEAVING) {
            return;
        }
        // One that hangs in a call to its store leaves when that returns; one that was frozen never does.
        let frozen = tree::member(self.keeper).is_some_and(|keeper| keeper.halted());
        if frozen && Process::open(self.keeper).and_then(|keeper| keeper.signal(libc::SIGKILL)).is_ok() {
            unix::reap(self.keeper);
        }
    }

    /// Leaves the keeper with a lease that is settled and stays: it looks after what that is about.
    pub fn leave_to_tend(self) {
        let _a_dead_keeper_tends_nothing = self.link.say(&Word::Tend);
    }

    /// The same where nothing was run. `words`: those of a run.
    pub fn leave_to_stay(self, words: String) {
        let _a_dead_keeper_tends_nothing = self.link.say(&Word::Stay(words));
    }

    /// Leaves the settling to the keeper, which tries until the lease's end.
    pub fn leave_to_keeper(self) {
        drop(self.link);
    }
}

struct Watcher<'a> {
    wrapper: &'a Wrapper,
    clock: &'a dyn Clock,
    signals: Signals,
    timer: Timer,
    /// When the keeper stops the tree, as far as we know.
    stop_at: Moment,
    /// When we ask for news of that.
    ask_at: Moment,
    /// When we did, if there is no answer yet.
    asked: Option<Moment>,
    child: Option<(i32, Process)>,
    /// Signals that came before we knew the child.
    early: Vec<Came>,
    hold: Hold,
    /// The keeper has the tree stand still, and asks whether it may go on.
    asking: bool,
    /// Who continued us, where that is not passed on yet.
    continued: Option<i32>,
}

impl Watcher<'_> {
    fn watch(mut self, news: &mut dyn FnMut(News)) -> io::Result<Ran> {
        let mut lasts = false;
        let mut loose = false;
        loop {
            self.timer.set(self.wake_at())?;
            let fds = [self.wrapper.link.as_fd(), self.signals.as_fd(), self.timer.as_fd()];
            let ready = unix::wait_readable(&fds, None)?;
            while let Some(came) = self.signals.next() {
                self.hand_on(came);
            }
            // Order: what was said before we are continued comes first, or what the keeper has frozen goes on unasked.
            while ready[0]
                && let Some(heard) = self.wrapper.link.hear(Some(Duration::ZERO))?
            {
                if let Some(outcome) = self.listen(heard) {
                    return Ok(Ran { outcome, hold: self.hold });
                }
            }
            self.pass_on();
            if self.hold == Hold::Given && !std::mem::replace(&mut loose, true) {
                news(News::Loose);
            }
            // What the keeper has said already comes before what its silence would mean.
            if ready[2] && !ready[0] && self.wake_at().is_some_and(|at| self.clock.now() >= at) {
                if self.asked.is_some() {
                    return Ok(Ran { outcome: self.take_over(Cause::Deadline), hold: self.hold });
                }
                self.asked = Some(self.clock.now());
                self.wrapper.link.say(&Word::Ask)?;
                if !std::mem::replace(&mut lasts, true) {
                    news(News::Lasts);
                }
            }
        }
    }

    /// The keeper stops the tree at the deadline; when it is silent half of the slack later, it is frozen. Unless it was
    /// us who were frozen: it is always asked first.
    fn wake_at(&self) -> Option<Moment> {
        match self.asked {
            // A keeper that holds nothing need not answer.
            _ if self.hold.is_over() => None,
            None => Some(self.ask_at),
            Some(asked) => Some(self.stop_at.max(asked).after(self.wrapper.watch.times.slack / 2)),
        }
    }

    fn listen(&mut self, heard: Heard<Tale>) -> Option<Outcome> {
        match heard {
            // What runs without a lease dies with its keeper as any program does that is killed.
            Heard::Dead if self.hold.is_over() => return Some(self.take_over(Cause::Killed(libc::SIGKILL))),
            Heard::Dead => return Some(self.take_over(Cause::KeeperDied)),
            Heard::Said(Tale::Ended(outcome, hold)) => {
                self.hold = hold;
                return Some(outcome);
            }
            Heard::Said(Tale::Loose(hold)) => (self.hold, self.asking) = (hold, false),
            // Told after the end alone, and we are gone from here by then.
            Heard::Said(Tale::Lost) => {}
            Heard::Said(Tale::Spawned(pid)) => self.child_is(pid),
            Heard::Said(Tale::Halted(signal)) => self.halt_too(signal),
            Heard::Said(Tale::Stopping) => self.is_busy_for(self.wrapper.watch.times.grace * 2),
            Heard::Said(Tale::Asking) => {
                self.asking = true;
                let times = self.wrapper.watch.times;
                self.is_busy_for(times.heartbeat.max(ASKING) + times.grace);
            }
            Heard::Said(Tale::Renewed { stop_at }) => {
                (self.asked, self.asking) = (None, false);
                self.stop_at = Moment(Duration::from_millis(stop_at));
                self.ask_at = half_way(self.clock.now(), self.stop_at);
            }
        }
        None
    }

    /// The keeper answers nobody for so long.
    fn is_busy_for(&mut self, span: Duration) {
        let now = self.clock.now();
        self.asked = Some(now);
        self.stop_at = now.after(span);
    }

    fn child_is(&mut self, pid: i32) {
        // The keeper does not reap the child before we are done, so this is the child and nobody else.
        let Ok(process) = Process::open(pid) else { return };
        self.child = Some((pid, process));
        for came in std::mem::take(&mut self.early) {
            self.hand_on(came);
        }
    }

    fn hand_on(&mut self, came: Came) {
        if came.signal == libc::SIGCONT {
            self.continued = Some(came.sender);
            return;
        }
        let Some((pid, process)) = &self.child else {
            self.early.push(came);
            return;
        };
        if came.by_kernel && OF_THE_TERMINAL.contains(&came.signal) {
            // The terminal told our whole group, and so the child; unless it has left.
            if let Some(own) = OwnGroup::of(*pid).filter(|_| OwnGroup::stands_for_ours()) {
                own.signal(came.signal);
            }
            return;
        }
        let echo = !came.by_kernel && came.sender > 0 && tree::belongs(came.sender, self.wrapper.keeper);
        if !echo {
            let _it_may_have_ended = process.signal(came.signal);
        }
    }

    /// We were continued, and that was meant for the child. What the keeper has frozen goes on by its word alone.
    fn pass_on(&mut self) {
        let Some(sender) = self.continued.take_if(|_| !self.asking) else { return };
        match self.child.as_ref().and_then(|(pid, _)| OwnGroup::of(*pid)) {
            Some(own) => self.group_goes_on(own, sender),
            None => self.child_goes_on(None),
        }
    }

    /// The child stopped, and our shell must see us stop; unless it goes on already, or somebody continued us since.
    fn halt_too(&mut self, signal: i32) {
        if self.continued.is_some() {
            return;
        }
        let Some((pid, _)) = &self.child else { return };
        let before = tree::switches(*pid);
        if !tree::member(*pid).is_some_and(|child| child.halted()) {
            return;
        }
        let own = OwnGroup::of(*pid);
        // It left the foreground with our group, and needs the terminal: had it been started without us, it had it.
        if let Some(own) = own
            && [libc::SIGTTIN, libc::SIGTTOU].contains(&signal)
            && OwnGroup::stands_for_ours()
            && own.take_terminal()
        {
            own.signal(libc::SIGCONT);
            return;
        }
        // A keeper that dies meanwhile continues nobody, and then the tree is ours to stop.
        let rouser = self.wrapper.link.rouses();
        if !self.wrapper.link.is_dead() {
            unix::halt_self(signal);
        }
        drop(rouser);
        let (mut continued_by, mut roused) = (None, false);
        while let Some(came) = self.signals.next() {
            match came {
                Came { signal: libc::SIGCONT, by_descriptor: true, .. } => roused = true,
                Came { signal: libc::SIGCONT, sender, .. } => continued_by = Some(sender),
                other => self.hand_on(other),
            }
        }
        if self.wrapper.link.is_dead() || (roused && continued_by.is_none()) {
            return;
        }
        let continued_by = continued_by.unwrap_or_default();
        match own {
            Some(own) => self.group_goes_on(own, continued_by),
            None => self.child_goes_on(before),
        }
    }

    /// We were continued, and a group of the child's own is nobody's but ours to continue; unless the keeper woke us,
    /// which it does because the child goes on already.
    fn group_goes_on(&self, own: OwnGroup, continued_by: i32) {
        // Order: the terminal first, or it is stopped again for reading.
        own.take_terminal_back();
        if continued_by != self.wrapper.keeper
            && let Some((pid, _)) = &self.child
            && tree::member(*pid).is_some_and(|child| child.halted())
        {
            own.signal(libc::SIGCONT);
        }
    }

    /// We were continued. A shell continues the whole group, and then the child runs at once; whoever continued us alone
    /// meant the child. `before` is its number of switches while it was stopped: one that has run since has only stopped
    /// again.
    fn child_goes_on(&self, before: Option<u64>) {
        let Some((pid, process)) = &self.child else { return };
        let before = before.or_else(|| tree::switches(*pid));
        let until = self.clock.now().after(CONTINUING);
        while tree::member(*pid).is_some_and(|child| child.halted()) && tree::switches(*pid) == before {
            if self.clock.now() >= until {
                let _it_may_have_ended = process.signal(libc::SIGCONT);
                return;
            }
            let _nothing_to_read = unix::wait_readable(&[], Some(Duration::from_millis(1)));
        }
    }

    /// The keeper is dead or frozen: whatever lives below it, and what came to us when it died, is stopped by us.
    fn take_over(&self, cause: Cause) -> Outcome {
        let keeper = self.wrapper.keeper;
        let grace = self.wrapper.watch.times.grace;
        let mut stubborn = tree::stop(keeper, &[], grace, self.clock, &|| {});
        if let Ok(process) = Process::open(keeper) {
            let _it_may_be_dead = process.signal(libc::SIGKILL);
        }
        stubborn.extend(tree::stop(unix::own_pid(), &self.wrapper.spared, grace, self.clock, &|| {}));
        Outcome::stopped(cause, &stubborn)
    }
}
