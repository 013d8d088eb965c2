//! The hand: it starts runs, deals faults at random moments, restores what is quarantined, and sees everything to its end.
#![forbid(unsafe_code)]

use std::process::Stdio;
use std::time::{Duration, Instant};

use super::arena::{Arena, FILES};
use super::fault::{Fault, moving_clock};
use super::tally::Tally;
use super::trouble::Trouble;
use super::writer;
use crate::differential::random::Random;
use crate::faults::stage::{End, Run};
use crate::world::ends::so;
use crate::world::processes::thaw;

/// What is played.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) round: u64,
    /// For so long new runs are started; and until so many were.
    pub(crate) span: Duration,
    pub(crate) runs: u32,
    pub(crate) holders: usize,
    /// How many of a hundred looks deal a blow, and of a hundred runs are born with a fault.
    pub(crate) faults: usize,
    /// How long a run waits.
    pub(crate) wait: &'static str,
    /// What plain runs ask for.
    pub(crate) sets: &'static [&'static [&'static str]],
    /// How many of a hundred runs are those of sops.
    pub(crate) sops: usize,
}

/// A run that is under way.
pub(crate) struct Holder {
    pub(crate) who: String,
    pub(crate) run: Run,
    /// The file that it writes, unless it is a plain one.
    pub(crate) file: Option<usize>,
    /// Something was done to its wrapper or its keeper: the other one is spared.
    pub(crate) is_hurt: bool,
}

pub(crate) struct Hand<'a> {
    pub(crate) arena: &'a Arena,
    pub(crate) random: Random,
    pub(crate) plan: Plan,
    pub(crate) holders: Vec<Holder>,
    /// Who is frozen until when.
    pub(crate) frozen: Vec<(u32, Instant)>,
    pub(crate) trouble: Option<(Trouble, Instant)>,
    restoring: Vec<(usize, String, Run)>,
    pub(crate) tally: Tally,
    blows: Vec<Fault>,
    inborn: Vec<Fault>,
    named: u32,
}

/// Plays it to its end.
pub(crate) fn play(arena: &Arena, plan: Plan) -> Tally {
    let mut hand = Hand::new(arena, plan);
    let until = Instant::now() + plan.span;
    while Instant::now() < until || hand.named < plan.runs {
        hand.looks_around();
        if hand.holders.len() < plan.holders {
            hand.starts_one();
        }
        if !hand.blows.is_empty() && hand.random.percent(plan.faults) {
            let blow = hand.random.pick(&hand.blows);
            if hand.deals(blow) {
                hand.tally.dealt(blow);
            }
        }
        // Random moments are what a campaign is made of: it waits for nothing here.
        std::thread::sleep(Duration::from_millis(10 + hand.random.below(80) as u64));
    }
    hand.sees_to_the_end();
    hand.tally
}

impl<'a> Hand<'a> {
    fn new(arena: &'a Arena, plan: Plan) -> Self {
        let mut tally = Tally { rounds: 1, ..Tally::default() };
        let mut possible = Vec::new();
        for fault in Fault::ALL.into_iter().filter(|_| plan.faults > 0) {
            match fault.is_for(arena) {
                Ok(true) => possible.push(fault),
                Ok(false) => {}
                Err(why) => drop(tally.left_out.insert((fault.name(), why))),
            }
        }
        let (inborn, blows) = possible.into_iter().partition(|fault| fault.is_inborn());
        Self {
            arena,
            random: Random::new(plan.seed, plan.round),
            plan,
            holders: Vec::new(),
            frozen: Vec::new(),
            trouble: None,
            restoring: Vec::new(),
            tally,
            blows,
            inborn,
            named: 0,
        }
    }

    fn name(&mut self) -> String {
        self.named += 1;
        format!("{:08x}", 0x1000_0000 + self.named)
    }

    fn options(&mut self) -> Vec<String> {
        let ttl = self.random.pick(&["2s", "4s"]);
        ["--wait", self.plan.wait, "--ttl", ttl].map(str::to_owned).to_vec()
    }

    fn starts_one(&mut self) {
        if self.random.percent(self.plan.sops) {
            let file = self.random.below(FILES.len());
            let inborn = self.fault_at_birth(true);
            self.starts_sops(file, inborn);
        } else {
            let set = self.random.pick(self.plan.sets);
            let inborn = self.fault_at_birth(false);
            let span = 20 + self.random.below(500);
            self.starts_plain(set, span, inborn);
        }
    }

    fn fault_at_birth(&mut self, is_sops: bool) -> Option<Fault> {
        let fits: Vec<Fault> = self.inborn.iter().copied().filter(|fault| is_sops || !fault.is_in_sops()).collect();
        let is_born = !fits.is_empty() && self.random.percent(self.plan.faults);
        is_born.then(|| self.random.pick(&fits))
    }

    pub(crate) fn starts_plain(&mut self, set: &[&str], span: usize, inborn: Option<Fault>) {
        let who = self.name();
        let mut options = self.options();
        options.extend(set.iter().flat_map(|resource| ["-r".to_owned(), (*resource).to_owned()]));
        set.iter().for_each(|resource| self.arena.say("ask", &who, resource, "-"));
        let mut command = self.arena.locked(&who, &options, &writer::program());
        command.env(writer::FOR, span.to_string()).env("CAMPAIGN_RESOURCES", set.join(" "));
        self.is_born(&mut command, inborn);
        self.holders.push(Holder { who, run: self.arena.start(command, Stdio::null()), file: None, is_hurt: false });
    }

    pub(crate) fn starts_sops(&mut self, file: usize, inborn: Option<Fault>) {
        let who = self.name();
        let (path, resource) = FILES[file];
        let options = self.options();
        self.arena.say("ask", &who, resource, "-");
        let (key, value) = (format!("k{who}"), format!("\"v{who}\""));
        let words = ["sops", "set", path, &format!("[\"{key}\"]"), &value].map(str::to_owned);
        let mut command = self.arena.locked(&who, &options, &words);
        command.env("CAMPAIGN_KEY", key).env("CAMPAIGN_RESOURCES", resource);
        self.is_born(&mut command, inborn);
        self.holders.push(Holder {
            who,
            run: self.arena.start(command, Stdio::null()),
            file: Some(file),
            is_hurt: false,
        });
    }

    fn is_born(&mut self, command: &mut std::process::Command, inborn: Option<Fault>) {
        let Some(fault) = inborn else { return };
        // Whether it comes to that, sops says.
        if let Some(how) = fault.spoil() {
            command.env("CAMPAIGN_SPOIL", how);
            return;
        }
        self.tally.dealt(fault);
        match fault {
            Fault::ClockMoved => {
                // Ahead or behind, and moved on whenever the hand writes that file again.
                let clock = self.arena.aside("clock");
                self.moves_the_clock();
                command.env("LD_PRELOAD", moving_clock().expect("possible")).env("CAMPAIGN_CLOCK", clock);
            }
            Fault::KeyTaken => drop(command.env("SOPS_AGE_KEY_FILE", self.arena.aside("no-key"))),
            dealt => unreachable!("{dealt:?} is dealt by the hand"),
        }
    }

    fn moves_the_clock(&mut self) {
        let seconds = self.random.pick(&["10800", "-10800", "3456000", "-172800", "5", "-5"]);
        let draft = self.arena.aside("clock-draft");
        std::fs::write(&draft, seconds).expect("drafted");
        std::fs::rename(&draft, self.arena.aside("clock")).expect("set");
    }

    /// What has come to its end since, and whose time is over.
    fn looks_around(&mut self) {
        let now = Instant::now();
        for (pid, _) in self.frozen.extract_if(.., |(_, until)| *until <= now) {
            thaw(pid);
        }
        if self.trouble.as_ref().is_some_and(|(_, until)| *until <= now) {
            self.mends();
        }
        if self.random.percent(5) && self.inborn.contains(&Fault::ClockMoved) {
            self.moves_the_clock();
        }
        let mut over = Vec::new();
        for at in (0..self.holders.len()).rev() {
            if self.holders[at].run.has_ended() {
                over.push(self.holders.swap_remove(at));
            }
        }
        over.into_iter().for_each(|holder| self.is_over(holder));
        for (file, who, run) in self.restoring.extract_if(.., |(_, _, run)| run.has_ended()) {
            let end = run.ends();
            let done = std::fs::read_to_string(self.arena.aside(&format!("restore-{who}"))).expect("text");
            self.arena.tells(&format!("{who} restore {}: {done}{}\n", status(&end), end.said));
            // It may have waited for the one that it restores after.
            self.arena.say("restored", &who, FILES[file].1, "-");
            if done.contains("is lost: there is no copy of it") || done.contains("a newer version is known") {
                self.arena.say("older", &who, FILES[file].1, "-");
            }
        }
    }

    fn is_over(&mut self, holder: Holder) {
        let file = holder.file;
        let end = holder.run.ends();
        let status = status(&end);
        self.arena.tells(&format!("{} {status}: {}\n", holder.who, end.said));
        self.arena.say("over", &holder.who, "-", &status);
        self.tally.ended(&status);
        let Some(file) = file else { return };
        // A program that fails over its file tells by its own words that somebody should look.
        let is_known_to_be_fine = matches!(status.as_str(), "0" | "69" | "75" | "77");
        let is_being_restored = self.restoring.iter().any(|(it, ..)| *it == file);
        if !is_known_to_be_fine && !is_being_restored && (status == "72" || self.arena.keys(FILES[file].0).is_none()) {
            let (who, restore) = self.restores(file);
            self.restoring.push((file, who, restore));
        }
    }

    fn restores(&mut self, file: usize) -> (String, Run) {
        let who = self.name();
        self.arena.say("restoring", &who, FILES[file].1, "-");
        let options = ["--wait", "20s", "--ttl", "4s"].map(str::to_owned);
        let mut command = self.arena.locked(&who, &options, &["restore".to_owned(), FILES[file].0.to_owned()]);
        if self.arena.stand_in.is_some() {
            command = self.arena.world.command("true");
        }
        let said = std::fs::File::create(self.arena.aside(&format!("restore-{who}"))).expect("a file");
        (who, self.arena.start(command, said.into()))
    }

    /// Everything that was broken is mended, and everybody comes to an end; then one more gets in everywhere.
    fn sees_to_the_end(&mut self) {
        for (pid, _) in self.frozen.drain(..) {
            thaw(pid);
        }
        self.mends();
        let told = format!("seed {} round {}: everybody comes to an end", self.plan.seed, self.plan.round);
        so(&told, || {
            self.looks_around();
            self.holders.is_empty() && self.restoring.is_empty()
        });
        for resource in ["test:a", "test:b", "test:c"] {
            self.starts_plain(&[resource], 20, None);
        }
        so(&told, || {
            self.looks_around();
            self.holders.is_empty()
        });
        for (file, (path, resource)) in FILES.into_iter().enumerate() {
            // The second and the third find it restored.
            for _ in 0..3 {
                self.starts_sops(file, None);
                so(&told, || {
                    self.looks_around();
                    self.holders.is_empty() && self.restoring.is_empty()
                });
            }
            let keys = self.arena.keys(path).map_or("unreadable".to_owned(), |keys| keys.join(","));
            self.arena.say("final", "-", resource, &keys);
        }
        so(&told, || self.arena.inhabitants().is_empty());
    }
}

/// The exit status in one word. A panic of ours is an internal error; the child's test harness has its own.
fn status(end: &End) -> String {
    if end.code == Some(101) && end.said.contains("panicked at src/") {
        return "70".to_owned();
    }
    end.code.map_or_else(|| format!("signal-{}", end.signal.unwrap_or(0)), |code| code.to_string())
}
