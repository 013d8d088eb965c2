//! A container that is restarted by its name: with its project, where the engine says so in time.
#![forbid(unsafe_code)]

use std::process::Command;

use serde_json::Value;

use crate::compose::engine::Engine;
use crate::compose::real;
use crate::world::World;
use crate::world::board::json;
use crate::world::ends::{ends, so, text};
use crate::world::processes::{kill, tree_below};

const CONTAINERS: &[(&str, &str)] =
    &[("web-1", r#"{"com.docker.compose.project": "n8n-bms4"}"#), ("plain", r#"{"other": "x"}"#)];
const LOCAL: &str = "there";

/// A way to name the engine.
#[derive(Debug)]
struct Way {
    /// Words behind `docker`.
    words: Vec<String>,
    env: Option<(&'static str, String)>,
}

fn ways(engine: &Engine) -> [Way; 5] {
    let words = |words: [&str; 2]| Way { words: words.map(str::to_owned).to_vec(), env: None };
    let env = |name, value| Way { words: Vec::new(), env: Some((name, value)) };
    [
        words(["-H", &engine.address()]),
        words(["--host", &engine.address()]),
        words(["--context", LOCAL]),
        env("DOCKER_CONTEXT", LOCAL.to_owned()),
        env("DOCKER_HOST", engine.address()),
    ]
}

/// A world whose docker knows the engine as a context too.
fn world(engine: &Engine) -> World {
    let world = World::new();
    let address = format!("host={}", engine.address());
    ends(world.command(real("docker")).args(["context", "create", LOCAL, "--docker", &address]), 0);
    world
}

fn locked(world: &World, words: &[&str], way: &Way) -> Command {
    let mut command = world.locked_as(1);
    command.args(words).arg("docker").args(&way.words).envs(way.env.iter().map(|(name, value)| (name, value)));
    command
}

/// Restarts it until the engine was in time: on a slow machine it may take longer than a command waits for it, and then
/// the container stands for itself.
fn restarted(world: &World, way: &Way, container: &str, resource: &str, status: i32) {
    let itself = format!("container:{container}");
    so(&format!("{way:?} {container}: {resource}"), || {
        let output = locked(world, &["-n"], way).args(["restart", container]).output().expect("it runs");
        if output.status.code() == Some(75) {
            return status == 75 && text(&output.stderr).starts_with(&format!("BLOCKED: {resource} is held by "));
        }
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()), "{way:?} {container}");
        let newest = &world.history()[0];
        assert_eq!(newest["ended_as"], "completed", "{newest}");
        assert!(newest["resource"] == resource || newest["resource"] == itself, "{newest}");
        status == 0 && newest["resource"] == resource
    });
}

#[test]
fn a_container_is_held_with_its_project_and_given_back() {
    let engine = Engine::with(CONTAINERS);
    let world = world(&engine);
    for way in &ways(&engine) {
        restarted(&world, way, "web-1", "container:n8n-bms4", 0);
        restarted(&world, way, "plain", "container:plain", 0);
        // Who holds the project keeps its containers out, and no others.
        ends(world.locked_as(9).args(["acquire", "container:n8n-bms4"]), 0);
        restarted(&world, way, "web-1", "container:n8n-bms4", 75);
        restarted(&world, way, "plain", "container:plain", 0);
        ends(locked(&world, &["-n"], way).args(["inspect", "web-1"]), 0);
        ends(world.locked_as(9).args(["release", "container:n8n-bms4"]), 0);
    }
}

#[test]
fn an_engine_that_says_nothing_is_not_waited_for() {
    let engine = Engine::silent();
    let world = world(&engine);
    for way in ways(&engine) {
        // It never answers: what comes to an end has not waited for it.
        let answer: Value =
            json(locked(&world, &["explain", "--json", "--"], &way).args(["restart", "web-1", "web-2"]));
        assert_eq!(answer["resources"], Value::from(vec!["container:web-1", "container:web-2"]), "{way:?}: {answer}");
    }
    // The command itself has all the time it likes, and holds them meanwhile.
    let mut restart = locked(&world, &["-q"], &ways(&engine)[4]);
    let mut child = restart.args(["restart", "web-1"]).spawn().expect("it starts");
    so("it is held", || world.status().iter().any(|lease| lease["resource"] == "container:web-1"));
    so("the client runs", || {
        tree_below(child.id())
            .into_iter()
            .any(|pid| std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.starts_with(b"docker\0")))
    });
    let below = tree_below(child.id());
    let keeper = below.first().copied().expect("the keeper");
    tree_below(keeper).into_iter().for_each(kill);
    let status = child.wait().expect("waited");
    assert!(!status.success());
    assert_eq!(world.status()[0]["state"], "kept", "nobody knows what the engine made of it");
}
