//! What standing there costs while the program runs.
#![forbid(unsafe_code)]

use std::process::Child;

use super::patience::{ended, eventually, finished};
use super::ways::{Ways, wait_for_text};

struct Standing {
    ways: Ways,
    wrapper: Child,
    keeper: String,
}

impl Standing {
    fn new() -> Self {
        let ways = Ways::new();
        let program = "echo $PPID > keeper; until test -e enough; do sleep 0.05; done";
        // The next heartbeat is beyond every wait here.
        let mut command = ways.command_with(&["--ttl", "24h", "--heartbeat", "1h"], &["sh", "-c", program]);
        let wrapper = command.spawn().expect("starts");
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

    /// Another lease comes and goes in the same store, with everything that this takes.
    fn another_comes_and_goes(&self) {
        let other = finished(self.ways.world.locked().args(["-r", "test:other", "true"]));
        assert!(other.status.success(), "{other:?}");
    }

    /// Waits until both have come to rest: both sleep, and have not stirred while another lease came and went.
    fn settle(&self) {
        eventually("both come to rest", || {
            let before = self.wakeups();
            self.another_comes_and_goes();
            self.wakeups() == before && self.both().iter().all(|pid| sleeps(pid))
        });
    }

    fn end(mut self) {
        std::fs::write(self.ways.world.work().join("enough"), "").expect("enough");
        assert_eq!(ended(&mut self.wrapper).code(), Some(0));
    }
}

fn sleeps(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("it lives").contains(") S ")
}

/// The sum of the lines of `/proc/PID/file` that begin with `name`.
fn number(pid: &str, file: &str, name: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/{file}")).expect("it lives");
    let lines = text.lines().filter_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse::<u64>().ok());
    lines.sum()
}

#[test]
fn wrapper_and_keeper_together_stay_under_8_mib() {
    // What one more costs where many stand: the program's own pages are there once for all of them.
    let beside = Standing::new();
    let standing = Standing::new();
    standing.settle();
    let kib = |pid: &String| ["Private_Clean:", "Private_Dirty:"].map(|name| number(pid, "smaps_rollup", name));
    let each = standing.both().each_ref().map(kib);
    assert!(each.iter().flatten().sum::<u64>() < 8 * 1024, "KiB of wrapper and keeper (clean, dirty): {each:?}");
    standing.end();
    beside.end();
}

#[test]
fn nothing_wakes_up_between_two_heartbeats() {
    let standing = Standing::new();
    standing.settle();
    let before = standing.wakeups();
    for _ in 0..100 {
        standing.another_comes_and_goes();
    }
    assert_eq!(standing.wakeups(), before, "while a hundred others came and went");
    standing.end();
}
