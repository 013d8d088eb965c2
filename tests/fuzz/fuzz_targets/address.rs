//! Any text as a connection string, and as choices of what to write into one: the laws of tests/fuzz/laws/address.rs.
#![no_main]

#[path = "../laws/address.rs"]
mod address;
#[path = "../laws/input.rs"]
mod input;

libfuzzer_sys::fuzz_target!(|data: &[u8]| address::hold(data));
