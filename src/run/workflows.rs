//! What the workflows of a repository are called: the names of their files, and the display names in them. So one workflow
//! is one resource however it is named. Facts: `gh help workflow run`; docs.github.com, workflow syntax, `name`.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::io::Read as _;
use std::path::Path;

use crate::git::Repository;
use crate::naming;
use crate::rules::book::WorkflowAsker;

use super::{Context, arbiter};

/// No repository has more of them that matter here.
const MOST: usize = 256;
/// A display name stands at the top; what is beyond these bytes (64 KiB) is not read.
const LONGEST: u64 = 64 * 1024;

/// Who answers what a workflow is called, from the files around a directory.
pub(super) fn asked(context: &Context) -> WorkflowAsker {
    let env: Vec<OsString> = context.invocation.env.clone();
    Box::new(move |cwd, repository, named| {
        let variable = |name: &str| {
            let value = |entry: &OsString| {
                let (own, value) = arbiter::variable(entry)?;
                (own == name).then_some(value)
            };
            env.iter().find_map(value)
        };
        let Some(around) = Repository::around(cwd).ok().flatten() else { return Vec::new() };
        let origin = || naming::of_origin(&around, &variable).ok().flatten().map(|scope| scope.to_string());
        if repository.is_some_and(|named| !origin().is_some_and(|origin| is_of(&origin, named))) {
            return Vec::new();
        }
        let all = workflows(&around.worktree_root.join(".github/workflows"));
        match named {
            Some(named) => known(&all, named).into_iter().collect(),
            None => all.iter().map(spelled).collect(),
        }
    })
}

/// The file of the workflow that is called so in the repository around a directory; none where no display name says it.
pub fn workflow_file(context: &Context, cwd: &Path, named: &str) -> Option<String> {
    asked(context)(cwd, None, Some(named)).pop()?.into_iter().next()
}

/// A workflow's file, and its display name.
type Workflow = (String, Option<String>);

/// By all of its names.
fn spelled((file, display): &Workflow) -> Vec<String> {
    [file.clone()].into_iter().chain(display.clone()).collect()
}

/// Whether `[HOST/]OWNER/REPO` is this origin.
fn is_of(origin: &str, named: &str) -> bool {
    let (origin, named) = (origin.to_ascii_lowercase(), named.to_ascii_lowercase());
    let named = named.trim_end_matches('/').trim_end_matches(".git");
    // As git takes it as well: an address, or `git@HOST:OWNER/REPO`.
    let (named, is_address) = named.split_once("://").map_or((named, false), |(_, rest)| (rest, true));
    let named = named.rsplit_once('@').map_or(named, |(_, rest)| rest);
    let named = if is_address { named.to_owned() } else { named.replacen(':', "/", 1) };
    let named = named.as_str();
    origin == named
        || origin.strip_suffix(named).is_some_and(|host| host.ends_with('/') && host.matches('/').count() == 1)
}

/// The file and the display name of the workflow that is called so; nothing where there is none, or more than one.
fn known(all: &[Workflow], named: &str) -> Option<Vec<String>> {
    let is_file = |name: &str| name.ends_with(".yml") || name.ends_with(".yaml");
    let fits = |(file, display): &&Workflow| match is_file(named) {
        true => file == named,
        false => display.as_ref().is_some_and(|display| display.to_lowercase() == named.to_lowercase()),
    };
    let mut found = all.iter().filter(fits);
    found.next().filter(|_| found.next().is_none()).map(spelled)
}

fn workflows(directory: &Path) -> Vec<Workflow> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten().take(MOST);
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let files = names.filter(|name| name.ends_with(".yml") || name.ends_with(".yaml"));
    files
        .map(|name| {
            let display = display(&directory.join(&name));
            (name, display)
        })
        .collect()
}

/// The display name of a workflow's file: `name:` at the left edge, as nearly everybody writes it.
fn display(path: &Path) -> Option<String> {
    let mut text = Vec::new();
    crate::platform::regular(path).ok()?.take(LONGEST).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let value = text.lines().find_map(|line| line.strip_prefix("name:"))?.trim();
    let quoted = |quote: char| value.strip_prefix(quote).and_then(|rest| rest.split_once(quote)).map(|(name, _)| name);
    let plain = || value.split(" #").next().unwrap_or_default().trim_end();
    let name = quoted('"').or_else(|| quoted('\'')).unwrap_or_else(plain);
    Some(name.to_owned()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workflow_is_found_by_its_file_and_by_its_display_name() {
        let root = tempfile::tempdir().expect("root");
        let place = root.path().join(".github/workflows");
        std::fs::create_dir_all(&place).expect("place");
        for (file, text) in [
            ("sync.yml", "# c\nname: Secrets Sync # why\non: push\n"),
            ("deploy.yaml", "on: push\njobs:\n  x:\n    name: inner\n"),
            ("a.yml", "name: 'Twice'"),
            ("b.yml", "name: \"twice\""),
            ("c.yml", "name: \"Quo # ted\"\n"),
            ("README.md", "name: no"),
        ] {
            std::fs::write(place.join(file), text).expect("file");
        }
        std::fs::create_dir(place.join("d.yml")).expect("directory");
        for (named, names) in [
            ("sync.yml", &["sync.yml", "Secrets Sync"][..]),
            ("secrets sync", &["sync.yml", "Secrets Sync"]),
            ("deploy.yaml", &["deploy.yaml"]),
            ("inner", &[]),
            ("Twice", &[]),
            ("Quo # ted", &["c.yml", "Quo # ted"]),
            ("no", &[]),
            ("gone.yml", &[]),
            ("d.yml", &["d.yml"]),
        ] {
            assert_eq!(known(&workflows(&place), named).unwrap_or_default(), names, "{named}");
        }
        assert_eq!(workflows(Path::new("/no/such/place")), []);
    }

    #[test]
    fn another_repository_s_workflows_are_not_ours() {
        for (named, is) in [
            ("acme/infra", true),
            ("Acme/Infra", true),
            ("github.com/acme/infra", true),
            ("https://github.com/acme/infra.git", true),
            ("acme/other", false),
            ("me/infra", false),
            ("ghe.example.org/acme/infra", false),
            ("infra", false),
            ("", false),
        ] {
            assert_eq!(is_of("github.com/acme/infra", named), is, "{named}");
        }
    }
}
