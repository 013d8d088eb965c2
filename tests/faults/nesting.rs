//! nesting
#![forbid(unsafe_code)]
