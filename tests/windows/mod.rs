//! `locked` as built, under Wine, with small programs that stand for the real ones.

mod arguments;
mod finding;
mod held;
mod paths;
#[expect(dead_code, reason = "built alone, for the tests to start")]
mod programs;
mod shims;
mod stage;
mod supervision;
