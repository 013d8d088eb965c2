//! `locked config trust`.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::config::{FILE, Layer};
use crate::exit::{self, Exit};
use crate::git::Repository;
use crate::platform::OsStrExt as _;
use crate::report;
use crate::run::{self, Context, NoSetting, Trusted};
use crate::terms::{percent_decode, shell_quote};

use crate::cli::front::refuse;
use crate::cli::held::answer;
use crate::cli::verbs::TrustVerb;
use crate::cli::world::down;

pub(super) fn trust(context: &Context, verb: &TrustVerb) -> Result<Exit, Exit> {
    if verb.list {
        return list(context, verb.json);
    }
    let directory = context.invocation.cwd.join(verb.dir.as_deref().unwrap_or(Path::new(".")));
    let Some(repository) = run::root_around(&directory) else {
        let what = format!("{} lies in no repository", quoted(&directory));
        return Err(refuse(&report::misuse(&what, "name a directory of the repository"), exit::USAGE));
    };
    if verb.remove {
        let gone = run::untrust(context, &repository).map_err(|error| down(&error))?;
        let text = format!("took the trust in {gone} version{} of its settings back", if gone == 1 { "" } else { "s" });
        return Ok(answer(verb.json, &json!({"removed": gone}), Some(text)));
    }
    add(context, &repository, verb.json)
}

fn add(context: &Context, repository: &Repository, as_json: bool) -> Result<Exit, Exit> {
    let path = repository.worktree_root.join(FILE);
    let file = context.shelf.file(&path, Layer::Repository).map_err(|error| NoSetting::Wrong(error).refuse(context))?;
    let Some(file) = file else {
        let what = format!("{} is not there", quoted(&path));
        return Err(refuse(&report::misuse(&what, "there is nothing to trust"), exit::USAGE));
    };
    let trusted = run::trust(context, repository, &file).map_err(|error| down(&error))?;
    let sets = if file.sets().is_empty() { "nothing".to_owned() } else { file.sets().join(", ") };
    let mut text =
        format!("trusted {} as it is now ({}); it sets {sets}", quoted(&path), &trusted.digest.as_str()[..12]);
    let runs = file.runs();
    if !runs.is_empty() {
        text.push_str("\nfrom now on it may have these run as you (locked config trust --remove takes that back):");
        text.extend(runs.iter().map(|(line, what)| format!("\n  line {line}: {what}")));
    }
    let mut answered = value(&trusted, true);
    answered["runs"] = runs.iter().map(|(line, what)| json!({"line": line, "what": what})).collect();
    Ok(answer(as_json, &answered, Some(text)))
}

fn list(context: &Context, as_json: bool) -> Result<Exit, Exit> {
    let all = run::trusted(context).map_err(|error| down(&error))?;
    let with_now: Vec<(Trusted, bool)> = all
        .into_iter()
        .map(|it| {
            let now = is_as_trusted(context, &it);
            (it, now)
        })
        .collect();
    let lines: Vec<String> = with_now
        .iter()
        .map(|(trusted, now)| {
            let state = if *now { "" } else { "  (not what stands there now)" };
            let since = report::day_and_time(trusted.at_ms);
            format!("{}  {}  since {since}{state}", &trusted.digest.as_str()[..12], trusted.file)
        })
        .collect();
    let text = if lines.is_empty() { "nothing is trusted".to_owned() } else { lines.join("\n") };
    let values: Vec<_> = with_now.iter().map(|(trusted, now)| value(trusted, *now)).collect();
    Ok(answer(as_json, &json!({"trusted": values}), Some(text)))
}

/// Does the file still say what was trusted?
fn is_as_trusted(context: &Context, trusted: &Trusted) -> bool {
    let path = path_of(&percent_decode(&trusted.file));
    let file = context.shelf.file(&path, Layer::Repository).ok().flatten();
    file.is_some_and(|file| file.document.digest() == trusted.digest)
}

fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

fn value(trusted: &Trusted, now: bool) -> serde_json::Value {
    json!({
        "file": trusted.file, "repository": trusted.repository, "digest": trusted.digest.as_str(),
        "trusted_at": trusted.at_ms, "current": now,
    })
}

fn quoted(path: &Path) -> String {
    shell_quote(path.as_os_str().as_encoded_bytes())
}
