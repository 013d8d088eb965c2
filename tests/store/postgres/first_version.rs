//! From the first version of the schema to this one, under those who live by it.

use locked::store::{Initialised, PostgresStore, Renewal, Store as _, With};
use tokio_postgres::NoTls;

use super::lab::{Lab, Way};
use crate::store::cast::{LIMIT, actor, busy, granted, release, take};

/// The step that gave functions other arguments.
const THIRD: &str = include_str!("../../../src/store/postgres/schema/0003_ways_to_end.sql");

/// Functions by their old arguments, as `schema.name(types)`.
fn of_before(schema: &str) -> Vec<String> {
    let drops = THIRD.split("drop function if exists ").skip(1);
    let signature = |text: &str| text.split(';').next().expect("its end").replace("@schema@", schema);
    drops.map(signature).collect()
}

#[test]
fn an_upgrade_costs_nobody_a_lease_or_a_place() {
    let lab = Lab::running(Way::Client);
    let schema = lab.schema();
    let (mut store, mut other) = (lab.contender(), lab.contender());
    let held = take(&mut store, &actor("ana").asks(&["a"]));
    let waits = actor("bob").waits_for(&["a"]);
    busy(&mut other, &waits);
    // What the first version did not have, and what it had instead.
    lab.cluster().sql(&format!(
        "drop trigger note_wait on {schema}.tickets; drop view {schema}.waited; drop function {schema}.note_wait();
         drop view {schema}.waiting;
         drop table {schema}.waits; alter table {schema}.tickets drop column since; drop table {schema}.left_joins;
         drop index {schema}.receipt_new; drop index {schema}.receipt_blob;
         drop table {schema}.sessions; drop table {schema}.words; drop table {schema}.tally;
         drop view {schema}.live;
         drop index {schema}.lease_ended_session; drop index {schema}.lease_left;
         alter table {schema}.leases drop column ask, drop column issue, drop column hold_issue, drop column hold_rule;
         create view {schema}.waiting as
           select r.scope, r.name as resource, k.id as place, k.holder, k.refreshed_at,
                  k.refreshed_at + k.silence_ms * interval '1 millisecond' < clock_timestamp() as silent
             from {schema}.tickets k join {schema}.ticket_resources r on r.ticket = k.id;
         alter view {schema}.waiting owner to locked_owner;
         update {schema}.meta set value = '1' where key = 'version'"
    ));
    let of_before = of_before(&schema.to_string());
    assert!(of_before.len() > 5, "{of_before:?}");
    for signature in of_before {
        lab.cluster().sql(&format!(
            "drop function if exists {signature}; create function {signature} returns integer language sql as 'select 1';
             alter function {signature} owner to locked_owner"
        ));
    }
    let config = lab.cluster().config("postgres");
    let mut admin = PostgresStore::new(config, Box::new(With(NoTls)), schema.clone());
    assert!(!admin.check(LIMIT).expect("compared").is_empty());
    assert_eq!(admin.init(LIMIT).expect("upgraded"), Initialised::Applied);
    assert_eq!(admin.check(LIMIT).expect("compared"), []);
    let twice = format!(
        "select proname from pg_proc where pronamespace = '{schema}'::regnamespace group by proname having count(*) > 1"
    );
    assert_eq!(lab.cluster().sql(&twice), [[""; 0]; 0], "callers name one function");
    assert!(matches!(store.renew(&held, LIMIT).expect("answer"), Renewal::Renewed(_)));
    busy(&mut other, &actor("eve").asks(&["a"]));
    release(&mut store, &held);
    granted(&mut other, &waits);
    let waited = format!("select resource, granted from {schema}.waited");
    assert_eq!(lab.cluster().try_sql_as("looker", &waited).expect("rows"), [["sops:a", "t"]]);
}
