//! What stands beside the way through: reports, hooks, effects out of reach, runs by force; on real processes.

mod beyond;
mod editor;
mod force;
mod on_lost;
mod options;
mod report;
mod stage;
