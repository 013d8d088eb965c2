//! `state`
#![forbid(unsafe_code)]
