//! Moments and spans as people read them, in local time.
#![forbid(unsafe_code)]

use std::time::Duration;

use chrono::{Local, TimeZone as _};

/// `14:02:11`, local time.
#[must_use]
pub fn clock_time(wall_ms: i64) -> String {
    format(wall_ms, "%H:%M:%S")
}

/// `2026-07-01 14:02:11`, local time.
#[must_use]
pub fn day_and_time(wall_ms: i64) -> String {
    format(wall_ms, "%Y-%m-%d %H:%M:%S")
}

fn format(wall_ms: i64, pattern: &str) -> String {
    Local.timestamp_millis_opt(wall_ms).single().map_or_else(|| "?".to_owned(), |time| time.format(pattern).to_string())
}

/// A span to plan by: `5 s`, `12 min`, `3 h`.
#[must_use]
pub fn rough_span(span: Duration) -> String {
    match span.as_secs() {
        0 => "1 s".to_owned(),
        seconds @ 1..=119 => format!("{seconds} s"),
        seconds @ 120..=7_199 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3_600),
    }
}
