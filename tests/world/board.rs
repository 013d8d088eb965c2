//! What a test sees of the store: the board, the history, and when a lease ends by the store's own clock.
#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use super::World;
use super::ends::{LIMIT, ends, text, until};

impl World {
    /// `locked` as the session of this number.
    pub(crate) fn locked_as(&self, session: u32) -> Command {
        let mut command = self.locked();
        command.env("LOCKED_SESSION", uuid(session));
        command
    }

    /// `locked status --json`.
    pub(crate) fn status(&self) -> Vec<Value> {
        json(self.locked().args(["status", "--json"]))
    }

    /// `locked history --json`, newest first.
    pub(crate) fn history(&self) -> Vec<Value> {
        json(self.locked().args(["history", "--json"]))
    }

    /// The store's own file, for what no verb shows and for arranging what only time or a theft would.
    pub(crate) fn database(&self) -> rusqlite::Connection {
        let database = rusqlite::Connection::open(self.state().join("locked.db")).expect("database");
        database.busy_timeout(LIMIT).expect("timeout");
        database
    }

    /// The moment, in milliseconds of the store's own clock, after which others may have the lease on this resource.
    pub(crate) fn ends_at(&self, resource: &str) -> i64 {
        ends_at(&self.database(), resource)
    }

    /// Waits until the lease on this resource has been renewed for so long: the store's clock has moved by that much, and
    /// the holder has the lease still.
    #[track_caller]
    pub(crate) fn is_renewed_for(&self, resource: &str, span: Duration) {
        let enough = self.ends_at(resource) + i64::try_from(span.as_millis()).expect("ms");
        until(&format!("{resource} is renewed for {span:?}"), || (self.ends_at(resource) >= enough).then_some(()));
    }

    /// Waits until the lease on this resource has run out by the store's own clock, and nobody has taken it.
    #[track_caller]
    pub(crate) fn has_expired(&self, resource: &str) {
        until(&format!("the lease on {resource} expires"), || {
            let board = self.status();
            let lease = board.iter().find(|lease| lease["resource"] == resource).expect("nobody has taken it");
            (lease["state"] == "expired").then_some(())
        });
    }

    /// An executable shell script of this name, in a directory of its own; the directory is the answer.
    pub(crate) fn script(&self, name: &str, body: &str) -> PathBuf {
        let directory = tempfile::Builder::new().prefix("bin-").tempdir_in(self.root()).expect("directory").keep();
        write_program(&directory.join(name), &format!("#!/bin/sh\n{body}\n"));
        directory
    }
}

/// Copies a program. Another process does: a file that this one had open for writing may be open still in what another
/// test is starting at that moment, and then the kernel runs nothing from it ("text file busy").
pub(crate) fn install(from: impl AsRef<Path>, to: &Path, mode: &str) {
    ends(Command::new("install").args(["-m", mode]).arg(from.as_ref()).arg(to), 0);
}

/// Writes a program, in the same way.
pub(crate) fn write_program(path: &Path, text: &str) {
    let draft = path.with_extension("draft");
    fs::write(&draft, text).expect("draft");
    install(&draft, path, "0755");
    fs::remove_file(draft).expect("draft");
}

/// The same through a connection that is open already: a test may stand in the store's way itself.
pub(crate) fn ends_at(database: &rusqlite::Connection, resource: &str) -> i64 {
    let query = "select expires_ms from leases where ended_at is null and name = ?1";
    database.query_row(query, [resource], |row| row.get(0)).expect("a lease that lives and can expire")
}

/// What a verb answers with `--json`.
#[track_caller]
pub(crate) fn json<T: serde::de::DeserializeOwned>(command: &mut Command) -> T {
    let output = ends(command, 0);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&output.stdout)))
}

/// The name of a session; 7 reads as `07070707`.
pub(crate) fn uuid(session: u32) -> String {
    format!("{:08x}-0000-4000-8000-000000000000", session * 0x0101_0101)
}

/// A PATH with this directory in front.
pub(crate) fn in_front(directory: &Path) -> std::ffi::OsString {
    let old = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(directory.to_owned()).chain(std::env::split_paths(&old))).expect("PATH")
}
