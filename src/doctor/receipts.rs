//! Was each version of a SOPS file written under a lease? The store's chains of receipts say so.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use crate::naming::{Local, Namer};
use crate::run::{self, env_of};
use crate::terms::Digest;

use super::Finding;
use super::files::told::{shown, some};
use super::patient::Patient;
use super::repository::Secret;

/// The store is asked about so many.
pub(super) const ASKED: usize = 200;

/// What the chain of receipts says of each version.
pub(super) fn look(patient: &Patient<'_>, secrets: &[&Secret], root: &Path) -> Vec<Finding> {
    let env = env_of(patient.context);
    let said = run::said_scope(patient.context);
    let mut namer = Namer::new(Local::Peek, &env).heeding(&said);
    let (mut none, mut outside): (Vec<PathBuf>, Vec<PathBuf>) = (Vec::new(), Vec::new());
    for secret in secrets.iter().take(ASKED) {
        let Ok(target) = namer.name(&secret.path) else { continue };
        let chain = match patient.is_unmade() {
            true => Some(Vec::new()),
            false => patient.ask(|store, limit| store.receipts(target.scope(), &target.key, limit)),
        };
        let Some(chain) = chain else { break };
        let digest = Digest::of(&secret.content);
        let known = chain.iter().any(|link| link.new == digest || link.base.as_ref() == Some(&digest));
        match (chain.is_empty(), known) {
            (true, _) => none.push(secret.path.clone()),
            (false, false) => outside.push(secret.path.clone()),
            (false, true) => {}
        }
    }
    let scope = secrets.first().and_then(|secret| namer.name(&secret.path).ok()).map(|target| target.scope().0.clone());
    let remotes = patient.repository().map_or(0, |repository| repository.remotes(&env));
    let apart = scope.filter(|scope| scope.starts_with("local/") && remotes > 1).map(|_| {
        Finding::warn(
            "scope.local",
            format!("{remotes} remotes and none is called origin: this clone has a scope of its own"),
        )
        .because("other clones of the repository do not wait for its leases, and know none of its versions")
        .remedy("say which: `git remote rename NAME origin`, or scope = \"host/path\" in .locked.toml")
    });
    let mut found = some(outside.iter().map(|path| changed_outside(path, root)).collect());
    if let Some(first) = none.first() {
        let more = if none.len() > 1 { format!(" and {} more", none.len() - 1) } else { String::new() };
        let file = shown(first, root);
        found.push(
            Finding::note("files.no-receipt", format!("no write of {file}{more} was ever proven"))
                .because("a stale copy of such a file cannot be told from a new one")
                .remedy(format!("locked adopt {file}")),
        );
    }
    found.extend(apart);
    found
}

fn changed_outside(path: &Path, root: &Path) -> Finding {
    let file = shown(path, root);
    Finding::warn("files.changed-outside", format!("{file} was changed without a lease: no receipt knows this version"))
        .because("somebody else's change may be lost in it")
        .remedy(format!("compare it with its last versions (`git log -p {file}`), then `locked adopt {file}`"))
}
