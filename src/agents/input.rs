//! What a hook is told on standard input, as far as it matters here.
//!
//! Claude Code, "Hook input": `session_id`, `cwd`, `hook_event_name`, and before a tool is used `tool_name` and
//! `tool_input` (`Bash`: `command`; `Write`: `file_path`, `content`; `Edit`: `file_path`, `new_string`; `MultiEdit`:
//! `file_path`, `edits`; `NotebookEdit`: `notebook_path`, `new_source`). Codex has the same, and for files one tool,
//! `apply_patch`, with the patch in `command`. Of other tools a `command` is taken for a line, and a path with a content for a
//! write (`Monitor`, `PowerShell`, servers of tools that write files). Fields that are not named here are not looked at.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use serde_json::Value;

use super::patch;

/// What happens in an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The agent's own name for its session; empty where it says none.
    pub session: String,
    /// Where it works.
    pub cwd: Option<PathBuf>,
    /// What happens.
    pub event: Event,
}

/// What happens. A command or a text may have a secret in it: it is counted, not shown.
#[derive(Clone, PartialEq)]
pub enum Event {
    /// The session starts, or goes on.
    Start,
    /// It ends.
    End,
    /// A line is about to be run by a shell.
    Command(String),
    /// Files are about to be written by the agent itself; the tool, and which.
    Files(String, Vec<Touch>),
    /// Something that is not about leases.
    Other,
}

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Start => f.write_str("Start"),
            Self::End => f.write_str("End"),
            Self::Command(line) => write!(f, "Command({} bytes)", line.len()),
            Self::Files(tool, files) => write!(f, "Files({tool:?}, {})", files.len()),
            Self::Other => f.write_str("Other"),
        }
    }
}

/// One file, and what becomes of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Touch {
    /// As the agent names it: absolute, or from where it works.
    pub path: PathBuf,
    /// What comes into it.
    pub brings: Brings,
}

/// What comes into a file.
#[derive(Clone, PartialEq, Eq)]
pub enum Brings {
    /// This is all of it.
    Whole(String),
    /// This comes into it; the rest stays.
    Part(String),
    /// It is taken away.
    Nothing,
}

/// Why this is no call that we understand. Nothing of it is repeated: it may hold a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoCall {
    /// It is more than anybody says.
    #[error("it was longer than 64 MiB")]
    TooLong,
    /// It could not be read.
    #[error("it could not be read")]
    Unreadable,
    /// Not JSON, or no object.
    #[error("it was no JSON object")]
    NotJson,
    /// It does not say what happens.
    #[error("hook_event_name was missing")]
    NoEvent,
    /// It does not say which tool.
    #[error("tool_name was missing")]
    NoTool,
    /// The tool is one that we know, and what it is about to do is not said as documented.
    #[error("tool_input had another form than is documented for {0}")]
    NoInput(&'static str),
}

impl Call {
    /// Reads what was told.
    ///
    /// # Errors
    /// See [`NoCall`].
    pub fn read(told: &[u8]) -> Result<Self, NoCall> {
        let told: Value = serde_json::from_slice(told).map_err(|_| NoCall::NotJson)?;
        let text = |key: &str| told.get(key).and_then(Value::as_str);
        if !told.is_object() {
            return Err(NoCall::NotJson);
        }
        let event = match text("hook_event_name").ok_or(NoCall::NoEvent)? {
            "SessionStart" => Event::Start,
            "SessionEnd" => Event::End,
            "PreToolUse" => {
                let tool = text("tool_name").ok_or(NoCall::NoTool)?;
                about(tool, told.get("tool_input").unwrap_or(&Value::Null))?
            }
            _ => Event::Other,
        };
        let cwd = text("cwd").map(PathBuf::from).filter(|cwd| cwd.is_absolute());
        Ok(Self { session: text("session_id").unwrap_or_default().to_owned(), cwd, event })
    }
}

fn about(tool: &str, input: &Value) -> Result<Event, NoCall> {
    let text = |key: &str| input.get(key).and_then(Value::as_str);
    let files = |path: Option<&str>, brings: Option<Brings>, name: &'static str| {
        let path = path.filter(|path| !path.is_empty()).ok_or(NoCall::NoInput(name))?;
        let touch = Touch { path: path.into(), brings: brings.ok_or(NoCall::NoInput(name))? };
        Ok(Event::Files(tool.to_owned(), vec![touch]))
    };
    let part = |key: &str| text(key).map(|text| Brings::Part(text.to_owned()));
    match tool {
        "Bash" => text("command").map(|line| Event::Command(line.to_owned())).ok_or(NoCall::NoInput("Bash")),
        "Write" => files(text("file_path"), text("content").map(|text| Brings::Whole(text.to_owned())), "Write"),
        "Edit" => files(text("file_path"), part("new_string"), "Edit"),
        "MultiEdit" => {
            let edits = input.get("edits").and_then(Value::as_array);
            let texts = |edits: &Vec<Value>| {
                let new = edits.iter().map(|edit| edit.get("new_string").and_then(Value::as_str));
                new.collect::<Option<Vec<_>>>().map(|texts| Brings::Part(texts.join("\n")))
            };
            files(text("file_path"), edits.and_then(texts), "MultiEdit")
        }
        "NotebookEdit" => {
            // What is taken out of a notebook has no source.
            files(text("notebook_path"), part("new_source").or(Some(Brings::Part(String::new()))), "NotebookEdit")
        }
        "apply_patch" => {
            let patch = text("command").or_else(|| text("input")).ok_or(NoCall::NoInput("apply_patch"))?;
            let files = patch::files(patch);
            if files.is_empty() {
                Err(NoCall::NoInput("apply_patch"))
            } else {
                Ok(Event::Files(tool.to_owned(), files))
            }
        }
        _ => Ok(unknown(tool, input)),
    }
}

/// A tool that nobody has described to us (a server of tools, one that is to come): a line that it is told is one for a shell,
/// and who is told a path and a content writes.
fn unknown(tool: &str, input: &Value) -> Event {
    let text = |key: &&str| input.get(*key).and_then(Value::as_str);
    if let Some(line) = text(&"command") {
        return Event::Command(line.to_owned());
    }
    let brings = WHOLES.iter().find_map(text).map(|text| Brings::Whole(text.to_owned()));
    let part = || PARTS.iter().any(|key| input.get(key).is_some()).then(|| Brings::Part(String::new()));
    let moved = || ["destination", "new_path"].iter().find_map(text);
    let path = ["file_path", "path", "filename", "file"].iter().find_map(text);
    let touches: Vec<Touch> = match (brings.or_else(part), path, moved()) {
        (Some(brings), Some(path), _) => vec![Touch { path: path.into(), brings }],
        (None, _, Some(to)) => {
            let from = ["source", "old_path"]
                .iter()
                .find_map(text)
                .map(|from| Touch { path: from.into(), brings: Brings::Nothing });
            from.into_iter().chain([Touch { path: to.into(), brings: Brings::Part(String::new()) }]).collect()
        }
        _ => Vec::new(),
    };
    if touches.is_empty() { Event::Other } else { Event::Files(tool.to_owned(), touches) }
}

/// By these names tools are told all of a file…
const WHOLES: [&str; 4] = ["content", "contents", "file_text", "text"];

/// …and by these what is changed in it.
const PARTS: [&str; 6] = ["edits", "new_string", "new_str", "newText", "insert_text", "patch"];
