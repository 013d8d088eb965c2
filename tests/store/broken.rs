//! The broken world: full, read-only, damaged, newer. Each has a clear error with the remedy, and nothing is lost.

use std::io::BufRead as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use locked::store::StoreError;

use super::cast::{LIMIT, actor, granted, release, take};
use super::child::{Task, child, child_through, said};
use super::contract::World as _;
use super::sqlite::Embedded;

/// Are we root? Asked of the file system, which answers for the effective user.
fn is_root(world: &Embedded) -> bool {
    std::fs::metadata(world.state().path()).expect("state").uid() == 0
}

/// Runs the child in a mount namespace of its own, after `arrange` (a shell line that finds the state directory in `$D`).
/// None where the system does not let us.
fn in_own_mounts(world: &Embedded, arrange: &str, task: Task) -> Option<Output> {
    let namespaces: &[&str] = if is_root(world) { &["unshare", "-m"] } else { &["unshare", "-r", "-m"] };
    let trial = Command::new("unshare")
        .args(&namespaces[1..])
        .args(["sh", "-c", "mount -t tmpfs tmpfs /mnt"])
        .stderr(Stdio::null())
        .status();
    if !trial.is_ok_and(|status| status.success()) {
        eprintln!("no mount namespaces here; the other half of this test stands alone");
        return None;
    }
    let state = world.state();
    let script = format!("{arrange} && exec \"$0\" \"$@\"");
    let launcher: Vec<&str> = namespaces.iter().copied().chain(["sh", "-c", &script]).collect();
    let binary = std::env::current_exe().expect("this binary");
    Some(child_through(&launcher, &binary, task, state.path()).env("D", state.path()).output().expect("runs"))
}

/// After the fill: what was granted is there, whole, and nothing else is.
fn nothing_was_lost(world: &Embedded, output: &Output) {
    let text = String::from_utf8_lossy(&output.stdout);
    let granted = text.lines().filter(|line| line.starts_with("granted: ")).count();
    assert!(granted > 0, "it was full before the first lease: {text}");
    assert_eq!(world.store().leases(None, LIMIT).expect("answer").len(), granted);
    let whole: String = world.raw().query_row("pragma integrity_check", [], |row| row.get(0)).expect("check");
    assert_eq!(whole, "ok");
    take(&mut *world.store(), &actor("ana").asks(&["another"]));
}

#[test]
fn a_limit_on_sizes_is_a_full_disk_and_loses_nothing() {
    let world = Embedded::new();
    // The signal is ignored so that the write fails instead of killing the writer.
    let launcher = ["sh", "-c", "trap '' XFSZ; ulimit -f 400; exec \"$0\" \"$@\""];
    let binary = std::env::current_exe().expect("this binary");
    let output = child_through(&launcher, &binary, Task::Fill, world.state().path()).output().expect("runs");
    let said = said(&output);
    assert!(said.starts_with("Full") && said.contains("make room"), "{said}");
    nothing_was_lost(&world, &output);
}

#[test]
fn a_full_disk_says_so_and_loses_nothing() {
    let world = Embedded::new();
    let keep = world.root().join("keep");
    std::fs::create_dir(&keep).expect("directory");
    // The file is carried out of the small disk, which ends with its namespace.
    let arrange = format!(
        "mount -t tmpfs -o size=400k,mode=700 tmpfs \"$D\" && \"$0\" \"$@\"; s=$?; cp \"$D\"/locked.db* '{}' && exit $s; false",
        keep.display()
    );
    let Some(output) = in_own_mounts(&world, &arrange, Task::Fill) else { return };
    let said = said(&output);
    assert!(said.starts_with("Full"), "{said}");
    for entry in std::fs::read_dir(&keep).expect("kept") {
        let entry = entry.expect("entry");
        std::fs::copy(entry.path(), world.state().path().join(entry.file_name())).expect("copied");
    }
    nothing_was_lost(&world, &output);
}

#[test]
fn a_read_only_file_system_is_refused_with_the_remedy() {
    let world = Embedded::new();
    let arrange = "mount --bind \"$D\" \"$D\" && mount -o remount,bind,ro \"$D\"";
    let Some(output) = in_own_mounts(&world, arrange, Task::Turn) else { return };
    let said = said(&output);
    assert!(said.starts_with("Place") && said.contains("read-only") && said.contains("LOCKED_STATE_DIR"), "{said}");
}

#[test]
fn a_directory_that_may_not_be_written_is_refused_with_the_remedy() {
    for with_file in [false, true] {
        let world = Embedded::new();
        let state = world.state();
        if with_file {
            take(&mut *world.store(), &actor("ana").asks(&["a"]));
        }
        let set = |path: &Path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("permissions");
        };
        let mut contender = child(Task::Turn, state.path());
        if is_root(&world) {
            // Permission bits do not bind root: another user does it, with a copy of this program that it can reach.
            let binary = world.root().join("contender");
            std::fs::copy(std::env::current_exe().expect("this binary"), &binary).expect("copied");
            set(&binary, 0o755);
            set(world.root(), 0o755);
            if with_file {
                set(&state.path().join("locked.db"), 0o644);
            }
            contender = child_through(&["env"], &binary, Task::Turn, state.path());
            contender.uid(65_534).gid(65_534).current_dir("/");
        }
        set(state.path(), 0o555);
        let output = contender.output().expect("runs");
        set(state.path(), 0o755);
        let said = said(&output);
        assert!(said.starts_with("Place") && said.contains("LOCKED_STATE_DIR"), "with file: {with_file}: {said}");
    }
}

#[test]
fn a_damaged_file_is_copied_aside_once_and_left_alone() {
    let world = Embedded::new();
    let held = take(&mut *world.store(), &actor("ana").asks(&["a"]));
    release(&mut *world.store(), &held);
    let file = world.state().path().join("locked.db");
    let sound = std::fs::read(&file).expect("file");
    let mut copies = Vec::new();
    for damage in [b"not a database at all, whatever its name says".to_vec(), torn(&sound)] {
        std::fs::write(&file, &damage).expect("damage");
        for _run in 0..3 {
            let error = world.store().acquire(&actor("bob").asks(&["a"]), LIMIT).expect_err("damaged");
            let StoreError::Corrupt { path, copy, .. } = &error else { panic!("{error:?}") };
            assert_eq!(path, &file);
            assert!(error.remedy().contains("nothing was overwritten"));
            assert_eq!(std::fs::read(copy).expect("copy"), damage);
            assert_eq!(std::fs::metadata(copy).expect("copy").permissions().mode() & 0o777, 0o600);
            copies.push(copy.clone());
        }
        assert_eq!(std::fs::read(&file).expect("file"), damage, "never overwritten");
    }
    copies.dedup();
    assert_eq!(copies.len(), 2, "one for each damage, however often it was met: {copies:?}");
    std::fs::write(&file, &sound).expect("repaired");
    take(&mut *world.store(), &actor("bob").asks(&["a"]));
}

/// The pages behind the header overwritten.
fn torn(sound: &[u8]) -> Vec<u8> {
    let mut torn = sound.to_vec();
    for byte in &mut torn[100..] {
        *byte ^= 0xA5;
    }
    torn
}

#[test]
fn a_newer_store_is_refused_and_left_alone() {
    let world = Embedded::new();
    take(&mut *world.store(), &actor("ana").asks(&["a"]));
    let known: i64 = world.raw().pragma_query_value(None, "user_version", |row| row.get(0)).expect("version");
    world.raw().pragma_update(None, "user_version", 999).expect("set");
    let error = world.store().leases(None, LIMIT).expect_err("newer");
    assert!(matches!(error, StoreError::Newer { found: 999, .. }), "{error:?}");
    world.raw().pragma_update(None, "user_version", known).expect("set");
    assert_eq!(world.store().leases(None, LIMIT).expect("answer").len(), 1);
}

#[test]
fn a_store_that_others_hold_too_long_is_contended_and_works_afterwards() {
    let world = Embedded::new();
    let mut store = world.store();
    let held = take(&mut *store, &actor("ana").asks(&["a"]));
    let other = world.raw();
    other.execute_batch("begin exclusive").expect("held by another");
    let limit = Duration::from_millis(50);
    let error = store.renew(&held, limit).expect_err("busy");
    assert!(matches!(error, StoreError::Contended(_)), "{error:?}");
    let error = store.leases(None, limit).expect_err("busy");
    assert!(matches!(error, StoreError::Contended(_)), "{error:?}");
    other.execute_batch("commit").expect("let go");
    assert!(matches!(store.renew(&held, LIMIT), Ok(locked::store::Renewal::Renewed(_))));
}

#[test]
fn a_directory_that_vanishes_is_an_error_and_a_new_store_afterwards() {
    let world = Embedded::new();
    let mut store = world.store();
    let held = take(&mut *store, &actor("ana").asks(&["a"]));
    std::fs::remove_dir_all(world.state().path()).expect("removed");
    assert!(store.renew(&held, LIMIT).is_err(), "an error, not an answer");
    let mut store = world.store();
    assert!(granted(&mut *store, &actor("bob").asks(&["a"])).unsettled.is_empty());
}

#[test]
fn writers_that_are_killed_leave_a_whole_store() {
    let world = Embedded::new();
    for round in 0..6 {
        let mut writers: Vec<_> =
            (0..3).map(|_| child(Task::Cycle, world.state().path()).spawn().expect("starts")).collect();
        for writer in &mut writers {
            let output = std::io::BufReader::new(writer.stdout.as_mut().expect("output"));
            let cycles = output.lines().map_while(Result::ok).filter(|line| line == "cycle");
            assert_eq!(cycles.take(5 + round).count(), 5 + round);
            writer.kill().expect("killed");
        }
        for mut writer in writers {
            writer.wait().expect("ends");
        }
        let held = take(&mut *world.store(), &actor("ana").asks(&["a"]));
        release(&mut *world.store(), &held);
    }
    let whole: String = world.raw().query_row("pragma integrity_check", [], |row| row.get(0)).expect("check");
    assert_eq!(whole, "ok");
}

#[test]
fn a_store_that_was_emptied_is_no_fresh_one() {
    let world = Embedded::new();
    take(&mut *world.store(), &actor("ana").asks(&["a"]));
    let file = world.state().path().join("locked.db");
    std::fs::write(&file, "").expect("emptied");
    for _again in 0..2 {
        let error = world.store().acquire(&actor("bob").asks(&["a"]), LIMIT).expect_err("emptied");
        assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
        assert_eq!(std::fs::metadata(&file).expect("file").len(), 0, "left as it is");
    }
}
