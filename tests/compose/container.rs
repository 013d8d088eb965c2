//! Which project a container belongs to, asked with the real client.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use locked::compose::project_of_container;

use super::engine::{Engine, PATIENCE};
use super::real;

const CONTAINERS: &[(&str, &str)] = &[
    ("web-1", r#"{"com.docker.compose.project": "n8n-bms4", "other": "x"}"#),
    ("plain", r#"{"other": "x"}"#),
    ("bare", "null"),
    ("empty", r#"{"com.docker.compose.project": ""}"#),
    ("odd", r#"{"com.docker.compose.project": "two\nlines"}"#),
    ("-dash", r#"{"com.docker.compose.project": "dash"}"#),
];

/// The client's environment: nothing of ours, and the engine where it is named so.
fn environment(engine: &Engine, host: Option<String>) -> Vec<(OsString, OsString)> {
    let host = host.map(|host| ("DOCKER_HOST".into(), host.into()));
    [("HOME".into(), engine.home().into_os_string())].into_iter().chain(host).collect()
}

#[test]
fn the_label_tells_and_whatever_is_in_the_way_is_no_answer() {
    let (docker, engine) = (real("docker"), Engine::with(CONTAINERS));
    let address = OsString::from(engine.address());
    let ask = |docker: &Path, global: &[&OsStr], env: Option<String>, name: &str| {
        project_of_container(docker, global, OsStr::new(name), environment(&engine, env), PATIENCE)
    };
    let option = [OsStr::new("-H"), &*address];
    for (name, expected) in [
        ("web-1", Some("n8n-bms4")),
        ("plain", None),
        ("bare", None),
        ("empty", None),
        ("odd", None),
        ("gone", None),
        ("", None),
        ("-dash", Some("dash")),
    ] {
        assert_eq!(ask(&docker, &option, None, name).as_deref(), expected, "{name}");
        assert_eq!(ask(&docker, &[], Some(engine.address()), name).as_deref(), expected, "{name}");
    }
    assert_eq!(ask(&docker, &[], Some("unix:///nowhere/x.sock".to_owned()), "web-1"), None, "no engine");
    assert_eq!(ask(&docker, &[OsStr::new("--no-such-option")], None, "web-1"), None, "the client refuses");
    assert_eq!(ask(Path::new("/nowhere/docker"), &option, None, "web-1"), None, "no client");
}

#[test]
fn an_engine_that_never_answers_costs_the_limit_and_leaves_no_client() {
    let (docker, engine) = (real("docker"), Engine::silent());
    let env = environment(&engine, Some(engine.address()));
    let mut limit = Duration::from_millis(300);
    // A slow machine may need more than one try until the client has come to the engine at all.
    while engine.taken().is_none_or(|taken| !engine.is_left(taken)) {
        let (docker, env) = (docker.clone(), env.clone());
        let answer = in_time(move || project_of_container(&docker, &[], OsStr::new("web-1"), env, limit));
        assert_eq!(answer, None);
        limit *= 2;
        assert!(limit < PATIENCE, "the client never came");
    }
}

#[test]
fn what_a_client_leaves_behind_is_not_waited_for() {
    let world = tempfile::tempdir().expect("directory");
    let (client, fifo) = (world.path().join("docker"), world.path().join("fifo"));
    // The answer, and a descendant in a session of its own that holds standard output until the test lets it go.
    let script = format!("#!/bin/sh\nmkfifo {0}\nsetsid sh -c 'read line <{0}' &\necho left\n", fifo.display());
    std::fs::write(&client, script).expect("script");
    std::fs::set_permissions(&client, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("mode");
    let env = [("PATH".into(), "/usr/bin:/bin".into())];
    let answer = in_time(move || project_of_container(&client, &[], OsStr::new("x"), env, PATIENCE));
    assert_eq!(answer.as_deref(), Some("left"));
    // To open it waits for the descendant to read.
    in_time(move || std::fs::write(fifo, "go\n")).expect("the descendant reads");
}

/// What would hang fails.
fn in_time<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, answer) = std::sync::mpsc::channel();
    std::thread::spawn(move || done.send(act()));
    answer.recv_timeout(PATIENCE).expect("it comes to an end")
}
