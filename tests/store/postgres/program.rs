//! The store as people use it: the program, psql, the generated schema, a dump.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use locked::store::{Initialised, PostgresStore, Renewal, Schema, Store as _, With};
use tokio_postgres::NoTls;

use super::lab::{Lab, Way};
use crate::store::cast::{LIMIT, actor, release, take};
use crate::world::World;
use crate::world::cluster::{self, Cluster};

fn there(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("install/sql").join(path)
}

/// A database of its own, and the users of a lab.
fn database(name: &str) -> &'static Cluster {
    drop(Lab::running(Way::Direct));
    let server = cluster::shared();
    server.database(name);
    server
}

fn psql(server: &Cluster, user: &str, database: &str, file: &Path) -> Output {
    let output = Command::new(cluster::program("psql"))
        .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h"])
        .arg(server.socket())
        .args(["-p", &server.port().to_string(), "-U", user, "-d", database, "-f"])
        .arg(file)
        .stdin(Stdio::null())
        .output();
    output.expect("psql runs")
}

/// `LOCKED_BLESS=1` writes it.
#[test]
fn the_schema_in_install_is_what_the_program_applies() {
    let (path, content) = (there("locked.sql"), Schema::default().sql());
    if std::env::var_os("LOCKED_BLESS").is_some() {
        std::fs::write(&path, &content).expect("written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == content, "{} is not of today: LOCKED_BLESS=1 cargo test the_schema_in_install", path.display());
}

#[test]
fn psql_alone_makes_the_schema_and_takes_part() {
    drop(Lab::running(Way::Direct));
    let server = cluster::shared();
    server.sql("create database by_hand");
    let made = psql(server, "postgres", "by_hand", &there("locked.sql"));
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let mut config = server.config("postgres");
    config.dbname("by_hand");
    let mut admin = PostgresStore::new(config, Box::new(With(NoTls)), Schema::default());
    assert_eq!(admin.check(LIMIT).expect("compared"), []);
    let played = psql(server, "worker", "by_hand", &there("example.sql"));
    let said = String::from_utf8_lossy(&played.stdout);
    assert!(played.status.success(), "{said}{}", String::from_utf8_lossy(&played.stderr));
    let first = ["granted", "renewed", "released"];
    let second = ["granted", "ours", "granted", "revoked", "revoked", "released", "ended", "0|t"];
    assert_eq!(said.split_whitespace().collect::<Vec<_>>(), [&first[..], &second[..]].concat());
}

#[test]
fn the_program_holds_its_lease_on_the_server() {
    let server = database("of_the_program");
    let world = World::new();
    let locked = |args: &[&str]| {
        let socket = server.socket().display().to_string().replace('/', "%2F");
        let mut command = world.locked();
        command.env("LOCKED_STORE", format!("postgres://worker@{socket}:{}/of_the_program", server.port()));
        command.env("LOCKED_SESSION", "11111111-1111-4111-8111-111111111111").args(args).output().expect("locked runs")
    };
    let text = |output: &Output| {
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    };
    let inside = r#"test -n "$LOCKED_TOKENS" && test -n "$LOCKED_LEASE""#;
    let ran = locked(&["-r", "server:web-1", "sh", "-c", inside]);
    assert!(ran.status.success(), "{}", text(&ran));
    assert_eq!(text(&ran), "", "when all goes well it says nothing");
    let taken = locked(&["acquire", "server:web-1"]);
    assert!(taken.status.success(), "{}", text(&taken));
    let seen = locked(&["status", "--json"]);
    assert!(text(&seen).contains("server:web-1"), "{}", text(&seen));
    let freed = locked(&["release", "server:web-1"]);
    assert!(freed.status.success(), "{}", text(&freed));
    let past = locked(&["history", "--json"]);
    assert_eq!(text(&past).matches("completed").count(), 2, "{}", text(&past));
}

/// Neither a dump of the database nor the schema applied again costs anybody a lease.
#[test]
fn a_dump_and_an_upgrade_during_heartbeats_cost_nobody_a_lease() {
    let lab = Lab::running(Way::Client);
    let over = AtomicBool::new(false);
    std::thread::scope(|threads| {
        let holders: Vec<_> = (0..4)
            .map(|number| {
                let (lab, over) = (&lab, &over);
                threads.spawn(move || {
                    let mut store = lab.contender();
                    let held = take(&mut store, &actor("holder").asks(&[&format!("r{number}")]));
                    let mut beats = 0;
                    while !over.load(Ordering::SeqCst) || beats < 3 {
                        let beat = store.renew(&held, LIMIT).expect("the store answers");
                        assert!(matches!(beat, Renewal::Renewed(_)), "{beat:?}");
                        beats += 1;
                    }
                    release(&mut store, &held);
                })
            })
            .collect();
        let mut admin =
            PostgresStore::new(lab.cluster().config("postgres"), Box::new(With(NoTls)), lab.schema().clone());
        for _ in 0..3 {
            // A function that is gone is put back, and all others with it.
            lab.cluster().sql(&format!("drop function {}.about_v1()", lab.schema()));
            assert_eq!(admin.init(LIMIT).expect("applied"), Initialised::Applied);
        }
        let dump = Command::new(cluster::program("pg_dump"))
            .arg("-h")
            .arg(lab.cluster().socket())
            .args([
                "-p",
                &lab.cluster().port().to_string(),
                "-U",
                "postgres",
                "-n",
                &lab.schema().to_string(),
                "postgres",
            ])
            .stdin(Stdio::null())
            .output()
            .expect("pg_dump runs");
        over.store(true, Ordering::SeqCst);
        assert!(dump.status.success(), "{}", String::from_utf8_lossy(&dump.stderr));
        for holder in holders {
            holder.join().expect("nobody lost a lease");
        }
    });
}

/// One of a thousand who try once each, most of them at the same moment.
#[test]
fn of_a_thousand_one_shot_acquires_exactly_one_is_granted() {
    let lab = Lab::running(Way::Pooled);
    let granted: usize = std::thread::scope(|threads| {
        let contenders: Vec<_> = (0..20)
            .map(|_| {
                threads.spawn(|| {
                    let one_shot = |_| {
                        let request = actor("one").asks(&["a"]);
                        let answer = lab.contender().acquire(&request, LIMIT).expect("the store answers");
                        usize::from(matches!(answer, locked::store::Acquisition::Granted(_)))
                    };
                    (0..50).map(one_shot).sum::<usize>()
                })
            })
            .collect();
        contenders.into_iter().map(|it| it.join().expect("no panic")).sum()
    });
    assert_eq!(granted, 1);
}
