//! `locked` as built, under Wine, with small programs that stand for the real ones.

mod advisory;
mod arguments;
mod cases;
mod doctor;
mod finding;
mod held;
mod kept;
mod paths;
#[expect(dead_code, reason = "built alone, for the tests to start")]
mod programs;
mod shims;
mod stage;
mod supervision;
mod tunnel;
mod written;
