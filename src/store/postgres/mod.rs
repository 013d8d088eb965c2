//! `postgres`: leases in the PostgreSQL that people already run.
#![forbid(unsafe_code)]

pub mod address;
pub mod tls;
