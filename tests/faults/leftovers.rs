//! leftovers
#![forbid(unsafe_code)]
