//! Settings that name a way through another machine, and an address that only sops gives out: everybody takes them alike,
//! the program, a piece of one's own code, and a move from one store to another.

use std::ffi::OsString;
use std::process::Command;
use std::time::Duration;

use locked::seam::{LeaseOptions, SeamError, with_lease};
use locked::store::StoreError;
use locked::terms::{Resource, ResourceName, Scope};
use serde_json::Value;

use super::gate::Gate;
use crate::run::stage::{json, says, silent};
use crate::world::World;
use crate::world::cluster;

/// A user whose settings have the store behind the gate, and its address in a SOPS file.
struct Behind {
    world: World,
    gate: Gate,
    address: String,
}

impl Behind {
    fn new(database: &str) -> Self {
        let (world, gate, server) = (World::new(), Gate::open(""), cluster::shared());
        server.database(database);
        let address = format!("postgres://postgres@127.0.0.1:{}/{database}", server.port());
        let directory = world.root().join("home/.config/locked");
        std::fs::create_dir_all(&directory).expect("directory");
        let settings =
            format!("store = {{ url_sops = {{ file = \"store.yaml\", key = \"url\" }}, via = {:?} }}\n", gate.name());
        std::fs::write(directory.join("config.toml"), settings).expect("settings");
        let made = world.encrypted("store.yaml", &format!("url: {address}\n"), "yaml");
        std::fs::rename(made, directory.join("store.yaml")).expect("moved");
        Self { world, gate, address }
    }

    /// Its PATH, with or without the ssh that gets through.
    fn path(&self, with_ssh: bool) -> OsString {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let has_ssh = |directory: &std::path::PathBuf| directory.join("ssh").exists();
        let rest = std::env::split_paths(&path).filter(|directory| with_ssh || !has_ssh(directory));
        let sops = crate::world::real_sops().parent().expect("a directory").to_owned();
        let first = if with_ssh { self.gate.on_path() } else { sops };
        std::env::join_paths(std::iter::once(first).chain(rest)).expect("a PATH")
    }

    fn locked(&self, words: &[&str]) -> Command {
        let mut command = self.world.locked_as(1);
        command.args(words).env("PATH", self.path(true));
        command
    }

    /// What a library's caller knows of the environment.
    fn env(&self, with_ssh: bool, key: std::path::PathBuf) -> impl Fn(&str) -> Option<OsString> {
        let (path, state, home) = (self.path(with_ssh), self.world.state(), self.world.root().join("home"));
        move |name| match name {
            "PATH" => Some(path.clone()),
            "HOME" => Some(home.clone().into()),
            "LOCKED_STATE_DIR" => Some(state.clone().into()),
            "SOPS_AGE_KEY_FILE" => Some(key.clone().into()),
            _ => None,
        }
    }
}

#[test]
fn the_program_and_a_piece_of_code_come_to_one_store() {
    let behind = Behind::new("of_the_way_in_settings");
    silent(&mut behind.locked(&["-r", "server:a", "true"]));
    let way_in = behind.gate.clients().len();
    assert!(way_in > 0, "it went through the machine between");
    let env = behind.env(true, behind.world.key_file());
    let options = LeaseOptions::from_env(&env).operation("a piece of code").wait(Duration::ZERO);
    let named = Resource { name: ResourceName::of("server", b"a"), scope: Scope::global() };
    let said = with_lease(std::slice::from_ref(&named), &options, |held| {
        assert!(held.is_ours() && behind.gate.clients().len() > way_in);
        says(&mut behind.locked(&["-n", "-r", "server:a", "true"]), 75)
    });
    let said = said.expect("a lease");
    assert!(said.contains("a piece of code"), "{said}");
    silent(&mut behind.locked(&["-n", "-r", "server:a", "true"]));
    assert!(!behind.world.state().join("locked.db").exists(), "the embedded store was asked");
    assert!(!behind.gate.told().contains(&behind.address), "{}", behind.gate.told());

    for (with_ssh, key, what) in [
        (true, behind.world.root().join("no-key"), "sops did not give it out"),
        (false, behind.world.key_file(), "there is none on PATH"),
    ] {
        let env = behind.env(with_ssh, key);
        let options = LeaseOptions::from_env(&env).wait(Duration::ZERO);
        let refused = with_lease(std::slice::from_ref(&named), &options, |_| panic!("it ran"));
        let Err(SeamError::Store(error @ (StoreError::NoWay { .. } | StoreError::Misnamed { .. }))) = refused else {
            panic!("{refused:?}")
        };
        assert!(error.to_string().contains(what), "{error}");
    }
}

#[test]
fn a_store_moves_to_where_the_settings_lead_and_back() {
    let behind = Behind::new("of_a_move_by_settings");
    let here = |words: &[&str]| {
        let mut command = behind.locked(words);
        command.env("LOCKED_STORE", "embedded");
        command
    };
    silent(&mut here(&["-r", "server:a", "true"]));
    let moved: Value = json(&mut here(&["store", "move", "--to", "settings", "--json"]));
    assert_eq!(moved["leases"], 1);
    let place = moved["moved_to"].as_str().expect("a place");
    assert!(place.starts_with("the database of_a_move_by_settings at 127.0.0.1:"), "{place}");
    let there: Vec<Value> = json(&mut behind.locked(&["history", "--json"]));
    assert_eq!(there.len(), 1);

    // From there by the settings, and there again by an address and its way.
    let file = format!("sqlite:{}", behind.world.root().join("other.db").display());
    let moved: Value = json(&mut behind.locked(&["store", "move", "--to", &file, "--json"]));
    assert_eq!(moved["leases"], 1);
    let mut back = behind.locked(&["store", "move", "--to", &behind.address, "--via", &behind.gate.name(), "--json"]);
    let before = behind.gate.clients().len();
    let _moved: Value = json(back.env("LOCKED_STORE", &file));
    assert!(behind.gate.clients().len() > before, "it went through the machine between");
    silent(&mut behind.locked(&["-r", "server:a", "true"]));
}

#[test]
fn a_way_that_leads_nowhere_is_refused_and_nothing_is_moved() {
    let world = World::new();
    let file = format!("sqlite:{}", world.root().join("other.db").display());
    for (words, status, what) in [
        (&["--to", "settings"][..], 64, "no file of settings names a store"),
        (&["--to", "settings", "--via", "ssh://h"], 64, "a way of their own"),
        (&["--to", &file, "--via", "ssh://h"], 64, "and names no PostgreSQL server"),
        (&["--to", "postgres://h/x", "--via", "h"], 64, "ssh://[USER@]HOST[:PORT]"),
        (&["--undo", "--via", "ssh://h"], 64, "--via"),
    ] {
        let said = says(world.locked_as(1).args(["store", "move"]).args(words), status);
        assert!(said.contains(what), "{words:?}: {said}");
    }
    silent(world.locked_as(1).args(["-r", "server:a", "true"]));
}
