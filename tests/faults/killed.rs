//! killed
#![forbid(unsafe_code)]
