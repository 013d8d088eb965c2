//! A length of time as it is written: `500ms`, `20s`, `30m`, `2h`.
#![forbid(unsafe_code)]

use std::time::Duration;

use serde::Deserialize;

use super::{DurationError, parse_duration};

/// A length of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Span(pub Duration);

impl TryFrom<String> for Span {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        // What stands there is not repeated.
        let wrong = |error| match error {
            DurationError::TooLong => error.to_string(),
            DurationError::Wrong(_) => {
                "a value of the wrong form, expected a duration, for example \"30s\" (ms, s, m, h)".to_owned()
            }
        };
        parse_duration(&text).map(Self).map_err(wrong)
    }
}
