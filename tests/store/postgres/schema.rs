//! The schema: applied by many at once, guarded, compared; and who may do what.

use std::time::Duration;

use locked::store::{Difference, Initialised, PostgresStore, Schema, Store as _, StoreError, With};
use tokio_postgres::NoTls;

use super::lab::{Lab, Way};
use crate::store::cast::{LIMIT, actor, busy, take};
use crate::world::cluster::{self, Desk};

fn admin(schema: &Schema) -> PostgresStore {
    PostgresStore::new(cluster::shared().config("postgres"), Box::new(With(NoTls)), schema.clone())
}

/// The server's code of a failure.
fn code(result: Result<Vec<Vec<String>>, tokio_postgres::Error>) -> String {
    result.map_or_else(
        |error| error.as_db_error().map_or_else(|| error.to_string(), |it| it.code().code().to_owned()),
        |rows| format!("{rows:?}"),
    )
}

#[test]
fn fifty_who_apply_it_at_once_make_one_schema() {
    drop(Lab::running(Way::Direct));
    let schema = Schema::named("fifty").expect("a name");
    let applied: usize = std::thread::scope(|threads| {
        let threads: Vec<_> = (0..50)
            .map(|_| threads.spawn(|| admin(&schema).init(LIMIT).expect("made") == Initialised::Applied))
            .collect();
        threads.into_iter().map(|it| usize::from(it.join().expect("no panic"))).sum()
    });
    assert_eq!(applied, 1);
    let mut admin = admin(&schema);
    assert_eq!(admin.init(LIMIT).expect("again"), Initialised::Unchanged);
    assert_eq!(admin.check(LIMIT).expect("compared"), []);
    let id = admin.store_id(LIMIT).expect("an id");
    assert!(uuid::Uuid::parse_str(&id).is_ok());
}

#[test]
fn what_is_not_as_it_should_be_is_found_and_mended_under_live_leases() {
    let lab = Lab::running(Way::Client);
    let mut store = lab.contender();
    take(&mut store, &actor("ana").asks(&["a"]));
    let (mut admin, schema, server) = (admin(lab.schema()), lab.schema(), lab.cluster());
    server.sql(&format!(
        "create or replace function {schema}.clock() returns timestamptz language sql as 'select now()';
         drop function {schema}.tell(text, text);
         grant execute on function {schema}.ms(timestamptz) to public;
         alter function {schema}.renew_v1 security invoker"
    ));
    let mut found = admin.check(LIMIT).expect("compared");
    found.sort_by_key(|it| format!("{it:?}"));
    let expected = [
        Difference::Changed("clock".to_owned()),
        Difference::Missing("tell".to_owned()),
        Difference::Unguarded("ms".to_owned()),
        Difference::Unguarded("renew_v1".to_owned()),
    ];
    assert_eq!(found, expected);
    assert_eq!(admin.init(LIMIT).expect("mended"), Initialised::Applied);
    assert_eq!(admin.check(LIMIT).expect("compared"), []);
    let (blockers, _) = busy(&mut store, &actor("bob").asks(&["a"]));
    assert_eq!(blockers.len(), 1, "ana has it still");
    server.sql(&format!("update {schema}.meta set value = '99' where key = 'version'"));
    assert!(matches!(admin.init(LIMIT), Err(StoreError::Newer { found: 99, .. })));
}

/// What the functions rely on is part of the schema: without its index the ledger would grant one thing twice.
#[test]
fn tables_indexes_constraints_triggers_and_rights_are_looked_at_like_functions() {
    let lab = Lab::running(Way::Client);
    let (mut admin, schema, server) = (admin(lab.schema()), lab.schema(), lab.cluster());
    assert_eq!(admin.check(LIMIT).expect("compared"), []);
    let mended = [
        ("drop index {s}.lease_live", "unique index lease_live on leases"),
        (
            "drop index {s}.lease_live; create index lease_live on {s}.leases (name)",
            "unique index lease_live on leases",
        ),
        ("drop view {s}.waiting", "view waiting"),
        ("revoke select on {s}.live from locked_reader", "right select on live for locked_reader"),
        ("grant update on {s}.leases to worker", "update on leases for worker"),
        ("grant select (key_hash) on {s}.leases to public", "select on leases for everybody"),
        ("grant delete on {s}.live to locked_reader", "delete on live for locked_reader"),
        ("grant create on schema {s} to worker", "create in the schema for worker"),
    ];
    for (fault, said) in mended {
        server.sql(&fault.replace("{s}", &schema.to_string()));
        let found = admin.check(LIMIT).expect("compared");
        let told =
            found.iter().find(|it| it.to_string().contains(said)).unwrap_or_else(|| panic!("{fault}: {found:?}"));
        assert!(told.to_string().contains(": locked store init"), "{told}");
        assert_eq!(admin.init(LIMIT).expect("mended"), Initialised::Applied, "{fault}");
        assert_eq!(admin.check(LIMIT).expect("compared"), [], "{fault}");
    }
    let left_to_a_person = [
        ("alter table {s}.words drop column about", "without column words.about text"),
        ("alter table {s}.leases drop constraint leases_check", "without constraint leases_check"),
        ("alter table {s}.leases add constraint odd check (pid > 0)", "with constraint odd of leases"),
        ("alter table {s}.ticket_resources disable trigger all", "switched off"),
        ("alter table {s}.words enable row level security", "table words with row security"),
        ("create rule odd as on delete to {s}.leases do instead nothing", "with rule odd on leases"),
    ];
    for (fault, said) in left_to_a_person {
        server.sql(&fault.replace("{s}", &schema.to_string()));
        let found = admin.check(LIMIT).expect("compared");
        assert!(found.iter().any(|it| it.to_string().contains(said)), "{fault}: {found:?}");
    }
    assert_eq!(
        admin.init(LIMIT).expect("nothing to do"),
        Initialised::Unchanged,
        "it promises no cure that it has not"
    );
}

#[test]
fn a_schema_of_somebody_else_and_public_are_left_alone() {
    let server = Lab::running(Way::Direct);
    server.cluster().sql("create schema theirs; create table theirs.meta (x int)");
    let refused = admin(&Schema::named("theirs").expect("a name")).init(LIMIT).expect_err("refused");
    assert!(
        matches!(&refused, StoreError::Refused { why, .. } if why.contains("belongs to somebody else")),
        "{refused}"
    );
    let tables = "select count(*) from pg_class c join pg_namespace n on n.oid = relnamespace where nspname = 'theirs'";
    assert_eq!(server.cluster().sql(tables), [["1"]]);
    assert!(Schema::named("public").is_err());
}

/// As where people rent their database: who applies it is no superuser, and keeps nothing of what it was lent for that.
#[test]
fn who_may_create_roles_and_schemas_applies_it_and_is_no_owner_afterwards() {
    drop(Lab::running(Way::Direct));
    let server = cluster::shared();
    server.sql("create role builder login createrole");
    server.sql("grant create on database postgres to builder");
    let schema = Schema::named("built").expect("a name");
    let builder = || PostgresStore::new(server.config("builder"), Box::new(With(NoTls)), schema.clone());
    let applied = std::thread::scope(|threads| {
        let threads: Vec<_> = (0..4).map(|_| threads.spawn(|| builder().init(LIMIT).expect("made"))).collect();
        threads.into_iter().map(|it| it.join().expect("no panic")).collect::<Vec<_>>()
    });
    assert_eq!(applied.iter().filter(|it| **it == Initialised::Applied).count(), 1);
    assert_eq!(admin(&schema).check(LIMIT).expect("compared"), []);
    let kept =
        "select count(*) from pg_auth_members where roleid = 'locked_owner'::regrole and member = 'builder'::regrole";
    assert_eq!(server.sql(kept), [["0"]]);
    assert_eq!(code(server.try_sql_as("builder", "select * from built.leases")), "42501");
}

#[test]
fn clients_may_call_the_functions_and_readers_may_read_the_views_and_nobody_else_anything() {
    let lab = Lab::running(Way::Direct);
    let (server, schema) = (lab.cluster(), lab.schema());
    server.sql(
        "do $$ begin
           if not exists (select 1 from pg_roles where rolname = 'anon') then create role anon login; end if;
           if not exists (select 1 from pg_roles where rolname = 'stranger') then create role stranger login; end if;
         end $$",
    );
    let as_role = |role: &str, sql: &str| code(server.try_sql_as(role, sql));
    let table = format!("select * from {schema}.leases");
    let view = format!("select * from {schema}.live");
    let call = format!("select {schema}.leases_v1()");
    let inner = format!("select {schema}.finish(1, 'failed', '', true, now())");
    let make = format!("create table {schema}.x (y int)");
    for (role, allowed) in [("worker", &call), ("looker", &view)] {
        for sql in [&table, &view, &call, &inner, &make] {
            let answer = as_role(role, sql);
            assert_eq!(answer == "42501", sql != allowed, "{role}: {sql}: {answer}");
        }
    }
    for role in ["anon", "stranger"] {
        for sql in [&table, &view, &call, &inner, &make] {
            assert_eq!(as_role(role, sql), "42501", "{role}: {sql}");
        }
    }
    let owner = "select rolcanlogin or rolsuper or rolcreaterole from pg_roles where rolname = 'locked_owner'";
    assert_eq!(server.sql(owner), [["f"]]);
}

/// What a view shows is what a person may see: no key, no whole session.
#[test]
fn views_show_no_key_and_no_whole_session() {
    let lab = Lab::running(Way::Direct);
    let mut store = lab.contender();
    let (ana, bob) = (actor("ana"), actor("bob"));
    let request = ana.asks(&["a"]);
    take(&mut store, &request);
    busy(&mut store, &bob.waits_for(&["a"]));
    for view in ["live", "history", "waiting", "chain"] {
        let rows = lab.cluster().try_sql_as("looker", &format!("select * from {}.{view}", lab.schema())).expect("rows");
        let text = format!("{rows:?}");
        for hidden in [ana.session.whole(), bob.session.whole(), request.key.reveal(), request.key.hash()] {
            assert!(!text.contains(&hidden), "{view}");
        }
    }
}

#[test]
fn what_is_out_of_bounds_is_refused_with_a_sentence() {
    let lab = Lab::running(Way::Client);
    let good = [
        ("grant_id", "gen_random_uuid()".to_owned()),
        ("key", format!("'{}'", "ab".repeat(32))),
        ("session", "gen_random_uuid()".to_owned()),
        ("resources", "'[{\"scope\": \"s\", \"name\": \"sops:a\"}]'".to_owned()),
        ("ttl_ms", "1000".to_owned()),
    ];
    let bad = [
        ("key", "'short'".to_owned(), "64 hex digits"),
        ("resources", "'[]'".to_owned(), "at least one"),
        ("resources", "'{}'".to_owned(), "JSON array"),
        ("resources", "'[{\"scope\": \"s\", \"name\": \"a b:c\"}]'".to_owned(), "kind:name"),
        ("resources", format!("'[{{\"scope\": \"s\", \"name\": \"sops:{}\"}}]'", "x".repeat(600)), "512 bytes"),
        (
            "resources",
            "(select jsonb_agg(jsonb_build_object('scope', 's', 'name', 'x:' || n)) from generate_series(1, 300) n)"
                .to_owned(),
            "at most 256",
        ),
        ("ttl_ms", "0".to_owned(), "between 1 ms and 30 days"),
        ("ttl_ms", "99999999999".to_owned(), "between 1 ms and 30 days"),
        ("session", "null".to_owned(), "must be given"),
    ];
    let call = |name: &str, value: &str| {
        let arguments = good.iter().map(|(it, ready)| format!("{it} => {}", if *it == name { value } else { ready }));
        let sql = format!("select {}.acquire_v1({})", lab.schema(), arguments.collect::<Vec<_>>().join(", "));
        lab.cluster().try_sql_as("worker", &sql)
    };
    call("", "").expect("good as it is");
    for (name, value, sentence) in bad {
        let error = call(name, &value).expect_err(sentence);
        let said = error.as_db_error().expect("the server's word");
        assert!(said.code().code() == "22023" && said.message().contains(sentence), "{name}: {said}");
    }
}

/// No transaction id is drawn, so nothing is written: a blocked poll costs the server's disk nothing.
#[test]
fn a_blocked_poll_writes_nothing_until_half_of_its_silence_has_passed() {
    use crate::store::contract::World as _;
    let lab = Lab::new(Way::Client);
    let mut store = lab.contender();
    take(&mut store, &actor("ana").holds(&["a"]));
    let waiting = actor("bob").waits_for(&["a"]);
    busy(&mut store, &waiting);
    let desk = Desk::at(&lab.config()).expect("a session");
    let wrote = |silence: &str| {
        let rows = desk.sql(&format!(
            "begin;
             select {}.acquire_v1('{}', '{}', '{}', '[{{\"scope\": \"example.org/acme/infra\", \"name\": \"sops:a\"}}]', 600000{silence}) ->> 'answer';
             select pg_current_xact_id_if_assigned() is not null;
             commit",
            lab.schema(), waiting.grant, waiting.key.reveal(), waiting.owner.session.whole(),
        ));
        let rows = rows.expect("answers");
        assert_eq!(rows[0], ["busy"]);
        rows[1][0] == "t"
    };
    assert!(!wrote(", silence_ms => 5000"));
    assert!(!wrote(""), "nor does a single try");
    lab.pass(Duration::from_millis(2_499));
    assert!(!wrote(", silence_ms => 5000"));
    lab.pass(Duration::from_millis(1));
    assert!(wrote(", silence_ms => 5000"), "heard again");
    assert!(!wrote(", silence_ms => 5000"));
}

/// Whoever turned it off for a role did not mean leases.
#[test]
fn a_grant_is_durable_whatever_the_role_s_setting() {
    let lab = Lab::running(Way::Client);
    let desk = Desk::at(&lab.config()).expect("a session");
    for (set, during) in
        [("off", "on"), ("local", "on"), ("remote_write", "remote_write"), ("remote_apply", "remote_apply")]
    {
        let rows = desk.sql(&format!(
            "set synchronous_commit = '{set}';
             begin;
             select {0}.acquire_v1(gen_random_uuid(), '{1}', gen_random_uuid(), '[{{\"scope\": \"s\", \"name\": \"sops:{set}\"}}]', 1000) ->> 'answer';
             select current_setting('synchronous_commit');
             commit;
             select current_setting('synchronous_commit')",
            lab.schema(), "ab".repeat(32),
        ));
        assert_eq!(rows.expect("answers"), [["granted"], [during], [set]], "{set}");
    }
}

/// It is said, not worked around, where each statement does not see what was committed before it.
#[test]
fn another_isolation_is_refused_by_name() {
    let lab = Lab::running(Way::Client);
    let call = format!("select {}.leave_queue_v1(gen_random_uuid())", lab.schema());
    for isolation in ["repeatable read", "serializable"] {
        let answer = code(lab.cluster().try_sql_as("worker", &format!("begin isolation level {isolation}; {call}")));
        assert_eq!(answer, "25001", "{isolation}");
    }
    lab.contender().standing(&[], LIMIT).expect("a look needs no isolation");
}
