//! The same by the program as built.
#![forbid(unsafe_code)]

use crate::world::World;
use crate::world::ends::{ends, says, so};

/// A person may have taken it by hand, with `-r`, `acquire` or `steal`: it is theirs until somebody says that they are gone.
#[test]
fn a_zone_that_asks_asks_also_where_it_was_named_by_hand() {
    for world in World::both("zones_by_hand") {
        let home = world.root().join("settings");
        std::fs::create_dir_all(home.join("locked")).expect("directory");
        let settings = "zone = [{ name = \"Z\", paths = [\"b.md\"], stale = \"ask\" }]";
        std::fs::write(home.join("locked/config.toml"), settings).expect("settings");
        let locked = |session, words: &[&str]| {
            let mut command = world.locked_as(session);
            command.current_dir(world.work()).env("XDG_CONFIG_HOME", &home).args(words);
            command
        };
        let by_steal = ["steal", "zone:Z", "--ttl", "1s", "--reason", "gone", "--approved-by", "Maria"];
        let taken = [(1, &["acquire", "zone:Z", "--ttl", "1s"][..]), (2, &by_steal)];
        for (session, words) in taken {
            ends(&mut locked(session, words), 0);
            so("it runs out", || world.status()[0]["state"] == "expired");
            for others in [&["-n", "tee", "b.md"][..], &["-n", "-r", "zone:Z", "true"], &["acquire", "-n", "zone:Z"]] {
                let said = says(&mut locked(3, others), 75);
                assert!(said.contains("when a person has said that it is stale"), "{others:?}: {said}");
            }
        }
    }
}

#[test]
fn a_command_in_two_zones_holds_both_while_it_runs() {
    let world = World::new();
    let rules = r#"zone = [{ name = "T", paths = ["b.md"] }, { name = "D", commands = ["sh -c *"] }]"#;
    let home = world.root().join("settings");
    std::fs::create_dir_all(home.join("locked")).expect("directory");
    std::fs::write(home.join("locked/config.toml"), rules).expect("settings");
    let mut command = world.locked();
    command.current_dir(world.work()).env("XDG_CONFIG_HOME", &home).args(["-n", "sh", "-c"]);
    let output = command.arg("echo \"$LOCKED_RESOURCES\" | tee b.md").output().expect("locked runs");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "zone:D zone:T\n");
    let read = world.locked().current_dir(world.work()).env("XDG_CONFIG_HOME", &home).args(["cat", "b.md"]).output();
    assert_eq!(String::from_utf8_lossy(&read.expect("locked runs").stdout), "zone:D zone:T\n");
}
