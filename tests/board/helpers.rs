//! The old helper's names in a POSIX shell.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::Command;

use crate::run::stage::{ends, text, uuid};
use crate::world::World;

fn there(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("install").join(name)
}

fn runs(program: &str) -> bool {
    Command::new(program).args(["-c", "exit 0"]).output().is_ok_and(|output| output.status.success())
}

fn shell(world: &World, shell: &str, session: u32, script: &str) -> Command {
    let mut command = world.command(shell);
    command.env("LOCKED", env!("CARGO_BIN_EXE_locked")).env("LOCKED_SESSION", uuid(session));
    command.args(["-c", &format!(". '{}'; {script}", there("env-lock.sh").display())]);
    command
}

#[test]
fn the_posix_twin_has_the_old_names_in_every_shell() {
    for name in ["dash", "bash", "zsh"].into_iter().filter(|name| runs(name)) {
        let world = World::new();
        let said = |session: u32, script: &str, status: i32| {
            let output = ends(&mut shell(&world, name, session, script), status);
            format!("{}{}", text(&output.stdout), text(&output.stderr))
        };
        let acquire = "env_lock Acquire-EnvLock -Resource server:a -Operation 'credential rotation'";
        assert_eq!(said(1, acquire, 0), "acquired server:a for 30m\n", "{name}");
        assert!(
            said(2, &format!("LOCKED_WAIT=0s {acquire}"), 75).starts_with("BLOCKED: server:a is held by 01010101 (")
        );
        let board = said(2, "env_lock Get-EnvLocks", 0);
        assert!(board.contains("server:a") && board.contains("credential rotation"), "{name}: {board}");
        assert_eq!(said(1, "env_lock Update-EnvLockHeartbeat -Resource server:a", 0), "", "{name}");
        said(2, "env_lock Release-EnvLock -Resource server:a", 77);
        let foreign = format!("env_lock Release-EnvLock -Resource server:a -SessionId {}", uuid(1));
        assert_eq!(said(2, &foreign, 0), "", "{name}: who knows the whole session may");
        assert_eq!(
            said(1, "env_lock Acquire-EnvLock -Resource server:a -TtlMinutes 5", 0),
            "acquired server:a for 5m\n"
        );
        for wrong in
            ["Acquire-EnvLock", "Acquire-EnvLock -Resource", "Steal-EnvLock -Resource a:b", "Get-EnvLocks -x y", ""]
        {
            said(1, &format!("env_lock {wrong}"), 64);
        }
        if ["bash", "zsh"].contains(&name) {
            said(
                1,
                "Release-EnvLock -Resource server:a && Acquire-EnvLock -Resource server:b && Get-EnvLocks -Resource server:b",
                0,
            );
        }
        let mut run = world.command(name);
        run.arg(there("env-lock.sh")).args(["Get-EnvLocks"]).env("LOCKED", env!("CARGO_BIN_EXE_locked"));
        assert!(text(&ends(&mut run, 0).stdout).contains("server:"), "{name}: run, not sourced");
    }
}
