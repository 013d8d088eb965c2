//! schedules
#![forbid(unsafe_code)]
