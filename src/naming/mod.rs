//! `naming`
#![forbid(unsafe_code)]
