//! Connection strings: read as libpq reads them, and protected as libpq protects. The real libpq, psql and PostgreSQL
//! judge; their absence is a failure, `install/test` brings them.

pub(crate) mod around;
pub(crate) mod authority;
pub(crate) mod cluster;
mod defaults;
mod libpq;
mod matrix;
mod meaning;
mod pooler;
mod reach;
mod secrecy;
mod verbs;
mod words;
