//! Whoever may change what comes first on PATH has every command that is typed there: the folder of the shims, the program
//! that they lead to, and the way to both are looked at.
#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};

use crate::run::env_of;
use crate::shims::{self, Loose, SYSTEM};
use crate::terms::shell_quote;

use super::Finding;
use super::patient::Patient;

/// More entries than this are no folder of ours.
const MOST: usize = 1_000;

pub(super) fn look(patient: &Patient<'_>, folders: &[PathBuf]) -> Vec<Finding> {
    let env = env_of(patient.context);
    let mut loose: Vec<Loose> = folders.iter().filter_map(|folder| shims::changed_by_others(folder, &env)).collect();
    let programs = folders.iter().flat_map(|folder| programs(patient, folder).into_iter().map(move |it| (folder, it)));
    let mut found = Vec::new();
    for (folder, program) in programs {
        let for_all = folder == Path::new(SYSTEM);
        match shims::not_for_all(&program).filter(|_| for_all) {
            Some(part) => found.push(not_for_all(&program, &part)),
            None => loose.extend(shims::changed_by_others(&program, &env)),
        }
    }
    loose.sort_by(|one, other| one.path.cmp(&other.path));
    loose.dedup();
    found.extend(loose.iter().map(open));
    found
}

/// Where the shims of this folder lead, each place once.
fn programs(patient: &Patient<'_>, folder: &Path) -> Vec<PathBuf> {
    let ours = patient.context.ourselves;
    let listed = fs::read_dir(folder).into_iter().flatten().flatten().take(MOST).map(|entry| entry.path());
    let shims = listed.filter(|shim| crate::program::is_ours(shim, ours));
    let mut all: Vec<PathBuf> =
        shims.map(|shim| fs::read_link(&shim).map_or_else(|_| shim.clone(), |to| folder.join(to))).collect();
    all.sort();
    all.dedup();
    all
}

fn open(loose: &Loose) -> Finding {
    let path = quoted(&loose.path);
    let finding =
        Finding::fault("shims.writable", format!("others can change what the shims run: {path}: {}", loose.why))
            .because("whoever writes there is run by you, under the name of every tool");
    match loose.mode {
        Some(mode) => finding.remedy(format!("chmod {mode} {path}")),
        None => finding.remedy("put the shims and the program where only you and root may write"),
    }
}

fn not_for_all(program: &Path, part: &Loose) -> Finding {
    let (path, part_s) = (quoted(program), quoted(&part.path));
    Finding::fault(
        "shims.own",
        format!("the machine's shims lead to {path}, which is not everybody's: {part_s}: {}", part.why),
    )
    .because("who cannot come there runs the tool without a lease; who can is run by everybody, root among them")
    .remedy(shims::system_line("sudo "))
}

fn quoted(path: &Path) -> String {
    shell_quote(path.as_os_str().as_encoded_bytes())
}
