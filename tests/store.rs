//! Tests of `store`: what every store promises (`contract`), and what each does besides.

#[cfg(unix)]
mod advisory;
#[cfg(unix)]
mod broken;
pub(crate) mod cast;
#[cfg(unix)]
pub(crate) mod child;
mod contract;
#[cfg(unix)]
mod embedded;
#[cfg(unix)]
mod measure;
#[cfg(unix)]
pub(crate) mod postgres;
mod sqlite;
#[cfg(unix)]
mod upkeep;
