//! What stands beside the way through: reports, hooks, effects out of reach, runs by force; on real processes.

mod beyond;
mod report;
mod stage;
