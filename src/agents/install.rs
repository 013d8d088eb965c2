//! Puts hooks and block into an agent's files, takes them out, and looks at them.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use super::AgentsError;
use super::agent::{Agent, Level, Place};
use super::block::{self, Block};
use super::file::Kept;
use super::settings::{EMPTY, Settings, called, is_whole};

/// What was done about one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    /// It was put there.
    Installed,
    /// It was there already.
    Kept,
    /// It was brought up to date.
    Renewed,
    /// It was taken out.
    Removed,
    /// There was nothing of ours.
    Absent,
}

impl Done {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Installed => "installed",
            Self::Kept => "kept",
            Self::Renewed => "renewed",
            Self::Removed => "removed",
            Self::Absent => "absent",
        }
    }
}

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

/// Puts hooks and block there. `locked` is the word by which the hooks call us. Nothing is written before both files could be
/// read.
///
/// # Errors
/// A file cannot be read as what it is, or not be written.
pub fn install(agent: Agent, level: Level, place: &Place, locked: &str) -> Result<Vec<(PathBuf, Done)>, AgentsError> {
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
    let one = |file: &Kept, new: &str, had: bool| -> Result<Done, AgentsError> {
        if file.text.as_deref() == Some(new) {
            return Ok(Done::Kept);
        }
        file.write(Some(new))?;
        Ok(if had { Done::Renewed } else { Done::Installed })
    };
    Ok(vec![
        (settings.path.clone(), one(&settings, &hooks, had)?),
        (instructions.path.clone(), one(&instructions, &block, before != Block::Absent)?),
    ])
}

/// Takes both out. A file that has nothing but what we put there goes away.
///
/// # Errors
/// As [`install`].
pub fn remove(place: &Place) -> Result<Vec<(PathBuf, Done)>, AgentsError> {
    let [settings, instructions] = files(place)?;
    let without = match settings.text.as_deref().filter(|text| !text.trim().is_empty()) {
        Some(text) => Some(Settings::read(text, &settings.path)?.without(&settings.path)?),
        None => settings.text.clone(),
    };
    let rest = instructions.text.as_deref().map(|text| block::without(text, &instructions.path)).transpose()?;
    let one = |file: &Kept, new: Option<&str>, empty: &str| -> Result<Done, AgentsError> {
        if file.text.as_deref() == new {
            return Ok(Done::Absent);
        }
        file.write(new.filter(|new| *new != empty))?;
        Ok(Done::Removed)
    };
    Ok(vec![
        (settings.path.clone(), one(&settings, without.as_deref(), EMPTY)?),
        (instructions.path.clone(), one(&instructions, rest.as_deref(), "")?),
    ])
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
