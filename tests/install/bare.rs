//! `install/test-bare`: what it says before it does anything. What it does takes minutes, root and a network, and is run by
//! hand.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use super::place::checkout;
use crate::run::stage::{says, silent};
use crate::world::World;

#[test]
fn it_knows_its_options_and_tells_them() {
    let world = World::new();
    let run = |words: &[&str]| {
        let mut command = world.command(checkout("install/test-bare"));
        command.args(words);
        command
    };
    let help = silent(run(&["--help"]).stderr(Stdio::null()));
    let script = fs::read_to_string(checkout("install/test-bare")).expect("script");
    let body = script.split_once("while [ $# -gt 0 ]; do").expect("options").1.split_once("\n    done").expect("end").0;
    let options: Vec<&str> =
        body.lines().filter_map(|line| line.trim().split_once(')')?.0.strip_prefix("--")).collect();
    assert!(options.len() > 4, "{options:?}");
    for option in options.iter().flat_map(|label| label.split(" | ")) {
        assert!(
            help.contains(&format!("--{}", option.trim_start_matches("--"))),
            "--{option} is not in the help: {help}"
        );
    }
    assert!(help.contains("Needs Linux, root"), "{help}");
    for (words, why) in [
        (&["--frobnicate"][..], "there is no option --frobnicate"),
        (&["--suite"], "--suite wants a value"),
        (&["--suite", "../x"], "has no such name"),
    ] {
        let said = says(&mut run(words), 64);
        assert!(said.contains(why) && said.contains("\nnext:  install/test-bare ["), "{said}");
    }
}

/// Nothing is fetched or made before it is known that it can go on.
#[test]
fn an_ordinary_user_is_told_that_it_needs_root() {
    let place = tempfile::tempdir().expect("place");
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).expect("mode");
    let install = place.path().join("install");
    fs::create_dir(&install).expect("directory");
    for name in ["test-bare", "tools.sh"] {
        fs::copy(checkout("install").join(name), install.join(name)).expect("copied");
    }
    let mut command = Command::new(install.join("test-bare"));
    command.env_clear().env("PATH", "/usr/bin:/bin").current_dir("/").stdin(Stdio::null());
    if rustix::process::geteuid().is_root() {
        command.uid(65_534).gid(65_534);
    }
    let said = says(&mut command, 77);
    assert_eq!(said.lines().last(), Some("next:  sudo install/test-bare"), "{said}");
    assert!(said.contains("this needs root: it makes a root directory, mounts, and changes into it"), "{said}");
    assert_eq!(fs::read_dir(place.path()).expect("place").count(), 1, "nothing was made");
}
