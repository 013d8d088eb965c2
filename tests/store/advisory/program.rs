//! The program itself on this store: wrapper, keeper and steward in their own processes.

use std::process::{Child, Stdio};

use crate::world::World;
use crate::world::cluster::{self, Cluster};
use crate::world::ends::{ends, says, so, until};
use crate::world::processes::{children, kill, lives};

use super::lab::locked_by;

/// A world whose user has set the store.
fn world(more: &str) -> World {
    let world = World::new();
    let directory = world.root().join("home/.config/locked");
    std::fs::create_dir_all(&directory).expect("directory");
    let address = format!("postgres://postgres@127.0.0.1:{}/postgres", cluster::shared().port());
    std::fs::write(
        directory.join("config.toml"),
        format!("store = {{ url = \"{address}\", advisory = true{more} }}\n"),
    )
    .expect("written");
    world
}

/// `locked` around a shell script, started, with the file `ready` that the script makes at its beginning.
fn started(world: &World, name: &str, script: &str) -> Child {
    let ready = world.root().join("ready");
    let script = format!("touch {}; {script}", ready.display());
    let mut command = world.locked();
    command.args(["--ttl", "6s", "-r", &format!("server:{name}"), "sh", "-c", &script]);
    let child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    so("the script runs", || ready.exists());
    child
}

/// Wrapper, keeper, script: the keeper is the wrapper's child that has one.
fn keeper_and_script(wrapper: &Child) -> (u32, u32) {
    until("keeper and script", || {
        children(wrapper.id()).into_iter().find_map(|keeper| Some((keeper, *children(keeper).first()?)))
    })
}

fn held(cluster: &Cluster, name: &str) -> bool {
    locked_by(cluster, &format!("server:{name}")) > 0
}

#[test]
fn a_killed_wrapper_leaves_the_lock_until_its_command_is_dead() {
    let (world, cluster) = (world(""), cluster::shared());
    let mut wrapper = started(&world, "wrapper", "trap '' TERM; while :; do sleep 0.1; done");
    let (_, script) = keeper_and_script(&wrapper);
    kill(wrapper.id());
    wrapper.wait().expect("reaped");
    // Order: the look at the lock first, or the command may end between the two.
    so("it is free", || {
        let held = held(cluster, "wrapper");
        assert!(held || !lives(script), "free while its command runs");
        !held
    });
}

#[test]
fn what_two_killed_ones_left_running_is_ended_before_the_lock_falls() {
    let (world, cluster) = (world(""), cluster::shared());
    let mut wrapper = started(&world, "both", "sleep 600 & wait");
    let (keeper, script) = keeper_and_script(&wrapper);
    let rest = until("the script's own child", || children(script).first().copied());
    kill(keeper);
    kill(wrapper.id());
    wrapper.wait().expect("reaped");
    so("it is free", || {
        let held = held(cluster, "both");
        assert!(held || !lives(rest), "free while something of its command runs");
        !held
    });
}

#[test]
fn a_session_that_the_server_ends_stops_the_command() {
    let (world, cluster) = (world(""), cluster::shared());
    let wrapper = started(&world, "ended", "sleep 600");
    let key = super::lab::key_of("server:ended");
    cluster.sql(&format!(
        "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and (classid::int8 << 32 | objid::int8) = {key}"
    ));
    let output = wrapper.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(77), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn one_waits_for_the_other_and_nothing_is_left() {
    let (world, cluster) = (world(""), cluster::shared());
    let first = started(&world, "turns", "read -r _");
    let said = says(world.locked().args(["-n", "-r", "server:turns", "true"]), 75);
    assert!(said.starts_with("BLOCKED: server:turns is held by "), "{said}");
    let second = world.locked().args(["--wait", "60s", "-r", "server:turns", "true"]).spawn().expect("it starts");
    drop(first.wait_with_output().expect("it ends"));
    assert!(second.wait_with_output().expect("it ends").status.success());
    so("no session is left", || !held(cluster, "turns"));
}

#[test]
fn what_cannot_be_given_is_refused_before_the_command_starts() {
    let world = world("");
    let said = says(world.locked().args(["acquire", "server:kept"]), 78);
    assert!(said.contains("no table"), "{said}");
}

#[test]
fn a_bad_file_is_marked_and_restored() {
    let world = world("");
    world.git(&world.work(), &["init", "-q"]);
    let file = world.encrypted("a.yaml", "a: 1\n", "yaml");
    let locked = |words: &[&str]| {
        let mut command = world.locked();
        command.args(words);
        command
    };
    ends(&mut locked(&["sops", "set", "a.yaml", "[\"b\"]", "\"2\""]), 0);
    let bad = world.root().join("bin");
    std::fs::create_dir(&bad).expect("directory");
    let script = format!(
        "#!/bin/sh\ncase $1 in set) : >a.yaml ;; *) exec {} \"$@\" ;; esac\n",
        crate::world::real_sops().display()
    );
    std::fs::write(bad.join("sops"), script).expect("written");
    ends(std::process::Command::new("chmod").arg("755").arg(bad.join("sops")), 0);
    let path = format!("{}:{}", bad.display(), std::env::var("PATH").expect("PATH"));
    let said = says(locked(&["sops", "set", "a.yaml", "[\"c\"]", "\"3\""]).env("PATH", path), 72);
    assert!(said.contains("quarantined on this machine alone"), "{said}");
    ends(&mut locked(&["sops", "set", "a.yaml", "[\"c\"]", "\"3\""]), 72);
    ends(&mut locked(&["restore", "a.yaml"]), 0);
    ends(&mut locked(&["sops", "set", "a.yaml", "[\"c\"]", "\"3\""]), 0);
    assert_eq!(world.decrypted(&file, "yaml"), "a: 1\nb: \"2\"\nc: \"3\"\n");
}
