//! How each hook stands.
#![forbid(unsafe_code)]

use std::fs;

use super::place::Place;
use super::{NAMES, config, legacy, probe, text};

/// One hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Its name.
    pub name: &'static str,
    /// How it stands.
    pub state: State,
    /// A hook of somebody else's is run first.
    pub chained: bool,
}

/// How a hook stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Ours is there, and git runs it.
    Installed,
    /// Ours is there, of another version; git runs it.
    Outdated,
    /// Ours is there, and git does not run it: why.
    NotRun(String),
    /// The repository's configuration names ours, and git runs it.
    Configured,
    /// It is somebody else's, and has a line that calls us.
    Called,
    /// It is somebody else's.
    Foreign,
    /// Ours was there, and somebody has put another one in its place.
    Replaced,
    /// There is none.
    Missing,
}

impl State {
    /// The word for it.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Installed => "installed",
            Self::Outdated => "outdated",
            Self::NotRun(_) => "not-run",
            Self::Configured => "configured",
            Self::Called => "called",
            Self::Foreign => "foreign",
            Self::Replaced => "replaced",
            Self::Missing => "missing",
        }
    }
}

/// How every hook stands. `locked` is our own program, as `install` would write it.
#[must_use]
pub fn standing(place: &Place, locked: &std::ffi::OsStr) -> Vec<Standing> {
    let of = |name: &'static str| {
        let chained = place.aside(name).exists();
        let state = match fs::read(place.hook(name)) {
            _ if config::is_named(place, name) => match probe::runs(place, name) {
                Ok(()) => State::Configured,
                Err(why) => State::NotRun(why),
            },
            Ok(content) if text::is_ours(&content) => ours(place, name, &content, locked),
            Ok(_) if legacy::is_run_so(place, name) => State::Called,
            Ok(_) if chained => State::Replaced,
            Ok(content) if calls_us(place, name, &content) => State::Called,
            Ok(_) => State::Foreign,
            Err(_) if chained => State::Replaced,
            Err(_) => State::Missing,
        };
        Standing { name, state, chained }
    };
    NAMES.into_iter().map(of).collect()
}

fn ours(place: &Place, name: &str, content: &[u8], locked: &std::ffi::OsStr) -> State {
    let current = content == text::hook(name, locked, text::made_directory(content));
    match probe::runs(place, name) {
        Err(why) => State::NotRun(why),
        Ok(()) if current => State::Installed,
        Ok(()) => State::Outdated,
    }
}

/// husky's own hooks lie one directory below those that people write.
fn calls_us(place: &Place, name: &str, content: &[u8]) -> bool {
    let calls = |text: &[u8]| String::from_utf8_lossy(text).contains("locked hooks run");
    let above = place.directory.parent().map(|above| above.join(name));
    calls(content) || above.is_some_and(|above| fs::read(above).is_ok_and(|text| calls(&text)))
}
