//! Tests of `store`: what every store promises (`contract`), and what the embedded one does besides.

mod cast;
mod contract;
mod sqlite;
