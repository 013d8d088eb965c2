//! The canary on real files, written by the real sops.
#![forbid(unsafe_code)]

#[cfg(unix)]
mod arbiter;
mod catches;
mod cost;
mod cuts;
mod modes;
mod quiet;
mod recipients;
mod shapes;
mod stage;
