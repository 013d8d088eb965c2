//! Tests of `store`: what every store promises (`contract`), and what each does besides.

mod advisory;
mod broken;
mod cast;
mod child;
mod contract;
mod embedded;
mod measure;
mod postgres;
mod sqlite;
