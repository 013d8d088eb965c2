//! What the words mean together.

use std::time::Duration;

use locked::store::postgres::address::{
    Address, AddressError, Binding, Machine, Note, Place, SslMode, Surroundings as _, Target, read,
};

use super::around::Around;
use super::libpq;

fn good(text: &str) -> Address {
    read(text, &Around::default()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn bad(text: &str) -> AddressError {
    read(text, &Around::default()).expect_err(text)
}

fn servers(address: &Address) -> Vec<String> {
    address.endpoints.iter().map(ToString::to_string).collect()
}

#[test]
fn hosts_and_ports_pair_up_in_their_order() {
    let table: [(&str, &[&str]); 9] = [
        ("postgres://h1:1,h2:2,h3/db", &["h1:1", "h2:2", "h3:5432"]),
        ("postgres://h1,h2/db?port=6543", &["h1:6543", "h2:6543"]),
        ("postgres://?host=h1,h2&port=1,2", &["h1:1", "h2:2"]),
        ("host=h1,h2 port=1,", &["h1:1", "h2:5432"]),
        ("postgres://[::1]:5433/db", &["[::1]:5433"]),
        ("host=::1", &["[::1]:5432"]),
        ("hostaddr=::1,127.0.0.1", &["[::1]:5432", "127.0.0.1:5432"]),
        ("postgres://%2Ftmp%2Fa,h:2/db", &["/tmp/a/.s.PGSQL.5432", "h:2"]),
        ("host=/tmp/a port=7", &["/tmp/a/.s.PGSQL.7"]),
    ];
    for (text, expected) in table {
        assert_eq!(servers(&good(text)), expected, "{text}");
    }
    assert!(matches!(good("").endpoints[0].place, Place::Socket(_)), "no host: the default socket");
    let named = good("host=db hostaddr=127.0.0.1").endpoints.remove(0).place;
    assert_eq!(named, Place::Host { name: "db".into(), address: Some("127.0.0.1".parse().expect("address")) });
}

#[test]
fn lists_that_do_not_fit_are_refused() {
    assert_eq!(bad("host=a,b port=1,2,3"), AddressError::Lists { key: "port", hosts: 2, count: 3 });
    assert_eq!(bad("host=a,b hostaddr=::1"), AddressError::Lists { key: "host", hosts: 1, count: 2 });
}

#[test]
fn values_that_cannot_be_are_refused_by_the_name_of_their_parameter() {
    let table = [
        ("host=h port=0", "port"),
        ("host=h port=65536", "port"),
        ("host=h port=x", "port"),
        ("hostaddr=db", "hostaddr"),
        ("sslmode=verify", "sslmode"),
        ("sslmode=require sslrootcert=system", "sslmode"),
        ("sslmode=prefer sslnegotiation=direct", "sslmode"),
        ("target_session_attrs=master", "target_session_attrs"),
        ("channel_binding=yes", "channel_binding"),
        ("connect_timeout=2s", "connect_timeout"),
        ("ssl_max_protocol_version=TLSv1.1", "ssl_max_protocol_version"),
        ("ssl_min_protocol_version=TLSv1.3 ssl_max_protocol_version=TLSv1.2", "ssl_max_protocol_version"),
    ];
    for (text, expected) in table {
        assert!(matches!(bad(text), AddressError::Value { key, .. } if key == expected), "{text}: {}", bad(text));
    }
}

#[test]
fn what_cannot_be_promised_is_refused_and_not_dropped() {
    for text in ["require_auth=scram-sha-256", "requirepeer=postgres", "gssencmode=require", "replication=database"] {
        let error = bad(text);
        assert!(matches!(error, AddressError::Unsupported { .. }), "{text}: {error}");
        assert!(error.remedy().contains("take "), "{text}");
    }
    for text in ["gssencmode=prefer", "gssencmode=disable", "replication=false", "require_auth=''"] {
        good(text);
    }
}

#[test]
fn words_of_other_programs_are_dropped_with_a_note() {
    let address = good(
        "postgres://h/db?pgbouncer=true&connection_limit=1&pool_timeout=0&supa=base-pooler.x&schema=public\
         &statement_cache_size=0&prepared_statements=false&sslmode=require",
    );
    assert_eq!(address.notes.len(), 7);
    assert!(address.notes.iter().all(|note| matches!(note, Note::Foreign(_))));
    assert_eq!(address.protection.mode, SslMode::Require);
}

#[test]
fn the_one_word_of_ours_is_taken_in_both_forms_and_only_with_a_name_that_can_be_ours() {
    let schema = |text: &str| good(text).schema.map(|schema| schema.to_string());
    assert_eq!(schema("postgres://h/db?locked_schema=second&schema=public").as_deref(), Some("second"));
    assert_eq!(schema("host=h locked_schema='second'").as_deref(), Some("second"));
    assert_eq!(schema("postgres://h/db?schema=second&search_path=third&currentSchema=x"), None);
    let others = libpq::parsed(&["postgres://h/db?locked_schema=x".to_owned(), "host=h locked_schema=x".to_owned()]);
    assert!(others.iter().all(Option::is_none), "libpq does not take it, as the README says: {others:?}");
    for name in ["public", "pg_catalog", "%22x%22", "", "A", &"a".repeat(64)] {
        let error = bad(&format!("postgres://h/db?locked_schema={name}"));
        assert!(matches!(error, AddressError::Value { key: "locked_schema", .. }), "{name}: {error}");
        assert!(error.remedy().contains("locked_schema"), "{name}");
    }
}

#[test]
fn words_mean_what_they_mean_to_libpq() {
    let plain = good("host=h user=ana");
    assert_eq!((plain.database.as_str(), plain.protection.mode, plain.target), ("ana", SslMode::Prefer, Target::Any));
    assert_eq!((plain.connect_timeout, plain.protection.binding), (None, Binding::Prefer));
    assert!(plain.keep_alive.on && plain.protection.server_name);
    let system = good("host=h sslrootcert=system");
    assert_eq!(system.protection.mode, SslMode::VerifyFull, "a public authority is worth nothing without the name");
    let timed =
        good("host=h connect_timeout=1 tcp_user_timeout=5000 keepalives=0 keepalives_idle=7 keepalives_count=3");
    assert_eq!(timed.connect_timeout, Some(Duration::from_secs(2)), "never less than two seconds");
    assert_eq!(timed.keep_alive.user_timeout, Some(Duration::from_secs(5)), "milliseconds");
    assert_eq!((timed.keep_alive.on, timed.keep_alive.idle), (false, Some(Duration::from_secs(7))));
    assert_eq!(good("connect_timeout=0").connect_timeout, None);
    assert_eq!(good("connect_timeout=-1").connect_timeout, None);
    assert_eq!(good("application_name='' fallback_application_name=x").application_name.as_deref(), Some("x"));
    assert_eq!(good("fallback_application_name=x").application_name.as_deref(), Some("x"));
}

#[test]
fn a_line_end_of_the_file_that_held_the_string_is_not_part_of_it() {
    assert_eq!(good("postgres://h/db\n").database, "db");
    assert_eq!(good("postgres://h/db?sslmode=require\r\n").protection.mode, SslMode::Require);
}

#[test]
fn the_crates_configuration_has_every_word() {
    let address = good(
        "postgres://ana:pw@h:7/db?tcp_user_timeout=1500&options=-c%20x%3D1&keepalives_idle=9&channel_binding=require",
    );
    let config = address.config(
        &address.endpoints[0],
        Some("::1".parse().expect("address")),
        tokio_postgres::config::SslMode::Require,
    );
    assert_eq!((config.get_user(), config.get_dbname()), (Some("ana"), Some("db")));
    assert_eq!((config.get_password(), config.get_ports()), (Some(&b"pw"[..]), &[7][..]));
    assert_eq!(config.get_tcp_user_timeout(), Some(&Duration::from_millis(1500)));
    assert_eq!((config.get_options(), config.get_application_name()), (Some("-c x=1"), Some("locked")));
    assert_eq!((config.get_hosts().len(), config.get_hostaddrs().len()), (1, 1));
    assert_eq!(config.get_channel_binding(), tokio_postgres::config::ChannelBinding::Require);
    assert_eq!(config.get_keepalives_idle(), Duration::from_secs(9));
}

#[test]
fn on_this_machine_home_and_account_come_from_the_user_database() {
    let misleading = |name: &str| (name == "HOME").then(|| std::ffi::OsString::from("/nowhere"));
    let machine = Machine::new(&misleading);
    let told = |words: &[&str]| {
        let output = std::process::Command::new(words[0]).args(&words[1..]).output().expect("runs");
        String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
    };
    let name = told(&["id", "-un"]);
    assert_eq!(machine.account().as_deref(), Some(name.as_str()));
    let home = told(&["getent", "passwd", &name]).split(':').nth(5).map(std::path::PathBuf::from);
    assert_eq!(machine.home(), home);
    assert_eq!(read("host=h", &machine).expect("address").user, name);
}
