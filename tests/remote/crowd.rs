//! Many at once on one machine: whoever writes is alone there. And without `locked` they are not, so the look that says
//! so is no look that always says so.
#![forbid(unsafe_code)]

use std::process::{Command, Stdio};

use super::host::{Host, NAME};
use crate::world::ends::{LIMIT, ends, text};

const WRITERS: u32 = 8;

/// Writes five lines, one after the other, with time for others between them.
fn script(host: &Host, writer: u32) -> String {
    let env = host.env();
    format!(
        "set -e; echo {writer} begin >> {env}; for n in 1 2 3; do sleep 0.02; echo {writer} $n >> {env}; done; \
         echo {writer} end >> {env}"
    )
}

/// All at once; each must end well.
fn at_once(command: impl Fn(u32) -> Command) {
    let start = |writer| command(writer).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    let children: Vec<_> = (1..=WRITERS).map(start).collect();
    for child in children {
        let output = child.wait_with_output().expect("waited");
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
}

/// Whether the lines of each stand together; none may be missing.
fn is_in_line(written: &str) -> bool {
    let lines: Vec<&str> = written.lines().collect();
    assert_eq!(lines.len(), 5 * WRITERS as usize, "{written}");
    lines.chunks(5).all(|five| {
        let writer = five[0].split(' ').next().unwrap_or_default();
        five.iter().zip(["begin", "1", "2", "3", "end"]).all(|(line, word)| *line == format!("{writer} {word}"))
    })
}

#[test]
fn eight_at_once_never_write_into_each_other() {
    let host = Host::new();
    let wait = format!("{}s", 2 * LIMIT.as_secs());
    at_once(|writer| host.ssh(writer, &["--wait", &wait], &script(&host, writer)));
    assert!(is_in_line(&host.text()), "{}", host.text());
    assert_eq!(host.endings(), ["completed"; WRITERS as usize]);
}

#[test]
fn without_locked_they_do() {
    let host = Host::new();
    // One round in which nobody meets anybody is possible; ten of them are not.
    let met = (1..=10).any(|_| {
        let bare = || host.world.command("env");
        ends(&mut host.ssh_after(bare(), NAME, &format!(": > {}", host.env())), 0);
        at_once(|writer| host.ssh_after(bare(), NAME, &script(&host, writer)));
        !is_in_line(&host.text())
    });
    assert!(met, "eight writers without a lock stood in line ten times: this test cannot tell");
}
