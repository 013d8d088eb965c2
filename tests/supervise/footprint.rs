//! What standing there costs while the program runs.
#![forbid(unsafe_code)]

use std::process::Child;
use std::time::{Duration, Instant};

use super::patience::{ended, eventually, happens};
use super::ways::{Way, Ways, wait_for_text};

struct Standing {
    ways: Ways,
    wrapper: Child,
    keeper: String,
}

impl Standing {
    fn new() -> Self {
        let ways = Ways::new();
        let program = "echo $PPID > keeper; until test -e enough; do sleep 0.05; done";
        let wrapper = ways.command(Way::Leased, &["sh", "-c", program]).spawn().expect("starts");
        let keeper = wait_for_text(&ways.world.work().join("keeper"), "\n").trim().to_owned();
        Self { ways, wrapper, keeper }
    }

    fn both(&self) -> [String; 2] {
        [self.wrapper.id().to_string(), self.keeper.clone()]
    }

    /// How often each has been woken.
    fn wakeups(&self) -> [u64; 2] {
        self.both().map(|pid| number(&pid, "status", "voluntary_ctxt_switches:"))
    }

    /// Waits until both have come to rest.
    fn settle(&self) {
        let mut last = (self.wakeups(), Instant::now());
        eventually("both come to rest", || {
            let now = self.wakeups();
            if now != last.0 {
                last = (now, Instant::now());
            }
            last.1.elapsed() > Duration::from_millis(300)
        });
    }

    fn end(mut self) {
        std::fs::write(self.ways.world.work().join("enough"), "").expect("enough");
        assert_eq!(ended(&mut self.wrapper).code(), Some(0));
    }
}

/// The sum of the lines of `/proc/PID/file` that begin with `name`.
fn number(pid: &str, file: &str, name: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/{file}")).expect("it lives");
    let lines = text.lines().filter_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse::<u64>().ok());
    lines.sum()
}

#[test]
fn wrapper_and_keeper_together_stay_under_8_mib() {
    let standing = Standing::new();
    standing.settle();
    let kib = |pid: &String| ["Private_Clean:", "Private_Dirty:"].map(|name| number(pid, "smaps_rollup", name));
    let each = standing.both().each_ref().map(kib);
    assert!(each.iter().flatten().sum::<u64>() < 8 * 1024, "KiB of wrapper and keeper (clean, dirty): {each:?}");
    standing.end();
}

#[test]
fn nothing_wakes_up_between_two_heartbeats() {
    let standing = Standing::new();
    standing.settle();
    let before = standing.wakeups();
    let woke = happens(Duration::from_secs(1), || standing.wakeups() != before);
    assert!(!woke, "{before:?} became {:?}", standing.wakeups());
    standing.end();
}
