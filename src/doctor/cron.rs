//! The user's crontab: jobs that call a tool by its bare name, where cron's PATH has the real one first.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::path::Path;

use super::Finding;
use super::patient::Patient;
use super::probe::Answer;
use super::ways::{CRON, passed_by};

/// More lines are no crontab of a person.
const MOST: usize = 10_000;

pub(super) fn look(patient: &Patient<'_>, tools: &[String], folder: &Path) -> Option<Finding> {
    let Some(Answer::Said(text)) = patient.probes.answer("path.crontab") else { return None };
    let passed =
        |path: &str, tool: &String| passed_by(patient, std::slice::from_ref(tool), Some(OsStr::new(path))).is_some();
    let (line, tool) =
        called(&text, tools).into_iter().find(|(_, tool, path)| passed(path, tool)).map(|it| (it.0, it.1))?;
    Some(
        Finding::warn(
            "path.crontab",
            format!("line {line} of the crontab calls {tool}, and cron does not find its shim"),
        )
        .because("what the job writes takes no lease")
        .remedy(format!(
            "write `locked {tool}` there (`crontab -e`), or PATH={}:{CRON} above it",
            crate::terms::shell_quote(folder.as_os_str().as_encoded_bytes())
        )),
    )
}

/// Jobs that name one of these tools as a command: the line, the tool, and the PATH that holds there.
fn called(text: &str, tools: &[String]) -> Vec<(usize, String, String)> {
    let mut path = CRON.to_owned();
    let mut found = Vec::new();
    for (number, line) in text.lines().take(MOST).enumerate() {
        let line = line.trim_start();
        if line.starts_with('#') {
            continue;
        }
        if let Some((name, value)) = line.split_once('=').filter(|(name, _)| is_name(name.trim_end())) {
            if name.trim_end() == "PATH" {
                path = value.trim().trim_matches(['"', '\'']).to_owned();
            }
            continue;
        }
        if let Some(tool) = command_in(line, tools) {
            found.push((number + 1, tool.to_owned(), path.clone()));
        }
    }
    found
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Behind the five fields of the time (or `@daily`): a tool where a command begins.
fn command_in<'a>(line: &str, tools: &'a [String]) -> Option<&'a str> {
    let fields = if line.starts_with('@') { 1 } else { 5 };
    let job = line.splitn(fields + 1, [' ', '\t']).nth(fields)?;
    // `%` begins what the job reads.
    let job = job.split('%').next()?;
    let mut begins = true;
    for word in job.replace([';', '|', '&', '(', '`'], " ; ").split_whitespace() {
        if begins && let Some(tool) = tools.iter().find(|tool| *tool == word) {
            return Some(tool);
        }
        let goes_on = word.contains('=') || ["env", "nice", "exec", "time", "cd", "then", "do", "!"].contains(&word);
        begins = word == ";" || (begins && goes_on);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_that_call_a_tool_are_found_with_the_path_that_holds_there() {
        let tools = ["sops", "gh"].map(str::to_owned);
        let text = "# 0 0 * * * sops x\nMAILTO=me\n0 0 * * * sops set a\nPATH = \"/shims:/bin\"\n@daily cd /x && A=1 gh secret set\n\
                    0 0 * * * locked sops set a\n5 4 * * sun echo sops\n0 0 * * * true; sops edit x % sops\n0 0 * * * true % sops";
        let found = called(text, &tools);
        let found: Vec<_> = found.iter().map(|(line, tool, path)| (*line, tool.as_str(), path.as_str())).collect();
        assert_eq!(found, [(3, "sops", CRON), (5, "gh", "/shims:/bin"), (8, "sops", "/shims:/bin")]);
    }
}
