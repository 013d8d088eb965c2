//! The store on a server, as the settings name it: by a variable, a file, a SOPS file; and what a repository may not say.
#![forbid(unsafe_code)]

use std::fs;
use std::process::Command;

use super::stage::{DOTENV, FILE, RESOURCE, Stage, contains, ends, says, silent, text};
use crate::world::cluster;

/// A database of its own with our schema; its address.
pub(crate) fn database(name: &str) -> String {
    let server = cluster::shared();
    server.database(name);
    let socket = server.socket().display().to_string().replace('/', "%2F");
    format!("postgres://postgres@{socket}:{}/{name}", server.port())
}

/// The repository's settings.
fn repository(stage: &Stage, settings: &str) {
    fs::write(stage.world.work().join(".locked.toml"), settings).expect("settings");
}

/// The user's settings.
fn user(stage: &Stage, settings: &str) -> std::path::PathBuf {
    let config = stage.world.root().join("config");
    fs::create_dir_all(config.join("locked")).expect("directory");
    fs::write(config.join("locked/config.toml"), settings).expect("settings");
    config
}

fn embedded_is_unused(stage: &Stage) {
    assert!(!stage.world.state().join("locked.db").exists(), "the embedded store was asked");
}

#[test]
fn a_write_is_held_proven_and_remembered_on_the_server() {
    let stage = Stage::new();
    let address = database("of_a_write");
    repository(&stage, "store = { url_env = \"TEAM_DATABASE\" }\n");
    let with = |command: &mut Command| -> String { silent(command.env("TEAM_DATABASE", &address)) };
    with(&mut stage.set(1, &[], "A", "1"));
    assert!(stage.keys().contains(&"A=1".to_owned()));
    let history = with(stage.locked(1).args(["history", "--json"]));
    assert!(history.contains(RESOURCE) && history.contains("completed"), "{history}");
    // Kept for its session, and for the next one's eyes.
    ends(
        stage
            .set(1, &[], "B", "1")
            .env("PATH", stage.stand_in("\"$real\" \"$@\"; exit 5"))
            .env("TEAM_DATABASE", &address),
        5,
    );
    let said = says(stage.set(2, &["-n"], "C", "1").env("TEAM_DATABASE", &address), 75);
    assert!(said.starts_with(&format!("BLOCKED: {RESOURCE} is held by 01010101 (")), "{said}");
    with(&mut stage.set(1, &[], "B", "2"));
    // A bad file is quarantined there, and restored.
    ends(stage.set(1, &[], "D", "1").env("PATH", stage.stand_in(": > \"$file\"")).env("TEAM_DATABASE", &address), 72);
    says(stage.set(2, &[], "D", "1").env("TEAM_DATABASE", &address), 72);
    with(stage.locked(2).args(["restore", FILE]));
    with(&mut stage.set(2, &[], "D", "1"));
    embedded_is_unused(&stage);
}

#[test]
fn what_stands_in_the_file_of_a_repository_counts_only_as_far_as_it_may() {
    let stage = Stage::new();
    for (settings, what) in [
        ("store = { url = \"postgres://u:hunter2@db/x\" }", "sets store.url"),
        ("store = { url_env = \"A\", via = \"ssh://h\" }", "sets store.via"),
        ("store = { url_env = \"NO_SUCH_VARIABLE\" }", "NO_SUCH_VARIABLE, which is not set"),
        ("stor = 1", "unknown key `stor`; did you mean `store`?"),
        ("store = \"postgres://u:hunter2@db/x\"", "a value of the wrong type"),
    ] {
        repository(&stage, settings);
        let before = stage.content();
        for command in [
            &mut stage.set(1, &["-v"], "A", "1"),
            stage.locked(1).arg("status"),
            stage.locked(1).args(["acquire", RESOURCE]),
        ] {
            let said = says(command.env("A", "postgres://x"), 78);
            assert!(said.starts_with("REFUSED: ") && said.contains(what), "{settings}: {said}");
            assert!(!said.contains("hunter2"), "{said}");
        }
        assert_eq!(stage.content(), before, "nothing was run");
        // Reads do not ask.
        silent(stage.locked(1).args(["sops", "decrypt"]).args(DOTENV).arg(FILE));
    }
    embedded_is_unused(&stage);
}

#[test]
fn an_address_in_a_sops_file_is_read_by_the_real_sops_and_kept_nowhere() {
    let stage = Stage::new();
    let address = database("of_a_sops_file");
    let secret = format!("{address}?application_name=hunter2-address");
    let config = user(&stage, "store = { url_sops = { file = \"store.yaml\", key = \"url\" } }\n");
    stage.world.encrypted("store.yaml", &format!("url: {secret}\n"), "yaml");
    fs::rename(stage.world.work().join("store.yaml"), config.join("locked/store.yaml")).expect("moved");
    let run = |command: &mut Command, status: i32| {
        let output = ends(command.env("XDG_CONFIG_HOME", &config), status);
        assert!(!text(&output.stderr).contains("hunter2-address"), "{output:?}");
        output
    };
    run(&mut stage.set(1, &["-v"], "A", "1"), 0);
    let history = run(stage.locked(1).args(["history", "--json"]), 0);
    assert!(contains(&history.stdout, RESOURCE));
    for file in super::stage::files_below(&stage.world.state()).into_iter().filter(|path| path.is_file()) {
        assert!(!contains(&fs::read(&file).expect("file"), "hunter2-address"), "{}", file.display());
    }
    embedded_is_unused(&stage);
    // A key that opens it is not at hand: nothing runs, reads do.
    let locked_out = stage
        .set(1, &[], "B", "1")
        .env("SOPS_AGE_KEY_FILE", "/dev/null")
        .env_remove("SOPS_AGE_KEY")
        .env("XDG_CONFIG_HOME", &config)
        .output();
    let said = text(&locked_out.expect("runs").stderr);
    assert!(said.starts_with("REFUSED: the store cannot be reached: its address is in "), "{said}");
}

#[test]
fn a_server_that_is_not_there_or_says_no_stops_writers_with_the_reason() {
    let stage = Stage::new();
    let server = cluster::shared();
    let socket = server.socket().display().to_string().replace('/', "%2F");
    let at = |rest: &str| format!("postgres://postgres:hunter2@{socket}:{}/{rest}", server.port());
    let before = stage.content();
    for (address, what, status) in [
        ("postgres://u:hunter2@127.0.0.1:1/x".to_owned(), "cannot be reached", 69),
        (at("no_such_database"), "does not exist", 69),
        (at("postgres"), "locked store init", 69),
        ("postgres://u:hunter2@h:port/x".to_owned(), "cannot be used", 78),
        ("postgres://u:hunter2@127.0.0.1/x?sslmode=sometimes".to_owned(), "sslmode", 78),
        ("postgres://u:hunter2@127.0.0.1/x?locked_schema=public".to_owned(), "locked_schema", 78),
        ("mysql://u:hunter2@h/x".to_owned(), "mysql:…", 78),
    ] {
        let said = says(stage.set(1, &["-v"], "A", "1").env("LOCKED_STORE", &address), status);
        assert!(said.starts_with("REFUSED: ") && said.contains(what), "{address}: {said}");
        assert!(!said.contains("hunter2"), "{said}");
        let by_option = says(stage.locked(1).args(["--store", &address, "status"]), status);
        assert!(by_option.contains(what) && !by_option.contains("hunter2"), "{by_option}");
    }
    assert_eq!(stage.content(), before);
    silent(
        stage
            .locked(1)
            .args(["sops", "decrypt"])
            .args(DOTENV)
            .arg(FILE)
            .env("LOCKED_STORE", "postgres://u@127.0.0.1:1/x"),
    );
    embedded_is_unused(&stage);
}

#[test]
fn a_variable_that_the_user_names_tells_sessions_apart() {
    let stage = Stage::new();
    let config = user(&stage, "[session]\nenv = [\"MY_AGENT_ID\"]\n");
    let agent = |id: &str, words: &[&str]| {
        let mut command = stage.world.locked();
        command.env_remove("LOCKED_SESSION").env("XDG_CONFIG_HOME", &config).env("MY_AGENT_ID", id).args(words);
        command
    };
    silent(&mut agent("one", &["acquire", "server:web-1"]));
    ends(&mut agent("two", &["-n", "-r", "server:web-1", "true"]), 75);
    silent(&mut agent("one", &["-n", "-r", "server:web-1", "true"]));
    silent(&mut agent("one", &["release", "server:web-1"]));
}
