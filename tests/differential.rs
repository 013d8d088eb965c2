//! Tests of `differential`.
