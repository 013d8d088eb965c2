//! `locked init`.
#![forbid(unsafe_code)]

use std::fs;

use serde_json::Value;

use crate::run::stage::{Stage, ends, json, says, silent, text};
use crate::world::World;

#[test]
fn it_says_what_it_found_and_writes_settings_that_set_nothing() {
    let stage = Stage::new();
    let work = stage.world.work();
    for (file, text) in [
        (".github/workflows/sync-secrets.yml", "on: push\n"),
        (".github/workflows/ci.yml", "on: push\n"),
        ("stacks/n8n/docker-compose.prod.yml", "services: {}\n"),
        ("plain.yaml", "a: 1\n"),
        (".gitignore", "ignored/\n"),
        ("ignored/compose.yaml", "services: {}\n"),
    ] {
        fs::create_dir_all(work.join(file).parent().expect("parent")).expect("directory");
        fs::write(work.join(file), text).expect("written");
    }
    let show = |stage: &Stage| silent(stage.world.locked().args(["config", "show"]));
    let before = show(&stage);
    fs::create_dir(work.join("below")).expect("directory");
    let said = silent(stage.world.locked().arg("init").current_dir(work.join("below")));
    let root = fs::canonicalize(&work).expect("work");
    assert!(
        said.starts_with(&format!("wrote {}/.locked.toml: every setting as a comment\n", root.display())),
        "{said}"
    );
    let found = "found: 1 SOPS file (secrets/monitoring.env.sops), 1 file of creation rules (.sops.yaml), \
                 1 compose file (stacks/n8n/docker-compose.prod.yml), \
                 1 workflow about secrets (.github/workflows/sync-secrets.yml)\n";
    assert!(said.contains(found), "{said}");
    let after = show(&stage);
    let said_of_the_file = |line: &&str| !line.contains(".locked.toml");
    assert_eq!(after.lines().filter(said_of_the_file).collect::<Vec<_>>(), before.lines().collect::<Vec<_>>());

    // Never over what is there.
    let file = work.join(".locked.toml");
    fs::write(&file, "wait = \"1m\"\n").expect("written");
    let again: Value = json(stage.world.locked().args(["init", "--json"]));
    assert_eq!((&again["written"], &again["found"]["sops"][0]), (&false.into(), &"secrets/monitoring.env.sops".into()));
    assert!(silent(stage.world.locked().arg("init")).starts_with("left as it is: "));
    assert_eq!(fs::read_to_string(&file).expect("file"), "wait = \"1m\"\n");
    fs::rename(&file, work.join("elsewhere.toml")).expect("moved");
    std::os::unix::fs::symlink("elsewhere.toml", &file).expect("linked");
    assert!(silent(stage.world.locked().arg("init")).starts_with("left as it is: "), "a link to one is one");
}

/// Where nobody could read settings from what is there, it is said, nothing is done, and the line to type helps.
#[test]
fn what_is_no_file_of_settings_is_no_success() {
    let stage = Stage::new();
    let file = stage.world.work().join(".locked.toml");
    type Put = fn(&std::path::Path);
    let ways: [(&str, Put); 3] = [
        ("is a directory", |file| fs::create_dir(file).expect("directory")),
        ("is a link that leads nowhere", |file| std::os::unix::fs::symlink("/nowhere/at/all", file).expect("linked")),
        ("is no file", |file| drop(std::os::unix::net::UnixListener::bind(file).expect("socket"))),
    ];
    for (what, put) in ways {
        put(&file);
        for words in [&["init"][..], &["init", "--json"], &["init", "--yes"]] {
            let said = says(stage.world.locked().args(words), 78);
            assert!(said.contains(what) && said.lines().count() <= 5, "{said}");
        }
        assert!(!stage.world.work().join(".git/hooks/pre-commit").exists(), "nothing was done");
        let said = says(stage.world.locked().arg("init"), 78);
        let next = said.lines().find_map(|line| line.strip_prefix("next:  ")).expect("a line to type");
        typed(&stage.world, next);
        assert!(file.is_file(), "{what}: {next}");
        fs::remove_file(&file).expect("removed");
    }
}

/// As a person types it, with `locked` on PATH.
fn typed(world: &World, line: &str) {
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_locked")).parent().expect("bin");
    let path = crate::run::stage::in_front(bin);
    silent(world.command("bash").args(["-c", line]).env("PATH", path));
}

#[test]
fn names_of_others_reach_no_terminal_as_they_are() {
    let stage = Stage::new();
    let work = stage.world.work();
    let sops = fs::read(stage.file()).expect("file");
    fs::write(work.join("\u{1b}[2J\u{202e}x.env.sops"), sops).expect("file");
    let said = silent(stage.world.locked().arg("init"));
    assert!(said.contains("\\033[2J") && !said.contains(['\u{1b}', '\u{202e}']), "{said:?}");
}

/// Where the hooks are is told by the way that leads there, from wherever it is asked.
#[test]
fn the_hooks_place_is_told_without_detours() {
    let stage = Stage::new();
    let below = stage.world.work().join("a/b");
    fs::create_dir_all(&below).expect("directory");
    let hooks = fs::canonicalize(stage.world.work()).expect("work").join(".git/hooks");
    let whole = hooks.display().to_string();
    for words in [&["init", "--yes"][..], &["hooks", "status"], &["hooks", "install"], &["hooks", "uninstall"]] {
        let mut command = stage.world.locked();
        let said = text(&ends(command.args(words).current_dir(&below), 0).stdout);
        assert!(said.contains(&whole) && !said.contains("/../"), "{words:?}: {said}");
    }
}

/// Without a terminal nobody is asked and nothing else is done: the commands are told, and every one of them exists.
#[test]
fn what_is_offered_exists_and_is_not_done_unasked() {
    let stage = Stage::new();
    let answer: Value = json(stage.world.locked().args(["init", "--json"]));
    let offers = answer["offers"].as_array().expect("a list");
    assert!(offers.iter().all(|offer| offer["done"].is_null()), "{answer}");
    let said = silent(stage.world.locked().arg("init"));
    let told: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("next:  ")).collect();
    let listed: Vec<&str> = offers.iter().filter_map(|offer| offer["command"].as_str()).collect();
    assert_eq!(told, listed);
    for line in listed {
        silent(stage.world.locked().args(line.split(' ').skip(1)).arg("--help"));
    }
}

#[test]
fn outside_of_a_repository_there_is_no_place_for_it() {
    let world = World::new();
    let said = says(world.locked().arg("init"), 64);
    assert!(said.contains("no git repository") && said.contains("next:  git init"), "{said}");
    assert!(fs::read_dir(world.work()).expect("work").next().is_none());
}

/// On a terminal of its own: answers every question with this, and shows what was said.
const ON_A_TERMINAL: &str = r"
import os, pty, sys
child, screen = pty.fork()
if child == 0: os.execv(sys.argv[2], sys.argv[2:])
said, answered = b'', 0
while True:
    try: part = os.read(screen, 1024)
    except OSError: break
    if not part: break
    said += part
    while said.count(b'[y/N] ') > answered:
        answered += 1
        os.write(screen, sys.argv[1].encode() + b'\n')
sys.stdout.buffer.write(said)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
";

#[test]
fn on_a_terminal_each_offer_is_asked_for_and_only_a_yes_is_one() {
    for (answer, done) in [("n", false), ("", false), ("y", true)] {
        let stage = Stage::new();
        let listed: Value = json(stage.world.locked().args(["init", "--json"]));
        let offers = listed["offers"].as_array().expect("a list").len();
        let shims = stage.world.root().join("shims");
        let mut command = stage.world.command("python3");
        command.args(["-c", ON_A_TERMINAL, answer, env!("CARGO_BIN_EXE_locked"), "init"]);
        let said = silent(command.env("LOCKED_SHIMS_DIR", &shims));
        assert_eq!(said.matches("[y/N] ").count(), offers, "{said}");
        assert_eq!(said.matches("next:  ").count(), if done { 0 } else { offers }, "{said}");
        assert_eq!(shims.exists(), done && said.contains("locked shims install"), "{said}");
    }
}

#[test]
fn yes_does_all_that_is_offered() {
    let stage = Stage::new();
    let mut command = stage.world.locked();
    command.args(["init", "--yes", "--json"]).env("LOCKED_SHIMS_DIR", stage.world.root().join("shims"));
    let answer: Value = json(&mut command);
    assert!(answer["offers"].as_array().expect("a list").iter().all(|offer| offer["done"] == true), "{answer}");
}

/// What stands is not offered again, and what was taken away is.
#[test]
fn what_is_in_place_is_no_next_step() {
    let stage = Stage::new();
    let shims = stage.world.root().join("shims");
    let init = |words: &[&str]| {
        let mut command = stage.world.locked();
        command.arg("init").args(words).env("LOCKED_SHIMS_DIR", &shims);
        text(&ends(&mut command, 0).stdout)
    };
    assert!(init(&[]).contains("next:  locked shims install"));
    init(&["--yes"]);
    let said = init(&[]);
    assert!(!said.contains("next: "), "{said}");
    fs::remove_dir_all(&shims).expect("gone");
    let said = init(&[]);
    assert!(said.contains("next:  locked shims install") && !said.contains("hooks install"), "{said}");
}
