//! Places that a test may need and that not everybody may make: root over several accounts, namespaces of one's own.
//! An ordinary user has them in a user namespace, where the system allows that; where it does not, the test says so
//! aloud.
#![forbid(unsafe_code)]

use std::process::{Command, Stdio};

use super::ends::{ends, left_out};

/// Set in the process that [`as_root`] has started.
const INSIDE: &str = "LOCKED_TEST_AS_ROOT";

/// Words that can be put in front of a command: the first of these under which `true` runs.
pub(crate) fn first_that_runs(candidates: &[&[&str]]) -> Option<Vec<String>> {
    let runs = |words: &[&str]| {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).arg("true").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let found = candidates.iter().find(|words| runs(words))?;
    Some(found.iter().map(|&word| word.to_owned()).collect())
}

/// Whether this process is root over other accounts too, so that the test goes on. Where it is not, the whole test is run
/// again, in a user namespace that has the further accounts of this one (subuid(5)); or left out.
pub(crate) fn as_root(test: &str) -> bool {
    if is_root_over_others() {
        return true;
    }
    assert!(std::env::var_os(INSIDE).is_none(), "{test}: a user namespace that has no other accounts");
    let Some(words) = first_that_runs(&[&["unshare", "--user", "--map-root-user", "--map-auto"]]) else {
        left_out(test, "this user is not root, and has no further accounts (subuid)");
        return false;
    };
    let mut again = Command::new(&words[0]);
    again.args(&words[1..]).arg(std::env::current_exe().expect("this binary")).args(["--exact", test, "--nocapture"]);
    let output = ends(again.env(INSIDE, "1").stdin(Stdio::null()), 0);
    assert!(super::ends::text(&output.stdout).contains(" 1 passed"), "{test} is not the name of this test");
    false
}

/// The accounts that tests give things to are ours to use: see `uid_map` in user_namespaces(7).
fn is_root_over_others() -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let has = |account: u32| {
        map.lines().any(|line| {
            let numbers: Vec<u32> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
            matches!(numbers[..], [first, _, many] if account >= first && account - first < many)
        })
    };
    rustix::process::geteuid().is_root() && has(4_343) && has(65_534)
}
