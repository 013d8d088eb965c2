//! The PostgreSQL store: the contract in three ways to the server, and what is its own.

mod crowd;
mod failover;
mod far;
mod first_version;
mod grafana;
mod hammer;
pub(crate) mod lab;
mod limits;
mod many;
mod measure;
mod outages;
mod program;
mod promoted;
mod relayed;
mod schema;
mod sessions;
mod upgrade;
mod waiting;

use super::contract::every_promise;
use lab::{Lab, Way};

/// By a session of the superuser.
mod direct {
    use super::*;
    every_promise!(Lab::new(Way::Direct));
}

/// As the role that may call the functions and nothing else.
mod least_privileged {
    use super::*;
    every_promise!(Lab::new(Way::Client));
}

/// As that role, through a pooler that hands out a session for each transaction.
mod pooled {
    use super::*;
    every_promise!(Lab::new(Way::Pooled));
}

/// As that role, through a relay.
mod by_relay {
    use super::*;
    every_promise!(Lab::new(Way::Relayed));
}
