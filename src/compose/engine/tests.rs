//! Which engine a line means.
#![forbid(unsafe_code)]

use super::*;
use crate::compose::tests::{Line, Stage, at};
use crate::compose::variable;

#[test]
fn version_1_takes_the_engine_from_its_environment_file() {
    let stage = Stage::new(&[("d/docker-compose.yml", ""), ("d/.env", "DOCKER_HOST=ssh://root@bms-4\n")])
        .with("DOCKER_CONTEXT", "which version 1 does not know");
    let scope = stage.ask(&Line { legacy: true, ..at("d") }, |asked| {
        let env = |name: &str| variable(asked, name);
        let line = AskedEngine { host: None, context: None, config: None, env: &env, sight: Sight::Files };
        engine(&line, &|| Scope("machine/x".to_owned())).scope.0
    });
    assert_eq!(scope, "engine/bms-4");
}

/// Names of contexts are digests on disk: `printf %s bms-4 | sha256sum`.
#[test]
fn the_engine_is_found_in_the_clients_own_order() {
    let meta = |name: &str| {
        let id = <sha2::Sha256 as sha2::Digest>::digest(name.as_bytes());
        let id: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("home/.docker/contexts/meta/{id}/meta.json")
    };
    let (bms, here) = (meta("bms-4"), meta("here"));
    let stage = Stage::new(&[
        ("home/.docker/config.json", r#"{"auths": {}, "currentContext": "bms-4"}"#),
        ("other/config.json", r#"{"CurrentContext": "default"}"#),
        ("broken/config.json", "{"),
        (
            &bms,
            r#"{"Name":"bms-4","Metadata":{},"Endpoints":{"docker":{"Host":"ssh://root@BMS-4","SkipTLSVerify":false}}}"#,
        ),
        (&here, r#"{"Name":"here","Endpoints":{"docker":{"Host":"unix:///run/x.sock"}}}"#),
    ]);
    let home = stage.at("home").to_str().expect("UTF-8").to_owned();
    for (context, host, env, expected) in [
        ("", "", vec![], "engine/bms-4"),
        ("", "", vec![("DOCKER_CONFIG", "other")], "machine/x"),
        ("", "", vec![("DOCKER_CONFIG", "broken")], "machine/x"),
        ("", "", vec![("DOCKER_CONFIG", "nowhere")], "machine/x"),
        ("", "", vec![("DOCKER_CONTEXT", "here")], "machine/x"),
        ("", "", vec![("DOCKER_CONTEXT", "default")], "machine/x"),
        ("", "", vec![("DOCKER_HOST", "tcp://h"), ("DOCKER_CONTEXT", "here")], "engine/h"),
        ("", "", vec![("DOCKER_HOST", "")], "engine/bms-4"),
        ("", "ssh://u@o", vec![("DOCKER_HOST", "tcp://h")], "engine/o"),
        ("bms-4", "", vec![("DOCKER_HOST", "tcp://h")], "engine/bms-4"),
        ("default", "", vec![("DOCKER_HOST", "tcp://h")], "engine/h"),
        ("default", "", vec![], "machine/x"),
        ("gone x", "", vec![], "engine/context/gone%20x"),
    ] {
        let variable = |name: &str| {
            let set = env.iter().find(|(key, _)| *key == name).map(|(_, value)| match name {
                "DOCKER_CONFIG" => stage.at(value).into_os_string(),
                _ => OsString::from(value),
            });
            set.or_else(|| (name == "HOME").then(|| OsString::from(&home)))
        };
        let line = AskedEngine {
            host: Some(OsStr::new(host)),
            context: Some(OsStr::new(context)),
            config: None,
            env: &variable,
            sight: Sight::Files,
        };
        let found = engine(&line, &|| Scope("machine/x".to_owned()));
        assert_eq!(found.scope.0, expected, "{context:?} {host:?} {env:?}: {}", found.from);
        assert!(!found.from.contains("root"), "{}", found.from);
    }
}
