//! The search for the real program: whatever PATH looks like, and wherever else we stand.
#![forbid(unsafe_code)]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;

use crate::world::board::install as copy;
use crate::world::ends::{ends, says, text};

use super::{LOCKED, Place};

#[test]
fn our_folder_may_stand_on_path_in_any_spelling_and_number() {
    let place = Place::new();
    symlink(place.at("shims"), place.at("alias")).expect("alias");
    place.shim("others", "tool");
    for entries in [
        &["shims", "real"][..],
        &["shims", "shims", "real"],
        &["shims", "alias", "real", "shims"],
        &["alias", "shims/", "shims//", "shims/.", "real"],
        &["=../shims", "=../alias/", "real"],
        &["shims", "=", "=", "real"],
        &["others", "shims", "real"],
        &["shims", "missing", "shims/tool", "real", "real"],
    ] {
        place.ends_at_the_real(entries);
    }
    // The child's PATH is its caller's.
    place.script("real/tool", "printf %s \"$PATH\"");
    let output = ends(&mut place.call(&["shims", "shims//", "=", "real"], &[]), 0);
    assert_eq!(text(&output.stdout), place.path(&["shims", "shims//", "=", "real"]).to_str().expect("UTF-8"));
}

#[test]
fn where_one_stands_and_whose_home_it_is_says_nothing() {
    let place = Place::new();
    let shims = place.at("shims");
    for (entries, cwd) in [(&["=", "real"][..], &shims), (&["=.", "=", "real"], &shims), (&["shims", "real"], &shims)] {
        let mut command = place.call(&["shims", "real"], &["a"]);
        command
            .env("PATH", place.path(entries))
            .current_dir(cwd)
            .env("HOME", "/nowhere")
            .env_remove("LOCKED_SHIMS_DIR");
        assert_eq!(text(&ends(&mut command, 0).stdout), "real [a]\n", "{entries:?}");
        assert_eq!(text(&ends(command.env_remove("HOME"), 0).stdout), "real [a]\n", "{entries:?}");
    }
}

#[test]
fn hard_links_copies_and_other_builds_of_us_are_stepped_over() {
    let place = Place::new();
    // A hard link to what the shims lead to, which may lie on another disk: so to a copy.
    copy(LOCKED, &place.directory("copied").join("tool"), "0755");
    fs::hard_link(place.at("copied/tool"), place.directory("linked").join("tool")).expect("hard link");
    let build = place.directory("build").join("tool");
    let mut other = fs::read(LOCKED).expect("ours");
    other.extend(b"another build");
    fs::File::create(place.at("build/draft")).and_then(|mut file| file.write_all(&other)).expect("another build");
    copy(place.at("build/draft"), &build, "0755");
    symlink(&build, place.directory("second").join("tool")).expect("second");
    for entries in [
        &["copied", "shims", "linked", "second", "real"][..],
        &["linked", "copied", "build", "shims", "real"],
        &["second", "shims", "build", "real"],
        &["shims", "second", "linked", "copied", "real"],
    ] {
        place.ends_at_the_real(entries);
    }
}

#[test]
fn a_program_that_is_not_there_is_127_and_what_was_stepped_over_is_named() {
    let place = Place::new();
    place.shim("others", "tool");
    let said = says(&mut place.call(&["shims", "others", "missing"], &[]), 127);
    for shim in ["shims/tool", "others/tool"] {
        assert!(said.contains(place.at(shim).to_str().expect("UTF-8")), "{said}");
    }
    assert!(said.contains("\"tool\" is not on PATH") && said.lines().count() == 1, "{said}");
    // A PATH of nothing is the working directory; none at all is the system's.
    let mut nowhere = place.call(&["shims"], &[]);
    assert!(says(nowhere.env("PATH", ""), 127).contains("not on PATH"));
    assert!(says(nowhere.env_remove("PATH"), 127).contains("not on PATH"));
    assert_eq!(says(nowhere.env("PATH", "").current_dir(place.at("real")), 0), "");
    fs::write(place.directory("plain").join("tool"), "").expect("no program");
    let said = says(&mut place.call(&["shims", "plain"], &[]), 126);
    assert!(said.contains("plain/tool"), "{said}");
    // Our own program under another name has nobody behind it, and must not call itself.
    copy(LOCKED, &place.at("foo"), "0755");
    let mut renamed = place.world.command(place.at("foo"));
    assert!(says(renamed.env("PATH", place.world.root()), 127).contains("\"foo\" is not on PATH"));
}

#[test]
fn a_folder_that_was_moved_still_works() {
    let place = Place::new();
    fs::rename(place.at("shims"), place.at("moved")).expect("moved");
    place.ends_at_the_real(&["moved", "real"]);
}
