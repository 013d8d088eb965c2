//! The way does not stand: each reason has its name and its step, and no ssh is left.

use std::path::Path;
use std::time::Duration;

use locked::store::postgres::tls::ConnectError;
use locked::store::postgres::via::{Bastion, ViaError};

use crate::world::ward;

use super::gate::{Gate, silent};
use super::way::{LIMIT, runtime, session};

/// The address of a server behind the machine between.
const SERVER: &str = "host=127.0.0.1 user=postgres dbname=postgres sslmode=disable";

fn fault(port: u16, bastion: &Bastion, limit: Duration) -> ViaError {
    let error = session(&runtime(), &format!("{SERVER} port={port}"), bastion, limit).expect_err("no way");
    match error.tries().first() {
        Some(ConnectError::Via(fault)) => {
            assert_eq!(error.remedy(), fault.remedy());
            fault.clone()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_machine_that_ssh_does_not_know_or_knows_otherwise_is_named() {
    let gate = Gate::open("");
    gate.knows_nobody();
    let unknown = fault(1, &gate.bastion(), LIMIT);
    assert!(matches!(unknown, ViaError::UnknownKey { .. }), "{unknown}");
    gate.knows(&gate.strange_key().with_extension("pub"));
    let changed = fault(1, &gate.bastion(), LIMIT);
    assert!(matches!(changed, ViaError::ChangedKey { .. }), "{changed}");
}

#[test]
fn a_machine_that_takes_none_of_our_keys_is_named() {
    let gate = Gate::open("");
    let at = gate.bastion();
    let port = at.to_string().rsplit(':').next().and_then(|port| port.parse().ok()).expect("port");
    let login = fault(1, &gate.bastion_at(port, &gate.strange_key()), LIMIT);
    assert!(matches!(login, ViaError::Login { .. }), "{login}");
}

#[test]
fn a_server_that_is_not_there_and_one_that_may_not_be_reached_are_told_apart() {
    let closed = ward::free_port();
    let beyond = fault(closed, &Gate::open("").bastion(), LIMIT);
    assert!(matches!(beyond, ViaError::Beyond { .. }) && beyond.is_unreachable(), "{beyond}");
    let forbidden = fault(closed, &Gate::open("AllowTcpForwarding no").bastion(), LIMIT);
    assert!(matches!(forbidden, ViaError::Forbidden { .. }) && !forbidden.is_unreachable(), "{forbidden}");
}

#[test]
fn a_machine_that_is_not_there_or_says_nothing_is_unreachable_within_the_limit() {
    let gate = Gate::open("");
    let key = gate.strange_key();
    let closed = fault(1, &gate.bastion_at(ward::free_port(), &key), LIMIT);
    assert!(matches!(closed, ViaError::Unreachable { .. }), "{closed}");
    let (_listener, port) = silent();
    let mute = fault(1, &gate.bastion_at(port, &key), Duration::from_secs(4));
    assert!(matches!(mute, ViaError::Unreachable { .. }), "{mute}");
}

#[test]
fn a_server_behind_it_that_says_nothing_is_silent_within_the_limit() {
    let (gate, (_listener, port)) = (Gate::open(""), silent());
    let mute = fault(port, &gate.bastion(), Duration::from_secs(4));
    assert!(matches!(mute, ViaError::Silent { .. }), "{mute}");
    for pid in gate.clients() {
        assert!(!Path::new(&format!("/proc/{pid}")).exists(), "an ssh is left");
    }
}

#[test]
fn without_a_client_and_towards_a_socket_nothing_is_started() {
    let nobody = Bastion::read("ssh://bastion", Path::new("/nowhere/ssh")).expect("read");
    let fault = fault(1, &nobody, LIMIT);
    assert!(matches!(fault, ViaError::NoClient { .. }), "{fault}");
    let error = session(&runtime(), "host=/tmp user=postgres dbname=postgres", &nobody, LIMIT).expect_err("a socket");
    assert!(matches!(error.tries(), [ConnectError::Via(ViaError::Socket)]), "{error}");
}
