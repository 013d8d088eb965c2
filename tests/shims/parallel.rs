//! Installations at the same time, and killed ones.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use crate::world::ends::ends;

use super::{LOCKED, Place, names};

const TOOLS: [&str; 3] = ["one", "tool", "two"];

/// `locked shims install`, by one of two launchers, so that each undoes what the other did.
fn install(place: &Place, number: usize) -> Command {
    let launcher = place.directory(if number.is_multiple_of(2) { "first" } else { "second" }).join("locked");
    if !launcher.exists() {
        symlink(LOCKED, &launcher).expect("launcher");
    }
    let mut command = place.world.command(&launcher);
    command.args(["shims", "install"]).args(TOOLS).env("PATH", "/nowhere").stdout(Stdio::null());
    command
}

#[test]
fn a_hundred_at_once_leave_every_shim_whole_at_every_moment() {
    let place = Place::new();
    ends(&mut install(&place, 0), 0);
    let mut running: Vec<_> = (0..100).map(|number| install(&place, number).spawn().expect("it starts")).collect();
    while !running.is_empty() {
        // Whoever calls a tool meanwhile finds it.
        place.ends_at_the_real(&["shims", "real"]);
        running.retain_mut(|child| match child.try_wait().expect("waited") {
            Some(status) => {
                assert!(status.success(), "{status}");
                false
            }
            None => true,
        });
    }
    assert_eq!(names(&place.at("shims")), TOOLS);
}

#[test]
fn a_killed_one_leaves_nothing_that_the_next_does_not_mend() {
    let place = Place::new();
    for number in 0..20 {
        let mut child = install(&place, number).spawn().expect("it starts");
        for _ in 0..number {
            std::thread::yield_now();
        }
        child.kill().expect("killed");
        child.wait().expect("gone");
    }
    // Where the kill would have to come between two calls: its draft lies there, and its maker is gone.
    let mut gone = Command::new("true").spawn().expect("it starts");
    gone.wait().expect("gone");
    let shims = place.at("shims");
    symlink(LOCKED, shims.join(format!(".locked-shim-{}-0", gone.id()))).expect("draft");
    symlink(LOCKED, shims.join(format!(".locked-shim-{}-0", std::process::id()))).expect("draft of one that lives");
    fs::write(shims.join(".locked-shim-0-file"), "").expect("no draft");
    ends(&mut install(&place, 0), 0);
    let living = format!(".locked-shim-{}-0", std::process::id());
    let expected = [&[".locked-shim-0-file", &*living][..], &TOOLS].concat();
    let mut found = names(&shims);
    found.sort();
    let mut expected = expected;
    expected.sort_unstable();
    assert_eq!(found, expected);
    place.ends_at_the_real(&["shims", "real"]);
}
