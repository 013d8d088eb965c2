//! The issue that work belongs to: whether it is still open, and a word for those who read it. The real `gh` is asked, in
//! the environment of the command. Facts: `gh help issue view` (`--json state` gives `OPEN` or `CLOSED`), `gh help issue
//! comment`, `gh help exit-codes` (4: nobody is logged in).
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::Deserialize;

use crate::canary;
use crate::terms::Issue;

use super::{Context, arbiter};

/// How long one question may take.
pub const ASK: Duration = Duration::from_secs(10);
/// Nobody is logged in.
const NO_LOGIN: i32 = 4;

/// What is said of it.
pub const LOGGED_OUT: &str = "gh is not logged in (gh auth login)";

/// What is known of an issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IssueState {
    /// It is open.
    Open,
    /// It is not.
    Closed,
    /// Nobody could say: why.
    Unknown(String),
    /// Nobody could say, because nobody is logged in at gh.
    LoggedOut,
}

/// What `gh issue view --json state` answers.
#[derive(Deserialize)]
struct View {
    state: String,
}

/// Asks whether it is open, for no longer than `within`.
#[must_use]
pub fn issue_state(context: &Context, issue: &Issue, within: Duration) -> IssueState {
    let number = issue.number.to_string();
    match ask(context, &["issue", "view", &number, "--repo", &issue.repository, "--json", "state"], within) {
        Ok(answer) => read(&answer),
        Err(why) if why == LOGGED_OUT => IssueState::LoggedOut,
        Err(why) => IssueState::Unknown(why),
    }
}

/// Leaves a comment on it.
///
/// # Errors
/// Why it could not be left.
pub fn comment(context: &Context, issue: &Issue, text: &str) -> Result<(), String> {
    let number = issue.number.to_string();
    ask(context, &["issue", "comment", &number, "--repo", &issue.repository, "--body", text], ASK).map(drop)
}

fn read(answer: &str) -> IssueState {
    match serde_json::from_str::<View>(answer).map(|view| view.state) {
        Ok(state) if state == "OPEN" => IssueState::Open,
        // A pull request has a number like an issue, and may be merged.
        Ok(state) if state == "CLOSED" || state == "MERGED" => IssueState::Closed,
        _ => IssueState::Unknown("what gh answered is no state of an issue".to_owned()),
    }
}

/// Runs the real gh, with nothing to read; what it says to people is not repeated.
fn ask(context: &Context, words: &[&str], within: Duration) -> Result<String, String> {
    let Some(program) = arbiter::real(context, "gh") else { return Err("there is no gh on PATH".to_owned()) };
    let no_run = |error: io::Error| format!("gh could not be run: {}", error.kind());
    let mut out = tempfile::tempfile().map_err(no_run)?;
    let mut command = Command::new(program);
    command.args(words).env_clear().envs(arbiter::variables(context)).current_dir(&context.invocation.cwd);
    command.env("GH_PROMPT_DISABLED", "1").env("GH_NO_UPDATE_NOTIFIER", "1");
    command.stdin(Stdio::null()).stderr(Stdio::null()).stdout(out.try_clone().map_err(no_run)?);
    match canary::run_within(&mut command, within).map_err(no_run)? {
        Some(status) if status.success() => text(&mut out).map_err(no_run),
        Some(status) if status.code() == Some(NO_LOGIN) => Err(LOGGED_OUT.to_owned()),
        Some(status) => Err(match status.code() {
            Some(code) => format!("gh ended with status {code}"),
            None => format!("gh ended by {status}"),
        }),
        None => Err(format!("gh did not answer within {} s", within.as_secs_f64().ceil())),
    }
}

fn text(out: &mut File) -> io::Result<String> {
    let mut text = String::new();
    out.rewind()?;
    // A state is a word; what is longer is none.
    out.take(65_536).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_says_so_is_open() {
        let unknown = || IssueState::Unknown("what gh answered is no state of an issue".to_owned());
        for (answer, expected) in [
            ("{\"state\":\"OPEN\"}\n", IssueState::Open),
            ("{\"state\":\"CLOSED\"}\n", IssueState::Closed),
            ("{\"state\":\"MERGED\"}", IssueState::Closed),
            ("{\"state\":\"DRAFT\"}", unknown()),
            ("{\"state\":null}", unknown()),
            ("{}", unknown()),
            ("OPEN", unknown()),
            ("", unknown()),
        ] {
            assert_eq!(read(answer), expected, "{answer}");
        }
    }
}
