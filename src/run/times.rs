//! The times of a lease: as asked for, over what the files set.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::config::{ConfigError, Key, Layer, Settings, Source};
use crate::exit;
use crate::report::{self, Refusal};
use crate::terms::{Times, TimesError};

/// What options and variables ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AskedTimes {
    /// `--ttl`.
    pub ttl: Option<Duration>,
    /// `--heartbeat`.
    pub heartbeat: Option<Duration>,
    /// `--renew-deadline`.
    pub renew_deadline: Option<Duration>,
    /// `--grace`.
    pub grace: Option<Duration>,
}

/// Why there are no times.
#[derive(Debug)]
pub enum NoTimes {
    /// What was asked for does not fit.
    Asked(TimesError),
    /// What the files set does not fit.
    Set(ConfigError),
}

impl NoTimes {
    /// What to say, and the exit status. `help` tells more of the options.
    #[must_use]
    pub fn refusal(&self, help: &str) -> (Refusal, i32) {
        match self {
            Self::Asked(error) => (report::misuse(&error.to_string(), help), exit::USAGE),
            Self::Set(error) => (report::misconfigured(&error.to_string(), &error.remedy()), exit::CONFIG),
        }
    }
}

/// One of the times, with how much its word weighs.
#[derive(Clone, Copy)]
struct Said {
    length: Duration,
    weight: u8,
}

/// The times. Where somebody with more weight sets another TTL, the weaker companions count as far as they fit to it: a
/// heartbeat of a minute was never meant for `--ttl 30s`.
///
/// # Errors
/// See [`NoTimes`].
pub fn times(asked: &AskedTimes, settings: &Settings) -> Result<Times, NoTimes> {
    let said = |asked: Option<Duration>, key: Key| {
        let file = || Some(Said { length: settings.length(key)?, weight: weight(&settings.value(key)?.from) });
        asked.map(|length| Said { length, weight: u8::MAX }).or_else(file)
    };
    let ttl = said(asked.ttl, Key::Ttl);
    let companions = [
        said(asked.heartbeat, Key::Heartbeat),
        said(asked.renew_deadline, Key::RenewDeadline),
        said(asked.grace, Key::Grace),
    ];
    let of = |said: Option<Said>| said.map(|said| said.length);
    let with =
        |[heartbeat, deadline, grace]: [Option<Said>; 3]| Times::new(of(ttl), of(heartbeat), of(deadline), of(grace));
    let weightier = ttl.map_or(0, |ttl| ttl.weight);
    with(companions)
        .or_else(|_| with(companions.map(|said| said.filter(|said| said.weight >= weightier))))
        .map_err(|error| if *asked == AskedTimes::default() { set(&error, settings) } else { NoTimes::Asked(error) })
}

fn weight(source: &Source) -> u8 {
    match source {
        Source::BuiltIn | Source::Origin => 0,
        Source::File { layer: Layer::System, .. } => 1,
        Source::File { layer: Layer::User, .. } => 2,
        Source::File { layer: Layer::Repository, .. } => 3,
        Source::Variable(_) | Source::Typed(_) => u8::MAX,
    }
}

fn set(error: &TimesError, settings: &Settings) -> NoTimes {
    let sources = [Key::Ttl, Key::Heartbeat, Key::RenewDeadline, Key::Grace];
    let sources: Vec<String> = sources.iter().filter_map(|&key| Some(settings.value(key)?.from.to_string())).collect();
    NoTimes::Set(ConfigError::Times { what: error.to_string(), sources: sources.join(", ") })
}
