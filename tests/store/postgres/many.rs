//! More holders than the server has connections.

use std::sync::Barrier;
use std::thread;

use locked::store::{
    Acquisition, Ended, Ending, Holding, PostgresStore, Release, Renewal, Schema, Settlement, Store as _, With,
};
use tokio_postgres::{Config, NoTls};

use super::lab;
use crate::store::cast::{LIMIT, actor};
use crate::world::cluster::Cluster;

/// The renews of each.
const BEATS: usize = 5;

/// `LOCKED_HOLDERS=1000` for the long form.
fn holders() -> usize {
    std::env::var("LOCKED_HOLDERS").ok().and_then(|it| it.parse().ok()).unwrap_or(150)
}

/// Each has a connection for as long as a call takes; the worst case is that all hearts beat at one moment.
#[test]
fn more_holders_than_connections_keep_their_leases_beat_by_beat() {
    let (holders, server) = (holders(), Cluster::start(&["-c", "fsync=off", "-c", "max_connections=100"]));
    lab::furnish(&server);
    allow_files(holders * 8);
    let beat = Barrier::new(holders);
    // As other machines come: a Unix socket whose queue is full refuses at once, TCP asks again.
    let mut config = Config::new();
    config.host("127.0.0.1").port(server.port()).user("worker").dbname("postgres");
    let store = || PostgresStore::new(config.clone(), Box::new(With(NoTls)), Schema::default());
    let life = |number: usize| -> Vec<String> {
        let request = actor("holder").asks(&[&format!("r{number}")]);
        let granted = store().acquire(&request, LIMIT);
        let Ok(Acquisition::Granted(granted)) = granted else {
            // The others count on us at each beat.
            for _ in 0..=BEATS {
                beat.wait();
            }
            return vec![format!("{granted:?}")];
        };
        let held = Holding::Grant { grant: request.grant, key: request.key.clone(), resources: granted.tokens };
        let mut wrong = Vec::new();
        for _ in 0..BEATS {
            beat.wait();
            let renewed = store().renew(&held, LIMIT);
            wrong.extend((!matches!(renewed, Ok(Renewal::Renewed(_)))).then(|| format!("{renewed:?}")));
        }
        beat.wait();
        let end = store().settle(&held, &Settlement::whole(Ending::Release(Ended::Completed), Vec::new()), LIMIT);
        wrong.extend((!matches!(end, Ok(Release::Released))).then(|| format!("{end:?}")));
        wrong
    };
    let wrong: Vec<String> = thread::scope(|threads| {
        let lives: Vec<_> = (0..holders)
            .map(|number| {
                let thread = thread::Builder::new().stack_size(256 * 1024);
                thread.spawn_scoped(threads, move || life(number)).expect("a thread")
            })
            .collect();
        lives.into_iter().flat_map(|it| it.join().expect("no panic")).collect()
    });
    assert!(wrong.is_empty(), "{}: {:?}", wrong.len(), wrong.first());
    let ended = server.sql("select count(*) from locked.leases where ended_as = 'completed'");
    assert_eq!(ended, [[holders.to_string()]]);
}

/// Each store has a runtime and a connection of its own; the usual limit of a process is 1,024 files.
fn allow_files(wanted: usize) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = u64::try_from(wanted).unwrap_or(u64::MAX);
    if current.is_some_and(|it| it < wanted) {
        let more = Rlimit { current: Some(maximum.map_or(wanted, |it| it.min(wanted))), maximum };
        setrlimit(Resource::Nofile, more).expect("more files");
    }
}
