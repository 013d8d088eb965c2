//! Which agents there are, where each keeps its settings, and what we put there.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::AgentsError;

/// An agent whose settings we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
}

/// For whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// One account of this machine, in every repository.
    User,
    /// Everybody who works in this repository.
    Project,
}

impl Level {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// The two files of an agent at one level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Where its hooks are.
    pub settings: PathBuf,
    /// What it is told in every conversation.
    pub instructions: PathBuf,
}

/// A hook as the settings have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hook {
    pub(super) event: String,
    /// Which tools, as a regular expression; none: whatever happens.
    pub(super) matcher: Option<String>,
    pub(super) command: String,
    /// How long the agent waits for it (seconds).
    pub(super) timeout: u64,
}

/// Longer than a wait for a lease by default takes.
const WAITS: u64 = 60;

impl Agent {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Claude, Self::Codex];

    /// Its name on our command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }

    /// Its name for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
        }
    }

    /// The agent of this name.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.word() == word)
    }

    /// The variable that it gives every command with its session, as the ready list of the room `holder` has it. What its
    /// hooks are told as `session_id` is the same.
    #[must_use]
    pub fn session_variable(self) -> &'static str {
        match self {
            Self::Claude => "CLAUDE_CODE_SESSION_ID",
            Self::Codex => "CODEX_THREAD_ID",
        }
    }

    /// Its directory for one account: the variable that moves it, else below `HOME`, as the agent itself looks for it.
    ///
    /// # Errors
    /// Neither is set to an absolute path.
    pub fn home(self, env: &dyn Fn(&str) -> Option<OsString>) -> Result<PathBuf, AgentsError> {
        let (variable, below) = match self {
            Self::Claude => ("CLAUDE_CONFIG_DIR", ".claude"),
            Self::Codex => ("CODEX_HOME", ".codex"),
        };
        let absolute = |name: &str| env(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let found = absolute(variable).or_else(|| Some(absolute("HOME")?.join(below)));
        found.ok_or(AgentsError::NoHome { variable })
    }

    /// Its files. `root` is the root of the project.
    ///
    /// # Errors
    /// As [`Agent::home`].
    pub fn place(
        self,
        level: Level,
        root: &Path,
        env: &dyn Fn(&str) -> Option<OsString>,
    ) -> Result<Place, AgentsError> {
        let (settings, instructions) = match self {
            Self::Claude => ("settings.json", "CLAUDE.md"),
            Self::Codex => ("hooks.json", "AGENTS.md"),
        };
        Ok(match level {
            Level::User => {
                let home = self.home(env)?;
                Place { settings: home.join(settings), instructions: home.join(instructions) }
            }
            Level::Project => {
                let own = match self {
                    Self::Claude => ".claude",
                    Self::Codex => ".codex",
                };
                Place { settings: root.join(own).join(settings), instructions: root.join(instructions) }
            }
        })
    }

    /// Our hooks, which call `locked` by this word. In the files of a project they say nothing where there is no `locked`.
    pub(super) fn hooks(self, level: Level, locked: &str) -> Vec<Hook> {
        let there = match level {
            Level::User => String::new(),
            Level::Project => format!("! command -v {locked} >/dev/null || "),
        };
        let command = match self {
            Self::Claude => format!("{there}{locked} agents check"),
            Self::Codex => format!("{there}{locked} agents check codex"),
        };
        let hook = |event: &str, matcher: Option<&str>, timeout| Hook {
            event: event.to_owned(),
            matcher: matcher.map(str::to_owned),
            command: command.clone(),
            timeout,
        };
        let files = match self {
            Self::Claude => "Edit|Write|MultiEdit|NotebookEdit|mcp__.*",
            // The name that Codex gives its one tool for files; Edit and Write are other names of it.
            Self::Codex => "apply_patch|Edit|Write|mcp__.*",
        };
        let lines = match self {
            Self::Claude => "Bash|Monitor|PowerShell",
            Self::Codex => "Bash",
        };
        vec![
            hook("SessionStart", None, 20),
            hook("PreToolUse", Some(lines), WAITS),
            hook("PreToolUse", Some(files), WAITS),
            hook("SessionEnd", None, 20),
        ]
    }
}
