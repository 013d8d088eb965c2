//! litter
#![forbid(unsafe_code)]
