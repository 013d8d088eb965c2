//! `locked store`: on the embedded store and on a server, by the roles that people have.
#![forbid(unsafe_code)]

use std::process::Command;

use serde_json::Value;

use crate::run::stage::{ends, json, says, silent, text};
use crate::store::postgres::lab::{Lab, Way};
use crate::world::World;
use crate::world::cluster;

pub(crate) fn store(world: &World, words: &[&str]) -> Command {
    let mut command = world.locked_as(1);
    command.arg("store").args(words);
    command
}

/// An empty database on the shared server, and its address for a role.
pub(crate) fn database(name: &str) -> impl Fn(&str) -> String {
    drop(Lab::running(Way::Direct));
    let server = cluster::shared();
    server.sql(&format!("create database {name}"));
    let (socket, port) = (server.socket().display().to_string().replace('/', "%2F"), server.port());
    let name = name.to_owned();
    move |role| format!("postgres://{role}@{socket}:{port}/{name}")
}

#[test]
fn the_embedded_store_needs_no_init_and_says_so() {
    let world = World::new();
    assert!(silent(&mut store(&world, &["init"])).starts_with("the store is set up now"));
    assert!(silent(&mut store(&world, &["init"])).starts_with("nothing to do"));
    let again: Value = json(&mut store(&world, &["init", "--json"]));
    assert_eq!((&again["init"], &again["epoch"]), (&"unchanged".into(), &1.into()));
    assert!(silent(&mut store(&world, &["check"])).starts_with("the store is as it should be"));
    let sound: Value = json(&mut store(&world, &["check", "--json"]));
    assert_eq!((&sound["sound"], &sound["store_id"]), (&true.into(), &again["store_id"]));
    let sql = silent(&mut store(&world, &["print-sql"]));
    assert_eq!(sql.trim_end(), include_str!("../../install/sql/locked.sql").trim_end());
}

#[test]
fn prune_asks_for_some_age_and_tells_what_it_did() {
    let world = World::new();
    for _ in 0..3 {
        silent(world.locked_as(1).args(["-q", "-r", "server:a", "true"]));
    }
    ends(&mut store(&world, &["prune", "--older-than", "59m"]), 64);
    ends(&mut store(&world, &["prune", "--older-than", "soon"]), 64);
    let none: Value = json(&mut store(&world, &["prune", "--json"]));
    assert_eq!((&none["leases"], &none["left"], &none["dry_run"]), (&0.into(), &3.into(), &false.into()));
    let older = "update leases set ended_at = ended_at - 864000000";
    world.database().execute(older, []).expect("ten days older");
    let words = ["prune", "--older-than", "9d", "--keep", "1"];
    let said = silent(store(&world, &words).arg("--dry-run"));
    assert_eq!(said, "would prune 2 ended leases and 0 receipts; 1 ended lease would stay\n");
    assert_eq!(world.history().len(), 3);
    assert_eq!(silent(&mut store(&world, &words)), "pruned 2 ended leases and 0 receipts; 1 ended lease stays\n");
    assert_eq!(world.history().len(), 1);
}

#[test]
fn after_an_epoch_tokens_are_greater_than_what_was_seen() {
    let world = World::new();
    let epoch: Value = json(&mut store(&world, &["epoch", "--above", "5000000000000000", "--json"]));
    assert_eq!(epoch["epoch"], 2);
    let above = epoch["above"].as_i64().expect("a token");
    assert!(above > 5_000_000_000_000_000);
    let token = silent(world.locked_as(1).args(["-q", "-r", "server:a", "sh", "-c", "echo $LOCKED_TOKENS"]));
    assert!(token.trim().parse::<i64>().expect("a token") > above);
    assert!(silent(&mut store(&world, &["epoch"])).starts_with("epoch 3: every token is above "));
    ends(&mut store(&world, &["epoch", "--above", "-1"]), 64);
}

/// From the embedded store to a server, and on from there to a file.
#[test]
fn a_store_moves_with_its_history_and_says_where_it_went() {
    let world = World::new();
    let server = database("to_move_to");
    let admin = server("postgres");
    silent(world.locked_as(1).args(["-q", "-r", "server:a", "true"]));
    silent(world.locked_as(1).args(["acquire", "server:b"]));
    let to_server = ["move", "--to", admin.as_str()];
    let early = says(&mut store(&world, &to_server), 69);
    assert!(early.ends_with("\nnext:  LOCKED_STORE=URL locked store init\n"), "{early}");
    silent(store(&world, &["init"]).env("LOCKED_STORE", &admin));
    let blocked = says(&mut store(&world, &to_server), 75);
    assert!(blocked.starts_with("BLOCKED: ") && blocked.contains("server:b (held, 01010101"), "{blocked}");
    silent(world.locked_as(1).args(["release", "server:b"]));
    let as_worker = says(&mut store(&world, &["move", "--to", &server("worker")]), 69);
    assert!(
        as_worker.contains("may not act as locked_owner") && as_worker.contains("nothing was changed"),
        "{as_worker}"
    );
    silent(world.locked_as(1).args(["-q", "-r", "server:c", "true"]));
    let moved: Value = json(store(&world, &to_server).arg("--json"));
    assert_eq!((&moved["leases"], &moved["resources"]), (&3.into(), &3.into()));
    let place = moved["moved_to"].as_str().expect("a place");
    assert!(place.starts_with("the database to_move_to at ") && !place.contains("postgres@"), "{place}");

    let refused = says(world.locked_as(1).args(["-r", "server:a", "true"]), 69);
    assert!(refused.contains(&format!("this store has moved to {place}")), "{refused}");
    let faults = says(&mut store(&world, &["check"]), 78);
    assert!(faults.contains("has moved to"), "{faults}");
    assert_eq!(world.history().len(), 3, "what was can still be read here");

    let on_server = |words: &[&str]| {
        let mut command = world.locked_as(1);
        command.args(words).env("LOCKED_STORE", server("worker"));
        command
    };
    let there: Vec<Value> = json(&mut on_server(&["history", "--json"]));
    assert_eq!(there, world.history());
    silent(&mut on_server(&["-q", "-r", "server:a", "true"]));
    let again: Value = json(store(&world, &to_server).arg("--json"));
    assert_eq!((&again["leases"], &again["receipts"]), (&0.into(), &0.into()), "all was there");

    let file = world.state().join("second.db");
    let to_file = format!("sqlite:{}", file.display());
    let as_worker = says(&mut on_server(&["store", "move", "--to", &to_file]), 69);
    assert!(as_worker.contains("locked_owner"), "{as_worker}");
    let mut on = store(&world, &["move", "--to", &to_file, "--json"]);
    let moved: Value = json(on.env("LOCKED_STORE", &admin));
    assert_eq!(moved["leases"], 4);
    let refused = says(&mut on_server(&["-r", "server:a", "true"]), 69);
    assert!(refused.contains("this store has moved to sqlite:"), "{refused}");
    let back = says(&mut store(&world, &to_server), 78);
    assert!(back.contains("has itself moved"), "{back}");
    let mut itself = store(&world, &["move", "--to", &to_file]);
    ends(itself.env("LOCKED_STORE", &to_file), 64);
    let mut home = store(&world, &["move", "--to", &admin]);
    silent(home.env("LOCKED_STORE", &to_file));
    silent(&mut on_server(&["-q", "-r", "server:a", "true"]));
}

#[test]
fn a_move_can_be_given_up() {
    let world = World::new();
    let other = format!("sqlite:{}", world.state().join("other.db").display());
    let not_yet = silent(&mut store(&world, &["move", "--undo"]));
    assert!(not_yet.starts_with("nothing to do"), "{not_yet}");
    silent(&mut store(&world, &["move", "--to", &other]));
    says(world.locked_as(1).args(["-r", "server:a", "true"]), 69);
    let said = silent(&mut store(&world, &["move", "--undo"]));
    assert!(said.starts_with("this store grants again") && said.contains("locked store epoch"), "{said}");
    silent(world.locked_as(1).args(["-q", "-r", "server:a", "true"]));
    ends(&mut store(&world, &["move"]), 64);
    ends(&mut store(&world, &["move", "--undo", "--to", &other]), 64);
}

#[test]
fn init_of_an_older_file_says_that_it_did_something() {
    let world = World::new();
    silent(&mut store(&world, &["init"]));
    let database = world.database();
    database
        .execute_batch(
            "alter table leases drop column may_run_on; alter table joins drop column may_run_on;
             alter table joins drop column remote; drop table left_joins;
             alter table leases drop column ask; drop trigger count_wait; drop table sessions; drop table words;
             drop table tally; drop index receipt_new; drop index receipt_blob; drop index lease_ended_session;
             drop index lease_left;
             alter table tickets drop column since; alter table leases drop column issue;
             alter table leases drop column hold_issue; pragma user_version = 1",
        )
        .expect("as the first version had it");
    drop(database);
    assert!(silent(&mut store(&world, &["init"])).starts_with("the store is set up now, in the form of this version"));
    assert!(silent(&mut store(&world, &["init"])).starts_with("nothing to do"));
    silent(world.locked_as(1).args(["-q", "-r", "server:a", "true"]));
}

#[test]
fn a_server_s_store_is_made_checked_and_looked_after_by_the_roles_that_may() {
    let world = World::new();
    let server = database("of_the_store_verbs");
    let at = |role: &str, words: &[&str]| {
        let mut command = store(&world, words);
        command.env("LOCKED_STORE", server(role));
        command
    };
    let absent = says(&mut at("worker", &["check"]), 78);
    assert!(absent.contains("no schema of locked") && absent.contains(": locked store init"), "{absent}");
    let refused = says(&mut at("worker", &["init"]), 69);
    assert!(refused.contains("come as an owner of the database"), "{refused}");
    let made: Value = json(&mut at("postgres", &["init", "--json"]));
    assert_eq!(made["init"], "applied");
    assert!(silent(&mut at("postgres", &["init"])).starts_with("nothing to do"));
    assert!(silent(&mut at("worker", &["check"])).starts_with("the store is as it should be"));
    let reader = says(&mut at("looker", &["check"]), 78);
    assert!(reader.contains("grant locked_client to looker"), "{reader}");
    let unsound: Value =
        serde_json::from_slice(&ends(&mut at("looker", &["check", "--json"]), 78).stdout).expect("JSON");
    assert_eq!(unsound["sound"], false);

    for words in [&["prune"][..], &["epoch"]] {
        let refused = says(&mut at("worker", words), 69);
        assert!(refused.contains("worker may not act as locked_owner"), "{refused}");
        ends(&mut at("postgres", words), 0);
    }
    let owners = "select count(*) from pg_auth_members where roleid = 'locked_owner'::regrole and member <> 10";
    assert_eq!(cluster::shared().sql(owners), [["0"]], "who was lent the ownership has given it back");

    let mut damage = cluster::shared().config("postgres");
    damage.dbname("of_the_store_verbs");
    let desk = cluster::Desk::at(&damage).expect("a session");
    desk.sql("drop function locked.tell(text, text)").expect("dropped");
    let missing = says(&mut at("worker", &["check"]), 78);
    assert!(missing.contains("the function tell is missing"), "{missing}");
    silent(&mut at("postgres", &["init"]));
    silent(&mut at("worker", &["check"]));
    assert_eq!(text(&ends(&mut at("worker", &["print-sql"]), 0).stderr), "");
}

#[test]
fn every_example_of_the_group_is_a_command_line() {
    let world = World::new();
    for verb in ["init", "check", "print-sql", "prune", "epoch", "move"] {
        let help = silent(world.locked().args(["store", verb, "--help"]));
        let example = help.lines().skip_while(|line| *line != "Example:").nth(1).expect("an example").trim().to_owned();
        assert!(example.starts_with(&format!("locked store {verb}")), "{example}");
        if verb != "move" {
            let shell = example.replacen("locked", &format!("'{}'", env!("CARGO_BIN_EXE_locked")), 1);
            ends(world.command("sh").args(["-c", &shell]), 0);
        }
    }
}
