//! Any bytes as a file, and as choices of what sops writes: the laws of tests/fuzz/laws/metadata.rs.
#![no_main]

#[path = "../laws/input.rs"]
mod input;
#[path = "../laws/metadata.rs"]
mod metadata;
#[path = "../laws/written.rs"]
mod written;

libfuzzer_sys::fuzz_target!(|data: &[u8]| metadata::hold(data));
