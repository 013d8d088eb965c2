//! What we cannot stop: processes that became another user, and effects that do not end with our child.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::Command;

use crate::world::apart::{as_root, this_test};
use crate::world::board::{ends_at, install};
use crate::world::ends::{LIMIT, left_out};

use super::stage::{Held, RESOURCE, Stage, child_of, ends, in_front, kill, lives, says, so, text, until};

/// A user without rights.
const NOBODY: u32 = 65534;

/// A `sudo` that runs its arguments.
fn sudo(stage: &Stage) -> std::ffi::OsString {
    in_front(&stage.world.script("sudo", "exec \"$@\""))
}

#[test]
fn after_a_killed_sudo_run_nobody_is_let_in_for_a_ttl() {
    let stage = Stage::bare();
    let path = sudo(&stage);
    let mut command = stage.locked(1);
    command.env("PATH", path).args(["--ttl", "3s", "-r", RESOURCE, "sudo", "sh", "-c", "echo up; exec sleep 600"]);
    let run = Held::start(&mut command);
    let keeper = child_of(run.pid());
    let child = child_of(keeper);
    kill(keeper);
    kill(run.pid());
    so("the child dies with its keeper", || !lives(child));
    // Who may not look at everybody's processes has no proof, and is told so when the TTL has passed.
    until("it is told that it may still be running", || {
        says(&mut stage.shell(2, &["-n"], "true"), 75).contains("may still be running").then_some(())
    });
    assert_eq!(stage.status()[0]["state"], "remote");
    ends(&mut stage.shell(2, &["--wait", "60s"], "true"), 0);
    assert_eq!(stage.history()[1]["ended_as"], "expired");
}

#[test]
fn a_run_without_such_a_program_is_never_said_to_run_on() {
    let stage = Stage::bare();
    let run = Held::start(&mut stage.shell(1, &["--ttl", "2s"], "echo up; exec sleep 600"));
    let keeper = child_of(run.pid());
    kill(keeper);
    kill(run.pid());
    until("it is taken over", || {
        let output = stage.shell(2, &["-n"], "true").output().expect("it runs");
        assert!(!text(&output.stderr).contains("may still be running"), "{}", text(&output.stderr));
        output.status.success().then_some(())
    });
}

#[test]
fn a_sudo_run_that_we_stopped_is_nobody_s_for_a_ttl_not_even_its_session_s() {
    let stage = Stage::bare();
    let path = sudo(&stage);
    let mut command = stage.locked(1);
    command.env("PATH", path).args(["--ttl", "1h", "-r", RESOURCE, "sudo", "sh", "-c", "echo up; exec sleep 600"]);
    let run = Held::start(&mut command);
    let keeper = child_of(run.pid());
    kill(run.pid());
    so("the keeper has settled", || !lives(keeper));
    let said = says(&mut stage.shell(1, &["-n"], "true"), 75);
    assert!(said.contains("its effect may still be running elsewhere"), "{said}");
    assert!(said.contains("retry: yes, in 1 h") || said.contains("retry: yes, in 59 min"), "{said}");
    assert_eq!(stage.status()[0]["state"], "remote");
}

#[test]
fn a_sudo_run_that_ended_by_itself_is_done() {
    let stage = Stage::bare();
    let path = sudo(&stage);
    let mut command = stage.locked(1);
    ends(command.env("PATH", path).args(["-r", RESOURCE, "sudo", "true"]), 0);
    assert!(stage.status().is_empty());
}

/// A place of `nobody`: `locked`, and a `setpriv` that is setuid root. None where the test is not for this process, or
/// where the file system knows no setuid; `settle` has the table for these.
fn place_of_nobody(test: &str) -> Option<tempfile::TempDir> {
    if !as_root(test) {
        return None;
    }
    let place = tempfile::Builder::new().prefix("locked-nobody-").tempdir().expect("place");
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).expect("mode");
    install(env!("CARGO_BIN_EXE_locked"), &place.path().join("locked"), "0755");
    let setpriv = place.path().join("setpriv");
    install("/usr/bin/setpriv", &setpriv, "4755");
    let state = place.path().join("state");
    fs::create_dir(&state).expect("state");
    fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).expect("mode");
    chown(&state, Some(NOBODY), Some(NOBODY)).expect("owner");
    let becomes_root = Command::new(&setpriv).args(["--reuid=0", "true"]).uid(NOBODY).gid(NOBODY).status();
    if !becomes_root.is_ok_and(|status| status.success()) {
        left_out(test, "no program becomes root by its file's mode here");
        return None;
    }
    Some(place)
}

fn by_nobody(place: &Path, session: u32) -> Command {
    let mut command = Command::new(place.join("locked"));
    command
        .current_dir(place)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("LOCKED_STATE_DIR", place.join("state"))
        .env("LOCKED_SESSION", format!("{session:08x}-0000-4000-8000-000000000000"))
        .stdin(std::process::Stdio::null())
        .uid(NOBODY)
        .gid(NOBODY);
    command
}

/// A process that is killed at the end, whatever became of the test.
struct Mortal(u32);

impl Drop for Mortal {
    fn drop(&mut self) {
        if lives(self.0) {
            kill(self.0);
        }
    }
}

#[test]
fn a_process_that_became_root_keeps_everybody_out_where_possible() {
    let Some(place) = place_of_nobody(this_test!()) else { return };
    let script = "./setpriv --reuid=0 sleep 600 >/dev/null 2>&1 & until [ \"$(cat /proc/$!/comm)\" = sleep ]; do :; done; \
                  echo $!; wait";
    let run = Held::start(by_nobody(place.path(), 1).args(["--ttl", "5s", "-r", RESOURCE, "sh", "-c", script]));
    let root = Mortal(run.line.parse().expect("a process id"));
    let keeper = child_of(run.pid());
    kill(run.pid());
    let status = || {
        let status = by_nobody(place.path(), 2).args(["status", "--json"]).output().expect("runs");
        serde_json::from_slice::<Vec<serde_json::Value>>(&status.stdout).expect("JSON")
    };
    until("the keeper has given up", || (status()[0]["state"] == "remote").then_some(()));
    assert!(lives(root.0), "nobody may not kill root's processes");
    let reason = format!("process {} could not be stopped", root.0);
    let database = rusqlite::Connection::open(place.path().join("state/locked.db")).expect("database");
    database.busy_timeout(LIMIT).expect("timeout");
    let two_ttls_later = ends_at(&database, RESOURCE) + 10_000;
    so("it is held on for two TTLs", || {
        for session in [1, 2] {
            let said = says(by_nobody(place.path(), session).args(["-n", "-r", RESOURCE, "true"]), 75);
            assert!(said.contains(&reason), "{said}");
        }
        ends_at(&database, RESOURCE) >= two_ttls_later
    });
    assert_eq!((&status()[0]["state"], &status()[0]["reason"]), (&"remote".into(), &reason.into()));
    kill(root.0);
    so("the keeper gives it back", || !lives(keeper));
    assert!(status().is_empty(), "at once, since the process is gone");
}

#[test]
fn a_lost_run_says_which_process_lives_on_where_possible() {
    let Some(place) = place_of_nobody(this_test!()) else { return };
    let script = "./setpriv --reuid=0 sleep 600 >/dev/null 2>&1 & until [ \"$(cat /proc/$!/comm)\" = sleep ]; do :; done; \
                  echo $!; wait";
    let mut command = by_nobody(place.path(), 1);
    let run = Held::start(command.args(["--ttl", "2s", "--report", "state/r", "-r", RESOURCE, "sh", "-c", script]));
    let root = Mortal(run.line.parse().expect("a process id"));
    let database = rusqlite::Connection::open(place.path().join("state/locked.db")).expect("database");
    database.busy_timeout(LIMIT).expect("timeout");
    database.execute("update leases set revoked = 1 where ended_at is null", []).expect("revoked");
    let output = run.ended();
    assert_eq!(output.status.code(), Some(77), "{}", text(&output.stderr));
    let said = text(&output.stderr);
    assert!(said.contains(&format!("process {} is alive and cannot be killed", root.0)), "{said}");
    let told = super::stage::json_in(&place.path().join("state/r"));
    assert_eq!(told["reason"], format!("process {} could not be stopped", root.0));
}

#[test]
fn a_killed_program_whose_process_became_root_keeps_everybody_out_where_possible() {
    let Some(place) = place_of_nobody(this_test!()) else {
        return;
    };
    let script = "./setpriv --reuid=0 sleep 600 >/dev/null 2>&1 & until [ \"$(cat /proc/$!/comm)\" = sleep ]; do :; done; \
                  echo $!; kill -9 $$";
    let run = Held::start(by_nobody(place.path(), 1).args(["--ttl", "10s", "-r", RESOURCE, "sh", "-c", script]));
    let root = Mortal(run.line.parse().expect("a process id"));
    let output = run.ended();
    assert_eq!(output.status.signal(), Some(9), "the program's own end goes out: {}", text(&output.stderr));
    let said = text(&output.stderr);
    assert!(said.contains(&format!("process {} could not be stopped", root.0)), "{said}");
    let refused = by_nobody(place.path(), 2).args(["-n", "-r", RESOURCE, "true"]).output().expect("runs");
    assert_eq!(refused.status.code(), Some(75), "{}", text(&refused.stderr));
    kill(root.0);
    let mut next = by_nobody(place.path(), 2);
    ends(next.args(["--ttl", "1h", "--wait", "60s", "-r", RESOURCE, "true"]), 0);
}

#[test]
fn a_nested_process_that_became_root_keeps_everybody_out_after_the_outer_command_where_possible() {
    let Some(place) = place_of_nobody(this_test!()) else { return };
    let becomes_root = "./setpriv --reuid=0 sleep 600 >/dev/null 2>&1 & \
                        until [ \"$(cat /proc/$!/comm)\" = sleep ]; do :; done; echo $!; wait";
    let inner = "./locked --ttl 2s -r \"$0\" sh -c \"$1\"; read -r go; exit 0";
    let mut command = by_nobody(place.path(), 1);
    command.args(["--ttl", "2s", "-r", RESOURCE, "sh", "-c", inner, RESOURCE, becomes_root]);
    let run = Held::start(&mut command);
    let root = Mortal(run.line.parse().expect("a process id"));
    let outer_keeper = child_of(run.pid());
    let shell = child_of(outer_keeper);
    let wrapper = child_of(shell);
    let keeper = child_of(wrapper);
    kill(wrapper);
    let reason = format!("process {} could not be stopped", root.0);
    let says_so = |session: u32, options: &[&str]| {
        let output =
            by_nobody(place.path(), session).args(options).args(["-r", RESOURCE, "true"]).output().expect("runs");
        assert_eq!(output.status.code(), Some(75), "{}", text(&output.stderr));
        text(&output.stderr).contains(&reason)
    };
    run.let_go();
    so("the inner keeper has given up", || says_so(2, &["-n"]));
    // Longer than the TTL.
    assert!(says_so(1, &["--wait", "3s"]));
    assert!(lives(root.0) && lives(keeper));
    kill(root.0);
    so("the keeper gives it back", || !lives(keeper));
    ends(by_nobody(place.path(), 2).args(["-n", "-r", RESOURCE, "true"]), 0);
}
