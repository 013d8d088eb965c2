//! What people name by hand (`-r`, `acquire`, `status`…), as the rules would name and scope it.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::Path;

use super::claims::engine_around;
use super::scope_of;
use crate::naming::{Namer, NamingError};
use crate::rules::{self, Book, Stale, Zone};
use crate::terms::{Resource, ResourceName};

/// Where somebody types, and what the settings there say of names.
#[derive(Clone, Copy)]
pub struct Hand<'a> {
    /// The directory.
    pub cwd: &'a Path,
    /// Other names of hosts, and of workflows.
    pub book: &'a Book,
    /// The environment, which says with which engine containers are.
    pub env: &'a dyn Fn(&str) -> Option<OsString>,
}

impl Hand<'_> {
    /// What is meant.
    ///
    /// # Errors
    /// A file or its repository cannot be looked at: then nothing may run.
    pub fn resource(&self, typed: &ResourceName, namer: &mut Namer<'_>) -> Result<Resource, NamingError> {
        let name = rules::by_hand(typed, self.book, self.cwd);
        match name.kind() {
            "sops" => namer.by_hand(&name, self.cwd),
            "container" => Ok(Resource { scope: engine_around(self.env), name }),
            _ => Ok(Resource { scope: scope_of(&name, self.cwd, namer)?, name }),
        }
    }
}

/// Whether nobody takes a stale lease on it without a person's word.
#[must_use]
pub fn asks(name: &ResourceName, zones: &[Zone]) -> bool {
    name.kind() == "zone" && zones.iter().any(|zone| zone.stale == Stale::Ask && zone.resource() == *name)
}
