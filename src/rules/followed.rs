//! Which workflow's run a command triggers, in the words with which gh can be asked for it.
#![forbid(unsafe_code)]

use std::ffi::OsStr;

use super::grammar::Line;
use super::policy::Follow;

/// The workflow: `gh workflow run NAME`, `gh api …/dispatches`.
pub(super) fn workflow(line: &Line<'_>) -> Option<Follow> {
    let operand = line.operands.first()?.to_str()?;
    let value = |names| line.value(names).and_then(OsStr::to_str);
    Some(match Dispatch::read(operand) {
        Some(dispatch) => Follow::Workflow {
            workflow: dispatch.workflow.to_owned(),
            repository: dispatch.repository(value("--hostname")),
        },
        None => {
            Follow::Workflow { workflow: file(operand).to_owned(), repository: value("-R|--repo").map(str::to_owned) }
        }
    })
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

    #[test]
    fn a_run_is_followed_by_the_name_of_its_workflow_s_file() {
        let book = Book::new();
        let sync = "actions/workflows/secrets-sync.yml/dispatches";
        for (args, workflow, repository) in [
            ("workflow run secrets-sync.yml", "secrets-sync.yml", None),
            ("workflow run .github/workflows/secrets-sync.yaml -R acme/infra", "secrets-sync.yaml", Some("acme/infra")),
            ("workflow run sync/secrets --repo h/acme/infra", "sync/secrets", Some("h/acme/infra")),
            ("workflow run 161335", "161335", None),
            (&format!("api repos/acme/infra/{sync} -f ref=main"), "secrets-sync.yml", Some("acme/infra")),
            (&format!("api -X POST /repos/acme/infra/{sync}/"), "secrets-sync.yml", Some("acme/infra")),
            (&format!("api repos/{{owner}}/{{repo}}/{sync}"), "secrets-sync.yml", None),
            (&format!("api repos/:owner/:repo/{sync}"), "secrets-sync.yml", None),
            (&format!("api --hostname h repos/acme/infra/{sync}"), "secrets-sync.yml", Some("h/acme/infra")),
            (&format!("api https://api.github.com/repos/acme/infra/{sync}"), "secrets-sync.yml", Some("acme/infra")),
            (&format!("api https://h/api/v3/repos/acme/infra/{sync}"), "secrets-sync.yml", Some("h/acme/infra")),
            ("api repos/acme/infra/dispatches", "repos/acme/infra/dispatches", None),
        ] {
            let args: Vec<OsString> = args.split(' ').map(OsString::from).collect();
            let line = grammar::read(book.program("gh"), &args);
            let (workflow, repository) = (workflow.to_owned(), repository.map(str::to_owned));
            assert_eq!(super::workflow(&line), Some(Follow::Workflow { workflow, repository }), "{args:?}");
        }
    }
}
