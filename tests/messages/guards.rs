//! Hooks of git, the audit, agents, shims: who stands beside the wrapper.
#![forbid(unsafe_code)]

use std::fs;
use std::process::{Command, Stdio};

use super::table::Chapter;
use crate::hooks::yard::{FILE, Yard, versions};
use crate::run::stage::Stage;

pub(super) fn played() -> Chapter {
    let mut told = Chapter::new("Hooks, audit, agents, shims");
    commits(&mut told);
    audited(&mut told);
    edits(&mut told);
    shims(&mut told);
    told
}

fn hook(yard: &Yard) -> Command {
    let mut command = yard.locked();
    command.args(["hooks", "run", "pre-commit"]);
    command
}

fn staged(yard: &Yard, path: &str, content: &[u8]) {
    yard.write(path, content);
    yard.git(&["add", "-A"]);
}

fn commits(told: &mut Chapter) {
    let yard = Yard::without_hooks();
    let world = &yard.world;
    told.plays(world, "hooks are put in", yard.locked().args(["hooks", "install"]));
    told.plays(world, "are the hooks there?", yard.locked().args(["hooks", "status"]));
    staged(&yard, "secrets/b.env", b"PASSWORD=1\n");
    told.plays(world, "a commit with plaintext where SOPS belongs", &mut hook(&yard));
    told.plays(world, "the same past the hook, with a reason", hook(&yard).env("LOCKED_BYPASS", "a file for a test"));
    told.plays(world, "the same past the hook, with an empty reason", hook(&yard).env("LOCKED_BYPASS", ""));
    yard.reset();
    staged(&yard, FILE, &versions().second);
    told.plays(world, "a commit of what was written without locked", &mut hook(&yard));
    yard.reset();
    let broken = String::from_utf8(versions().second.clone()).expect("UTF-8").replace("sops_mac=", "sops_mac_=");
    staged(&yard, FILE, broken.as_bytes());
    told.plays(world, "a commit of a broken file", &mut hook(&yard));
    yard.reset();
    staged(&yard, FILE, b"");
    told.plays(world, "a commit of an empty file", &mut hook(&yard));
    yard.reset();
    told.plays(world, "hooks are taken out", yard.locked().args(["hooks", "uninstall"]));
    told.plays(world, "and once more", yard.locked().args(["hooks", "uninstall"]));
}

fn audited(told: &mut Chapter) {
    let yard = Yard::without_hooks();
    let world = &yard.world;
    told.plays(world, "an audit that finds nothing", yard.locked().args(["audit", "HEAD"]));
    staged(&yard, "secrets/p.env", b"A=1\n");
    yard.git(&["commit", "-q", "--no-verify", "-m", "p"]);
    staged(&yard, FILE, &versions().foreign);
    yard.git(&["commit", "-q", "--no-verify", "-m", "foreign"]);
    told.plays(world, "an audit that finds something", yard.locked().args(["audit", "base..HEAD"]));
    told.plays(world, "a range that is none", yard.locked().args(["audit", "nobody..HEAD"]));
}

fn edits(told: &mut Chapter) {
    let stage = Stage::new();
    let world = &stage.world;
    told.plays(world, "agents are told", stage.locked(1).args(["agents", "install", "claude"]));
    told.plays(world, "are they?", stage.locked(1).args(["agents", "status"]));
    let file = stage.file();
    let call = |tool: &str, input: serde_json::Value| {
        let call = serde_json::json!({"session_id": "s", "cwd": stage.world.work(), "hook_event_name": "PreToolUse",
                                      "tool_name": tool, "tool_input": input});
        let path = stage.world.root().join("call.json");
        fs::write(&path, call.to_string()).expect("call");
        let mut command = stage.locked(1);
        command.args(["agents", "check", "claude"]).stdin(Stdio::from(fs::File::open(path).expect("call")));
        command
    };
    let edit = serde_json::json!({"file_path": file, "old_string": "a", "new_string": "b"});
    told.plays(world, "an agent's editor would write into a SOPS file", &mut call("Edit", edit));
    told.plays(
        world,
        "an agent's shell would remove a SOPS file",
        &mut call("Bash", serde_json::json!({"command": format!("rm {}", file.display())})),
    );
    told.plays(world, "agents are told no more", stage.locked(1).args(["agents", "remove", "claude"]));
}

fn shims(told: &mut Chapter) {
    let stage = Stage::new();
    let world = &stage.world;
    told.plays(world, "shims are put in", stage.locked(1).args(["shims", "install", "sops"]));
    told.plays(world, "which are there?", stage.locked(1).args(["shims", "list"]));
    let mut shim = stage.locked(1);
    shim.args(["shims", "exec", "docker", "compose", "-p", "shop", "down"]);
    let docker = crate::run::stage::in_front(&world.script("docker", "true"));
    told.plays(
        world,
        "through a shim without a lease, with a reason",
        shim.env("PATH", docker).env("LOCKED_BYPASS", "the store moves today"),
    );
    told.plays(world, "shims are taken out", stage.locked(1).args(["shims", "remove", "sops"]));
}
