//! The schema of a server's database that has the leases: named by a file or by the address, used by every verb.
#![forbid(unsafe_code)]

use std::process::Command;

use serde_json::Value;

use super::store::{database, store};
use crate::run::stage::{ends, json, says, silent};
use crate::world::World;
use crate::world::cluster;

/// The user's settings.
fn set(world: &World, text: &str) {
    let directory = world.root().join("home/.config/locked");
    std::fs::create_dir_all(&directory).expect("directory");
    std::fs::write(directory.join("config.toml"), text).expect("written");
}

fn holds(world: &World, session: u32) -> Command {
    let mut command = world.locked_as(session);
    command.args(["-n", "-r", "server:a", "true"]);
    command
}

#[test]
fn the_verbs_use_the_schema_that_the_settings_name() {
    let world = World::new();
    let server = database("of_two_schemas");
    let admin = server("postgres");
    set(&world, &format!("store = {{ url = {admin:?}, schema = \"second\" }}\n"));
    let absent = says(&mut store(&world, &["check"]), 78);
    assert!(absent.contains("no schema of locked"), "{absent}");
    silent(&mut store(&world, &["init"]));
    let made = "select nspname from pg_namespace where nspname in ('locked', 'second')";
    let mut config = cluster::shared().config("postgres");
    config.dbname("of_two_schemas");
    let desk = cluster::Desk::at(&config).expect("a session");
    assert_eq!(desk.sql(made).expect("asked"), [["second"]], "the other name was not touched");
    silent(&mut store(&world, &["check"]));
    // The address says the same by itself.
    let by_address = format!("{admin}?locked_schema=second");
    let by_file: Value = json(&mut store(&world, &["check", "--json"]));
    let by_url: Value = json(store(&world, &["check", "--json"]).env("LOCKED_STORE", &by_address));
    assert_eq!(by_file["store_id"], by_url["store_id"]);
    let sql = silent(&mut store(&world, &["print-sql"]));
    assert!(sql.contains("\"second\".acquire_v1") && !sql.contains("\"locked\".acquire_v1"));
    assert_eq!(silent(store(&world, &["print-sql"]).env("LOCKED_STORE", &by_address)), sql);
    assert_eq!(silent(store(&world, &["print-sql", "--schema", "second"]).env("LOCKED_STORE", "embedded")), sql);

    silent(store(&world, &["init"]).env("LOCKED_STORE", &admin));
    // What is held in one is nothing to the other.
    silent(world.locked_as(1).args(["acquire", "server:a"]));
    ends(holds(&world, 2).env("LOCKED_STORE", &by_address), 75);
    silent(holds(&world, 2).env("LOCKED_STORE", &admin));
    silent(world.locked_as(1).args(["release", "server:a"]));

    let pruned: Value = json(&mut store(&world, &["prune", "--json"]));
    assert_eq!(pruned["left"], 1, "of this schema alone");
    let epoch: Value = json(&mut store(&world, &["epoch", "--json"]));
    assert_eq!(epoch["epoch"], 2);
    let other: Value = json(store(&world, &["epoch", "--json"]).env("LOCKED_STORE", &admin));
    assert_eq!(other["epoch"], 2, "each has its own");
    let moved: Value = json(&mut store(&world, &["move", "--to", &admin, "--json"]));
    assert_eq!(moved["leases"], 1);
    let gone = says(&mut holds(&world, 1), 69);
    assert!(gone.contains("has moved to the database of_two_schemas"), "{gone}");
    let back = format!("{admin}?locked_schema=third");
    silent(store(&world, &["init"]).env("LOCKED_STORE", &back));
    let moved: Value = json(store(&world, &["move", "--to", &back, "--json"]).env("LOCKED_STORE", &admin));
    assert!(moved["moved_to"].as_str().is_some_and(|place| place.starts_with("the schema third of ")), "{moved}");
}

#[test]
fn a_schema_that_cannot_be_ours_is_refused_by_whom_it_was_named() {
    let world = World::new();
    let admin = database("of_no_schema")("postgres");
    let long = "a".repeat(64);
    for name in ["public", "pg_catalog", "a\\\"b", "A", long.as_str()] {
        set(&world, &format!("store = {{ url = {admin:?}, schema = \"{name}\" }}\n"));
        for said in [says(&mut holds(&world, 1), 78), says(&mut store(&world, &["init"]), 78)] {
            assert!(said.starts_with("REFUSED: ") && said.contains("schema's name must be"), "{name}: {said}");
        }
        let plain = name.replace("\\\"", "%22");
        let address = format!("{admin}?locked_schema={plain}");
        let said = says(holds(&world, 1).env("LOCKED_STORE", &address), 78);
        assert!(said.contains("`locked_schema` of the connection has a value"), "{name}: {said}");
        let to = says(store(&world, &["move", "--to", &address]).env("LOCKED_STORE", "embedded"), 64);
        assert!(to.contains("locked_schema"), "{to}");
        ends(&mut store(&world, &["print-sql", "--schema", &plain]), 64);
    }
    set(&world, &format!("store = {{ url = \"{admin}?locked_schema=one\", schema = \"two\" }}\n"));
    let said = says(&mut holds(&world, 1), 78);
    assert!(said.contains("names two schemas"), "{said}");
    set(&world, "store = { url = \"embedded\", schema = \"two\" }\n");
    let said = says(&mut holds(&world, 1), 78);
    assert!(said.contains("names a schema, and names no PostgreSQL server"), "{said}");
}

/// What comes with a repository may not choose it: it would lead where its author likes, inside the database too.
#[test]
fn a_repository_names_no_schema_and_its_variable_s_address_does() {
    let world = World::new();
    let admin = database("of_a_repository")("postgres");
    let address = format!("{admin}?locked_schema=ours");
    silent(store(&world, &["init"]).env("LOCKED_STORE", &address));
    world.git(&world.work(), &["init", "-q"]);
    let file = world.work().join(".locked.toml");
    std::fs::write(&file, "store = { url_env = \"DB\", schema = \"ours\" }\n").expect("written");
    let said = says(holds(&world, 1).env("DB", &admin), 78);
    assert!(said.contains("store.schema") && said.contains("locked_schema=NAME"), "{said}");
    std::fs::write(&file, "store = { url_env = \"DB\" }\n").expect("written");
    silent(holds(&world, 1).env("DB", &address));
    let held: Vec<Value> = json(world.locked_as(1).args(["history", "--json"]).env("DB", &address));
    assert_eq!(held.len(), 1);
}
