//! Other people's settings and instructions: merged, renewed, taken out again, or refused and left as they are.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::Value;

use super::bench::{ends, says, text};
use crate::world::World;

fn settings(world: &World) -> PathBuf {
    world.root().join("home/.claude/settings.json")
}

fn put(world: &World, content: &str) {
    fs::create_dir_all(settings(world).parent().expect("parent")).expect("directory");
    fs::write(settings(world), content).expect("written");
}

/// Without its comments it is JSON; the hooks are ours, each once.
fn hooks(content: &str) -> Vec<String> {
    let plain: String = content.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let value: Value = serde_json::from_str(&plain).unwrap_or_else(|error| panic!("{error}: {content}"));
    let events = value["hooks"].as_object().expect("hooks");
    let mut found: Vec<String> = Vec::new();
    for (event, groups) in events {
        for group in groups.as_array().expect("a list") {
            for handler in group["hooks"].as_array().expect("handlers") {
                let command = handler["command"].as_str().expect("a command");
                if command.ends_with("locked agents check") {
                    assert!(handler["type"] == "command" && handler["timeout"].is_u64(), "{handler}");
                    found.push(format!("{event} {}", group["matcher"].as_str().unwrap_or_default()));
                }
            }
        }
    }
    found.sort();
    found
}

const WHOLE: [&str; 4] = [
    "PreToolUse Bash|Monitor|PowerShell",
    "PreToolUse Edit|Write|MultiEdit|NotebookEdit|mcp__.*",
    "SessionEnd ",
    "SessionStart ",
];

#[test]
fn settings_are_merged_once_and_come_back_byte_for_byte() {
    for before in [
        "{}",
        "{\n  \"model\": \"opus\"\n}\n",
        "{\"permissions\":{\"allow\":[\"Bash(ls)\"]},\"model\":\"opus\"}",
        "{\n\t\"z\": 1,\n\t\"hooks\": {\n\t\t\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}]\n\t},\n\t\"a\": 2\n}\n",
        "{\n    \"hooks\": {\n        \"PreToolUse\": [\n            {\n                \"matcher\": \"Bash\",\n                \"hooks\": [\n                    { \"type\": \"command\", \"command\": \"mine.sh\", \"timeout\": 5 }\n                ]\n            }\n        ],\n        \"SessionStart\": [{ \"hooks\": [{ \"type\": \"command\", \"command\": \"hello\" }] }]\n    }\n}\n",
        "{\r\n  \"env\": {\r\n    \"A\": \"ä \\u00e4 // no comment\"\r\n  }\r\n}\r\n",
        "{\n  // ours\n  \"model\": \"opus\" // the best\n}\n",
        "\u{feff}{\n  \"n\": 1e400,\n  \"big\": 123456789012345678901234567890\n}\n",
    ] {
        let world = World::in_memory();
        put(&world, before);
        let told = text(&ends(world.locked().args(["agents", "install", "claude"]), 0).stdout);
        assert!(told.contains("settings.json: installed\n") && told.contains("CLAUDE.md: installed\n"), "{told}");
        let once = fs::read_to_string(settings(&world)).expect("settings");
        if !before.starts_with('\u{feff}') {
            assert_eq!(hooks(&once.replace("// no comment", "")), WHOLE, "{before}");
        }
        for line in before.lines().filter(|line| line.contains("mine.sh") || line.contains("say done")) {
            assert!(once.contains(line.trim()), "{once}");
        }
        let told = text(&ends(world.locked().args(["agents", "install", "claude"]), 0).stdout);
        assert!(told.contains("settings.json: kept\n") && told.contains("CLAUDE.md: kept\n"), "{told}");
        assert_eq!(fs::read_to_string(settings(&world)).expect("settings"), once);
        ends(world.locked().args(["agents", "remove", "claude"]), 0);
        assert_eq!(fs::read_to_string(settings(&world)).expect("settings"), before);
        assert!(!world.root().join("home/.claude/CLAUDE.md").exists(), "there was none");
    }
}

#[test]
fn what_cannot_be_read_is_refused_with_its_place_and_left_as_it_is() {
    for (before, said) in [
        ("{\n  \"a\": 1,\n}\n", "line 3, column 1: a comma stands before the closing bracket"),
        ("{\n  \"a\" 1\n}\n", "line 2, column 7: a colon is missing"),
        ("{\n  \"a\": hunter2\n}\n", "line 2, column 8"),
        ("{", "line 1, column 2: it ends too early"),
        ("[]", "it is no object"),
        ("{\"hooks\": []}", "hooks is no object"),
        ("{\"hooks\": {\"PreToolUse\": {}}}", "hooks.\"PreToolUse\" is no list"),
        ("{\"hooks\": {}, \"hooks\": {}}", "two members called hooks"),
    ] {
        let world = World::in_memory();
        put(&world, before);
        for verb in [&["agents", "install", "claude"][..], &["agents", "remove", "claude"]] {
            let refused = says(world.locked().args(verb), 78);
            assert!(refused.starts_with("REFUSED: ") && refused.contains(said), "{verb:?} {before:?}: {refused}");
            assert!(!refused.contains("hunter2"), "{refused}");
            assert_eq!(fs::read_to_string(settings(&world)).expect("settings"), before);
            assert!(!world.root().join("home/.claude/CLAUDE.md").exists(), "neither or both");
        }
        says(world.locked().args(["agents", "status"]), 78);
    }
    let world = World::in_memory();
    put(&world, "");
    fs::write(settings(&world), b"{\"a\": \"\xff\"}").expect("written");
    assert!(says(world.locked().args(["agents", "install", "claude"]), 78).contains("not UTF-8"));
}

#[test]
fn files_that_are_ours_alone_go_away_and_links_and_modes_stay() {
    let world = World::in_memory();
    ends(world.locked().args(["agents", "install", "claude"]), 0);
    let made = fs::read_to_string(settings(&world)).expect("settings");
    assert_eq!(hooks(&made), WHOLE);
    ends(world.locked().args(["agents", "remove"]), 0);
    assert!(!settings(&world).exists());

    let real = world.root().join("dotfiles.json");
    fs::write(&real, "{\n  \"a\": 1\n}\n").expect("written");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).expect("mode");
    fs::create_dir_all(settings(&world).parent().expect("parent")).expect("directory");
    std::os::unix::fs::symlink("../../dotfiles.json", settings(&world)).expect("linked");
    ends(world.locked().args(["agents", "install", "claude"]), 0);
    assert!(fs::symlink_metadata(settings(&world)).expect("there").is_symlink());
    assert_eq!(hooks(&fs::read_to_string(&real).expect("settings")), WHOLE);
    assert_eq!(fs::metadata(&real).expect("there").permissions().mode() & 0o777, 0o640);
    ends(world.locked().args(["agents", "remove", "claude"]), 0);
    assert_eq!(fs::read_to_string(&real).expect("settings"), "{\n  \"a\": 1\n}\n");
    fs::remove_file(&real).expect("removed");
    assert!(says(world.locked().args(["agents", "install", "claude"]), 78).contains("a link that leads nowhere"));
}

#[test]
fn an_older_version_is_renewed_and_what_somebody_has_put_beside_ours_stays() {
    let world = World::in_memory();
    let old = "{\"hooks\": {\"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"/old/locked agents check\"}, \
               {\"type\": \"command\", \"command\": \"mine\"}]}], \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"'/an old/locked' agents check\"}]}]}}";
    put(&world, old);
    let told = text(&ends(world.locked().args(["agents", "install", "claude"]), 0).stdout);
    assert!(told.contains("settings.json: renewed"), "{told}");
    let renewed = fs::read_to_string(settings(&world)).expect("settings");
    assert_eq!(hooks(&renewed), WHOLE);
    assert!(!renewed.contains("old/locked") && renewed.contains("\"mine\""), "{renewed}");
    ends(world.locked().args(["agents", "remove", "claude"]), 0);
    let rest: Value = serde_json::from_slice(&fs::read(settings(&world)).expect("settings")).expect("JSON");
    assert_eq!(rest["hooks"]["PreToolUse"][0]["hooks"][0]["command"], "mine");
    assert_eq!(rest["hooks"].as_object().map(serde_json::Map::len), Some(1), "{rest}");
}

#[test]
fn a_project_has_files_of_its_own_and_status_tells_of_all() {
    let world = World::in_memory();
    world.git(&world.work(), &["init", "-q"]);
    fs::create_dir(world.work().join("below")).expect("directory");
    fs::write(world.work().join("AGENTS.md"), "# Rules\n").expect("written");
    let mut command = world.locked();
    command.args(["agents", "install", "codex", "--project"]).current_dir(world.work().join("below"));
    let done = ends(&mut command, 0);
    assert!(text(&done.stderr).contains("/hooks"), "{}", text(&done.stderr));
    let settings: Value =
        serde_json::from_slice(&fs::read(world.work().join(".codex/hooks.json")).expect("hooks")).expect("JSON");
    let command = &settings["hooks"]["PreToolUse"][1];
    assert_eq!(command["matcher"], "apply_patch|Edit|Write|mcp__.*");
    // What is committed is right everywhere, and says nothing where there is no `locked`.
    let line = command["hooks"][0]["command"].as_str().expect("a command");
    assert_eq!(line, "! command -v locked >/dev/null || locked agents check codex");
    let mut without = world.command("/bin/sh");
    let silent = ends(without.args(["-c", line]).env("PATH", "/nowhere"), 0);
    assert_eq!((text(&silent.stdout), text(&silent.stderr)), (String::new(), String::new()));
    let rules = fs::read_to_string(world.work().join("AGENTS.md")).expect("rules");
    let printed = text(&ends(world.locked().args(["agents", "install", "print"]), 0).stdout);
    assert_eq!(rules, format!("# Rules\n\n{printed}"));
    assert!(printed.lines().count() <= 15 && printed.contains("BLOCKED") && printed.contains("QUARANTINED"));
    let status: Value =
        serde_json::from_slice(&ends(world.locked().args(["agents", "status", "--json"]), 0).stdout).expect("JSON");
    let of = |agent: &str, level: &str| {
        let all = status.as_array().expect("a list");
        let one = all.iter().find(|it| it["agent"] == agent && it["level"] == level).expect("one");
        (one["hooks"].as_str().expect("a word").to_owned(), one["block"].as_str().expect("a word").to_owned())
    };
    let words = |hooks: &str, block: &str| (hooks.to_owned(), block.to_owned());
    assert_eq!(of("codex", "project"), words("whole", "whole"));
    assert_eq!(of("codex", "user"), words("absent", "absent"));
    assert_eq!(of("claude", "project"), words("absent", "absent"));
    put(&world, "{\"disableAllHooks\": true}");
    ends(world.locked().args(["agents", "install", "claude"]), 0);
    let said = text(&ends(world.locked().args(["agents", "status"]), 0).stdout);
    let row = said.lines().find(|line| line.starts_with("claude  user")).expect("a row");
    assert_eq!(row.split_whitespace().take(4).collect::<Vec<_>>(), ["claude", "user", "off", "whole"], "{said}");
    let said = text(&ends(world.locked().args(["doctor", "agents"]), 78).stdout);
    assert!(said.contains("Claude Code has all hooks switched off"), "{said}");
    ends(world.locked().args(["agents", "remove", "codex", "--project"]), 0);
    assert_eq!(fs::read_to_string(world.work().join("AGENTS.md")).expect("rules"), "# Rules\n");
    assert!(!world.work().join(".codex/hooks.json").exists());
}

#[test]
fn without_a_name_those_are_told_that_are_here() {
    let world = World::in_memory();
    let none = text(&ends(world.locked().args(["agents", "install"]).env("PATH", "/nowhere"), 0).stdout);
    assert!(none.starts_with("no agent is found here"), "{none}");
    fs::create_dir(world.root().join("home/.codex")).expect("directory");
    let moved = world.root().join("elsewhere");
    fs::create_dir(&moved).expect("directory");
    let mut command = world.locked();
    command.args(["agents", "install", "--json"]).env("PATH", "/nowhere").env("CLAUDE_CONFIG_DIR", &moved);
    let done: Value = serde_json::from_slice(&ends(&mut command, 0).stdout).expect("JSON");
    let agents: Vec<&str> =
        done["agents"].as_array().expect("a list").iter().filter_map(|it| it["agent"].as_str()).collect();
    assert_eq!(agents, ["claude", "codex"]);
    assert!(moved.join("settings.json").exists() && world.root().join("home/.codex/hooks.json").exists());
    let half = world.root().join("home/.codex/AGENTS.md");
    fs::write(&half, "<!-- locked: begin -->\nours?\n").expect("written");
    assert!(
        says(world.locked().args(["agents", "remove", "codex"]), 78)
            .contains("AGENTS.md\":1: only one end of our block")
    );
}

/// What was there before stays, be it ever so empty; what was not goes away, with the directory that was made for it.
#[test]
fn the_end_is_as_the_beginning() {
    for before in ["", "{}", "{}\n", "{ }\n", "{\"hooks\": {}}", "{\n  \"hooks\": {\n    \"PreToolUse\": []\n  }\n}\n"]
    {
        let world = World::in_memory();
        put(&world, before);
        let told = world.root().join("home/.claude/CLAUDE.md");
        fs::write(&told, "").expect("written");
        ends(world.locked().args(["agents", "install", "claude"]), 0);
        ends(world.locked().args(["agents", "install", "claude"]), 0);
        ends(world.locked().args(["agents", "remove", "claude"]), 0);
        assert_eq!(fs::read_to_string(settings(&world)).expect("there"), before, "{before:?}");
        assert_eq!(fs::read_to_string(&told).expect("there"), "");
    }
    let world = World::in_memory();
    ends(world.locked().args(["agents", "install", "claude"]), 0);
    ends(world.locked().args(["agents", "remove", "claude"]), 0);
    assert!(!world.root().join("home/.claude").exists(), "it was made for it");
    // What somebody has made in the meantime stays, and so does what a link leads to.
    ends(world.locked().args(["agents", "install", "claude"]), 0);
    let real = world.root().join("dotfiles.json");
    fs::rename(settings(&world), &real).expect("moved");
    std::os::unix::fs::symlink("../../dotfiles.json", settings(&world)).expect("linked");
    fs::write(world.root().join("home/.claude/CLAUDE.md"), "MINE\n").expect("written");
    ends(world.locked().args(["agents", "remove", "claude"]), 0);
    assert_eq!(fs::read_to_string(&real).expect("there"), "{}\n");
    assert_eq!(fs::read_to_string(world.root().join("home/.claude/CLAUDE.md")).expect("there"), "MINE\n");
    assert!(settings(&world).is_symlink());
}

#[test]
fn what_somebody_has_written_himself_is_not_ours() {
    let world = World::in_memory();
    let own = "{\"hooks\": {\"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"./guard.sh && locked agents check\"}]}]}}";
    put(&world, own);
    let rules = world.root().join("home/.claude/CLAUDE.md");
    let text = "The block begins with `<!-- locked: begin -->`.\n\nMINE\n\nand ends with `<!-- locked: end -->`.\n";
    fs::write(&rules, text).expect("written");
    ends(world.locked().args(["agents", "install", "claude"]), 0);
    assert!(fs::read_to_string(settings(&world)).expect("settings").contains("./guard.sh"));
    ends(world.locked().args(["agents", "remove", "claude"]), 0);
    assert_eq!(fs::read_to_string(settings(&world)).expect("settings"), own);
    assert_eq!(fs::read_to_string(&rules).expect("rules"), text);
    let printed = text_of_block(&world);
    let two = format!("{printed}\nMINE\n\n{printed}");
    fs::write(&rules, &two).expect("written");
    for verb in ["install", "remove"] {
        let said = says(world.locked().args(["agents", verb, "claude"]), 78);
        assert!(said.contains("CLAUDE.md\":") && said.contains("a second block"), "{said}");
        assert_eq!(fs::read_to_string(&rules).expect("rules"), two);
        assert_eq!(fs::read_to_string(settings(&world)).expect("settings"), own, "neither or both");
    }
}

fn text_of_block(world: &World) -> String {
    text(&ends(world.locked().args(["agents", "install", "print"]), 0).stdout)
}

#[test]
fn several_at_once_are_one() {
    let world = World::in_memory();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| ends(world.locked().args(["agents", "install", "claude"]), 0));
        }
    });
    assert_eq!(hooks(&fs::read_to_string(settings(&world)).expect("settings")), WHOLE);
    let rules = fs::read_to_string(world.root().join("home/.claude/CLAUDE.md")).expect("rules");
    assert_eq!(rules, text_of_block(&world));
    ends(world.locked().args(["agents", "remove", "claude"]), 0);
    assert!(!world.root().join("home/.claude").exists());
}
