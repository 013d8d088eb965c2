//! `locked store print-sql --compat`: the table of locks of before and `locked` exclude each other, under the role that may
//! least.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicU32, Ordering};

use locked::store::{Before, Ended, Ending, HistoryFilter, PostgresStore, Schema, Store as _};
use locked::terms::Scope;

use crate::run::stage::silent;
use crate::store::cast::{LIMIT, actor, bad, busy, file, granted, kept, release, resource, settled, take};
use crate::store::postgres::lab::{Lab, Way};
use crate::world::World;
use crate::world::cluster;

fn before(schema: &str) -> Before {
    Before { schema: schema.to_owned(), scope: resource("a").scope, containers: Scope("machine/one".to_owned()) }
}

/// A ledger with the tables of before in a schema beside it, and the users who write them.
pub(super) struct Old {
    lab: Lab,
    outer: String,
}

impl Old {
    pub(super) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let lab = Lab::running(Way::Client);
        let outer = format!("before{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        lab.cluster().sql(&format!("create schema {outer}; grant usage on schema {outer} to worker, looker"));
        let old = Self { lab, outer };
        old.lab.cluster().sql(&old.lab.schema().compat(&before(&old.outer)));
        old
    }

    /// As `worker`, who is a member of locked_client and no more; `@` stands for the tables' schema.
    pub(super) fn sql(&self, text: &str) -> Result<Vec<Vec<String>>, String> {
        self.as_user("worker", text)
    }

    pub(super) fn as_user(&self, user: &str, text: &str) -> Result<Vec<Vec<String>>, String> {
        let done = self.lab.cluster().try_sql_as(user, &text.replace('@', &format!("{}.", self.outer)));
        done.map_err(|error| {
            let of_server = error.as_db_error();
            of_server.map_or_else(|| error.to_string(), |it| format!("{} {}", it.code().code(), it.message()))
        })
    }

    /// How many rows a statement changed.
    pub(super) fn rows(&self, text: &str, returning: &str) -> usize {
        self.sql(&format!("{text} returning {returning}")).expect("done").len()
    }

    pub(super) fn store(&self) -> PostgresStore {
        self.lab.contender()
    }

    pub(super) fn insert(&self, name: &str, holder: &str) -> Result<Vec<Vec<String>>, String> {
        self.sql(&format!(
            "insert into @p24_env_locks (resource, holder, operation, expires_at) \
             values ('{name}', '{holder}', 'rotation', now() + interval '30 minutes') returning resource, holder"
        ))
    }
}

const ANA: &str = "3f2a91c0-0000-4000-8000-000000000001";

#[test]
fn the_old_table_and_locked_exclude_each_other() {
    let (old, bob) = (Old::new(), actor("bob"));
    let mut store = old.store();
    assert_eq!(old.insert("sops:a", ANA), Ok(vec![vec!["sops:a".to_owned(), ANA.to_owned()]]));
    let (blockers, _) = busy(&mut store, &bob.asks(&["a"]));
    assert_eq!((blockers[0].lease.label.as_str(), blockers[0].lease.operation.as_str()), ("env-lock", "rotation"));
    let second = old.insert("sops:a", "somebody else").expect_err("busy");
    assert_eq!(second, "23505 sops:a is held by 3f2a91c0 (env-lock), rotation");
    let lasts = "select extract(epoch from expires_at - now()) between 1790 and 1801 from @p24_env_locks where resource = 'sops:a'";
    assert_eq!(old.sql(lasts), Ok(vec![vec!["t".to_owned()]]));
    assert_eq!(
        old.rows(
            &format!("update @p24_env_locks set expires_at = now() + interval '30 minutes' where holder = '{ANA}'"),
            "1"
        ),
        1
    );
    assert_eq!(old.rows("delete from @p24_env_locks where resource = 'sops:a' and holder = 'somebody else'", "1"), 0);
    assert_eq!(old.rows(&format!("delete from @p24_env_locks where resource = 'sops:a' and holder = '{ANA}'"), "1"), 1);
    // And the other way round: what `locked` holds is seen, short, and not closed from here.
    let held = take(&mut store, &bob.asks(&["a"]));
    let seen = old.sql("select resource, holder, operation from @p24_env_locks").expect("seen");
    assert_eq!(seen, [["sops:a".to_owned(), bob.session.short(), "bob's command".to_owned()]]);
    assert!(old.insert("sops:a", ANA).is_err_and(|it| it.starts_with("23505 sops:a is held by ")));
    for refused in ["delete from @p24_env_locks", "update @p24_env_locks set expires_at = now() + interval '1 hour'"] {
        assert!(old.sql(refused).is_err_and(|it| it.starts_with("42501 sops:a is held by ")), "{refused}");
    }
    release(&mut store, &held);
    assert_eq!(old.sql("select 1 from @p24_env_locks"), Ok(vec![]));
}

#[test]
fn one_session_is_one_holder_in_the_old_helper_and_in_locked() {
    let (old, ana) = (Old::new(), actor("ana"));
    let mut store = old.store();
    let name = ana.session.whole();
    old.insert("sops:a", &name).expect("held");
    old.insert("sops:a", &name).expect("its own already");
    let command = take(&mut store, &ana.asks(&["a"]));
    assert!(old.insert("sops:a", &name).is_err_and(|it| it.starts_with("23505")), "its own command runs");
    release(&mut store, &command);
    assert_eq!(old.sql("select holder from @p24_env_locks"), Ok(vec![vec![name.clone()]]), "handed back");
    assert_eq!(old.rows(&format!("delete from @p24_env_locks where holder = '{name}'"), "1"), 1);
    granted(&mut store, &actor("bob").asks(&["a"]));
}

/// What a command of `locked` has left under the helper's lock only `locked` can look at, and what is held by `locked` is not
/// the helper's, whoever it named before.
#[test]
fn what_only_locked_can_look_at_is_not_closed_from_here() {
    let (old, ana) = (Old::new(), actor("ana"));
    let mut store = old.store();
    let name = ana.session.whole();
    let delete = format!("delete from @p24_env_locks where resource = 'sops:a' and holder = '{name}'");
    let refused = |what: &str| {
        let said = old.sql(&delete).expect_err(what);
        assert!(said.starts_with("42501 sops:a is held by "), "{what}: {said}");
        assert_eq!(old.sql("select holder from @p24_env_locks").expect("seen").len(), 1, "{what}");
    };
    let writes = || {
        let mut request = ana.asks(&["a"]);
        request.files = vec![file("/srv/a.env.sops", "before")];
        request
    };
    old.insert("sops:a", &name).expect("held");
    let held = take(&mut store, &writes());
    settled(&mut store, &held, kept(false));
    refused("kept: it may be plaintext");
    let beat = format!("update @p24_env_locks set expires_at = now() + interval '30 minutes' where holder = '{name}'");
    assert_eq!(old.rows(&beat, "1"), 1, "its own it is all the same");
    old.insert("sops:a", &name).expect("its own already");
    refused("inserted anew over it");
    let held = take(&mut store, &writes());
    settled(&mut store, &held, bad());
    assert_eq!(old.sql("select holder from @p24_env_locks"), Ok(vec![vec![name.clone()]]));
    refused("quarantined");
    assert!(old.insert("sops:a", "another").is_err_and(|it| it.starts_with("23505")));
    release(&mut store, &ana.holding(&["a"]));
    // A failure that wrote no file, and a success, are closed as before.
    for ending in [kept(false), Ending::Release(Ended::Completed)] {
        old.insert("sops:a", &name).expect("free");
        let held = take(&mut store, &ana.asks(&["a"]));
        settled(&mut store, &held, ending);
        assert_eq!(old.rows(&delete, "1"), 1);
    }
    // Acquired by `locked`: by a session that has inserted before, and over what it has inserted.
    for inserted in [false, true] {
        if inserted {
            old.insert("sops:a", &name).expect("free");
        }
        take(&mut store, &ana.holds(&["a"]));
        assert_eq!(old.sql("select holder from @p24_env_locks"), Ok(vec![vec![ana.session.short()]]), "short");
        let short = delete.replace(&name, &ana.session.short());
        for delete in [&short, &"delete from @p24_env_locks".to_owned()] {
            let said = old.sql(delete).expect_err("locked's");
            assert!(said.starts_with("42501 sops:a is held by "), "{said}");
        }
        release(&mut store, &ana.holding(&["a"]));
    }
}

#[test]
fn an_update_gives_the_time_that_it_asks_for() {
    let (old, ana) = (Old::new(), actor("ana"));
    let mut store = old.store();
    let name = ana.session.whole();
    let lasts = |from: u32, to: u32| {
        let text = format!(
            "select extract(epoch from expires_at - now()) between {from} and {to} from @p24_env_locks where resource = 'sops:a'"
        );
        assert_eq!(old.sql(&text), Ok(vec![vec!["t".to_owned()]]), "{from} to {to}");
    };
    let update = |what: &str| assert_eq!(old.rows(&format!("update @p24_env_locks set {what}"), "1"), 1, "{what}");
    let text = format!(
        "insert into @p24_env_locks (resource, holder, expires_at) values ('sops:a', '{name}', now() + interval '5 minutes')"
    );
    old.sql(&text).expect("held");
    lasts(290, 300);
    update("expires_at = now() + interval '60 minutes'");
    lasts(3_590, 3_600);
    update("operation = 'another'");
    lasts(3_590, 3_600);
    // Also after a command of `locked` has gone on under it, and where one failed.
    let held = take(&mut store, &ana.asks(&["a"]));
    release(&mut store, &held);
    lasts(3_590, 3_600);
    let held = take(&mut store, &ana.asks(&["a"]));
    settled(&mut store, &held, kept(false));
    update("expires_at = now() + interval '2 hours'");
    lasts(7_190, 7_200);
    update("expires_at = now() + interval '1 minute'");
    lasts(50, 60);
}

/// A whole session is its owner's affair; who writes the old table compares it, and who looks does not.
#[test]
fn no_whole_session_is_shown_to_who_only_looks() {
    let (old, bob) = (Old::new(), actor("bob"));
    let look = "select holder from @p24_env_locks order by resource";
    old.insert("sops:a", ANA).expect("held");
    old.insert("sops:b", "a name of its own").expect("held");
    assert_eq!(old.sql(look), Ok(vec![vec![ANA.to_owned()], vec!["a name of its own".to_owned()]]));
    let seen = vec![vec!["3f2a91c0".to_owned()], vec!["a name of its own".to_owned()]];
    assert_eq!(old.as_user("looker", look), Ok(seen));
    // Rows of before are mended when the tables are made again.
    let schema = old.lab.schema().to_string();
    old.lab.cluster().sql(&format!("update {schema}.leases set label = '{ANA}' where name = 'sops:a'"));
    old.sql("delete from @p24_env_locks where resource = 'sops:b'").expect("closed");
    old.lab.cluster().sql(&format!(
        "update {schema}.leases set note = 'presumed crashed, reclaimed by 3f2a91c0 ({ANA})' where name = 'sops:b'"
    ));
    old.lab.cluster().sql(&old.lab.schema().compat(&before(&old.outer)));
    let mut store = old.store();
    let (blockers, _) = busy(&mut store, &bob.asks(&["a"]));
    assert_eq!(blockers[0].lease.label, "env-lock");
    let past = store.history(&HistoryFilter::default(), LIMIT).expect("answer").remove(0);
    assert_eq!(past.note.as_deref(), Some("presumed crashed, reclaimed by 3f2a91c0 (env-lock)"));
}

/// A row of before has its issue at the end of its text alone.
#[test]
fn the_issue_of_a_row_of_before_is_found_behind_its_operation() {
    let (old, ana) = (Old::new(), actor("ana"));
    let mut store = old.store();
    let schema = old.lab.schema().to_string();
    let mut request = ana.holds(&["a"]);
    request.owner.operation = "locked acquire for acme/infra#3".to_owned();
    take(&mut store, &request);
    old.lab.cluster().sql(&format!("update {schema}.leases set issue = null"));
    for again in [false, true] {
        if again {
            take(&mut store, &ana.holds(&["a"]));
        }
        let lease = store.leases(None, LIMIT).expect("answer").remove(0);
        assert_eq!(lease.issue.map(|it| it.to_string()).as_deref(), Some("acme/infra#3"), "again: {again}");
    }
}

#[test]
fn what_has_run_out_is_cleared_as_before_and_the_ledger_says_who_took_it() {
    let old = Old::new();
    let back_dated = "insert into @p24_env_locks (resource, holder, expires_at) values ('server:bms-4', 'dead', now() - interval '1 hour')";
    old.sql(back_dated).expect("back-dated");
    assert_eq!(old.rows("delete from @p24_env_locks where resource = 'server:bms-4' and expires_at < now()", "1"), 1);
    old.insert("server:bms-4", "alive").expect("free");
    let past = old.store().history(&HistoryFilter::default(), LIMIT).expect("answer");
    assert_eq!((past[0].ended_as, past[0].label.as_str()), (Ended::Expired, "dead"), "cleared by somebody");
    old.sql(back_dated).expect_err("held");
    old.sql(&back_dated.replace("bms-4", "vps-i1")).expect("back-dated");
    old.insert("server:vps-i1", "alive").expect("run out: also without clearing it");
    let past = old.store().history(&HistoryFilter::default(), LIMIT).expect("answer");
    let note = past[0].note.clone().unwrap_or_default();
    assert!(
        past[0].ended_as == Ended::Expired && note.contains("reclaimed by") && note.contains("(alive)"),
        "{past:?}"
    );
    let scopes =
        "select distinct scope from @live where resource like 'server:%' or resource like 'container:%' order by 1";
    old.insert("container:stack", "alive").expect("free");
    let scopes = old.as_user("looker", &scopes.replace("@live", &format!("{}.live", old.lab.schema())));
    assert_eq!(scopes, Ok(vec![vec!["global".to_owned()], vec!["machine/one".to_owned()]]));
    for (wrong, code) in [
        ("insert into @p24_env_locks (resource, holder) values ('no kind', 'x')", "22023"),
        ("insert into @p24_env_locks (resource) values ('a:b')", "22023"),
        ("update @p24_env_locks set holder = 'me'", "0A000"),
        ("update @p24_env_locks set expires_at = now() - interval '1 hour'", "0A000"),
        // Said in the file: not for views.
        (
            "insert into @p24_env_locks (resource, holder) values ('a:b', 'x') on conflict (resource) do nothing",
            "42P10",
        ),
    ] {
        let said = old.sql(wrong).expect_err(wrong);
        assert!(said.starts_with(code), "{wrong}: {said}");
    }
}

#[test]
fn nobody_may_more_than_before() {
    let old = Old::new();
    let schema = old.lab.schema().to_string();
    for inner in ["leases", "old_holders"] {
        assert!(
            old.sql(&format!("select * from {schema}.{inner}")).is_err_and(|it| it.starts_with("42501")),
            "{inner}"
        );
    }
    old.insert("server:a", "x").expect("held");
    let look = "select holder from @p24_env_locks";
    assert_eq!(old.as_user("looker", look), Ok(vec![vec!["x".to_owned()]]));
    assert!(old.as_user("looker", "delete from @p24_env_locks").is_err_and(|it| it.starts_with("42501")));
    old.lab.cluster().sql("do $$ begin if not exists (select 1 from pg_roles where rolname = 'nosy') then create role nosy login; end if; end $$");
    old.lab.cluster().sql(&format!("grant usage on schema {} to nosy", old.outer));
    assert!(old.as_user("nosy", look).is_err_and(|it| it.starts_with("42501")));
    // Once more changes nothing, and a table of that name is not touched.
    old.lab.cluster().sql(&old.lab.schema().compat(&before(&old.outer)));
    assert_eq!(old.as_user("looker", look), Ok(vec![vec!["x".to_owned()]]));
    old.lab.cluster().sql("create schema real; create table real.p24_env_locks (resource text)");
    let refused = old.lab.cluster().try_sql(&old.lab.schema().compat(&before("real"))).expect_err("it is there");
    assert!(
        refused.as_db_error().is_some_and(|it| it.message() == "real.p24_env_locks is there, and is no view"),
        "{refused:?}"
    );
    let admin = cluster::shared().config("postgres");
    let mut admin =
        PostgresStore::new(admin, Box::new(locked::store::With(tokio_postgres::NoTls)), old.lab.schema().clone());
    assert_eq!(admin.check(LIMIT).expect("compared"), [], "the protocol is as it was");
}

/// As where people rent their database: who applies it is no superuser.
#[test]
fn who_may_act_as_the_owner_applies_it() {
    drop(Lab::running(Way::Direct));
    let server = cluster::shared();
    server.sql("create role old_builder login createrole; grant create on database postgres to old_builder");
    let schema = Schema::named("old_built").expect("a name");
    let mut admin = PostgresStore::new(
        server.config("old_builder"),
        Box::new(locked::store::With(tokio_postgres::NoTls)),
        schema.clone(),
    );
    admin.init(LIMIT).expect("made");
    let as_builder = |sql: &str| server.try_sql_as("old_builder", sql).map_err(|error| format!("{error:?}"));
    as_builder("create schema old_outer; grant usage on schema old_outer to locked_client")
        .expect("a schema of its own");
    as_builder(&schema.compat(&before("old_outer"))).expect("applied");
    let insert = "insert into old_outer.p24_env_locks (resource, holder) values ('server:a', 'x')";
    server.try_sql_as("worker", insert).expect("held");
    assert!(as_builder("select * from old_built.leases").is_err_and(|it| it.contains("42501")), "it keeps nothing");
}

#[test]
fn the_program_prints_it_for_the_repository_around() {
    let world = World::new();
    let work = world.work();
    world.git(&work, &["init", "-q"]);
    world.git(&work, &["remote", "add", "origin", "git@example.org:Acme/Infra.git"]);
    let printed =
        silent(world.locked().args(["store", "print-sql", "--compat", "--in", "old", "--containers", "machine/o'ne"]));
    assert!(
        printed.contains("when 'sops' then 'example.org/Acme/Infra'")
            || printed.contains("when 'sops' then 'example.org/acme/infra'"),
        "{printed}"
    );
    assert!(printed.contains("when 'container' then 'machine/o''ne'") && printed.contains("\"old\".p24_env_locks"));
    assert!(!printed.contains("@scope@") && !printed.contains("@schema@") && !printed.contains("@lends@"), "{printed}");
    for wrong in [&["--in", "a.b"][..], &["--scope", ""], &["--in", "Public"]] {
        crate::run::stage::says(world.locked().args(["store", "print-sql", "--compat"]).args(wrong), 64);
    }
    crate::run::stage::says(world.locked().args(["store", "print-sql", "--scope", "x"]), 64);
}
