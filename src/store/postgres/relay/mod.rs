//! `relay`: a process of this user that keeps connections to the server warm between commands, where the settings ask for one
//! (`store.relay`). A fresh session costs the server a fork, a handshake and the planning of every statement; a command of
//! milliseconds pays more for that than for its lease.
//!
//! It carries calls of the protocol's functions and nothing else: who asks proves first that it could have connected itself (it
//! knows the whole address, password included), and its socket lies in the state directory, which is its user's alone. Each verb
//! may be asked again, so an answer that was lost with the relay is asked for directly: without a relay, with a frozen one or with
//! one that dies meanwhile a command does what it does without the setting. It ends when nobody has asked for so long as is set, or
//! with the tree of a command that it was started below, where that is stopped.
//!
//! | file | what it does |
//! |---|---|
//! | `wire` | what both sides say, frame by frame |
//! | `key` | who may ask, and where the socket lies |
//! | `near` | the side of a command |
//! | `post` | the process: who is served |
//! | `pool` | its connections |
//! | `calls` | what the server calls out, for all who wait |
#![forbid(unsafe_code)]

mod calls;
mod key;
mod near;
mod pool;
mod post;
mod wire;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::address::Address;
use super::schema::Schema;
use super::via::Bastion;

pub(super) use near::{Heard, Near};
pub(super) use pool::Make;
pub(super) use post::serve;

/// What a relay is for, as it is told: by a pipe, since an address may have a password.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Order {
    /// The address.
    pub(crate) address: Address,
    /// The machine between.
    pub(crate) bastion: Option<Bastion>,
    /// The schema that has the leases.
    pub(crate) schema: Schema,
    /// How long it stays after the last command.
    pub(crate) stays: Duration,
    /// For whom it is (`SUDO_UID`).
    pub(crate) served: Vec<(String, OsString)>,
    /// From where relative paths lead.
    pub(crate) from: PathBuf,
    /// Where its socket is to lie.
    pub(crate) directory: PathBuf,
}

/// A relay as a command knows it.
#[derive(Debug, Clone)]
pub struct Relay {
    order: Arc<Order>,
    /// Its socket.
    place: PathBuf,
    /// What shows that one could have connected.
    proof: key::Proof,
}

impl Order {
    /// For this address, whose socket is to lie in this directory, and which stays for so long after the last command.
    #[must_use]
    pub fn new(address: Address, schema: Schema, directory: PathBuf, stays: Duration) -> Self {
        Self { address, bastion: None, schema, stays, served: Vec::new(), from: PathBuf::new(), directory }
    }
}

impl Relay {
    /// None where its socket's path would be longer than the system takes.
    #[must_use]
    pub fn of(order: Order) -> Option<Self> {
        let place = key::place(&order.directory, &order)?;
        let proof = key::Proof::of(&order);
        Some(Self { order: Arc::new(order), place, proof })
    }

    /// Its socket.
    #[must_use]
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// How long it stays after the last command.
    fn stays(&self) -> Duration {
        self.order.stays
    }

    fn schema(&self) -> &Schema {
        &self.order.schema
    }
}
