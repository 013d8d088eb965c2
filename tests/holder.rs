//! Tests of `holder`.
