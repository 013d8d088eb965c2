//! Durations as people write them: `500ms`, `20s`, `30m`, `2h`.
#![forbid(unsafe_code)]

use std::time::Duration;

/// Why a text is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// It is none.
    #[error("{0:?} is not a duration; write a number and a unit, for example 500ms, 20s, 30m or 2h")]
    Wrong(String),
    /// It is one, and nobody waits so long.
    #[error("a duration that is too long, the longest is 10000h")]
    TooLong,
}

/// Reads one number and one unit (`ms`, `s`, `m`, `h`). A bare `0` is a duration too.
///
/// # Errors
/// For anything else, fractions, signs and numbers beyond 10,000 hours included.
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let wrong = || DurationError::Wrong(text.chars().take(40).collect());
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return Err(wrong());
    }
    let unit = match &text[digits..] {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "" if text.bytes().all(|digit| digit == b'0') => 1,
        _ => return Err(wrong()),
    };
    let limit = 10_000 * 3_600_000;
    // What is no number of this size is too large for one.
    let ms = text[..digits].parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    ms.filter(|&ms| ms <= limit).map(Duration::from_millis).ok_or(DurationError::TooLong)
}

/// Shows a duration in the one syntax that [`parse_duration`] reads, in the largest unit that keeps it whole.
#[must_use]
pub fn show_duration(duration: Duration) -> String {
    let ms = duration.as_millis();
    match ms {
        0 => "0s".to_owned(),
        ms if ms % 3_600_000 == 0 => format!("{}h", ms / 3_600_000),
        ms if ms % 60_000 == 0 => format!("{}m", ms / 60_000),
        ms if ms % 1_000 == 0 => format!("{}s", ms / 1_000),
        ms => format!("{ms}ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_unit_reads_back_as_it_shows() {
        for text in ["500ms", "20s", "30m", "2h", "0s"] {
            assert_eq!(show_duration(parse_duration(text).expect(text)), text);
        }
    }

    #[test]
    fn nothing_needs_no_unit() {
        for text in ["0", "000", "0ms", "0h"] {
            assert_eq!(parse_duration(text), Ok(Duration::ZERO), "{text}");
        }
        for text in ["05", "0x", "0 "] {
            assert!(matches!(parse_duration(text), Err(DurationError::Wrong(_))), "{text}");
        }
    }

    #[test]
    fn what_is_too_long_is_told_apart() {
        for (text, is) in
            [("10001h", true), ("99999999999999999999s", true), ("10000h", false), ("x", false), ("5", false)]
        {
            assert_eq!(parse_duration(text) == Err(DurationError::TooLong), is, "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "5", "1.5s", "-1s", "s", "5 s", "5S", "5d", "99999999999999999999s", "10001h", "٣s"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}
