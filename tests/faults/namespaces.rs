//! namespaces
#![forbid(unsafe_code)]
