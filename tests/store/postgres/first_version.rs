//! From the first version of the schema to this one, under those who live by it.

use locked::store::{Initialised, PostgresStore, Renewal, Store as _, With};
use tokio_postgres::NoTls;

use super::lab::{Lab, Way};
use crate::store::cast::{LIMIT, actor, busy, granted, release, take};

#[test]
fn an_upgrade_costs_nobody_a_lease_or_a_place() {
    let lab = Lab::running(Way::Client);
    let schema = lab.schema();
    // What the first version did not have.
    lab.cluster().sql(&format!(
        "drop trigger note_wait on {schema}.tickets; drop view {schema}.waited; drop function {schema}.note_wait();
         drop table {schema}.waits; drop table {schema}.left_joins; alter table {schema}.tickets drop column since;
         update {schema}.meta set value = '1' where key = 'version'"
    ));
    let (mut store, mut other) = (lab.contender(), lab.contender());
    let held = take(&mut store, &actor("ana").asks(&["a"]));
    let waits = actor("bob").waits_for(&["a"]);
    busy(&mut other, &waits);
    let config = lab.cluster().config("postgres");
    let mut admin = PostgresStore::new(config, Box::new(With(NoTls)), schema.clone());
    assert!(!admin.check(LIMIT).expect("compared").is_empty());
    assert_eq!(admin.init(LIMIT).expect("upgraded"), Initialised::Applied);
    assert_eq!(admin.check(LIMIT).expect("compared"), []);
    assert!(matches!(store.renew(&held, LIMIT).expect("answer"), Renewal::Renewed(_)));
    busy(&mut other, &actor("eve").asks(&["a"]));
    release(&mut store, &held);
    granted(&mut other, &waits);
    let waited = format!("select resource, granted from {schema}.waited");
    assert_eq!(lab.cluster().try_sql_as("looker", &waited).expect("rows"), [["sops:a", "t"]]);
}
