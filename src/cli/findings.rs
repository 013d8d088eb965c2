//! The words for what git is about to take in and should not, or has taken in.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::audit::{Finding, Wrong};
use crate::canary::{self, Fault};
use crate::exit;
use crate::git::{Repository, path_from};
use crate::platform::OsStrExt as _;
use crate::report::Refusal;
use crate::rules;
use crate::run::{self, Context};
use crate::terms::{ResourceName, shell_quote};

/// So many files are named in a line to type.
const NAMED: usize = 10;

/// The worst of them decides how it ends.
pub(super) fn status(findings: &[Finding]) -> i32 {
    let has = |status: i32| findings.iter().any(|finding| finding.wrong.status() == status);
    [exit::QUARANTINED, exit::UNLOCKED, exit::UNREACHABLE].into_iter().find(|&status| has(status)).unwrap_or_default()
}

/// One refusal for all of them: the worst is told, and how many more there are. `below` is where the caller stands, below
/// the root of the repository (`a/b/`, or empty); `here` has the root of the working tree, where there is one.
pub(super) fn refusal(
    findings: &[Finding],
    deed: &str,
    below: &str,
    here: Option<(&Context, PathBuf)>,
) -> Option<(Refusal, i32)> {
    let status = status(findings);
    let worst = findings.iter().find(|finding| finding.wrong.status() == status)?;
    let alike = |finding: &&Finding| finding.wrong.word() == worst.wrong.word();
    let mut named: Vec<&Finding> = findings.iter().filter(alike).collect();
    named.sort_by(|one, other| one.path.cmp(&other.path));
    named.dedup_by(|one, other| one.path == other.path);
    named.truncate(NAMED);
    let paths: Vec<String> = named.iter().map(|finding| typed(&finding.path, below)).collect();
    let work = Work::of(worst, &named, here.as_ref().map(|(context, root)| (*context, root.as_path())));
    let of = worst.commit.as_ref().map_or_else(String::new, |commit| format!(" (commit {})", short(commit)));
    let more = match findings.len() - 1 {
        0 => String::new(),
        more => format!("; {more} more to see to"),
    };
    let types = rules::types(Path::new(OsStr::from_bytes(&worst.path)));
    let (retry, next) = step(&worst.wrong, (&typed(&worst.path, below), &types), &paths, worst.commit.as_deref(), work);
    let refusal = Refusal {
        word: "REFUSED",
        what: format!("{}{of} cannot be {deed}: {}", worst.shown(), worst.wrong),
        why: format!("{}{more}", why(&worst.wrong)),
        retry,
        next,
    };
    Some((refusal, status))
}

fn why(wrong: &Wrong) -> &'static str {
    match wrong {
        Wrong::Bad(Fault::Plaintext) => {
            "its name, its rule in .sops.yaml or what it was before says that it holds secrets"
        }
        Wrong::Bared(_) => {
            "its names are those of that file, and its values are as long: an edit that was moved or copied"
        }
        Wrong::Bad(Fault::RecipientsAdded(_) | Fault::RecipientsDropped(_)) => {
            "the rule for its path in .sops.yaml names others"
        }
        Wrong::Bad(Fault::Empty) => "a SOPS file belongs there, and what was in it is gone",
        Wrong::Bad(_) => "who checks it out could not decrypt it",
        Wrong::Unmerged => "what is committed must be one version, and whole",
        Wrong::Unlocked => "two writers of one SOPS file lose data, and nothing proves that this one was alone",
        Wrong::Stale { .. } => "what its writer had not seen is lost with it",
        Wrong::Zone(_) | Wrong::Unheld(_) => "one at a time changes what lies in a zone",
        Wrong::Unseen => "what nobody can look at, nobody can prove",
    }
}

/// Whether to try again, and the line to type. `path` can be pasted; beside it are the options by which sops knows its format, where the name does not tell it.
fn step(
    wrong: &Wrong,
    (path, types): (&str, &str),
    alike: &[String],
    commit: Option<&str>,
    work: Work,
) -> (String, String) {
    let after = || "yes, after the next step".to_owned();
    if let Wrong::Stale { .. } = wrong
        && commit.is_some()
    {
        let retry = "yes, once what is lost is put in again; if it is to stay so, after the next step";
        return (retry.to_owned(), format!("locked --accept-stale adopt {path}"));
    }
    if let Some(commit) = commit.filter(|_| !matches!(wrong, Wrong::Unlocked | Wrong::Unheld(_) | Wrong::Unseen)) {
        let example = "; what is an example says so in its name (example, sample, template)";
        let end = if matches!(wrong, Wrong::Bared(_)) { example } else { "" };
        return (format!("no, not with this commit{end}"), format!("git show {} -- {path}", short(commit)));
    }
    match wrong {
        // The working tree has gone on: only what is staged is wrong.
        Wrong::Bad(fault) if work == Work::Sound => match fault {
            Fault::RecipientsAdded(_) | Fault::RecipientsDropped(_) => {
                let input = types.split(" --output-type").next().unwrap_or_default();
                (after(), format!("locked sops updatekeys -y{input} {path} && git add {path}"))
            }
            _ => (after(), format!("git add {path}")),
        },
        Wrong::Bad(Fault::Plaintext) | Wrong::Bared(_) => {
            (after(), format!("locked sops encrypt -i{types} {path} && git add {path}"))
        }
        Wrong::Bad(fault @ (Fault::RecipientsAdded(_) | Fault::RecipientsDropped(_))) => {
            (format!("yes, after the next step; {}", fault.advice()), {
                let input = types.split(" --output-type").next().unwrap_or_default();
                format!("locked sops updatekeys -y{input} {path} && git add {path}")
            })
        }
        Wrong::Bad(Fault::Empty) if work == Work::New => {
            ("yes, once it is filled".to_owned(), format!("git rm --cached {path}"))
        }
        Wrong::Bad(fault) if work == Work::New => {
            (format!("yes, after the next step; {}", fault.advice()), format!("git rm --cached {path}"))
        }
        Wrong::Bad(fault) => (
            format!("yes, after the next step; {}", fault.advice()),
            format!("locked restore {path} && git add {path}"),
        ),
        Wrong::Unmerged => (after(), format!("git checkout --ours {path} && git add {path}")),
        Wrong::Unlocked => {
            let named = alike.join(" ");
            let stage = if work == Work::Other { format!(" && git add {named}") } else { String::new() };
            (after(), format!("locked adopt {named}{stage}"))
        }
        Wrong::Stale { .. } => (after(), format!("git show HEAD -- {path}")),
        Wrong::Zone(name) => (after(), format!("locked acquire {}", zone(name))),
        // A commit that is made under it has another time.
        Wrong::Unheld(name) => (after(), format!("locked acquire {} && git commit --amend --no-edit", zone(name))),
        Wrong::Unseen => (after(), "git fetch --refetch --no-filter".to_owned()),
    }
}

/// How the working tree stands to what is staged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    /// As far as anybody can tell it is the same.
    Same,
    /// It is another version.
    Other,
    /// It is another version, and a sound one.
    Sound,
    /// It is new, and was never filled, or never right: there is no version to come back to.
    New,
}

impl Work {
    /// For the worst, and those that are alike. What a commit has is not staged any more.
    fn of(worst: &Finding, alike: &[&Finding], here: Option<(&Context, &Path)>) -> Self {
        let Some((context, root)) = here.filter(|_| worst.commit.is_none()) else { return Self::Same };
        let repository = Repository::around(root).ok().flatten();
        let other = |finding: &Finding| -> Option<Vec<u8>> {
            let content = std::fs::read(root.join(path_from(&finding.path))).ok()?;
            let lines = String::from_utf8_lossy(&content).replace("\r\n", "\n");
            let names = [&content[..], lines.as_bytes()].map(|content| repository.as_ref()?.blob_id(content).ok());
            let is_same = names.iter().flatten().any(|name| Some(name) == finding.blob.as_ref());
            (!is_same).then_some(content)
        };
        let sound = |content: &Vec<u8>| canary::native(content).is_ok();
        match worst.wrong {
            Wrong::Bad(_) if other(worst).as_ref().is_some_and(sound) => Self::Sound,
            Wrong::Bad(Fault::Empty | Fault::LaidOpen(_) | Fault::Merged)
                if !run::can_be_restored(context, &root.join(path_from(&worst.path))) =>
            {
                Self::New
            }
            _ if alike.iter().any(|finding| other(finding).is_some()) => Self::Other,
            _ => Self::Same,
        }
    }
}

fn zone(name: &str) -> ResourceName {
    ResourceName::of("zone", name.as_bytes())
}

/// A path as it is typed from where the caller stands.
fn typed(path: &[u8], below: &str) -> String {
    let here = below.as_bytes();
    let path = match path.strip_prefix(here) {
        Some(rest) => rest.to_vec(),
        None => ["../".repeat(below.matches('/').count()).as_bytes(), path].concat(),
    };
    let path = if path.starts_with(b"-") { [b"./", &*path].concat() } else { path };
    shell_quote(&path)
}

fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

/// One line of a report.
pub(super) fn line(finding: &Finding) -> String {
    let commit = finding.commit.as_deref().map_or("", short);
    format!("{commit:12}  {}: {}", finding.shown(), finding.wrong)
}

/// What ends losses that were told of, behind all of them; none where there is none.
pub(super) fn ends_losses(findings: &[Finding]) -> Option<String> {
    let lost = findings.iter().filter(|finding| matches!(finding.wrong, Wrong::Stale { .. }));
    let paths: std::collections::BTreeSet<String> = lost.map(|finding| typed(&finding.path, "")).collect();
    let named: Vec<String> = paths.into_iter().take(NAMED).collect();
    (!named.is_empty()).then(|| {
        format!("put in again what is lost, or, if it is to stay so: locked --accept-stale adopt {}", named.join(" "))
    })
}

/// The same for programs.
pub(super) fn object(finding: &Finding) -> Value {
    let mut object = json!({
        "path": finding.shown(), "commit": finding.commit, "blob": finding.blob,
        "wrong": finding.wrong.word(), "what": finding.wrong.to_string(),
    });
    if let Wrong::Stale { token, replaced, .. } = finding.wrong {
        object["token"] = json!(token);
        object["replaced_token"] = json!(replaced);
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(path: &[u8], wrong: Wrong) -> Finding {
        Finding { path: path.to_vec(), blob: None, commit: None, wrong }
    }

    #[test]
    fn a_refusal_has_five_lines_at_most_and_tells_the_worst() {
        let all = [
            finding(b"x", Wrong::Unlocked),
            finding(b"a b\n\xff", Wrong::Bad(Fault::Plaintext)),
            finding(b"y", Wrong::Zone("DB".to_owned())),
        ];
        let (told, status) = refusal(&all, "committed", "", None).expect("a refusal");
        assert_eq!(status, 72);
        let text = told.to_string();
        assert!(
            text.lines().count() <= 5 && text.contains("a%20b%0A%FF cannot be committed: the file is plaintext"),
            "{text}"
        );
        assert!(text.contains("2 more"), "{text}");
        assert!(refusal(&[], "committed", "", None).is_none());
    }

    #[test]
    fn the_next_step_can_be_typed_where_the_caller_stands() {
        for (path, below, next) in [
            ("x", "", "locked adopt x"),
            ("-x", "", "locked adopt ./-x"),
            ("a/b/x y", "a/b/", "locked adopt 'x y'"),
            ("a/x", "a/b/", "locked adopt ../../a/x"),
        ] {
            let (told, _) =
                refusal(&[finding(path.as_bytes(), Wrong::Unlocked)], "committed", below, None).expect("one");
            assert_eq!(told.next, next);
        }
    }
}
