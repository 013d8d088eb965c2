//! Any text as what an agent, a person or a store tells us: the laws of tests/fuzz/laws/told.rs.
#![no_main]

#[path = "../laws/input.rs"]
mod input;
#[path = "../laws/told.rs"]
mod told;

libfuzzer_sys::fuzz_target!(|data: &[u8]| told::hold(data));
