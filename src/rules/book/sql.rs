//! By what lines programs are told SQL.
#![forbid(unsafe_code)]

use serde::Deserialize;

use super::{Several, Template};

/// A program that is told SQL. It is read as PostgreSQL reads it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SqlTeller {
    /// Its names.
    pub program: Several,
    /// Its sub-command.
    pub subcommand: Option<Several>,
    /// Where SQL stands in the line: `{-c}`, `{2..}`.
    pub text: Option<Template>,
    /// Where files with SQL are named; `-` is standard input.
    pub file: Option<Template>,
    /// With neither of these it reads SQL from standard input.
    #[serde(default)]
    pub input: bool,
    /// Options with which it is told none.
    #[serde(default)]
    pub unless: Several,
}
