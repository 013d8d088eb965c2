//! A primary that is gone and its standby in its place, over TLS that proves the servers and passwords by SCRAM: the
//! program finds the one that takes writes among the hosts of its one address, and a lease goes on there.

use std::process::Command;

use super::lab::furnish;
use crate::dsn::authority::{Authority, HOST};
use crate::dsn::cluster::own;
use crate::world::World;
use crate::world::cluster::Cluster;
use crate::world::ends::{ends, says, so, text, until};
use crate::world::held::Held;

/// Nobody comes over the network without TLS and a password.
const RULES: &str = "\
local   all         all    trust
local   replication all    trust
hostssl all         worker all scram-sha-256
host    all         all    all reject
";

/// A primary and its standby, each with a certificate, and the authority of both.
struct Pair {
    world: World,
    authority: tempfile::TempDir,
    primary: Cluster,
    standby: Cluster,
}

impl Pair {
    fn new() -> Self {
        let place = tempfile::Builder::new().prefix("locked-ca-").tempdir().expect("directory");
        let authority = Authority::new(place.path());
        own(place.path());
        let primary = Cluster::start(&["-c", "fsync=off"]);
        furnish(&primary);
        // Order: into the data directory, so that the standby has all of it as well.
        std::fs::write(primary.socket().join("data/pg_hba.conf"), RULES).expect("rules");
        for (name, value) in
            [("ssl_cert_file", authority.file("good.crt")), ("ssl_key_file", authority.file("good.key"))]
        {
            primary.sql(&format!("alter system set {name} = '{value}'"));
        }
        primary.sql("alter system set ssl = on");
        primary.sql("alter role worker password 'hunter2'; select pg_reload_conf()");
        let standby = primary.standby();
        Self { world: World::new(), authority: place, primary, standby }
    }

    /// Both in one address, the standby first.
    fn both(&self) -> String {
        self.address(&[&self.standby, &self.primary])
    }

    fn address(&self, servers: &[&Cluster]) -> String {
        let hosts: Vec<String> = servers.iter().map(|server| format!("{HOST}:{}", server.port())).collect();
        let at = vec!["127.0.0.1"; servers.len()].join(",");
        format!(
            "postgres://worker:hunter2@{}/postgres?hostaddr={at}&target_session_attrs=read-write&sslmode=verify-full\
             &sslrootcert={}&channel_binding=require",
            hosts.join(","),
            self.authority.path().join("ca.crt").display(),
        )
    }

    fn locked(&self, session: u32, address: &str, words: &[&str]) -> Command {
        let mut command = self.world.locked_as(session);
        command.env("LOCKED_STORE", address).args(words);
        command
    }
}

/// When the one lease of that name was renewed, as a server has it.
fn renewed(server: &Cluster, name: &str) -> Option<String> {
    let rows =
        server.sql(&format!("select renewed_at from locked.leases where name = 'server:{name}' and ended_at is null"));
    rows.into_iter().flatten().next()
}

#[test]
fn a_holder_s_lease_goes_on_at_the_standby_that_was_promoted_and_newcomers_find_it_there() {
    let pair = Pair::new();
    let (both, standby) = (pair.both(), &pair.standby);
    let times = ["--ttl", "60s", "--heartbeat", "1s", "-r", "server:long"];
    let held = Held::start(&mut pair.locked(1, &both, &[&times[..], &["sh", "-c", "echo up; exec cat"]].concat()));
    let ssl =
        "select count(*) from pg_stat_ssl s join pg_stat_activity a using (pid) where a.usename = 'worker' and not ssl";
    assert_eq!(pair.primary.sql(ssl), [["0"]], "nobody comes without TLS");
    let before = until("the standby has the lease", || renewed(standby, "long"));
    pair.primary.stop("immediate");
    // Nobody takes writes now: who comes is told of each server what is wrong with it.
    let said = says(&mut pair.locked(2, &both, &["-n", "-r", "server:short", "true"]), 69);
    assert!(said.contains("is a standby") && said.contains("cannot be reached"), "{said}");
    assert!(!said.contains("hunter2"), "{said}");
    assert_eq!(standby.sql("select pg_promote()"), [["t"]]);

    ends(&mut pair.locked(2, &both, &["-n", "-r", "server:short", "true"]), 0);
    so("the holder renews there", || renewed(standby, "long").is_some_and(|now| now > before));
    let busy = says(&mut pair.locked(2, &both, &["-n", "-r", "server:long", "true"]), 75);
    assert!(busy.contains("server:long is held by 01010101"), "{busy}");
    held.let_go();
    assert_eq!(
        standby.sql("select name, ended_as from locked.leases order by name"),
        [["server:long", "completed"], ["server:short", "completed"]]
    );
    ends(&mut pair.locked(2, &both, &["-n", "-r", "server:long", "true"]), 0);
}

#[test]
fn a_standby_alone_is_refused_as_what_it_is() {
    let pair = Pair::new();
    let alone = pair.address(&[&pair.standby]);
    let server = format!("{HOST}:{}", pair.standby.port());
    let wanted = says(&mut pair.locked(1, &alone, &["-n", "-r", "server:a", "true"]), 69);
    let message = format!("{server} is a standby, and target_session_attrs=read-write asks for another");
    assert!(wanted.contains(&message) && wanted.contains("add the primary to host"), "{wanted}");
    // Nobody has said what is wanted: the server itself says it.
    let any = alone.replace("target_session_attrs=read-write&", "");
    let said = says(&mut pair.locked(1, &any, &["-n", "-r", "server:a", "true"]), 69);
    assert!(said.contains("it is a standby or read-only") && said.contains("point the store's address"), "{said}");
    // To look it is good enough.
    ends(&mut pair.locked(1, &any, &["status"]), 0);
    // A server of no authority of ours is not one to fall back on.
    let strange = pair.both().replace("ca.crt", "stranger.crt");
    let said = text(&ends(&mut pair.locked(1, &strange, &["-n", "-r", "server:a", "true"]), 69).stderr);
    assert!(said.contains("of no authority that we were given"), "{said}");
    assert!(said.contains("[error performing TLS handshake: invalid peer certificate: UnknownIssuer]"), "{said}");
}
