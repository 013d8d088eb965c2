//! Which workflow's run a command triggers, in the words with which gh can be asked for it.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};

use super::grammar::Line;
use super::policy::Follow;
use super::step::{LONGEST_PATH, Step, is_known};
use crate::terms::percent_decode;

/// The workflow that a command names: `gh workflow run NAME`, `gh api …/dispatches`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    /// File, id or display name.
    pub(super) workflow: String,
    /// `[HOST/]OWNER/REPO` if the command says it.
    pub(super) repository: Option<String>,
    /// The endpoint around the name, if it is one.
    around: Option<String>,
}

impl Named {
    /// What the line names; nothing where it names no workflow.
    pub(super) fn read(line: &Line<'_>) -> Option<Self> {
        let operand = first(line)?;
        let value = |names| line.value(names).and_then(OsStr::to_str);
        match Dispatch::read(operand) {
            Some(dispatch) if line.path == "api" => Some(Self {
                workflow: file(&String::from_utf8_lossy(&percent_decode(dispatch.workflow))).to_owned(),
                repository: dispatch.repository(value("--hostname")),
                around: Some(format!("repos/{}/{}/actions/workflows/", dispatch.owner, dispatch.name)),
            }),
            _ if line.path == "workflow run" => Self::of(line),
            _ => None,
        }
    }

    /// The same of a program that is told the workflow as `gh workflow run` is.
    fn of(line: &Line<'_>) -> Option<Self> {
        let operand = first(line)?;
        let repository = line.value("-R|--repo").and_then(OsStr::to_str).map(str::to_owned);
        Some(Self { workflow: file(operand).to_owned(), repository, around: None })
    }

    /// The operand with another name of the same workflow.
    pub(super) fn with(&self, name: &str) -> OsString {
        match &self.around {
            Some(around) => format!("{around}{}/dispatches", name.replace('/', " ")).into(),
            None => name.into(),
        }
    }

    /// It is named by its number, of which the files at hand know nothing.
    pub(super) fn is_number(&self) -> bool {
        !self.workflow.is_empty() && self.workflow.bytes().all(|byte| byte.is_ascii_digit())
    }
}

/// What may be the name of a workflow. A name is a file's, or stands in one; what no path holds is none.
fn first<'a>(line: &Line<'a>) -> Option<&'a str> {
    line.operands.first().filter(|operand| operand.len() <= LONGEST_PATH)?.to_str()
}

/// The run that a command sets off, in the words with which gh can be asked for it; none where the command names no
/// workflow.
///
/// # Errors
/// It cannot be asked for from here: why.
pub(super) fn workflow(step: &Step<'_>, line: &Line<'_>) -> Result<Option<Follow>, &'static str> {
    let read = || if step.name() == "gh" { Named::read(line) } else { Named::of(line) };
    let Some(Named { workflow, repository, .. }) = read() else { return Ok(None) };
    if step.host.is_some() || step.inside {
        return Err("it was set off on another machine");
    }
    if !is_known(OsStr::new(&workflow)) {
        return Err("which workflow it is only run time knows");
    }
    if !is_known(step.cwd.as_os_str()) || step.env.is_open() {
        return Err("where it was set off only run time knows");
    }
    Ok(Some(Follow { workflow, repository, cwd: step.cwd.clone(), env: step.env.clone() }))
}

/// A file of a workflow has its name, wherever it is said to lie: `run list` knows names of files, no paths. What has no
/// such ending is a display name, which may have slashes of its own.
fn file(operand: &str) -> &str {
    let is_file = operand.rsplit_once('.').is_some_and(|(_, ending)| ["yml", "yaml"].contains(&ending));
    if is_file { operand.rsplit('/').next().unwrap_or(operand) } else { operand }
}

/// The endpoint that triggers a run: `repos/OWNER/REPO/actions/workflows/FILE/dispatches`, perhaps as a whole address
/// (docs.github.com/rest/actions/workflows; on a server of one's own it begins with `/api/v3/`).
#[derive(Debug, PartialEq, Eq)]
struct Dispatch<'a> {
    /// The machine of the address.
    host: Option<&'a str>,
    owner: &'a str,
    name: &'a str,
    workflow: &'a str,
}

impl<'a> Dispatch<'a> {
    fn read(endpoint: &'a str) -> Option<Self> {
        let endpoint = endpoint.split(['?', '#']).next().unwrap_or_default();
        let (host, path) = match endpoint.split_once("://") {
            Some((_, address)) => address.split_once('/').map(|(host, path)| (Some(host), path))?,
            None => (None, endpoint.trim_start_matches('/')),
        };
        let path = path.strip_prefix("api/v3/").filter(|_| host.is_some()).unwrap_or(path);
        let parts: Vec<&str> = path.trim_end_matches('/').split('/').collect();
        let [repos, owner, name, actions, workflows, workflow, dispatches] = parts[..] else { return None };
        let said = [repos, actions, workflows, dispatches];
        let is_one = said.iter().zip(["repos", "actions", "workflows", "dispatches"]);
        is_one.into_iter().all(|(said, word)| said.eq_ignore_ascii_case(word)).then_some(Self {
            host,
            owner,
            name,
            workflow,
        })
    }

    /// `[HOST/]OWNER/REPO`; none where gh fills it in from the directory (`{owner}`, `:owner`).
    fn repository(&self, hostname: Option<&str>) -> Option<String> {
        let is_filled = |part: &str| part.starts_with(['{', ':']);
        if is_filled(self.owner) || is_filled(self.name) {
            return None;
        }
        // What answers for github.com, and for a tenant of it, is called api.HOST.
        let host = self.host.map(|host| host.strip_prefix("api.").unwrap_or(host)).or(hostname);
        let host = host.filter(|host| *host != "github.com").map_or(String::new(), |host| format!("{host}/"));
        Some(format!("{host}{}/{}", self.owner, self.name))
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::super::book::Book;
    use super::super::grammar;
    use super::*;

    const SYNC: &str = "actions/workflows/secrets-sync.yml/dispatches";

    /// What the line names, and where.
    fn named(args: &str) -> Option<(String, Option<String>)> {
        let args: Vec<OsString> = args.split(' ').map(OsString::from).collect();
        let book = Book::new();
        let line = grammar::read(book.program("gh"), &args);
        Named::read(&line).map(|named| (named.workflow, named.repository))
    }

    #[test]
    fn a_run_is_followed_by_the_name_of_its_workflow_s_file() {
        for (args, workflow, repository) in [
            ("workflow run secrets-sync.yml", "secrets-sync.yml", None),
            ("workflow run .github/workflows/secrets-sync.yaml -R acme/infra", "secrets-sync.yaml", Some("acme/infra")),
            ("workflow run sync/secrets --repo h/acme/infra", "sync/secrets", Some("h/acme/infra")),
            ("workflow run 161335", "161335", None),
            (&format!("api repos/acme/infra/{SYNC} -f ref=main"), "secrets-sync.yml", Some("acme/infra")),
            (&format!("api -X POST /repos/acme/infra/{SYNC}/"), "secrets-sync.yml", Some("acme/infra")),
            (&format!("api repos/acme/infra/{SYNC}?x=1"), "secrets-sync.yml", Some("acme/infra")),
            (&format!("api repos/{{owner}}/{{repo}}/{SYNC}"), "secrets-sync.yml", None),
            (&format!("api repos/:owner/:repo/{SYNC}"), "secrets-sync.yml", None),
            (&format!("api --hostname h repos/acme/infra/{SYNC}"), "secrets-sync.yml", Some("h/acme/infra")),
            (&format!("api https://api.github.com/repos/acme/infra/{SYNC}"), "secrets-sync.yml", Some("acme/infra")),
            (&format!("api https://h/api/v3/repos/acme/infra/{SYNC}"), "secrets-sync.yml", Some("h/acme/infra")),
            (
                "api repos/acme/infra/actions/workflows/.github%2Fworkflows%2Fsecrets-sync.yml/dispatches",
                "secrets-sync.yml",
                Some("acme/infra"),
            ),
        ] {
            assert_eq!(named(args), Some((workflow.to_owned(), repository.map(str::to_owned))), "{args:?}");
        }
        for args in ["api repos/acme/infra/dispatches", "workflow view secrets-sync.yml", "run list", "workflow run"] {
            assert_eq!(named(args), None, "{args:?}");
        }
    }
}
