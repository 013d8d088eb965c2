//! The verbs over a server that asks for a password and proves itself by a certificate: what the address names by files counts
//! for every one of them, relative to where it is typed.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use locked::store::{PostgresStore, Schema, With};
use tokio_postgres::{Config, NoTls};

use super::authority::HOST;
use super::cluster::Cluster;
use crate::world::World;
use crate::world::ends::{LIMIT, ends, says};

/// A server with our schema, and a world in which its authority and the password stand in files.
struct Place {
    server: Cluster,
    world: World,
}

impl Place {
    fn new() -> Self {
        let server = Cluster::start();
        let mut config = Config::new();
        config.host(server.socket()).port(server.port).user("postgres").dbname("postgres");
        PostgresStore::new(config, Box::new(With(NoTls)), Schema::default()).init(LIMIT).expect("made");
        server.ask("grant locked_client to scram").expect("granted");
        let world = World::new();
        fs::copy(server.authority.file("ca.crt"), world.work().join("ca.crt")).expect("copied");
        let place = Self { server, world };
        place.password("words", "hunter2", 0o600);
        place
    }

    /// A file of passwords, as libpq reads one.
    fn password(&self, name: &str, password: &str, mode: u32) {
        let file = self.world.work().join(name);
        fs::write(&file, format!("{HOST}:{}:postgres:scram:{password}\n", self.server.port)).expect("written");
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("set");
    }

    fn locked(&self, files: &str, words: &str) -> Command {
        let mut command = self.world.locked_as(1);
        let address = format!("postgres://scram@{HOST}/postgres?hostaddr=127.0.0.1&port={}", self.server.port);
        command.env("LOCKED_STORE", format!("{address}&sslmode=verify-full&{files}")).args(words.split(' '));
        command
    }
}

const ASKING: [&str; 13] = [
    "session begin --name PWA",
    "session list",
    "acquire server:a",
    "renew server:a",
    "check server:a",
    "status",
    "status --json",
    "status --waiting",
    "status --format prometheus",
    "history",
    "release server:a",
    "store check",
    "session end",
];

#[test]
fn every_verb_takes_certificate_and_password_from_files_or_says_what_is_wrong_with_them() {
    let place = Place::new();
    for words in ASKING {
        ends(&mut place.locked("sslrootcert=ca.crt&passfile=words", words), 0);
    }
    // A file that others may read is passed over, and said; then there is no password.
    place.password("open", "hunter2", 0o644);
    place.password("wrong", "hunter3", 0o600);
    fs::copy(place.server.authority.file("stranger.crt"), place.world.work().join("stranger.crt")).expect("copied");
    for (files, why) in [
        ("sslrootcert=ca.crt&passfile=open", "password"),
        ("sslrootcert=ca.crt&passfile=wrong", "password"),
        ("sslrootcert=ca.crt&passfile=none", "password"),
        ("sslrootcert=stranger.crt&passfile=words", "certificate"),
        ("sslrootcert=none.crt&passfile=words", "none.crt"),
    ] {
        for words in
            ["status", "status --json", "session list", "session end", "session begin --name PWA", "check server:a"]
        {
            let said = says(&mut place.locked(files, words), 69);
            assert!(said.starts_with("REFUSED: ") && said.contains(why), "{files} {words}: {said}");
            assert!(!said.contains("hunter"), "{files} {words}: {said}");
        }
    }
}
