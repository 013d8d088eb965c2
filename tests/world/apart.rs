//! Places that a test may need and that not everybody may make: root over several accounts, namespaces of one's own.
//! An ordinary user has them in a user namespace, where the system allows that; where it does not, the test says so
//! aloud.
#![forbid(unsafe_code)]

use std::process::{Command, Stdio};

use super::ends::{ends, left_out, pass_on, text};

/// Set in a process that is this test run again.
const INSIDE: &str = "LOCKED_TEST_INSIDE";

/// The name by which the harness knows the test that says this.
macro_rules! this_test {
    () => {{
        fn here() {}
        let path = std::any::type_name_of_val(&here);
        path.strip_prefix("tests::").and_then(|path| path.strip_suffix("::here")).expect("a test of this binary")
    }};
}
pub(crate) use this_test;

/// A pid namespace of one's own, in which the process is the first; for who is root.
pub(crate) const PIDS: [&str; 5] = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"];
/// The same for everybody else: as root of a user namespace that has this account alone.
pub(crate) const USER_PIDS: [&str; 7] =
    ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--user", "--map-root-user"];
/// The same with the further accounts of this one (subuid(5)).
const ACCOUNTS_PIDS: [&str; 8] =
    ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--user", "--map-root-user", "--map-auto"];

/// Words that can be put in front of a command: the first of these under which `true` runs.
pub(crate) fn first_that_runs<'a>(candidates: &[&'a [&'a str]]) -> Option<&'a [&'a str]> {
    let runs = |words: &[&str]| {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).arg("true").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    candidates.iter().copied().find(|words| runs(words))
}

/// Whether this process is root over other accounts too, so that the test goes on. Where it is not, the whole test is run
/// again where it is; or left out.
pub(crate) fn as_root(test: &str) -> bool {
    if is_root_over_others() {
        return true;
    }
    assert!(!is_run_again(), "{test}: a user namespace that has no other accounts");
    match first_that_runs(&[&ACCOUNTS_PIDS]) {
        Some(words) => run_again(words, test),
        None => left_out(test, "this user is not root, and has no further accounts (subuid)"),
    }
    false
}

/// Whether this process sees what every process of its pid namespace carries, so that the test goes on. An ordinary user
/// does not, and everybody's daemons come and go; so the whole test is run again in a pid namespace of its own. Where that
/// cannot be had it goes on here, and may fail because of others.
pub(crate) fn sees_every_process(test: &str) -> bool {
    if rustix::process::geteuid().is_root() || is_run_again() {
        return true;
    }
    let words = first_that_runs(&[&USER_PIDS]);
    if let Some(words) = words {
        run_again(words, test);
    }
    words.is_none()
}

fn is_run_again() -> bool {
    std::env::var_os(INSIDE).is_some()
}

fn run_again(words: &[&str], test: &str) {
    let mut again = Command::new(words[0]);
    again.args(&words[1..]).arg(std::env::current_exe().expect("this binary")).args(["--exact", test, "--nocapture"]);
    let output = ends(again.env(INSIDE, "1").stdin(Stdio::null()), 0);
    assert!(text(&output.stdout).contains(" 1 passed"), "{test} is not the name of this test");
    pass_on(&text(&output.stderr));
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
