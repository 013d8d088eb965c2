//! The settings: what cannot be followed, and what was said and does not count.
#![forbid(unsafe_code)]

use crate::config::{Ignored, Source, Standing};
use crate::run;
use crate::terms::shell_quote;

use super::patient::Patient;
use super::{Finding, variables};

pub(super) fn look(patient: &Patient<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    match &patient.settings {
        Ok(settings) => found.extend(of_ignored(settings.ignored())),
        Err(error) => found.push(
            Finding::fault("settings.wrong", error.to_string())
                .because("nothing runs under a lease before it is right")
                .remedy(error.remedy()),
        ),
    }
    found.extend(untrusted(patient));
    if let Err(error) = &patient.repository {
        found.push(
            Finding::fault("settings.repository", error.to_string())
                .because("files in it have no name, so nothing runs under a lease there")
                .remedy("repair the repository (`git worktree repair`, `git fsck`)"),
        );
    }
    found.extend(variables::look(patient));
    if found.is_empty() {
        found.push(Finding::ok("settings.sound", "settings and variables can be followed"));
    }
    found
}

/// One for each file: which keys do not count there.
fn of_ignored(ignored: &[Ignored]) -> Vec<Finding> {
    let of_file = ignored.chunk_by(|one, other| path_of(one) == path_of(other));
    let finding = |part: &[Ignored]| {
        let first = part.first()?;
        let mut keys: Vec<String> = part
            .iter()
            .map(|it| {
                it.inner.map_or_else(|| it.key.name().to_owned(), |inner| format!("{inner} of a {}", it.key.name()))
            })
            .collect();
        keys.dedup();
        let from = first.from.to_string();
        let place =
            path_of(first).and_then(|path| path.parent()).map(|it| shell_quote(it.as_os_str().as_encoded_bytes()));
        let remedy = match place.filter(|_| part.iter().any(|it| it.if_trusted)) {
            Some(place) => format!("read that file, and if it is right: `locked config trust {place}`"),
            None => "take it out there".to_owned(),
        };
        Some(
            Finding::warn("settings.ignored", format!("what {from} says of {} does not count", keys.join(", ")))
                .because(first.why)
                .remedy(remedy),
        )
    };
    of_file.filter_map(finding).collect()
}

fn path_of(ignored: &Ignored) -> Option<&std::path::Path> {
    match &ignored.from {
        Source::File { path, .. } => Some(path),
        _ => None,
    }
}

/// A file of the repository that is heard only in part: to be known, also where all that it says counts.
fn untrusted(patient: &Patient<'_>) -> Vec<Finding> {
    let Ok(layers) = run::layers_here(patient.context) else { return Vec::new() };
    let untrusted = layers.of_repositories().filter(|(_, standing)| *standing == Standing::Untrusted);
    let finding = |(file, _): (&crate::config::File, _)| {
        let place = file.document.path.parent().unwrap_or(&file.document.path);
        let shown = shell_quote(file.document.path.as_os_str().as_encoded_bytes());
        Finding::note("settings.untrusted", format!("{shown} is not trusted, so it may only add to what is locked"))
            .remedy(format!(
                "if it is right: `locked config trust {}`",
                shell_quote(place.as_os_str().as_encoded_bytes())
            ))
    };
    untrusted.map(finding).collect()
}
