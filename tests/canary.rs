//! Tests of `canary`.
