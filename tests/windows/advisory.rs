//! Session locks: on a real PostgreSQL of this machine, which `tests/windows/run` starts.

use std::process::{Child, Stdio};

use locked::store::advisory::AdvisoryKey;

use super::stage::{Stage, good, is_free, until};

/// Whose sessions hold this key.
const HOLDERS: &str = "pg_locks where locktype = 'advisory' and granted and (classid::int8 << 32 | objid::int8) = ";

/// A stage whose user has set the store.
fn stage() -> Stage {
    let stage = Stage::new().with("exits").with("stays");
    let directory = stage.at("home/roaming/locked");
    std::fs::create_dir_all(&directory).expect("directory");
    let text = format!("store = {{ url = \"{}\", advisory = true }}\n", address());
    std::fs::write(directory.join("config.toml"), text).expect("settings");
    stage
}

fn address() -> String {
    let port = std::env::var("LOCKED_TEST_POSTGRES").expect("tests/windows/run says where it is");
    format!("postgres://postgres@127.0.0.1:{port}/postgres?sslmode=disable")
}

/// What the server answers, row by row; of each row the first.
fn sql(text: &str) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime");
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(&address(), tokio_postgres::NoTls).await.expect("connected");
        let carried = tokio::spawn(connection);
        let rows = client.simple_query(text).await.expect("answered");
        drop(client);
        carried.await.expect("carried").expect("connection");
        let first = |row| if let tokio_postgres::SimpleQueryMessage::Row(row) = row { Some(row) } else { None };
        rows.into_iter().filter_map(first).map(|row| row.get(0).unwrap_or_default().to_owned()).collect()
    })
}

fn is_held(resource: &str) -> bool {
    !sql(&format!("select pid from {HOLDERS} {}", AdvisoryKey::of(resource).0)).is_empty()
}

fn run(stage: &Stage, options: &[&str], resource: &str, words: &[&str]) -> std::process::Output {
    let mut command = stage.locked(&[options, &["-r", resource], words].concat());
    command.env("APPDATA", stage.at("home/roaming")).output().expect("locked runs")
}

/// One that has the resource and runs until it is ended; its child has `name` for itself.
fn started(stage: &Stage, resource: &str) -> Child {
    let (file, path) = (stage.at("file"), stage.at("file").display().to_string());
    let mut command = stage.locked(&["--ttl", "6s", "-r", resource, "stays", &path]);
    command.env("APPDATA", stage.at("home/roaming")).stdout(Stdio::null()).stderr(Stdio::piped());
    let wrapper = command.spawn().expect("locked");
    until("the child is there", || file.with_extension("there").exists());
    assert!(is_held(resource));
    wrapper
}

#[test]
fn a_session_lock_keeps_others_out_and_falls_with_whoever_had_it() {
    let (stage, resource) = (stage(), "server:falls");
    let mut wrapper = started(&stage, resource);
    let refused = run(&stage, &["--no-wait"], resource, &["exits", "0"]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(75), "{said}");
    assert!(said.starts_with("BLOCKED: server:falls is held by "), "{said}");
    wrapper.kill().expect("killed");
    wrapper.wait().expect("ended");
    until("nothing of it is left", || is_free(&stage.at("file")));
    good(&run(&stage, &["--wait", "5m"], resource, &["exits", "0"]));
    until("no session is left", || !is_held(resource));
}

#[test]
fn a_session_that_the_server_ends_stops_the_command() {
    let (stage, resource) = (stage(), "server:ended");
    let wrapper = started(&stage, resource);
    let holder = format!("{HOLDERS} {}", AdvisoryKey::of(resource).0);
    assert_eq!(sql(&format!("select pg_terminate_backend(pid) from {holder}")), ["t"]);
    let ended = wrapper.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(77), "{}", String::from_utf8_lossy(&ended.stderr));
    assert!(is_free(&stage.at("file")), "its child is stopped before anybody is told");
}

#[test]
fn writers_take_turns_by_session_locks_and_lose_no_key() {
    let stage = stage().with("sops");
    let file = stage.secret("secrets/monitoring.env.sops");
    let start = |nth: usize| {
        let key = format!("[\"KEY_{nth}\"]");
        let mut command = stage.locked(&["--wait", "10m", "sops", "set", "secrets/monitoring.env.sops", &key, "\"v\""]);
        command.env("APPDATA", stage.at("home/roaming")).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("locked")
    };
    let children: Vec<Child> = (0..6).map(start).collect();
    for child in children {
        good(&child.wait_with_output().expect("ended"));
    }
    let text = std::fs::read_to_string(&file).expect("the file");
    let missing: Vec<_> = (0..6).filter(|nth| !text.contains(&format!("KEY_{nth}="))).collect();
    assert!(missing.is_empty() && text.contains("FIRST="), "lost: {missing:?}");
}

#[test]
fn what_a_session_lock_cannot_give_is_refused_before_the_command_starts() {
    let stage = stage();
    let mut command = stage.locked(&["acquire", "server:kept"]);
    let refused = command.env("APPDATA", stage.at("home/roaming")).output().expect("locked runs");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(78), "{said}");
    assert!(said.contains("no table"), "{said}");
}
