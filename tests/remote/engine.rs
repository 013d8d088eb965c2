//! A container that is restarted by its name: with its project, where the engine says so in time.
#![forbid(unsafe_code)]

use std::process::Command;

use serde_json::Value;

use crate::compose::engine::Engine;
use crate::compose::real;
use crate::world::World;
use crate::world::board::json;
use crate::world::ends::{ends, says, so};
use crate::world::processes::{kill, tree_below};

const CONTAINERS: &[(&str, &str)] =
    &[("web-1", r#"{"com.docker.compose.project": "n8n-bms4"}"#), ("plain", r#"{"other": "x"}"#)];
const LOCAL: &str = "there";

/// The ways to name the engine: words behind `docker`, and a variable.
fn ways(engine: &Engine) -> [(Vec<String>, Option<(&'static str, String)>); 5] {
    let words = |words: [&str; 2]| words.map(str::to_owned).to_vec();
    [
        (words(["-H", &engine.address()]), None),
        (words(["--host", &engine.address()]), None),
        (words(["--context", LOCAL]), None),
        (Vec::new(), Some(("DOCKER_HOST", engine.address()))),
        (Vec::new(), Some(("DOCKER_CONTEXT", LOCAL.to_owned()))),
    ]
}

/// A world whose docker knows the engine as a context too.
fn world(engine: &Engine) -> World {
    let world = World::new();
    let address = format!("host={}", engine.address());
    ends(world.command(real("docker")).args(["context", "create", LOCAL, "--docker", &address]), 0);
    world
}

fn locked(world: &World, words: &[&str], (options, env): &(Vec<String>, Option<(&str, String)>)) -> Command {
    let mut command = world.locked_as(1);
    command.args(words).arg("docker").args(options).envs(env.iter().map(|(name, value)| (name, value)));
    command
}

#[test]
fn a_container_is_held_with_its_project_and_given_back() {
    let engine = Engine::with(CONTAINERS);
    let world = world(&engine);
    for way in &ways(&engine) {
        for (container, resource) in [("web-1", "container:n8n-bms4"), ("plain", "container:plain")] {
            assert_eq!(says(locked(&world, &["-n"], way).args(["restart", container]), 0), "", "{way:?}");
            let newest = &world.history()[0];
            assert_eq!((&newest["resource"], &newest["ended_as"]), (&resource.into(), &"completed".into()), "{newest}");
        }
        // Who holds the project keeps its containers out, and no others.
        ends(world.locked_as(9).args(["acquire", "container:n8n-bms4"]), 0);
        says(locked(&world, &["-n"], way).args(["stop", "web-1"]), 75);
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
    let mut restart = locked(&world, &["-q"], &ways(&engine)[3]);
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
