//! Holders and contenders that do not see each other: other pid namespaces, a `/proc` that hides. Needs root for making
//! such a place; an ordinary user has it through a user namespace where the system allows that.
#![forbid(unsafe_code)]

use std::process::Command;

use crate::world::apart::{PIDS, USER_PIDS, as_root, first_that_runs, sees_every_process, this_test};
use crate::world::board::install;
use crate::world::ends::{left_out, so};
use crate::world::processes::kill;

use super::actor;
use super::log;
use super::stage::{Run, Stage};

/// In front of a command: a pid namespace of its own. None where we may not.
fn apart(test: &str) -> Option<&'static [&'static str]> {
    let found = first_that_runs(&[&PIDS, &USER_PIDS]);
    if found.is_none() {
        left_out(test, "this user may not make a pid namespace");
    }
    found
}

fn start_apart(stage: &Stage, apart: &[&str], id: &str, options: &[&str], line: &str) -> Run {
    let mut command = stage.world.command(apart[0]);
    command.args(&apart[1..]).arg(env!("CARGO_BIN_EXE_locked")).args(options).args(["sh", "-c", line]);
    command.env("ME", actor::words().join(" "));
    stage.prepare(&mut command, id);
    Run::of(command)
}

#[test]
fn a_holder_in_another_pid_namespace_is_not_taken_for_dead_where_possible() {
    let Some(apart) = apart(this_test!()) else { return };
    let stage = Stage::new();
    stage.next_gets_in("warm", &["-r", "test:warm"]);
    let inside = start_apart(&stage, apart, "inside", &["-r", "test:x"], "$ME").begins(&stage, "inside");
    let busy = stage.start("busy", &["--wait", "2s", "-r", "test:x"]).ends();
    assert_eq!(busy.code, Some(75), "its pid says nothing here, its lock does: {}", busy.said);
    stage.raise("inside");
    assert_eq!(inside.ends().code, Some(0));
    log::check(&stage.log());
}

/// Such a proof has only who sees the processes of all namespaces, and everybody's: root of the outermost one.
#[test]
fn the_death_of_a_holder_in_another_pid_namespace_is_proven_where_possible() {
    let test = this_test!();
    let Some(apart) = apart(test) else { return };
    let outermost = std::fs::read_link("/proc/self/ns/pid").is_ok_and(|it| it.as_os_str() == "pid:[4026531836]");
    if !rustix::process::geteuid().is_root() || !outermost {
        return left_out(test, "this user does not see every process of the machine");
    }
    let stage = Stage::new();
    stage.next_gets_in("warm", &["-r", "test:warm"]);
    let inside = start_apart(&stage, apart, "inside", &["-r", "test:x"], "$ME").begins(&stage, "inside");
    stage.of_run("inside").into_iter().for_each(kill);
    let _killed = inside.ends();
    so("all of it is gone", || stage.of_run("inside").is_empty());
    stage.next_gets_in("next", &["--wait", "50s", "-r", "test:x"]);
    log::check(&stage.log());
}

#[test]
fn equal_process_ids_in_two_namespaces_confuse_nobody_where_possible() {
    let Some(apart) = apart(this_test!()) else { return };
    let stage = Stage::new();
    stage.next_gets_in("warm", &["-r", "test:warm"]);
    let one = start_apart(&stage, apart, "one", &["-r", "test:x"], "$ME").begins(&stage, "one");
    // Process 1 of another namespace asks for what process 1 of the first one holds.
    let busy = start_apart(&stage, apart, "two", &["--wait", "2s", "-r", "test:x"], "$ME").ends();
    assert_eq!(busy.code, Some(75), "{}", busy.said);
    assert_eq!(stage.number("select count(distinct pid) from leases where name = 'test:x'"), 1);
    stage.raise("one");
    assert_eq!(one.ends().code, Some(0));
    log::check(&stage.log());
}

/// The contender gets the dead holder's lock, and sees no process of it, because it sees none outside of its namespace.
#[test]
fn who_cannot_see_a_holders_processes_waits_for_the_ttl_where_possible() {
    if !sees_every_process(this_test!()) {
        return;
    }
    let Some(apart) = apart(this_test!()) else { return };
    let stage = Stage::new();
    let line = "sh -c 'setsid $ME & exit'; exec sleep 60";
    let one = stage.start_shell("one", &["--ttl", "10m", "-r", "test:x"], line).begins(&stage, "one");
    let keeper = one.keeper();
    kill(one.wrapper());
    kill(keeper);
    let _killed = one.ends();
    let blind = start_apart(&stage, apart, "blind", &["--wait", "3s", "-r", "test:x"], "$ME").ends();
    assert_eq!(blind.code, Some(75), "{}", blind.said);
    stage.raise("one");
    log::check(&stage.log());
    // Who sees everything needs no TTL.
    stage.next_gets_in("next", &["--wait", "50s", "-r", "test:x"]);
}

/// A `/proc` that hides others' processes (`hidepid=2`): nobody may conclude that there is none.
#[test]
fn who_is_shown_only_its_own_processes_waits_for_the_ttl_where_possible() {
    let test = this_test!();
    if !as_root(test) {
        return;
    }
    let mounts = ["unshare", "--mount", "sh", "-c", "mount -t proc -o hidepid=2 proc /proc"];
    if first_that_runs(&[&mounts]).is_none() {
        return left_out(test, "this root may not mount a /proc that hides");
    }
    let stage = Stage::new();
    // As an ordinary user, since root is shown everything.
    let root = stage.world.root();
    let locked = root.join("locked");
    install(env!("CARGO_BIN_EXE_locked"), &locked, "0755");
    let owned = Command::new("chown").args(["-R", "65534:65534"]).arg(root).status().expect("chown");
    assert!(owned.success());
    let as_nobody = |front: &str, words: &str| {
        let drop = "setpriv --reuid 65534 --regid 65534 --clear-groups";
        let mut command = stage.world.command("sh");
        command.args(["-c", &format!("exec {front} sh -c '{words}'")]).env("LOCKED", &locked).env("DROP", drop);
        command.env("LOCKED_SESSION", uuid::Uuid::new_v4().to_string());
        Run::of(command)
    };
    let one = as_nobody("", "exec $DROP $LOCKED -r test:x sh -c \"touch begun; exec sleep 60\"");
    so("it runs", || stage.world.work().join("begun").exists());
    let keeper = one.keeper();
    kill(one.wrapper());
    kill(keeper);
    let _killed = one.ends();
    stage.is_empty_soon();
    let hides = "mount -t proc -o hidepid=2 proc /proc && exec $DROP $LOCKED -r test:x --wait 3s true";
    let blind = as_nobody("unshare --mount", hides).ends();
    assert_eq!(blind.code, Some(75), "{}", blind.said);
    // Root, who works for that user, sees everything.
    let mut sees = stage.command("sees", &["-r", "test:x", "--wait", "50s"], &["true".to_owned()]);
    sees.env("SUDO_UID", "65534").env("SUDO_GID", "65534");
    let sees = Run::of(sees).ends();
    assert_eq!(sees.code, Some(0), "{}", sees.said);
}

/// The same by the stricter `hidepid=4`, which shows to everybody only what it may trace, and for anybody who may have a
/// pid namespace: all of it happens in one, where the holder's and the contender's process ids mean the same.
#[test]
fn who_is_shown_only_what_it_may_trace_waits_for_the_ttl_where_possible() {
    let Some(apart) = apart(this_test!()) else { return };
    let stage = Stage::new();
    let place = "$LOCKED -r test:x sh -c 'echo $PPID > keeper.new; mv keeper.new keeper; exec sleep 600' & \
                 until [ -e keeper ]; do sleep 0.01; done; keeper=$(cat keeper); \
                 kill -STOP $keeper $!; kill -KILL $keeper $!; wait $!; \
                 while [ -e /proc/$keeper/exe ]; do sleep 0.01; done; \
                 unshare --mount sh -c 'mount -t proc -o hidepid=4 proc /proc && exec $LOCKED -r test:x --wait 3s true'; \
                 echo blind=$? >> ends; $LOCKED -r test:x --wait 50s true; echo sees=$? >> ends";
    let mut command = stage.world.command(apart[0]);
    command.args(&apart[1..]).args(["sh", "-c", place]).env("LOCKED", env!("CARGO_BIN_EXE_locked"));
    let said = Run::of(command).ends().said;
    let ends = std::fs::read_to_string(stage.world.work().join("ends")).expect("they ended");
    assert_eq!(ends, "blind=75\nsees=0\n", "{said}");
}
