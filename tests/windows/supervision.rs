//! The child and its tree: ends with us when we are killed, lives on when it was left behind on purpose, and its status is ours.

use std::process::Stdio;

use super::stage::{Stage, good, is_free, until};

#[test]
fn whoever_kills_the_wrapper_kills_the_whole_tree() {
    let stage = Stage::new().with("starts").with("stays");
    for (name, options) in [("passes", &[][..]), ("holds", &["-r", "server:db-1"])] {
        let file = stage.at(name);
        let path = file.display().to_string();
        let words = [options, &["starts", &path]].concat();
        let mut wrapper = stage.locked(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("locked");
        until("the child is there", || file.with_extension("there").exists());
        assert!(!is_free(&file), "{name}: it has the file for itself");
        wrapper.kill().expect("killed");
        wrapper.wait().expect("ended");
        until("nothing of it is left", || is_free(&file));
    }
    // The next one has not to wait for the TTL.
    good(&stage.with("exits").ran(&["-r", "server:db-1", "--wait", "20s", "exits", "0"]));
}

#[test]
fn what_a_program_leaves_behind_at_its_end_lives_on() {
    let stage = Stage::new().with("leaves").with("stays");
    for (name, options) in [("passes", &[][..]), ("holds", &["-r", "server:db-1"])] {
        let file = stage.at(name);
        let path = file.display().to_string();
        let words = [options, &["leaves", &path]].concat();
        let status = stage.locked(&words).stdout(Stdio::null()).stderr(Stdio::null()).status().expect("locked runs");
        assert!(status.success(), "{name}: {status}");
        assert!(!is_free(&file), "{name}: it lives on");
    }
}

/// By its status it may have been killed, as a batch file's command processor is, and what it started would write on.
#[test]
fn what_a_killed_program_leaves_behind_under_a_lease_does_not_live_on() {
    let stage = Stage::new().with("drops").with("stays");
    let file = stage.at("dropped");
    let words = ["-r", "server:db-1", "drops", &file.display().to_string()].map(str::to_owned);
    let mut command = stage.locked(&words.each_ref().map(String::as_str));
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("locked runs");
    assert_eq!(status.code(), Some(1));
    assert!(is_free(&file), "it was ended before the lease was given back");
}

#[test]
fn every_status_of_thirty_two_bits_comes_through() {
    let stage = Stage::new().with("exits");
    for status in [0_u32, 1, 255, 256, 0x1_2345, 0xC000_0005, 0xC000_013A, u32::MAX] {
        let text = status.to_string();
        for options in [&[][..], &["-r", "server:db-1"]] {
            let words = [options, &["exits", &text]].concat();
            let ended = stage.ran(&words);
            let said = String::from_utf8_lossy(&ended.stderr);
            assert_eq!(ended.status.code(), Some(status.cast_signed()), "{options:?} {status:#x}: {said}");
        }
    }
}

#[test]
fn a_crash_ends_as_the_access_violation_that_it_was_and_lets_the_next_one_in() {
    let stage = Stage::new().with("crashes").with("exits");
    for options in [&[][..], &["-r", "server:db-1"]] {
        let words = [options, &["crashes"]].concat();
        let ended = stage.ran(&words);
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code().map(i32::cast_unsigned), Some(0xC000_0005), "{options:?}: {said}");
    }
    good(&stage.ran(&["-r", "server:db-1", "--no-wait", "exits", "0"]));
}
