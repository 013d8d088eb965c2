//! A server that is far away: what a verb costs is how often it goes there and back.

use std::time::{Duration, Instant};

use locked::store::{Acquisition, Holding, PostgresStore, Renewal, Store as _, With};
use tokio_postgres::{Config, NoTls};

use super::lab::{Lab, Way};
use crate::store::cast::{LIMIT, actor, busy, release};
use crate::world::cluster::{Cluster, Desk};
use crate::world::relay::Relay;

/// Each way.
const AWAY: Duration = Duration::from_millis(25);

/// A user whose password the server wants to see proven (SCRAM), as users have it.
fn with_a_password(server: &Cluster) {
    server.sql(
        "create role distant login password 'hunter2' in role locked_client;
         copy (select 'local all distant scram-sha-256' union all select 'local all all trust'
               union all select 'host all all all trust' union all select 'local replication all trust')
           to program 'cat > pg_hba.conf';
         select pg_reload_conf()",
    );
    let bare = server.config("distant");
    let until = Instant::now() + LIMIT;
    while Desk::at(&bare).is_ok() {
        assert!(Instant::now() < until, "the rule does not come into force");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_far_server_costs_one_trip_for_each_verb_and_three_for_a_connection() {
    let lab = Lab::running(Way::Client);
    with_a_password(lab.cluster());
    let relay = Relay::far_from(lab.cluster().socket(), lab.cluster().port(), AWAY);
    let mut config = Config::new();
    config.host_path(relay.socket()).port(lab.cluster().port()).user("distant").password("hunter2").dbname("postgres");
    let store = || PostgresStore::new(config.clone(), Box::new(With(NoTls)), lab.schema().clone());
    let counted = |what: &str, trips: u32, work: &mut dyn FnMut()| {
        let begun = Instant::now();
        work();
        let (found, took) = (relay.turns(), begun.elapsed());
        println!("{what}: {found} round trips, {} ms", took.as_millis());
        assert_eq!(found, trips, "{what}");
    };
    let mut one = store();
    let request = actor("ana").asks(&["a"]);
    let mut tokens = Vec::new();
    counted("connection and acquire", 4, &mut || match one.acquire(&request, LIMIT) {
        Ok(Acquisition::Granted(granted)) => tokens = granted.tokens,
        other => panic!("{other:?}"),
    });
    let held = Holding::Grant { grant: request.grant, key: request.key.clone(), resources: tokens };
    let renewed = |store: &mut PostgresStore| assert!(matches!(store.renew(&held, LIMIT), Ok(Renewal::Renewed(_))));
    counted("renew", 1, &mut || renewed(&mut one));
    // Kept until it is counted: that it says goodbye is a turn too.
    let mut fresh = store();
    counted("connection and renew, as a long command beats", 4, &mut || renewed(&mut fresh));
    let mut other = store();
    counted("connection and a busy answer", 4, &mut || drop(busy(&mut other, &actor("bob").waits_for(&["a"]))));
    counted("a busy answer", 1, &mut || drop(busy(&mut other, &actor("cid").waits_for(&["a"]))));
    counted("release, with others to tell", 1, &mut || release(&mut one, &held));
}
