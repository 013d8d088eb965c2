//! The hammer: 64 clients in 4 processes over overlapping sets of resources, of which 15 in 100 vanish while they hold.
//! Three seconds each; `LOCKED_PG_HAMMER=20` for longer.

use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use locked::clock::{Clock as _, SystemClock};
use locked::store::{Acquisition, Ended, Ending, Holding, PostgresStore, Release, Request, Schema, Store as _, With};
use locked::terms::{FencingToken, Resource};
use tokio_postgres::{Config, NoTls};

use super::lab::{Lab, Way};
use crate::store::cast::{LIMIT, actor, settle};
use crate::world::cluster::Desk;

const TASK: &str = "LOCKED_TEST_HAMMER";
const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
/// What a lease lasts whose holder vanishes.
const SHORT: Duration = Duration::from_millis(200);

#[test]
fn under_the_hammer_nobody_overlaps_directly() {
    judged(&Lab::running(Way::Client), 4, 16, seconds());
}

#[test]
fn under_the_hammer_nobody_overlaps_through_a_pooler() {
    judged(&Lab::running(Way::Pooled), 4, 16, seconds());
}

/// Without the lock, the unique index and the order of the queue (which alone keeps most contenders apart) the same checker
/// finds holders beside each other.
#[test]
fn the_checker_of_the_hammer_sees_a_wrong_acquire() {
    let lab = Lab::running(Way::Client);
    let schema = lab.schema();
    lab.cluster().sql(&format!(
        "drop index {schema}.lease_live;
         create or replace function {schema}.lock(names text[], scopes text[], make boolean) returns void language sql as
         $$ insert into {schema}.resources (name, scope) select * from unnest(names, scopes) on conflict do nothing $$;
         create or replace function {schema}.next_token(of_name text, of_scope text, t timestamptz) returns bigint
         language sql as $$ select {schema}.ms(t) from pg_sleep(0.02) $$;
         create or replace function {schema}.ahead(names text[], scopes text[], ours boolean[], above uuid[], place bigint,
           t timestamptz) returns bigint[] language sql as $$ select '{{}}'::bigint[] $$"
    ));
    let seen = hammered(&lab, 2, 8, 1);
    assert!(seen.iter().any(|line| line.starts_with("overlap")), "the witness saw nothing");
    assert!(!broken_rules(&lab, &grants(&seen)).is_empty(), "the ledger shows nothing");
}

fn seconds() -> u64 {
    std::env::var("LOCKED_PG_HAMMER").ok().and_then(|text| text.parse().ok()).unwrap_or(3)
}

fn judged(lab: &Lab, processes: usize, threads: usize, seconds: u64) {
    let deadlocks = "select deadlocks from pg_stat_database where datname = 'postgres'";
    let before = lab.cluster().sql(deadlocks);
    let seen = hammered(lab, processes, threads, seconds);
    let violations: Vec<_> = seen.iter().filter(|line| !line.starts_with("granted")).collect();
    assert!(violations.is_empty(), "{violations:#?}");
    let grants = grants(&seen);
    println!("{} grants in {seconds} s", grants.len());
    assert!(grants.len() >= 20, "hardly anybody got anything: {}", grants.len());
    assert_eq!(broken_rules(lab, &grants), Vec::<String>::new());
    assert_eq!(lab.cluster().sql(deadlocks), before, "somebody was taken back for a deadlock");
}

/// Runs the clients and returns what they noted.
fn hammered(lab: &Lab, processes: usize, threads: usize, seconds: u64) -> Vec<String> {
    let schema = lab.schema();
    let names = NAMES.map(|name| format!("('sops:{name}')")).join(",");
    lab.cluster().sql(&format!(
        "create table lab.witness_{schema} (resource text primary key, holder text, token bigint not null default 0);
         insert into lab.witness_{schema} (resource) values {names};
         grant select, update on lab.witness_{schema} to worker"
    ));
    let config = lab.config();
    let tokio_postgres::config::Host::Unix(socket) = &config.get_hosts()[0] else { panic!("a socket") };
    let port = config.get_ports()[0];
    let task = format!("{} {port} {schema} {threads} {seconds}", socket.display());
    let children: Vec<Child> = (0..processes)
        .map(|_| {
            Command::new(std::env::current_exe().expect("this binary"))
                .args(["store::postgres::hammer::clients_in_a_process_of_their_own", "--exact", "--nocapture"])
                .env(TASK, &task)
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("starts")
        })
        .collect();
    let mut noted = Vec::new();
    for child in children {
        let output = child.wait_with_output().expect("ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        noted.extend(text.lines().filter_map(|line| line.strip_prefix("noted: ")).map(str::to_owned));
    }
    noted
}

/// The clients' side; without a task there is nothing to do.
#[test]
fn clients_in_a_process_of_their_own() {
    let Ok(task) = std::env::var(TASK) else { return };
    let words: Vec<&str> = task.split(' ').collect();
    let [socket, port, schema, threads, seconds] = words[..] else { panic!("{task}") };
    let mut config = Config::new();
    config.host_path(socket).port(port.parse().expect("a port")).user("worker").dbname("postgres");
    let (threads, seconds) = (threads.parse().expect("threads"), seconds.parse().expect("seconds"));
    let (ready, granted) = (Barrier::new(threads), AtomicUsize::new(0));
    let (config, schema, ready, granted) = (&config, Schema::named(schema).expect("a name"), &ready, &granted);
    std::thread::scope(|scope| {
        for number in 0..threads as u64 {
            let schema = schema.clone();
            scope.spawn(move || {
                let mut client = Client::new(config, &schema, number);
                ready.wait();
                let begun = Instant::now();
                // On a busy machine the time alone would show nothing.
                let goes_on = || {
                    begun.elapsed() < Duration::from_secs(seconds)
                        || (granted.load(Ordering::SeqCst) < 20 && begun.elapsed() < LIMIT)
                };
                while goes_on() {
                    granted.fetch_add(usize::from(client.turn(&goes_on)), Ordering::SeqCst);
                }
            });
        }
    });
}

type Tokens = Vec<(Resource, FencingToken)>;

struct Client {
    store: PostgresStore,
    desk: Desk,
    clock: SystemClock,
    witness: String,
    state: u64,
}

impl Client {
    fn new(config: &Config, schema: &Schema, number: u64) -> Self {
        let mut store = PostgresStore::new(config.clone(), Box::new(With(NoTls)), schema.clone());
        store.leases(None, LIMIT).expect("a connection");
        Self {
            store,
            desk: Desk::at(config).expect("a session"),
            clock: SystemClock::new(),
            witness: format!("lab.witness_{schema}"),
            state: u64::from(std::process::id()) << 20 | number << 4 | 1,
        }
    }

    /// xorshift: another number each time.
    fn random(&mut self, below: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state % below as u64).expect("small")
    }

    fn now(&self) -> u128 {
        self.clock.now().0.as_micros()
    }

    /// Asks for one to three resources, waits for its turn, holds, and gives back or vanishes. False when it gave up.
    fn turn(&mut self, goes_on: &impl Fn() -> bool) -> bool {
        let (first, count) = (self.random(NAMES.len()), self.random(3) + 1);
        let names: Vec<&str> = (0..count).map(|at| NAMES[(first + at) % NAMES.len()]).collect();
        let vanishes = self.random(100) < 15;
        let mut request = actor("client").waits_for(&names);
        request.mode = locked::store::Mode::Wait { silence: Duration::from_secs(60) };
        if vanishes {
            request.ttl = SHORT;
        }
        let asked = self.now();
        let Some((resources, queued)) = self.wait(&request, goes_on) else { return false };
        let tokens: Vec<_> = resources.iter().map(|(it, token)| (it.name.to_string(), token.0)).collect();
        let shown = tokens.iter().map(|(name, token)| format!("{name}={token}")).collect::<Vec<_>>().join(",");
        println!(
            "\nnoted: granted {} {asked} {} {shown}",
            request.grant,
            queued.map_or("-".to_owned(), |at| at.to_string())
        );
        if vanishes {
            // Without a word. It would be late to the witness: the ledger alone judges it.
            return true;
        }
        for (name, token) in &tokens {
            let entered = self.tell(
                &format!("holder = '{}', token = {token}", request.grant),
                &format!("resource = '{name}' and holder is null and token < {token}"),
            );
            if !entered {
                println!("\nnoted: overlap {name} {token}");
            }
        }
        for (name, _) in &tokens {
            self.tell("holder = null", &format!("resource = '{name}' and holder = '{}'", request.grant));
        }
        let held = Holding::Grant { grant: request.grant, key: request.key.clone(), resources };
        if settle(&mut self.store, &held, Ending::Release(Ended::Completed)) != Release::Released {
            println!("\nnoted: lost {}", request.grant);
        }
        true
    }

    /// What was granted, and since when we stood in the queue.
    fn wait(&mut self, request: &Request, goes_on: &impl Fn() -> bool) -> Option<(Tokens, Option<u128>)> {
        let mut queued = None;
        loop {
            match self.store.acquire(request, LIMIT).expect("the store answers") {
                Acquisition::Granted(granted) => {
                    return Some((granted.tokens, queued));
                }
                Acquisition::Busy { ahead, .. } => {
                    queued = queued.or(Some(self.now()));
                    if !goes_on() {
                        self.store.leave_queue(request.grant, LIMIT).expect("the store answers");
                        return None;
                    }
                    let place = u64::try_from(ahead.len()).expect("small").min(30);
                    let jitter = u64::try_from(self.random(10)).expect("small");
                    std::thread::sleep(Duration::from_millis(5 + 15 * place + jitter));
                }
            }
        }
    }

    /// Changes the witness's row by itself; did it match?
    fn tell(&self, set: &str, matching: &str) -> bool {
        let sql = format!("update {} set {set} where {matching} returning resource", self.witness);
        !self.desk.sql(&sql).expect("the witness answers").is_empty()
    }
}

/// A grant as its client noted it.
struct Noted {
    grant: String,
    asked: u128,
    queued: Option<u128>,
    tokens: Vec<(String, i64)>,
}

fn grants(seen: &[String]) -> Vec<Noted> {
    let noted = |line: &String| {
        let words: Vec<&str> = line.split(' ').collect();
        let [_, grant, asked, queued, tokens] = words[..] else { panic!("{line}") };
        let token = |pair: &str| {
            let (name, token) = pair.split_once('=').expect("a pair");
            (name.to_owned(), token.parse().expect("a number"))
        };
        Noted {
            grant: grant.to_owned(),
            asked: asked.parse().expect("a number"),
            queued: queued.parse().ok(),
            tokens: tokens.split(',').map(token).collect(),
        }
    };
    seen.iter().filter(|line| line.starts_with("granted")).map(noted).collect()
}

/// What the ledger and the clients' notes show of broken rules.
fn broken_rules(lab: &Lab, grants: &[Noted]) -> Vec<String> {
    let schema = lab.schema();
    let mut broken = Vec::new();
    // By the server's ledger: tokens grow, terms do not overlap.
    for row in lab.cluster().sql(&format!(
        "select name, token, before, ended, acquired_at from (
           select name, token, acquired_at, lag(token) over w as before, lag(coalesce(ended_at, 'infinity')) over w as ended
             from {schema}.leases window w as (partition by name order by id)) x
         where before >= token or ended > acquired_at"
    )) {
        broken.push(format!("ledger: {row:?}"));
    }
    // All or none.
    let rows = lab.cluster().sql(&format!("select grant_id, count(*) from {schema}.leases group by grant_id"));
    let counts: BTreeMap<&str, &str> = rows.iter().map(|row| (row[0].as_str(), row[1].as_str())).collect();
    for noted in grants {
        let count = counts.get(noted.grant.as_str()).copied().unwrap_or("0");
        if count != noted.tokens.len().to_string() {
            broken.push(format!("partial: {} has {count} of {}", noted.grant, noted.tokens.len()));
        }
    }
    broken.extend(out_of_turn(grants));
    broken
}

/// Who stood in the queue before another asked for the first time has the lower token of what both wanted.
fn out_of_turn(grants: &[Noted]) -> Vec<String> {
    let mut found = Vec::new();
    for first in grants {
        let Some(queued) = first.queued else { continue };
        for (name, token) in &first.tokens {
            let passed = grants.iter().filter(|it| it.asked > queued).flat_map(|it| &it.tokens);
            found.extend(
                passed
                    .filter(|(other, later)| other == name && later < token)
                    .map(|(_, later)| format!("out of turn: {name} {later} before {token}")),
            );
        }
    }
    found
}
