//! What the program is given: every byte after its name, and the name itself.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;

use crate::run::stage::{DOTENV, FILE, Stage, in_front, uuid};
use crate::world::ends::{ends, says, text};

use super::{LOCKED, Place};

/// Words that would mean something to us.
const OURS: [&[&str]; 11] = [
    &["--version"],
    &["--help"],
    &["-V"],
    &["status", "--json"],
    &["-r", "a:b", "true"],
    &["-q", "--", "tool"],
    &["--"],
    &["--", "--", "x"],
    &[""],
    &["shims", "exec", "tool"],
    &["--no-such-option=1", "-zz"],
];

fn shown(words: &[&str]) -> String {
    words.iter().fold("real".to_owned(), |text, word| format!("{text} [{word}]")) + "\n"
}

#[test]
fn every_word_behind_the_name_is_the_program_s() {
    let place = Place::new();
    for words in OURS {
        let output = ends(&mut place.call(&["shims", "real"], words), 0);
        assert_eq!((text(&output.stdout), text(&output.stderr)), (shown(words), String::new()), "{words:?}");
        let mut exec = place.shims(&[&["exec", "tool"], words].concat());
        let output = ends(exec.env("PATH", place.path(&["shims", "real"])), 0);
        assert_eq!((text(&output.stdout), text(&output.stderr)), (shown(words), String::new()), "exec {words:?}");
    }
    let odd = OsStr::from_bytes(b"\xff\n\x01");
    let output = ends(place.call(&["shims", "real"], &[]).arg(odd), 0);
    assert_eq!(output.stdout, [b"real [", odd.as_bytes(), b"]\n"].concat());
}

#[test]
fn a_forged_name_changes_neither_who_is_meant_nor_what_the_program_is_called() {
    let place = Place::new();
    place.program("real/tool", "sh");
    place.script("real/other", "echo wrong");
    place.shim("shims", "other");
    for name in ["other", "-tool", "/nowhere/other", "locked"] {
        let mut command = place.call(&["shims", "real"], &["-c", "echo \"$0\""]);
        assert_eq!(text(&ends(command.arg0(name), 0).stdout), format!("{name}\n"));
    }
    let mut command = place.call(&["shims", "real"], &["-c", "echo \"$0\""]);
    assert_eq!(
        text(&ends(command.arg0(place.at("shims/tool")), 0).stdout),
        format!("{}\n", place.at("shims/tool").display())
    );
    // Called by the loader, we are who it was told to load.
    let loader = std::path::Path::new("/lib64/ld-linux-x86-64.so.2");
    if loader.exists() {
        let mut loaded = place.world.command(loader);
        loaded.arg(place.at("shims/tool")).args(["-c", "echo ran"]).env("PATH", place.path(&["shims", "real"]));
        assert_eq!(text(&ends(&mut loaded, 0).stdout), "ran\n");
    }
    // The other way round: whoever executes `locked` gets it, whatever it is called.
    let mut locked = place.world.command(LOCKED);
    let output = ends(locked.arg0("tool").arg("--version"), 0);
    assert_eq!(text(&output.stdout), format!("locked {}\n", env!("CARGO_PKG_VERSION")));
}

/// One program behind many names looks at the name that it was called by.
#[test]
fn a_program_of_many_names_knows_which_one_is_meant() {
    let place = Place::new();
    let many = place.script("real/many", "echo \"${0##*/} $1\"");
    fs::remove_file(place.at("real/tool")).expect("another one");
    symlink(many, place.at("real/tool")).expect("link");
    assert_eq!(text(&ends(&mut place.call(&["shims", "real"], &["x"]), 0).stdout), "tool x\n");
}

#[test]
fn exec_stands_in_front_of_programs_only() {
    let place = Place::new();
    for word in ["locked", "real/tool", "/bin/true", "..", ""] {
        let said = says(&mut place.shims(&["exec", word]), 64);
        assert!(said.contains("shims") || said.contains("itself"), "{word}: {said}");
    }
    assert!(says(&mut place.shims(&["exec"]), 64).contains("TOOL"));
}

#[test]
fn the_program_sees_the_world_that_its_caller_gave() {
    let place = Place::new();
    place.program("real/tool", "env");
    let mut direct = place.call(&["real", "shims"], &[]);
    let mut through = place.call(&["shims", "real"], &[]);
    for command in [&mut direct, &mut through] {
        command.env("PATH", place.path(&["shims", "real"])).env("LOCKED_X", "1");
    }
    assert_eq!(text(&ends(&mut through, 0).stdout), text(&ends(&mut direct, 0).stdout));
    // What was left of a chain that came to its end is not the program's to see.
    let left = format!("{}:0:0:0:1.2:tool", std::process::id());
    let seen = text(&ends(through.env("LOCKED_IN", &left), 0).stdout);
    assert!(!seen.contains("LOCKED_IN"), "{seen}");
}

#[test]
fn a_shim_says_nothing_of_a_program_that_no_rule_knows() {
    let place = Place::new();
    assert_eq!(says(&mut place.call(&["shims", "real"], &[]), 0), "");
    let mut typed = place.world.locked();
    assert!(says(typed.arg("tool").env("PATH", place.path(&["real"])), 0).contains("no rule knows tool"));
}

#[test]
fn what_is_locked_is_locked_through_a_shim_as_well() {
    let place = Place::new();
    place.shim("shims", "docker");
    place.script("real/docker", "echo \"${LOCKED_RESOURCES-nothing}\"; exit 3");
    let mut down = place.world.command(place.at("shims/docker"));
    down.env("PATH", place.path(&["shims", "real", "=/usr/bin", "=/bin"])).args(["compose", "-p", "shop", "down"]);
    let output = ends(&mut down, 3);
    assert_eq!(text(&output.stdout), "container:shop\n");
    let mut ps = place.world.command(place.at("shims/docker"));
    ps.env("PATH", place.path(&["shims", "real"])).args(["compose", "-p", "shop", "ps"]);
    assert_eq!(text(&ends(&mut ps, 3).stdout), "nothing\n");
}

/// What we ask of git on our own behalf goes past a shim of git: nobody is to wait for a lease of which he is the cause.
#[test]
fn our_own_questions_go_past_our_shims() {
    let stage = Stage::new();
    let (shims, config) = (stage.world.root().join("links"), stage.world.root().join("config/locked"));
    fs::create_dir(&shims).and_then(|()| fs::create_dir_all(&config)).expect("directories");
    for tool in ["git", "sops"] {
        symlink(LOCKED, shims.join(tool)).expect("shim");
    }
    let rule = "[[rule]]\nname = \"git\"\nprogram = \"git\"\nresource = \"server:git\"\n";
    fs::write(config.join("config.toml"), rule).expect("rule");
    let config = stage.world.root().join("config");
    let mut set = stage.world.command(shims.join("sops"));
    set.arg("set").args(DOTENV).args([FILE, "[\"FIRST\"]", "\"1\""]);
    for command in [&mut set, stage.world.command(shims.join("git")).args(["status", "--short"])] {
        ends(command.env("PATH", in_front(&shims)).env("XDG_CONFIG_HOME", &config).env("LOCKED_SESSION", uuid(1)), 0);
    }
    let held: Vec<_> = stage.history().iter().map(|lease| lease["resource"].to_string()).collect();
    assert_eq!(held, ["\"server:git\"", "\"sops:monitoring\""], "one for each that was called");
}
