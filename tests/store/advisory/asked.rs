//! What is asked of the program beside a setting for session locks: done, or refused with the reason, never something else.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::world::World;
use crate::world::cluster;
use crate::world::ends::{ends, says, text};
use crate::world::ward;

use super::lab::{key_of, locked_by};

/// A user whose settings ask for session locks of the server at this port, and a repository with a SOPS file.
struct Asked {
    world: World,
}

impl Asked {
    fn of(port: u16) -> Self {
        let world = World::new();
        world.git(&world.work(), &["init", "-q"]);
        let asked = Self { world };
        asked.set(port);
        asked
    }

    fn set(&self, port: u16) {
        let directory = self.world.root().join("home/.config/locked");
        std::fs::create_dir_all(&directory).expect("directory");
        let text = format!("store = {{ url = {:?}, advisory = true }}\n", address(port));
        std::fs::write(directory.join("config.toml"), text).expect("written");
    }

    fn locked(&self, words: &[&str]) -> Command {
        let mut command = self.world.locked();
        command.args(words);
        command
    }

    /// A PATH on which `sops set` leaves the file of its last word but two empty.
    fn breaking(&self) -> std::ffi::OsString {
        let bin = self.world.root().join("bin");
        std::fs::create_dir_all(&bin).expect("directory");
        let sops = crate::world::real_sops();
        let script = format!("#!/bin/sh\ncase $1 in set) : >\"$2\" ;; *) exec {} \"$@\" ;; esac\n", sops.display());
        std::fs::write(bin.join("sops"), script).expect("written");
        ends(Command::new("chmod").arg("755").arg(bin.join("sops")), 0);
        with_first(&bin)
    }
}

fn with_first(directory: &Path) -> std::ffi::OsString {
    let rest = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(PathBuf::from(directory)).chain(std::env::split_paths(&rest));
    std::env::join_paths(all).expect("a PATH")
}

fn address(port: u16) -> String {
    format!("postgres://postgres@127.0.0.1:{port}/postgres")
}

#[test]
fn who_asks_for_a_lease_that_stays_is_told_before_anything_runs() {
    let asked = Asked::of(cluster::shared().port());
    let ran = asked.world.root().join("ran");
    let touch = format!("touch {}", ran.display());
    let words = ["-r", "server:asked-keep", "sh", "-c", &touch];
    for command in
        [&mut asked.locked(&[&["--keep"], &words[..]].concat()), asked.locked(&words).env("LOCKED_KEEP", "1")]
    {
        let said = says(command, 78);
        assert!(said.contains("--keep asks for a lease that stays") && said.contains("nothing was run"), "{said}");
    }
    // Nor is it forced: the store is there, and others may hold what is wanted.
    ends(&mut asked.locked(&[&["--keep", "--force", "--reason", "x"], &words[..]].concat()), 78);
    assert!(!ran.exists());
    assert_eq!(locked_by(cluster::shared(), "server:asked-keep"), 0);
    ends(&mut asked.locked(&words), 0);
    assert!(ran.exists());
    let said = says(&mut asked.locked(&["acquire", "server:asked-keep"]), 78);
    assert!(said.contains("no table"), "{said}");
    let said = says(&mut asked.locked(&["history"]), 78);
    assert!(said.contains("a history"), "{said}");
}

#[test]
fn the_report_of_a_failed_command_says_that_nothing_is_kept() {
    let asked = Asked::of(cluster::shared().port());
    asked.world.encrypted("a.yaml", "a: 1\n", "yaml");
    let bin = asked.world.root().join("bin");
    std::fs::create_dir_all(&bin).expect("directory");
    let sops = crate::world::real_sops();
    // It writes, and says that it failed: what a ledger would keep.
    let script = format!("#!/bin/sh\n{} \"$@\" || exit\ncase $1 in set) exit 5 ;; esac\n", sops.display());
    std::fs::write(bin.join("sops"), script).expect("written");
    ends(Command::new("chmod").arg("755").arg(bin.join("sops")), 0);
    let mut set = asked.locked(&["-v", "--report", "r.json", "sops", "set", "a.yaml", "[\"b\"]", "\"2\""]);
    let said = says(set.env("PATH", with_first(&bin)), 5);
    assert!(said.contains("the advisory store cannot: it is free"), "{said}");
    assert!(said.contains("released as failed") && !said.contains("kept for this session"), "{said}");
    let report = std::fs::read(asked.world.work().join("r.json")).expect("a report");
    let told: Value = serde_json::from_slice(&report).expect("JSON");
    assert_eq!(told["ended"], "released");
    let reason = told["reason"].as_str().expect("a reason");
    assert!(reason.contains("failed with status 5") && reason.ends_with("this store keeps nothing"), "{reason}");
    ends(&mut asked.locked(&["sops", "set", "a.yaml", "[\"c\"]", "\"3\""]), 0);
}

#[test]
fn a_file_is_restored_while_the_server_is_down_and_its_mark_ends_when_it_is_back() {
    let server = cluster::shared();
    let asked = Asked::of(server.port());
    let file = asked.world.encrypted("a.yaml", "a: 1\n", "yaml");
    let set = |key: &str| asked.locked(&["sops", "set", "a.yaml", &format!("[\"{key}\"]"), "\"2\""]);
    ends(&mut set("b"), 0);
    ends(set("c").env("PATH", asked.breaking()), 72);
    assert_eq!(std::fs::read(&file).expect("file"), b"");
    asked.set(ward::free_port());
    let said = says(&mut asked.locked(&["restore", "a.yaml"]), 0);
    assert!(said.contains("cannot be reached") && said.contains("without a lease"), "{said}");
    assert_eq!(asked.world.decrypted(&file, "yaml"), "a: 1\nb: \"2\"\n");
    asked.set(server.port());
    ends(&mut set("c"), 72);
    ends(&mut asked.locked(&["restore", "--accept", "a.yaml"]), 0);
    ends(&mut set("c"), 0);
    // A setting that names no store is no server that is down.
    let said = says(asked.locked(&["restore", "a.yaml"]).env("LOCKED_STORE", "nonsense"), 78);
    assert!(said.contains("LOCKED_STORE names a value without a scheme"), "{said}");
}

/// The variable names another store, and says all of how it is to be had.
#[test]
fn a_store_named_by_the_environment_is_taken_as_it_is_named_and_that_is_told() {
    let server = cluster::shared();
    server.database("beside_session_locks");
    let asked = Asked::of(server.port());
    let ledger = format!("postgres://postgres@127.0.0.1:{}/beside_session_locks", server.port());
    let run = |command: &mut Command| text(&ends(command.env("LOCKED_STORE", &ledger), 0).stderr);
    let words = ["-r", "server:beside", "true"];
    assert_eq!(run(&mut asked.locked(&words)), "", "all is well, and nobody asked");
    let said = run(&mut asked.locked(&[&["-v"], &words[..]].concat()));
    let (file, said_by) =
        ("/.config/locked/config.toml, with advisory", "LOCKED_STORE says which store, instead of all of ");
    assert!(said.contains(said_by) && said.contains(file), "{said}");
    let said = text(&ends(&mut asked.locked(&[&["-v", "--store", &ledger], &words[..]].concat()), 0).stderr);
    assert!(said.contains("--store says which store, instead of all of "), "{said}");
    let history: Vec<Value> =
        serde_json::from_slice(&ends(asked.locked(&["history", "--json"]).env("LOCKED_STORE", &ledger), 0).stdout)
            .expect("JSON");
    assert_eq!(history.len(), 3, "the ledger had them all");
    // Session locks of it, for who asks for them.
    let held = format!(
        "select 1 from pg_locks where locktype = 'advisory' and (classid::int8 << 32 | objid::int8) = {}",
        key_of("server:beside")
    );
    let psql = cluster::program("psql");
    let look = format!("{} -XAtq -d '{ledger}' -c \"{held}\"", psql.display());
    let mut looks = asked.locked(&["--advisory", "-r", "server:beside", "sh", "-c", &look]);
    let looked = ends(looks.env("LOCKED_STORE", &ledger), 0);
    assert_eq!(text(&looked.stdout), "1\n");
}
