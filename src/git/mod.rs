//! `git`
#![forbid(unsafe_code)]
