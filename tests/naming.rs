//! Tests of `naming`.
