//! Scripts of the repository that call a tool by its path. A quick look, line by line: what is a command is told from what
//! is only a path (`mv sops /usr/bin/sops`) by what stands before it.
#![forbid(unsafe_code)]

use std::path::Path;

use crate::terms::shell_path;

use super::patient::Patient;
use super::{Finding, repository};

/// No script is read further (bytes).
const LARGE: u64 = 256 * 1024;
/// So many places are told one by one.
const MOST: usize = 10;

/// Names of files that run commands.
const NAMES: [&str; 14] = [
    "makefile",
    "gnumakefile",
    "justfile",
    "package.json",
    "taskfile.yml",
    "taskfile.yaml",
    ".envrc",
    ".gitlab-ci.yml",
    "jenkinsfile",
    "procfile",
    "rakefile",
    "vagrantfile",
    "mise.toml",
    ".mise.toml",
];
const ENDS: [&str; 7] = [".sh", ".bash", ".zsh", ".fish", ".mk", ".just", ".ps1"];

/// Directories where packagers and people put programs.
const PLACES: [&str; 8] = [
    "/usr/bin/",
    "/usr/local/bin/",
    "/bin/",
    "/opt/homebrew/bin/",
    "/home/linuxbrew/.linuxbrew/bin/",
    "/snap/bin/",
    "/opt/local/bin/",
    "/run/current-system/sw/bin/",
];

/// Does a file of this name run commands?
pub(super) fn is_script(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let is_yaml = name.ends_with(".yml") || name.ends_with(".yaml");
    let within = |part: &str| path.iter().any(|it| it == part);
    NAMES.contains(&name.as_str())
        || ENDS.iter().any(|end| name.ends_with(end))
        || (is_yaml && (within("workflows") || within(".circleci") || name.contains("compose")))
        || (!name.contains('.') && (within(".husky") || within("bin") || within("scripts")))
}

pub(super) fn look(patient: &Patient<'_>, tools: &[String]) -> Vec<Finding> {
    let Some(repository) = patient.repository() else { return Vec::new() };
    let mut found = Vec::new();
    let mut more = 0;
    for path in &patient.survey().scripts {
        let Some(content) = repository::read(path, LARGE) else { continue };
        let text = String::from_utf8_lossy(&content);
        for (number, line) in text.lines().enumerate() {
            let Some(called) = called(line, tools) else { continue };
            if found.len() == MOST {
                more += 1;
                continue;
            }
            let inside = path.strip_prefix(&repository.worktree_root).unwrap_or(path);
            let file = shell_path(inside);
            found.push(
                Finding::warn("around.script", format!("{file}, line {}, calls {called}, past its shim", number + 1))
                    .because("what it writes takes no lease")
                    .remedy(format!(
                        "write {} there, or `locked` before it",
                        called.rsplit('/').next().unwrap_or(&called)
                    )),
            );
        }
    }
    if let Some(last) = found.last_mut().filter(|_| more > 0) {
        last.what = format!("{}; and {more} more lines like it", last.what);
    }
    found
}

/// The tool that this command line names by its path, at its beginning.
pub(super) fn absolute(line: &str, tools: &[String]) -> Option<String> {
    let word = line.trim_start().trim_start_matches(['"', '\'']);
    PLACES.iter().find_map(|place| {
        let rest = word.strip_prefix(place)?;
        let name = rest.split(|c: char| !is_of_a_name(c)).next()?;
        tools.iter().any(|tool| tool == name).then(|| format!("{place}{name}"))
    })
}

/// The first command in this line that names a tool by its path.
pub(super) fn called(line: &str, tools: &[String]) -> Option<String> {
    let bare = line.trim_start();
    if bare.starts_with('#') || bare.starts_with("//") || !bare.contains('/') {
        return None;
    }
    line.match_indices('/').find_map(|(at, _)| {
        let (before, rest) = line.split_at(at);
        absolute_here(rest, tools).filter(|_| begins_a_command(before))
    })
}

fn absolute_here(rest: &str, tools: &[String]) -> Option<String> {
    if rest.starts_with('/') { absolute(rest, tools) } else { None }
}

fn is_of_a_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || "._-+/".contains(c)
}

/// Can a command begin behind this?
fn begins_a_command(before: &str) -> bool {
    const WORDS: [&str; 16] = [
        "then", "do", "else", "exec", "sudo", "env", "nohup", "time", "xargs", "command", "run:", "script:", "-c", "!",
        "-", "&&",
    ];
    let text = before.trim_end();
    if text.is_empty() {
        return true;
    }
    // A value in quotes: `"deploy": "/usr/bin/sops …"`, `SOPS="/usr/bin/sops"`, `sh -c '/usr/bin/sops …'`.
    let unquoted = text.strip_suffix(['"', '\'']).map(str::trim_end);
    if let Some(unquoted) = unquoted {
        let last = unquoted.split_whitespace().last().unwrap_or_default();
        return unquoted.is_empty() || unquoted.ends_with(['=', ':', '[']) || WORDS.contains(&last);
    }
    // Behind a letter or a slash it is the rest of another word.
    if text.len() == before.len() && !text.ends_with([';', '|', '&', '(', '`', '{', '=', '@', '-', '+', '!']) {
        return false;
    }
    let last = text.split_whitespace().last().unwrap_or_default();
    text.ends_with([';', '|', '&', '(', '`', '{', '='])
        || WORDS.contains(&last)
        || last.ends_with('=')
        || text.trim_start_matches(['@', '-', '+', '\t', ' ']).is_empty()
        || is_assignment(last)
}

/// `A=1 /usr/bin/sops …`
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

#[cfg(test)]
mod tests;
