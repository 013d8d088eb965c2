//! Tests of `store`: what every store promises (`contract`), and what each does besides.

mod advisory;
mod broken;
pub(crate) mod cast;
pub(crate) mod child;
mod contract;
mod embedded;
mod measure;
pub(crate) mod postgres;
mod sqlite;
mod upkeep;
