//! `holder`
#![forbid(unsafe_code)]
