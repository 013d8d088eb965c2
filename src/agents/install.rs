//! Puts hooks and block into an agent's files, takes them out, and looks at them.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use crate::state::StateDir;
use crate::terms::Done;

use super::AgentsError;
use super::agent::{Agent, Level, Place};
use super::before::{self, Before};
use super::block::{self, Block};
use super::file::Kept;
use super::settings::{EMPTY, Settings, called, is_whole};

/// How an agent's files stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The hooks: `whole`, `partial`, `absent`, `off` (the settings switch all hooks off).
    pub hooks: &'static str,
    /// The hooks' commands.
    pub commands: Vec<String>,
    /// The words by which these call us: paths, or names for PATH.
    pub called: Vec<String>,
    /// The block: `whole`, `other` (of another version), `absent`.
    pub block: &'static str,
}

/// So often it is tried again when somebody else writes the same file at this moment.
const TRIES: usize = 100;

fn tried<T>(work: impl Fn() -> Result<T, AgentsError>) -> Result<T, AgentsError> {
    let mut last = work();
    for _ in 1..TRIES {
        if !matches!(last, Err(AgentsError::Changed { .. })) {
            break;
        }
        last = work();
    }
    last
}

/// Puts hooks and block there. `locked` is the word by which the hooks call us; in `state` is noted what was there before.
/// Nothing is written before both files could be read.
///
/// # Errors
/// A file cannot be read as what it is, or not be written.
pub fn install(
    agent: Agent,
    level: Level,
    place: &Place,
    locked: &str,
    state: Option<&StateDir>,
) -> Result<Vec<(PathBuf, Done)>, AgentsError> {
    tried(|| install_once(agent, level, place, locked, state))
}

fn install_once(
    agent: Agent,
    level: Level,
    place: &Place,
    locked: &str,
    state: Option<&StateDir>,
) -> Result<Vec<(PathBuf, Done)>, AgentsError> {
    let [settings, instructions] = files(place)?;
    let text = settings.text.as_deref();
    // An empty file is one that somebody has only begun.
    let base = text.filter(|text| !text.trim().is_empty()).unwrap_or(EMPTY);
    let read = Settings::read(base, &settings.path)?;
    let had = !read.ours().is_empty();
    let hooks = read.with(&agent.hooks(level, locked), &settings.path)?;
    let told = instructions.text.as_deref().unwrap_or_default();
    let before = block::look(told, &instructions.path)?;
    let block = block::with(told, &instructions.path)?;
    let rests =
        [Settings::read(&hooks, &settings.path)?.without(&settings.path)?, block::without(&block, &instructions.path)?];
    let one = |file: &Kept, new: &str, had: bool, rest: &str| -> Result<Done, AgentsError> {
        if file.text.as_deref() == Some(new) {
            return Ok(Done::Kept);
        }
        let was = Before::of(&file.path, file.text.as_deref(), rest.to_owned());
        file.write(Some(new))?;
        if let Some(state) = state.filter(|_| !had) {
            was.note(state, &file.path);
        }
        Ok(if had { Done::Renewed } else { Done::Installed })
    };
    Ok(vec![
        (settings.path.clone(), one(&settings, &hooks, had, &rests[0])?),
        (instructions.path.clone(), one(&instructions, &block, before != Block::Absent, &rests[1])?),
    ])
}

/// Takes both out. A file that was not there before, and has nothing but what we put there, goes away.
///
/// # Errors
/// As [`install`].
pub fn remove(place: &Place, state: Option<&StateDir>) -> Result<Vec<(PathBuf, Done)>, AgentsError> {
    tried(|| remove_once(place, state))
}

fn remove_once(place: &Place, state: Option<&StateDir>) -> Result<Vec<(PathBuf, Done)>, AgentsError> {
    let [settings, instructions] = files(place)?;
    let without = match settings.text.as_deref().filter(|text| !text.trim().is_empty()) {
        Some(text) => Some(Settings::read(text, &settings.path)?.without(&settings.path)?),
        None => settings.text.clone(),
    };
    let rest = instructions.text.as_deref().map(|text| block::without(text, &instructions.path)).transpose()?;
    let one = |file: &Kept, new: Option<&str>| -> Result<Done, AgentsError> {
        if file.text.as_deref() == new {
            return Ok(Done::Absent);
        }
        let noted = state.and_then(|state| before::read(state, &file.path));
        let before = noted.filter(|before| Some(&*before.rest) == new);
        match &before {
            // A link was not made by us.
            Some(Before { text: None, .. }) if !file.path.is_symlink() => file.write(None)?,
            Some(Before { text: Some(text), .. }) => file.write(Some(text))?,
            _ => file.write(new)?,
        }
        if let Some(state) = state {
            before::forget(state, &file.path);
        }
        for directory in before.iter().flat_map(|before| before.made.iter().rev()) {
            let _others_use_it = std::fs::remove_dir(directory);
        }
        Ok(Done::Removed)
    };
    // The directories may be noted with the first.
    let done = one(&instructions, rest.as_deref())?;
    Ok(vec![(settings.path.clone(), one(&settings, without.as_deref())?), (instructions.path.clone(), done)])
}

/// How they stand.
///
/// # Errors
/// A file cannot be read as what it is.
pub fn standing(agent: Agent, place: &Place) -> Result<Standing, AgentsError> {
    let [settings, instructions] = files(place)?;
    let text = settings.text.as_deref().filter(|text| !text.trim().is_empty()).unwrap_or(EMPTY);
    let read = Settings::read(text, &settings.path)?;
    let ours = read.ours();
    let hooks = match (ours.is_empty(), read.are_off()) {
        (true, _) => "absent",
        (false, true) => "off",
        (false, false) if is_whole(agent, &ours) => "whole",
        (false, false) => "partial",
    };
    let mut commands: Vec<String> = ours.into_iter().map(|hook| hook.command).collect();
    commands.sort();
    commands.dedup();
    let called = commands.iter().filter_map(|command| called(command)).map(str::to_owned).collect();
    let block = match block::look(instructions.text.as_deref().unwrap_or_default(), &instructions.path)? {
        Block::Absent => "absent",
        Block::Whole => "whole",
        Block::Other => "other",
    };
    Ok(Standing { hooks, commands, called, block })
}

fn files(place: &Place) -> Result<[Kept; 2], AgentsError> {
    Ok([Kept::read(&place.settings)?, Kept::read(&place.instructions)?])
}
