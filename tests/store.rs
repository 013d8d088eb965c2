//! Tests of `store`: what every store promises (`contract`), and what the embedded one does besides.

mod broken;
mod cast;
mod child;
mod contract;
mod embedded;
mod measure;
mod postgres;
mod sqlite;
mod upkeep;
