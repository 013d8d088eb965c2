//! A server as the store, by the roles that people have.

use crate::cli::store::{database, store};
use crate::run::stage::{ends, silent};
use crate::world::cluster;

use super::bed::{Bed, wanted, wrong};

#[test]
fn a_server_is_healthy_for_a_client_and_what_a_role_lacks_or_has_too_much_is_found() {
    let bed = Bed::new();
    let server = database("doctor");
    let see = |role: &str| {
        bed.findings(&["store", "checkouts", "spool", "leases", "session"], &[("LOCKED_STORE", &server(role))])
    };
    wanted(&see("worker"), ("store.schema", "fault", "locked store init"));
    silent(store(&bed.stage.world, &["init"]).env("LOCKED_STORE", server("postgres")));
    let healthy = see("worker");
    assert!(wrong(&healthy).is_empty(), "{healthy:#?}");
    let answers = wanted(&healthy, ("store.reachable", "ok", ""));
    assert!(answers["what"].as_str().expect("text").contains("the database doctor at "), "{answers}");
    wanted(&healthy, ("store.fsync", "note", "fsync = on"));

    let admin = cluster::shared();
    admin.sql(
        "create role doctor_stranger login; create role doctor_owner login in role locked_client, locked_owner;
         create role doctor_hasty login in role locked_client; alter role doctor_hasty set synchronous_commit = off;
         create role doctor_strict login in role locked_client; alter role doctor_strict set default_transaction_isolation = 'serializable'",
    );
    wanted(&see("doctor_stranger"), ("store.rights", "fault", "grant locked_client to doctor_stranger"));
    wanted(&see("postgres"), ("store.superuser", "warning", "create role NAME login in role locked_client"));
    wanted(&see("doctor_owner"), ("store.owner", "warning", "create role NAME login in role locked_client"));
    wanted(
        &see("doctor_hasty"),
        ("store.asynchronous", "warning", "alter role doctor_hasty set synchronous_commit = on"),
    );
    wanted(
        &see("doctor_strict"),
        ("store.rights", "fault", "alter role doctor_strict set default_transaction_isolation"),
    );
    // In every way that a server has to be read-only, the line beside the finding lets the role write again.
    admin.sql("create role doctor_reader login in role locked_client; alter database doctor set default_transaction_read_only = on");
    let found =
        wanted(&see("doctor_reader"), ("store.rights", "fault", "alter role doctor_reader in database doctor set"));
    let mut held = bed.stage.world.locked_as(1);
    ends(held.args(["-r", "server:x", "true"]).env("LOCKED_STORE", server("doctor_reader")), 69);
    admin.sql(found["remedy"].as_str().expect("a line"));
    assert!(wrong(&see("doctor_reader")).is_empty());
    ends(held.env("LOCKED_STORE", server("doctor_reader")), 0);
    admin.sql("alter database doctor reset default_transaction_read_only");
    let psql = |sql: &str| {
        let mut there = admin.config("postgres");
        there.dbname("doctor");
        drop(cluster::Desk::at(&there).expect("a connection").sql(sql).expect("done"));
    };
    psql("grant update on locked.leases to doctor_hasty");
    wanted(&see("doctor_hasty"), ("store.writes", "warning", "`locked store init` takes back"));
    wanted(&see("worker"), ("store.granted", "fault", "locked store init"));
    // One grant on many tables is one finding.
    psql("grant all on all tables in schema locked to doctor_hasty");
    let granted = see("worker");
    assert_eq!(granted.iter().filter(|it| it["id"] == "store.granted").count(), 1, "{granted:#?}");
    assert!(format!("{granted:?}").contains("more like it"), "{granted:#?}");
    psql("drop index locked.lease_live");
    wanted(&see("worker"), ("store.schema", "fault", "locked store init"));
    silent(store(&bed.stage.world, &["init"]).env("LOCKED_STORE", server("postgres")));
    assert!(wrong(&see("worker")).is_empty());
    admin.sql("create role doctor_writer login in role locked_client, pg_write_all_data");
    wanted(&see("doctor_writer"), ("store.writes", "warning", "pg_write_all_data"));
    psql("alter table locked.words drop column about");
    wanted(&see("worker"), ("store.tables", "fault", "locked store print-sql"));
    wanted(&see("doctor_nobody"), ("store.rights", "fault", ""));
}
