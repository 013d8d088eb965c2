//! Where the client's contexts lead, beside what the client itself says of them.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Stdio};

use locked::compose::{AskedEngine, Sight, engine};
use locked::terms::Scope;

use super::real;

/// Runs the client in this home; what it says.
fn docker(home: &Path, env: &[(&str, &str)], args: &[&str]) -> String {
    let mut line = Command::new(real("docker"));
    line.args(args).env_clear().env("HOME", home).envs(env.iter().copied()).stdin(Stdio::null());
    let output = line.output().expect("docker runs");
    assert!(output.status.success(), "docker {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
}

fn scope(home: &Path, env: &[(&str, &str)], context: Option<&str>) -> String {
    let line = AskedEngine {
        host: None,
        context: context.map(OsStr::new),
        config: None,
        env: &|name: &str| {
            let set = env.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value));
            set.or_else(|| (name == "HOME").then(|| home.into()))
        },
        sight: Sight::Files,
    };
    engine(&line, &|| Scope("machine/here".to_owned())).scope.0
}

#[test]
fn contexts_that_the_client_made_lead_where_it_says() {
    let home = tempfile::tempdir().expect("directory");
    let home = home.path();
    for (name, host) in [
        ("bms-4", "ssh://root@BMS-4.example.org"),
        ("tls", "tcp://bms-4.example.org:2376"),
        ("far", "tcp://10.0.0.7:12375"),
        ("rootless", "unix:///run/user/1000/docker.sock"),
    ] {
        docker(home, &[], &["context", "create", name, "--docker", &format!("host={host}")]);
    }
    for (name, expected) in [
        ("bms-4", "engine/bms-4.example.org"),
        ("tls", "engine/bms-4.example.org"),
        ("far", "engine/10.0.0.7:12375"),
        ("rootless", "machine/here"),
        ("default", "machine/here"),
    ] {
        assert_eq!(scope(home, &[], Some(name)), expected, "{name}");
    }
    docker(home, &[], &["context", "use", "far"]);
    // Which one counts is the client's to say: the name of each leads to the scope that we find.
    for env in [
        vec![],
        vec![("DOCKER_CONTEXT", "bms-4")],
        vec![("DOCKER_CONTEXT", "default")],
        vec![("DOCKER_HOST", "tcp://h:2375"), ("DOCKER_CONTEXT", "far")],
    ] {
        // `context show` came with version 23. Empty variables say nothing since then;
        // before, they counted as set, so nothing is asked about them here.
        let current = docker(home, &env, &["context", "ls", "--format", "{{if .Current}}{{.Name}}{{end}}"]);
        assert_eq!(scope(home, &env, None), scope(home, &env, Some(&current)), "{env:?}: {current}");
    }
}
