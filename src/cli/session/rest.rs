//! What a live lease of the session means to its end. (Pure.)
#![forbid(unsafe_code)]

use crate::settle;
use crate::store::{LeaseState, LeaseView};
use crate::terms::{FencingToken, Resource};

/// What a live lease of the session means to its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// A command runs under it.
    Runs,
    /// It can be given back.
    Rests,
    /// It cannot, and why.
    Stays(&'static str),
}

pub(super) fn rest(lease: &LeaseView, alive: &str) -> Rest {
    match lease.state {
        LeaseState::Quarantined => Rest::Stays("its file is bad: locked restore brings it back"),
        LeaseState::Remote => Rest::Stays("something of it may still be running; its time is waited for"),
        _ if goes_on(lease) => {
            Rest::Stays("what it set off may still be running: its time is waited for, or locked release")
        }
        _ if lease.pid.is_none() => Rest::Rests,
        LeaseState::Expired => Rest::Stays("its command is gone; who takes it next proves its files"),
        _ if alive == "no" => Rest::Stays("its command is gone; who takes it next proves its files"),
        _ => Rest::Runs,
    }
}

/// It stays for what its command set off elsewhere, which the session's end does not end.
fn goes_on(lease: &LeaseView) -> bool {
    lease.state == LeaseState::Kept && lease.reason.as_deref().is_some_and(settle::is_of_what_goes_on)
}

pub(super) fn because(rest: &Rest) -> &'static str {
    match rest {
        Rest::Stays(why) => why,
        Rest::Runs => "a command has begun meanwhile",
        Rest::Rests => "it came meanwhile",
    }
}

/// What was given back, in this order. Each once: what a store has still after that stays.
#[derive(Debug, Default)]
pub(super) struct Given(pub(super) Vec<(Resource, FencingToken)>);

impl Given {
    fn has(&self, lease: &LeaseView) -> bool {
        self.0.iter().any(|(resource, token)| *resource == lease.resource && *token == lease.token)
    }

    pub(super) fn rest(&self, lease: &LeaseView, alive: &str) -> Rest {
        match rest(lease, alive) {
            Rest::Rests if self.has(lease) => Rest::Stays(
                "its holder is done; files that another one left are not proven: who takes it next proves them",
            ),
            rest => rest,
        }
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.0.iter().map(|(resource, _)| resource.name.to_string()).collect()
    }

    /// The names of those that are none of these leases.
    pub(super) fn names_but(&self, leases: &[LeaseView]) -> Vec<String> {
        let stays = |(resource, token): &&(Resource, FencingToken)| {
            leases.iter().any(|lease| lease.resource == *resource && lease.token == *token)
        };
        self.0.iter().filter(|it| !stays(it)).map(|(resource, _)| resource.name.to_string()).collect()
    }
}
