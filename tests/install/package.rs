//! The Debian package's list, and the GitHub action.
#![forbid(unsafe_code)]

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use super::place::{MOUNTS, checkout};
use crate::run::stage::silent;
use crate::world::World;
use crate::world::apart::{first_that_runs, this_test};
use crate::world::ends::left_out;

/// The package has what the installer installs, but for its own way to go.
#[test]
fn the_package_has_every_file_that_is_installed() {
    let manifest: toml::Table =
        toml::from_str(&fs::read_to_string(checkout("Cargo.toml")).expect("manifest")).expect("TOML");
    let assets = manifest["package"]["metadata"]["deb"]["assets"].as_array().expect("assets");
    let cell = |row: &toml::Value, at: usize| row[at].as_str().expect("text").to_owned();
    let sources: Vec<String> = assets.iter().map(|row| cell(row, 0)).collect();
    for source in &sources {
        let there = source.strip_suffix("/*").unwrap_or(source);
        assert!(source == "target/release/locked" || checkout(there).exists(), "{source} does not exist");
    }
    for row in assets {
        let mode = if cell(row, 0) == "target/release/locked" { "755" } else { "644" };
        assert_eq!(cell(row, 2), mode, "{row:?}");
    }
    for room in ["install/man", "install/completions"] {
        for entry in fs::read_dir(checkout(room)).expect(room) {
            let path = format!("{room}/{}", entry.expect("entry").file_name().display());
            assert!(sources.contains(&path), "{path} is not packaged");
        }
    }
}

/// When the package goes, so do its shims for everybody, and the folder when it is empty then.
#[test]
fn the_package_takes_its_shims_along_and_no_others() {
    let Some(inside) = first_that_runs(&MOUNTS) else {
        return left_out(this_test!(), "no mount namespace for this user");
    };
    let script = "set -e; mount -t tmpfs none /usr/local; shims=/usr/local/lib/locked/shims; mkdir -p $shims
        ln -s /usr/bin/locked $shims/sops; ln -s /opt/x/bin/locked $shims/gh; sh \"$0\" upgrade 1; ls $shims
        echo; sh \"$0\" remove; ls $shims; rm $shims/gh; ln -s /usr/bin/locked $shims/gh; sh \"$0\" remove
        find /usr/local -mindepth 1";
    let world = World::new();
    let mut command = world.command(inside[0]);
    command.args(&inside[1..]).args(["sh", "-c", script]).arg(checkout("install/debian/prerm"));
    assert_eq!(silent(&mut command), "gh\nsops\n\ngh\n/usr/local/lib\n");
}

/// The steps of the action that run something, each with what shellcheck says of it.
#[test]
fn the_action_s_steps_are_sound_and_nothing_of_others_is_unpinned() {
    let action = fs::read_to_string(checkout(".github/actions/locked/action.yml")).expect("action");
    let world = World::new();
    let mut blocks = Vec::new();
    let mut lines = action.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(indent) = line.find("run: |") else { continue };
        let mut block = String::new();
        while let Some(line) = lines.next_if(|line| line.is_empty() || line.len() - line.trim_start().len() > indent) {
            block.push_str(line.get(indent + 2..).unwrap_or_default());
            block.push('\n');
        }
        blocks.push(block);
    }
    assert_eq!(blocks.len(), 3, "install, shims, audit");
    for block in &blocks {
        // What a pull request's author chooses may reach a shell as a value only.
        assert!(!block.contains("${{"), "{block}");
        let mut check = world.command("shellcheck");
        check.args(["--shell=bash", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut check = check.spawn().expect("shellcheck; install/test installs it");
        check.stdin.take().expect("piped").write_all(block.as_bytes()).expect("written");
        let said = check.wait_with_output().expect("ends");
        assert!(said.status.success(), "{block}\n{}", String::from_utf8_lossy(&said.stdout));
    }
    let files = [".github/actions/locked/action.yml", ".github/workflows/ci.yml"];
    for line in files.map(|file| fs::read_to_string(checkout(file)).expect(file)).join("\n").lines() {
        let Some((_, used)) = line.split_once("uses: ") else { continue };
        // Our own, in an example, is the reader's to pin.
        let commit = used.split_once('@').expect("a version").1.split(' ').next().expect("a word");
        let pinned = commit.len() == 40 && commit.chars().all(|letter| letter.is_ascii_hexdigit());
        assert!(pinned || commit == "COMMIT", "{line} is not pinned to a commit");
    }
    // Each option that it gives to the installer, and each verb, exists.
    let help = silent(world.command(checkout("install/install.sh")).arg("--help"));
    for option in ["--prefix", "--from", "--sha256"] {
        assert!(blocks[0].contains(option) && help.contains(option), "{option}");
    }
}
