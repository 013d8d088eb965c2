//! Who may ask, and where the socket lies.
#![forbid(unsafe_code)]

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::Order;

/// The longest path of a socket that every system takes (macOS: 104 bytes with the zero at the end), less the dot and the number of
/// the process under which it is made.
const LONGEST_PATH: usize = 103 - 11;

/// A digest of everything that a connection takes: of this program's version, the address with its passwords, the machine between,
/// the schema. Two who have the same one could each have connected as the other did.
#[derive(Clone)]
pub(super) struct Proof([u8; 32]);

/// Drawn by the relay for each who asks, so that what was shown once is no use again.
pub(super) type Salt = [u8; 32];

fn digest(of: &impl Serialize) -> [u8; 32] {
    let text = serde_json::to_vec(&(env!("CARGO_PKG_VERSION"), of)).unwrap_or_default();
    Sha256::digest(text).into()
}

impl Proof {
    pub(super) fn of(order: &Order) -> Self {
        Self(digest(order))
    }

    /// What is shown of it for this salt.
    pub(super) fn shown(&self, salt: &Salt) -> [u8; 32] {
        Sha256::new().chain_update(salt).chain_update(self.0).finalize().into()
    }
}

impl fmt::Debug for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Proof(..)")
    }
}

/// The socket's path: it tells the addresses of one user apart, and nothing of a password.
pub(super) fn place(directory: &Path, order: &Order) -> Option<PathBuf> {
    let address = &order.address;
    let hosts: Vec<_> = address.endpoints.iter().map(|endpoint| (&endpoint.place, endpoint.port)).collect();
    let name = digest(&(hosts, &address.user, &address.database, &order.bastion, &order.schema));
    let name: String = name[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    let place = directory.join(format!("relay-{name}"));
    (place.as_os_str().len() <= LONGEST_PATH).then_some(place)
}
