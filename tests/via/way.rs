//! The way stands: a server behind it answers, over TLS, and nothing of it is left afterwards.

use std::time::{Duration, Instant};

use locked::store::postgres::address::read;
use locked::store::postgres::tls::Unconnected;
use locked::store::postgres::via::{self, Bastion};
use tokio::runtime::Runtime;
use tokio_postgres::{Client, SimpleQueryMessage};

use crate::dsn::around::Around;
use crate::dsn::cluster::Cluster;

use super::gate::Gate;

pub(super) const LIMIT: Duration = Duration::from_secs(60);

pub(super) fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build().expect("runtime")
}

/// A session through the machine between; what carries it lives in the runtime.
pub(super) fn session(
    runtime: &Runtime,
    text: &str,
    bastion: &Bastion,
    limit: Duration,
) -> Result<Client, Unconnected> {
    let around = Around::default();
    let address = read(text, &around).expect("address");
    runtime.block_on(async {
        let connected = via::connect(&address, &around, bastion, limit).await?;
        tokio::spawn(connected.driver);
        Ok(connected.client)
    })
}

fn one(runtime: &Runtime, client: &Client, question: &str) -> Result<String, tokio_postgres::Error> {
    let answer = runtime.block_on(client.simple_query(question))?;
    let row = answer.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    });
    Ok(row.unwrap_or_default())
}

/// Waits until no process of these is there, zombies included.
fn gone(pids: &[i32]) {
    let until = Instant::now() + LIMIT;
    for pid in pids {
        let path = format!("/proc/{pid}");
        while std::path::Path::new(&path).exists() {
            assert!(Instant::now() < until, "{pid} is still there");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn a_server_behind_another_machine_is_reached_over_tls_that_proves_its_name() {
    let (cluster, gate, runtime) = (Cluster::start(), Gate::open(""), runtime());
    let text = format!(
        "postgres://scram:hunter2@db.example.test:{}/postgres?hostaddr=127.0.0.1&sslmode=verify-full&sslrootcert={}&channel_binding=require",
        cluster.port,
        cluster.authority.file("ca.crt"),
    );
    let client = session(&runtime, &text, &gate.bastion(), LIMIT).expect("a session");
    let ssl = one(&runtime, &client, "select ssl from pg_stat_ssl where pid = pg_backend_pid()");
    assert_eq!(ssl.expect("an answer"), "t");
    assert_eq!(gate.clients().len(), 1, "one ssh for one connection");
    assert!(!gate.told().contains("hunter2") && gate.told().contains("BatchMode=yes"), "{}", gate.told());
    drop(client);
    drop(runtime);
    gone(&gate.clients());
}

#[test]
fn a_wrong_name_is_refused_through_ssh_too() {
    let (cluster, gate, runtime) = (Cluster::start(), Gate::open(""), runtime());
    let text = format!(
        "host=wrong.example.test hostaddr=127.0.0.1 port={} user=postgres dbname=postgres sslmode=verify-full sslrootcert={}",
        cluster.port,
        cluster.authority.file("ca.crt"),
    );
    let error = session(&runtime, &text, &gate.bastion(), LIMIT).expect_err("another name");
    assert!(error.to_string().contains("not for wrong.example.test"), "{error}");
    gone(&gate.clients());
}

#[test]
fn the_string_s_hosts_are_tried_in_their_order_and_a_login_refused_ends_it() {
    let (cluster, gate, runtime) = (Cluster::start(), Gate::open(""), runtime());
    let closed = crate::world::ward::free_port();
    let hosts = format!("host=127.0.0.1,127.0.0.1 port={closed},{} dbname=postgres", cluster.port);
    let client = session(&runtime, &format!("{hosts} user=postgres"), &gate.bastion(), LIMIT).expect("the second");
    assert_eq!(one(&runtime, &client, "select 41 + 1").expect("an answer"), "42");
    let error = session(&runtime, &format!("{hosts} user=scram password=hunter3"), &gate.bastion(), LIMIT);
    let error = error.expect_err("a wrong password");
    assert!(error.to_string().contains("28P01") && !error.to_string().contains("hunter3"), "{error}");
}

#[test]
fn a_killed_ssh_ends_the_session_and_is_reaped() {
    let (cluster, gate, runtime) = (Cluster::start(), Gate::open(""), runtime());
    let text = format!("host=127.0.0.1 port={} user=postgres dbname=postgres", cluster.port);
    let client = session(&runtime, &text, &gate.bastion(), LIMIT).expect("a session");
    assert_eq!(one(&runtime, &client, "select 1").expect("an answer"), "1");
    let pid = gate.clients()[0];
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).expect("pid"), rustix::process::Signal::KILL)
        .expect("killed");
    assert!(one(&runtime, &client, "select 1").is_err(), "nobody carries it any more");
    drop(client);
    gone(&[pid]);
}
