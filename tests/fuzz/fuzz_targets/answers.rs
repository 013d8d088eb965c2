//! Any answer of a server to any verb: the laws of tests/fuzz/laws/answers.rs.
#![no_main]

#[path = "../laws/answers.rs"]
#[allow(dead_code, reason = "the bounded run uses more of it")]
mod answers;
#[path = "../laws/input.rs"]
mod input;

libfuzzer_sys::fuzz_target!(|data: &[u8]| answers::hold(data));
