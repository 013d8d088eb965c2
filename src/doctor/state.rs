//! The state directory: can it be used, is it its owner's alone, and does nothing lie about in it.
#![forbid(unsafe_code)]

use std::path::Path;

use crate::run;
use crate::state::{Open, loose};
use crate::store::StoreError;
use crate::terms::shell_quote;

use super::patient::Patient;
use super::{Finding, Level};

pub(super) fn look(patient: &Patient<'_>) -> Vec<Finding> {
    let path = match &patient.state {
        Ok(Some(state)) => state.path().to_owned(),
        Ok(None) => return vec![Finding::ok("state.directory", "the state directory is made by the first lease")],
        // Open to others is the one cause that can be mended here, and it is told with the rest.
        Err(StoreError::Place { path, why, remedy }) => {
            let open = loose(path);
            if open.parts.first().is_some_and(|first| first.path == *path && first.writable) && !path.is_symlink() {
                return vec![modes(open, path)];
            }
            let what = format!("the state directory {} cannot be used: {why}", quoted(path));
            return vec![
                Finding::fault("state.directory", what).because("no lease can be taken without it").remedy(remedy),
            ];
        }
        Err(error) => {
            return vec![Finding::fault("state.directory", error.to_string()).remedy(error.remedy())];
        }
    };
    let open = loose(&path);
    let mut found = Vec::new();
    match open.parts.is_empty() {
        true => {
            let what = format!("the state directory {} is its owner's alone", quoted(&path));
            found.push(Finding::ok("state.directory", what));
        }
        false => found.push(modes(open, &path)),
    }
    found.extend(litter(patient));
    found
}

/// Parts of it that others may read, or even write.
fn modes(open: Open, path: &Path) -> Finding {
    let Open { parts, ours_alone } = open;
    let writable = parts.iter().any(|it| it.writable);
    let first = parts.first().map(|it| format!("{} ({:o})", quoted(&it.path), it.mode)).unwrap_or_default();
    let more = if parts.len() > 1 { format!(" and {} more", parts.len() - 1) } else { String::new() };
    let (level, may, why) = match writable {
        true => {
            (Level::Fault, "write", "who writes there can hand out leases and change copies; such a place is not used")
        }
        false => (Level::Warn, "read", "it holds the ledger and copies of encrypted files"),
    };
    let what = format!("others may {may} in the state directory: {first}{more}");
    let finding = Finding { level, ..Finding::warn("state.modes", what) }.because(why);
    if !ours_alone {
        return finding.remedy("set LOCKED_STATE_DIR to a directory that holds nothing else, with mode 700");
    }
    finding.remedy(format!("chmod -R go= {}", quoted(path))).fixed_by(move |_| {
        for it in &parts {
            it.tighten().map_err(|error| format!("{} cannot be changed: {error}", quoted(&it.path)))?;
        }
        Ok("took the rights of group and others away".to_owned())
    })
}

/// Live files of holders that are gone, and that the store does not know.
fn litter(patient: &Patient<'_>) -> Option<Finding> {
    let count = swept(patient, false)?;
    let (files, lie) = if count == 1 { ("file", "lies") } else { ("files", "lie") };
    (count > 0).then(|| {
        Finding::note(
            "state.litter",
            format!("{count} live {files} of commands that were killed {lie} in the state directory"),
        )
        .because("nothing waits for them; they only take room")
        .remedy("locked doctor --fix state")
        .fixed_by(|patient| match swept(patient, true) {
            Some(count) => Ok(format!("removed {count}")),
            None => Err("the store did not say which of them it needs".to_owned()),
        })
    })
}

fn swept(patient: &Patient<'_>, remove: bool) -> Option<usize> {
    let state = patient.state.as_ref().ok().and_then(Option::as_ref)?;
    patient.ask(|store, _| run::sweep_all(state, store, remove))
}

fn quoted(path: &Path) -> String {
    shell_quote(path.as_os_str().as_encoded_bytes())
}
