//! What cannot be asked of it, and where it does not work.

use locked::config::OnUnreachable;
use locked::rules::Change;
use locked::store::{Claim, Request, Store, StoreError};
use locked::terms::{Resource, ResourceName, Scope};

use super::lab::{Machine, locked, over_socket, until};
use crate::store::cast::{LIMIT, actor, file, release, take};
use crate::world::cluster::{self, Cluster, program};
use crate::world::pooler::{self, Pooler};
use crate::world::ward;

/// An address where nobody answers.
pub(super) fn nowhere() -> String {
    format!("host=127.0.0.1 port={} user=postgres dbname=postgres", ward::free_port())
}

fn refusal(address: &str, on_unreachable: OnUnreachable, request: &Request) -> (String, String) {
    match Machine::new().store_at(address, on_unreachable, None).acquire(request, LIMIT) {
        Err(error @ (StoreError::Misnamed { .. } | StoreError::Refused { .. })) => (error.to_string(), error.remedy()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_needs_a_table_is_refused_before_anybody_is_asked() {
    let mut explicit = actor("ana").asks(&["a"]);
    explicit.claim = Claim::Explicit;
    let mut rotation = actor("ana").asks(&["a"]);
    let name = ResourceName::of("rotation", b"TOKEN");
    rotation.resources.push(Resource { name, scope: Scope("example.org/acme/infra".to_owned()) });
    let mut edit = actor("ana").asks(&["a"]);
    edit.files = vec![file("a.env.sops", "x")];
    edit.files[0].change = Some(Change::DecryptInPlace);
    let mut careful = actor("ana").asks(&["a"]);
    careful.ask.clone_from(&careful.resources);
    let mut theft = actor("eve").asks(&["a"]);
    theft.claim = Claim::Steal;
    for (request, word) in [
        (explicit, "between commands"),
        (theft, "from its holder"),
        (careful, "asking a person"),
        (rotation, "rotation:TOKEN"),
        (edit, "a.env.sops"),
    ] {
        let (why, remedy) = refusal(&nowhere(), OnUnreachable::Deny, &request);
        assert!(why.contains(word) && why.contains("no table") && remedy.contains("ledger"), "{why} | {remedy}");
    }
}

#[test]
fn a_command_below_the_holder_is_refused_at_once() {
    let machine = Machine::new();
    let (mut above, mut below) = (machine.store(), machine.store());
    let request = actor("ana").asks(&["nested"]);
    let held = take(&mut above, &request);
    let mut inner = actor("ana").waits_for(&["nested"]);
    inner.within = Some(request.grant);
    let error = below.acquire(&inner, LIMIT).expect_err("it would wait for ever");
    assert!(error.to_string().contains("the command above this one holds"), "{error}");
    let mut other = actor("ana").asks(&["nested-other"]);
    other.within = Some(request.grant);
    let inner = take(&mut below, &other);
    release(&mut below, &inner);
    release(&mut above, &held);
}

#[test]
fn a_pooler_that_lends_sessions_out_is_refused_and_one_that_does_not_serves() {
    let through = |pooler: &Pooler| {
        let config = pooler.config("postgres");
        let socket = match &config.get_hosts()[0] {
            tokio_postgres::config::Host::Unix(path) => path.display().to_string(),
            other => panic!("{other:?}"),
        };
        format!("host={socket} port={} user=postgres dbname=postgres", config.get_ports()[0])
    };
    for on_unreachable in [OnUnreachable::Deny, OnUnreachable::Local] {
        let request = actor("ana").asks(&["pooled"]);
        let (why, remedy) = refusal(&through(pooler::shared()), on_unreachable, &request);
        assert!(why.contains("pooler") && remedy.contains("session mode"), "{why} | {remedy}");
    }
    let statement = Pooler::start(cluster::shared(), "statement", 5);
    let (why, _) = refusal(&through(&statement), OnUnreachable::Deny, &actor("ana").asks(&["pooled"]));
    assert!(why.contains("pooler"), "{why}");
    let session = Pooler::start(cluster::shared(), "session", 5);
    let machine = Machine::new();
    let mut store = machine.store_at(&through(&session), OnUnreachable::Deny, None);
    let held = take(&mut store, &actor("ana").asks(&["pooled"]));
    assert_eq!(locked("pooled"), 1);
    assert!(matches!(store.renew(&held, LIMIT), Ok(locked::store::Renewal::Renewed(_))));
    release(&mut store, &held);
    assert_eq!(locked("pooled"), 0);
}

#[test]
fn a_standby_is_refused() {
    let primary = Cluster::start(&["-c", "fsync=off"]);
    let (root, port) = (ward::directory(), ward::free_port());
    let data = root.join("data");
    let copied = ward::as_server(program("pg_basebackup"))
        .args(["-R", "-c", "fast", "-h"])
        .arg(primary.socket())
        .args(["-p", &primary.port().to_string(), "-U", "postgres", "-D"])
        .arg(&data)
        .output()
        .expect("pg_basebackup runs");
    assert!(copied.status.success(), "{}", String::from_utf8_lossy(&copied.stderr));
    let (port_text, root_text) = (port.to_string(), root.to_str().expect("UTF-8"));
    let args = ["-D", data.to_str().expect("UTF-8"), "-k", root_text, "-p", &port_text, "-c", "listen_addresses="];
    let _standby = ward::start(&root, "QUIT", &program("postgres"), &args);
    let address = format!("host={root_text} port={port} user=postgres dbname=postgres");
    let config: tokio_postgres::Config = address.parse().expect("address");
    until("the standby answers", || crate::world::cluster::Desk::at(&config).is_ok());
    let (why, remedy) = refusal(&address, OnUnreachable::Local, &actor("ana").asks(&["standby"]));
    assert!(why.contains("standby") && remedy.contains("primary"), "{why} | {remedy}");
    let mut store = Machine::new().store_at(&over_socket(&primary), OnUnreachable::Deny, None);
    let held = take(&mut store, &actor("ana").asks(&["standby"]));
    release(&mut store, &held);
}
