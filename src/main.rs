//! The `locked` program.
fn main() {}
