//! `locked shims install`, `list`, `remove` and `path`.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use serde_json::Value;

use crate::world::board::{install as copy, json, write_program};
use crate::world::ends::{ends, says, text};

use super::{LOCKED, Place, names};

/// A place without shims.
fn bare() -> Place {
    let place = Place::new();
    fs::remove_dir_all(place.at("shims")).expect("no shims");
    place
}

fn said(place: &Place, words: &[&str], path: &[&str]) -> String {
    text(&ends(place.shims(words).env("PATH", place.path(path)), 0).stdout)
}

#[test]
fn the_ready_tools_and_those_that_are_asked_for() {
    let place = bare();
    let config = place.directory("config/locked");
    let rules = "[[rule]]\nname = \"n8n\"\nprogram = [\"n8nctl\", \"/opt/x\"]\nresource = \"container:n8n\"\n\
        [[rule]]\nname = \"off\"\nprogram = \"never\"\nenabled = false\n\
        [[rule]]\nname = \"far\"\nprogram = \"elsewhere\"\non = \"remote\"\nresource = \"a:b\"\n";
    fs::write(config.join("config.toml"), rules).expect("rules");
    let ready = ["docker", "docker-compose", "gh", "sops"];
    for (words, more) in [
        (&[][..], &[][..]),
        (&["--all"], &["rsync", "scp", "sftp", "ssh"]),
        (&["--from-rules"], &["n8nctl", "podman"]),
        (&["tool", "tool"], &["tool"]),
    ] {
        let folder = tempfile::tempdir_in(place.world.root()).expect("folder");
        let folder = folder.path().join("a/b").to_str().expect("UTF-8").to_owned();
        let mut command = place.shims(&[&["install", "--dir", &folder], words].concat());
        ends(command.env("XDG_CONFIG_HOME", place.at("config")), 0);
        let found = names(Path::new(&folder));
        let missing: Vec<_> = more.iter().filter(|name| !found.iter().any(|found| found == *name)).collect();
        assert!(missing.is_empty(), "{words:?}: {missing:?} of {found:?}");
        assert_eq!(ready.iter().all(|name| found.iter().any(|found| found == name)), words != ["tool", "tool"]);
        for never in ["never", "elsewhere", "locked", "x"] {
            assert!(!found.iter().any(|found| found == never), "{words:?}: {found:?}");
        }
        if words.is_empty() {
            assert_eq!(found, ready);
        }
    }
}

#[test]
fn twice_is_once_and_what_is_left_to_do_is_said() {
    let place = bare();
    let first = said(&place, &["install", "tool", "absent"], &["real"]);
    let shims = place.at("shims").display().to_string();
    assert!(first.starts_with(&format!("{shims} has shims of tool absent\n")), "{first}");
    assert!(first.contains("not installed here: absent; until then its shim ends with 127"), "{first}");
    assert!(first.contains(&format!("export PATH={shims}:\"$PATH\"")) && first.contains("hash -r"), "{first}");
    let before = fs::symlink_metadata(place.at("shims/tool")).expect("shim").modified().expect("time");

    let again = said(&place, &["install", "tool"], &["shims", "real"]);
    assert_eq!(again, format!("{shims} has shims of tool\n"), "nothing is left to do");
    assert_eq!(fs::symlink_metadata(place.at("shims/tool")).expect("shim").modified().expect("time"), before);

    let behind = said(&place, &["install", "tool"], &["real", "shims"]);
    assert!(behind.contains("real/tool is found before the shim, so that it runs without locked"), "{behind}");
    assert!(behind.contains("export PATH="), "{behind}");
    let mode = fs::metadata(place.at("shims")).expect("folder").permissions().mode();
    assert_eq!(mode & 0o777, 0o755, "others may follow the links, and change none");
}

#[test]
fn what_it_says_in_json() {
    let place = bare();
    write_program(&place.at("real/gh"), "#!/bin/sh\n");
    fs::create_dir(place.at("shims")).expect("folder");
    fs::write(place.at("shims/gh"), "somebody's").expect("foreign");
    let mut install = place.shims(&["install", "--json", "tool", "gh"]);
    let output = ends(install.env("PATH", place.path(&["shims", "real"])), 78);
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["folder"], place.at("shims").to_str().expect("UTF-8"));
    assert_eq!((&answer["on_path"], &answer["shims"][0]["result"]), (&true.into(), &"made".into()));
    assert_eq!((&answer["shims"][0]["stands"], &answer["shims"][1]["result"]), (&"first".into(), &"refused".into()));
    let listed: Value = json(place.shims(&["list", "--json"]).env("PATH", place.path(&["real", "shims"])));
    assert_eq!(listed.as_array().expect("list").len(), 1);
    let [stands, before] = ["stands", "before"].map(|field| listed[0][field].clone());
    assert_eq!((stands, before), ("behind".into(), place.at("real/tool").to_str().expect("UTF-8").into()));
}

#[test]
fn what_is_not_ours_stays_and_what_is_no_name_is_refused() {
    let place = bare();
    fs::create_dir(place.at("shims")).expect("folder");
    symlink("/bin/sh", place.at("shims/tool")).expect("link");
    fs::create_dir(place.at("shims/one")).expect("directory");
    symlink("/nowhere/else", place.at("shims/two")).expect("dangling");
    for name in ["tool", "one", "two"] {
        for verb in ["install", "remove"] {
            let refused = says(&mut place.shims(&[verb, name, "three"]), 78);
            assert!(refused.contains(&format!("shims/{name}\" is not ours")), "{verb}: {refused}");
            // The others are done all the same.
            assert_eq!(place.at("shims/three").exists(), verb == "install", "{verb} {name}");
        }
    }
    assert_eq!(names(&place.at("shims")), ["one", "tool", "two"]);
    for name in ["locked", "locked-0.2", "a/b", "/bin/sh", "", ".x"] {
        says(&mut place.shims(&["install", "--", name]), 64);
        says(&mut place.shims(&["remove", "--", name]), 64);
    }
    says(&mut place.shims(&["remove"]), 64);
    says(&mut place.shims(&["install", "--dir", "x", "--system"]), 64);
    assert_eq!(names(&place.at("shims")), ["one", "tool", "two"]);
}

#[test]
fn they_lead_to_a_path_that_lasts() {
    let place = bare();
    copy(LOCKED, &place.directory("cellar/1").join("locked"), "0755");
    copy(LOCKED, &place.directory("cellar/2").join("locked"), "0755");
    let launcher = place.directory("bin").join("locked");
    symlink("../cellar/1/locked", &launcher).expect("launcher");
    let leads_to = || fs::read_link(place.at("shims/tool")).expect("shim");
    // As PATH finds it, also when it is called by its real path; else as it is called.
    for (program, path) in [("cellar/1/locked", "bin"), ("bin/locked", "real")] {
        let mut install = place.world.command(place.at(program));
        ends(install.args(["shims", "install", "tool"]).env("PATH", place.path(&[path])), 0);
        assert_eq!(leads_to(), launcher, "{program}");
    }
    let mut relative = place.world.command("../bin/../bin/./locked");
    ends(relative.args(["shims", "install", "tool"]).env("PATH", "/nowhere"), 0);
    assert!(leads_to().is_absolute() && leads_to().ends_with("bin/locked"), "{:?}", leads_to());
    // The next version comes, and the one before goes.
    ends(place.world.command(&launcher).args(["shims", "install", "tool"]).env("PATH", place.path(&["bin"])), 0);
    fs::remove_file(&launcher).expect("launcher");
    fs::remove_dir_all(place.at("cellar/1")).expect("the old version");
    let broken = said(&place, &["list"], &["shims", "real"]);
    assert!(broken.contains("broken") && broken.contains("where locked is no longer"), "{broken}");
    symlink("../cellar/2/locked", &launcher).expect("launcher");
    place.ends_at_the_real(&["shims", "real"]);
    // Or it goes to another place; then they are made anew.
    fs::remove_file(&launcher).expect("launcher");
    said(&place, &["install", "tool"], &["real"]);
    place.ends_at_the_real(&["shims", "real"]);
}

#[test]
fn list_and_remove_know_what_is_ours() {
    let place = bare();
    assert!(said(&place, &["list"], &["real"]).contains("no shims in"));
    assert_eq!(said(&place, &["path"], &["real"]), format!("{}\n", place.at("shims").display()));
    assert_eq!(said(&place, &["path", "--system"], &["real"]), "/usr/local/lib/locked/shims\n");
    said(&place, &["install", "tool", "one", "two"], &["real"]);
    // The program itself and others may lie in the same folder.
    copy(LOCKED, &place.at("shims/locked"), "0755");
    copy(LOCKED, &place.at("shims/copied"), "0755");
    copy("/bin/sh", &place.at("shims/other"), "0755");
    let list = said(&place, &["list"], &["shims", "real"]);
    let tools: Vec<_> = list.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(tools, ["copied", "one", "tool", "two"]);
    let tool = list.lines().find(|line| line.starts_with("tool")).expect("tool");
    assert!(tool.contains("first") && tool.ends_with("real/tool"), "{list}");
    assert_eq!(said(&place, &["remove", "one", "none"], &["real"]), "removed one; no shim of none\n");
    assert_eq!(said(&place, &["remove", "--all"], &["real"]), "removed copied tool two\n");
    assert_eq!(names(&place.at("shims")), ["locked", "other"]);
    assert_eq!(said(&place, &["remove", "--all"], &["real"]), "no shims\n");
}

/// A shell that knows where the program was goes there until it is told to forget.
#[test]
fn a_shell_that_ran_the_program_before_must_be_told() {
    let place = bare();
    fs::create_dir(place.at("shims")).expect("folder");
    write_program(&place.at("real/docker"), "#!/bin/sh\necho \"${LOCKED_RESOURCES-bare}\"\n");
    let line = "docker compose -p shop down; \"$LOCKED\" shims install docker | tail -n 1\n\
        docker compose -p shop down; hash -r; docker compose -p shop down";
    let mut shell = place.world.command("/bin/bash");
    shell.args(["--norc", "-c", line]).env("LOCKED", LOCKED);
    shell.env("PATH", place.path(&["shims", "real", "=/usr/bin", "=/bin"]));
    let output = ends(&mut shell, 0);
    let said = text(&output.stdout);
    let lines: Vec<_> = said.lines().collect();
    assert!(lines[1].contains("hash -r"), "{said}");
    assert_eq!([lines[0], lines[2], lines[3]], ["bare", "bare", "container:shop"]);
}

#[test]
fn a_place_that_cannot_be_had_is_said() {
    let place = bare();
    fs::write(place.at("file"), "").expect("file");
    let folder = place.at("file").join("shims").to_str().expect("UTF-8").to_owned();
    let refused = says(&mut place.shims(&["install", "--dir", &folder, "tool"]), 78);
    assert!(refused.contains("cannot be made") && refused.contains("file"), "{refused}");
    let mut relative = place.shims(&["path"]);
    assert!(says(relative.env("LOCKED_SHIMS_DIR", "here"), 78).contains("LOCKED_SHIMS_DIR is relative"));
}
