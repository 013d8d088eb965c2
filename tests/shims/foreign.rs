//! Shims that are not ours: they look on PATH for the program that they stand in front of, and find us. Nothing goes
//! round for ever, and where there is a real program it is what runs.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::symlink;

use crate::world::board::write_program;
use crate::world::ends::{ends, says, text};

use super::Place;

/// The next `tool` on PATH that does not lie where this one does, as shim managers find it.
const NEXT: &str = "here=${0%/*} IFS=:\nfor entry in $PATH; do\n  [ \"$entry\" = \"$here\" ] && continue\n  \
    [ -x \"$entry/tool\" ] && { next=$entry/tool; break; }\ndone\nunset IFS\n[ -n \"$next\" ] || exit 127\n";

impl Place {
    /// A shim as of mise, asdf or rbenv: it becomes the next one.
    fn becoming(&self, folder: &str) {
        self.script(&format!("{folder}/tool"), &format!("{NEXT}exec \"$next\" \"$@\""));
    }

    /// A shim as of volta: it starts the next one, and waits.
    fn starting(&self, folder: &str) {
        self.script(&format!("{folder}/tool"), &format!("{NEXT}\"$next\" \"$@\"; exit $?"));
    }

    /// One launcher behind many names.
    fn linked(&self, folder: &str) {
        self.script(&format!("{folder}/manager"), &format!("{NEXT}exec \"$next\" \"$@\""));
        symlink("manager", self.at(folder).join("tool")).expect("link");
    }

    /// A wrapper that somebody wrote before there were shims: it names us.
    fn naming_us(&self, folder: &str) {
        self.script(&format!("{folder}/tool"), "exec locked -q tool \"$@\"");
        symlink(super::LOCKED, self.directory("bin").join("locked")).expect("locked");
    }
}

fn place() -> Place {
    let place = Place::new();
    place.becoming("mise");
    place.becoming("asdf");
    place.starting("volta");
    place.linked("proto");
    place.naming_us("wrapper");
    place
}

#[test]
fn before_and_behind_us_they_end_at_the_real_program() {
    let place = place();
    for entries in [
        &["mise", "shims", "real"][..],
        &["shims", "mise", "real"],
        &["mise", "shims", "asdf", "real"],
        &["shims", "mise", "asdf", "real"],
        &["proto", "shims", "real"],
        &["shims", "proto", "mise", "real"],
        &["shims", "mise", "shims", "real"],
        &["wrapper", "bin", "real"],
        &["wrapper", "shims", "mise", "bin", "real"],
        &["shims", "volta", "real"],
        &["volta", "shims", "mise", "real"],
    ] {
        place.ends_at_the_real(entries);
    }
}

#[test]
fn where_nobody_is_real_they_end_as_well_and_are_named() {
    let place = place();
    for entries in [
        &["shims", "mise"][..],
        &["mise", "shims", "asdf"],
        &["proto", "shims"],
        &["shims", "volta"],
        &["volta", "shims", "mise"],
    ] {
        let said = says(&mut place.call(entries, &[]), 127);
        let last = said.lines().last().unwrap_or_default();
        let foreign = entries.iter().filter(|entry| !["shims", "bin"].contains(entry));
        for folder in foreign {
            assert!(last.contains(&format!("{folder}/tool")), "{entries:?}: {said}");
        }
        assert!(last.contains("leads back to locked"), "{entries:?}: {said}");
    }
    assert_eq!(says(&mut place.call(&["wrapper", "bin"], &[]), 127), "", "it told us to be quiet");
}

#[test]
fn the_real_program_at_the_end_sees_nothing_of_it() {
    let place = place();
    place.program("real/tool", "env");
    for entries in [&["shims", "mise", "asdf", "real"][..], &["mise", "shims", "proto", "real"]] {
        let seen = text(&ends(&mut place.call(entries, &[]), 0).stdout);
        assert!(seen.contains("PATH=") && !seen.contains("LOCKED_IN"), "{entries:?}: {seen}");
    }
}

#[test]
fn a_program_that_calls_itself_by_its_name_may_do_so_thirty_deep() {
    let place = place();
    place.script("real/tool", "[ $1 = 0 ] && { echo bottom; exit; }\ntool $(($1 - 1))");
    place.script("late/tool", "echo wrong");
    for entries in [&["shims", "real", "late"][..], &["shims", "mise", "real", "late"]] {
        let output = ends(&mut place.call(entries, &["30"]), 0);
        assert_eq!(text(&output.stdout), "bottom\n", "{entries:?}");
    }
    // With an environment of its own each time, as sudo makes one.
    place.script("real/tool", "[ $1 = 0 ] && { echo bottom; exit; }\n/usr/bin/env -i PATH=\"$PATH\" tool $(($1 - 1))");
    assert_eq!(text(&ends(&mut place.call(&["shims", "real"], &["5"]), 0).stdout), "bottom\n");
}

#[test]
fn a_program_may_start_itself_anew_by_its_name_but_not_for_ever() {
    let place = Place::new();
    place.script("real/tool", "[ $1 = 0 ] && { echo anew; exit; }\nexec tool $(($1 - 1))");
    assert_eq!(text(&ends(&mut place.call(&["shims", "real"], &["3"]), 0).stdout), "anew\n");
    let said = says(&mut place.call(&["shims", "real"], &["1000"]), 127);
    assert!(said.contains("leads back to locked"), "{said}");
}

#[test]
fn under_a_lease_they_end_at_the_real_program_too() {
    let place = Place::new();
    for folder in ["mise", "volta"] {
        let how = if folder == "mise" { "exec \"$next\" \"$@\"" } else { "\"$next\" \"$@\"; exit $?" };
        place.script(&format!("{folder}/docker"), &format!("{}{how}", NEXT.replace("/tool", "/docker")));
    }
    place.shim("shims", "docker");
    place.script("real/docker", "echo \"$LOCKED_RESOURCES\"");
    let mut down = place.world.command(place.at("shims/docker"));
    down.env("PATH", place.path(&["shims", "mise", "real", "=/usr/bin", "=/bin"]));
    let output = ends(down.args(["compose", "-p", "shop", "down"]), 0);
    assert_eq!((&*text(&output.stdout), &*text(&output.stderr)), ("container:shop\n", ""));
    fs::remove_file(place.at("real/docker")).expect("gone");
    assert!(says(&mut down, 127).contains("mise/docker"));
}

/// A script that wants to be under a lease, and that no rule knows, gets none and calls us again: by a path nothing steps over.
#[test]
fn a_script_that_starts_itself_anew_by_its_path_ends() {
    let place = Place::new();
    let path = |place: &Place| place.path(&["bin", "=/usr/bin", "=/bin"]);
    symlink(super::LOCKED, place.directory("bin").join("locked")).expect("locked");
    let deploy = place.script("deploy.sh", "[ \"$LOCKED_LEASE\" ] || exec locked \"$0\" \"$@\"");
    let said = says(place.world.command(&deploy).env("PATH", path(&place)), 127);
    assert!(said.contains("deploy.sh\" leads back to locked"), "{said}");
    // Its first line is ours.
    write_program(&place.at("ours.sh"), &format!("#!{}\necho never\n", place.at("bin/locked").display()));
    let said = says(place.world.command(place.at("ours.sh")).env("PATH", path(&place)), 127);
    assert!(said.contains("ours.sh\" leads back to locked"), "{said}");
    // Two that take turns.
    let other = place.at("other.sh").display().to_string();
    let one = place.script("one.sh", &format!("exec locked '{other}'"));
    place.script("other.sh", &format!("exec locked '{}'", one.display()));
    let said = says(place.world.command(&one).env("PATH", path(&place)), 127);
    assert!(said.contains("leads back to locked"), "{said}");
    // One that calls itself a few times is no loop.
    let few = place.script("few.sh", "[ $1 = 0 ] && { echo end; exit; }\nexec locked \"$0\" $(($1 - 1))");
    let output = ends(place.world.command(few).arg("5").env("PATH", path(&place)), 0);
    assert_eq!(text(&output.stdout), "end\n");
}
